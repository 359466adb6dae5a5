// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control files of the emulated SSD:
 *   /sys/kernel/ssdsim/add         write: a profile; makes /dev/<name>
 *   /sys/kernel/ssdsim/remove      write: a name
 *   /sys/kernel/ssdsim/last_error  read: why the last write failed, one sentence
 *   /sys/block/<name>/ssdsim/stats    read: counters, "key value" lines
 *   /sys/block/<name>/ssdsim/reset    write anything: counters start from zero
 *   /sys/block/<name>/ssdsim/profile  read: the profile, as "add" takes it
 *   /sys/block/<name>/ssdsim/power    read: state, "key value" lines; write: on, off,
 *                                     or a command of ssd_power_control()
 *   /sys/block/<name>/ssdsim/faults   read: rules with counts; write: a command of
 *                                     ssd_faults_control()
 */
#include <linux/blkdev.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "ssdsim.h"

#define ERROR_LENGTH	256

/* Covers the list of devices. */
static DEFINE_MUTEX(control_mutex);
static LIST_HEAD(devices);
static struct kobject *control_directory;

/*
 * Covers the last error. Not the other one: a write to a file of a disk must not wait
 * for the removal of the disk, which waits for such writes.
 */
static DEFINE_MUTEX(error_mutex);
static char last_error[ERROR_LENGTH];

/* Keep the outcome of a control operation for last_error. Returns what its write returns. */
static ssize_t conclude(int r, const char *error, size_t count)
{
	mutex_lock(&error_mutex);
	strscpy(last_error, r ? error : "", ERROR_LENGTH);
	mutex_unlock(&error_mutex);
	if (r)
		pr_err("ssdsim: %s\n", error);
	return r ? r : count;
}

static struct ssdsim_device *find_device(const char *name)
{
	struct ssdsim_device *device;

	list_for_each_entry(device, &devices, list) {
		if (!strcmp(device->host.drive->profile.name, name))
			return device;
	}
	return NULL;
}

/* Another driver's disk of the same name would make the kernel complain loudly. */
static int check_name(const char *name, char *error)
{
	if (strncmp(name, "ssd", 3)) {
		scnprintf(error, ERROR_LENGTH,
			  "name=%s could be another driver's disk; begin it with 'ssd'", name);
		return -EINVAL;
	}
	if (find_device(name)) {
		scnprintf(error, ERROR_LENGTH,
			  "drive '%s' exists; remove it first or choose another name", name);
		return -EEXIST;
	}
	return 0;
}

static int add_device(const char *text, char *error)
{
	struct ssdsim_device *device;
	struct ssd_profile profile;
	int r;

	ssd_profile_init(&profile);
	r = ssd_profile_parse(&profile, text, error, ERROR_LENGTH);
	if (r)
		return r;
	r = check_name(profile.name, error);
	if (r)
		return r;
	device = ssdsim_device_create(&profile, error, ERROR_LENGTH);
	if (IS_ERR(device))
		return PTR_ERR(device);
	list_add_tail(&device->list, &devices);
	return 0;
}

static void remove_device(struct ssdsim_device *device)
{
	list_del(&device->list);
	ssdsim_device_remove(device);
}

static int remove_by_name(const char *text, char *error)
{
	char name[SSD_NAME_LENGTH + 2];
	struct ssdsim_device *device;

	strscpy(name, text, sizeof(name));
	device = find_device(strim(name));
	if (!device) {
		scnprintf(error, ERROR_LENGTH,
			  "there is no drive '%s'; see /sys/block/ssd*", strim(name));
		return -ENODEV;
	}
	if (disk_openers(device->disk)) {
		scnprintf(error, ERROR_LENGTH,
			  "drive '%s' is in use; unmount it or close what is stacked on it",
			  device->host.drive->profile.name);
		return -EBUSY;
	}
	remove_device(device);
	return 0;
}

static ssize_t control(int (*operation)(const char *text, char *error), const char *text,
		       size_t count)
{
	char error[ERROR_LENGTH] = "";
	int r;

	mutex_lock(&control_mutex);
	r = operation(text, error);
	mutex_unlock(&control_mutex);
	return conclude(r, error, count);
}

static ssize_t add_store(struct kobject *object, struct kobj_attribute *attribute,
			 const char *text, size_t count)
{
	return control(add_device, text, count);
}

static ssize_t remove_store(struct kobject *object, struct kobj_attribute *attribute,
			    const char *text, size_t count)
{
	return control(remove_by_name, text, count);
}

static ssize_t last_error_show(struct kobject *object, struct kobj_attribute *attribute,
			       char *text)
{
	ssize_t length;

	mutex_lock(&error_mutex);
	length = sysfs_emit(text, "%s\n", last_error);
	mutex_unlock(&error_mutex);
	return length;
}

static struct kobj_attribute add_attribute = __ATTR_WO(add);
static struct kobj_attribute remove_attribute = __ATTR_WO(remove);
static struct kobj_attribute last_error_attribute = __ATTR_RO(last_error);

static struct attribute *control_attributes[] = {
	&add_attribute.attr,
	&remove_attribute.attr,
	&last_error_attribute.attr,
	NULL,
};

static const struct attribute_group control_group = {
	.attrs = control_attributes,
};

static struct ssdsim_device *to_device(struct device *device)
{
	return dev_to_disk(device)->private_data;
}

static ssize_t stats_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct ssdsim_device *device = to_device(dev);
	unsigned long flags;
	int used;

	spin_lock_irqsave(&device->lock, flags);
	used = ssd_host_print(&device->host, text, PAGE_SIZE);
	spin_unlock_irqrestore(&device->lock, flags);
	return used;
}

static ssize_t reset_store(struct device *dev, struct device_attribute *attribute,
			   const char *text, size_t count)
{
	struct ssdsim_device *device = to_device(dev);
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	ssd_host_reset_counters(&device->host);
	spin_unlock_irqrestore(&device->lock, flags);
	return count;
}

static ssize_t profile_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return ssd_profile_print(&to_device(dev)->host.drive->profile, text, PAGE_SIZE);
}

static ssize_t power_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct ssdsim_device *device = to_device(dev);
	unsigned long flags;
	int used;

	spin_lock_irqsave(&device->lock, flags);
	used = ssd_power_print(&device->host.power, text, PAGE_SIZE);
	spin_unlock_irqrestore(&device->lock, flags);
	return used;
}

static int power_command(struct ssdsim_device *device, const char *text, char *error)
{
	if (sysfs_streq(text, "on")) {
		ssdsim_power_on(device);
		return 0;
	}
	if (sysfs_streq(text, "off"))
		text = "cut now";
	return ssdsim_power_control(device, text, error, ERROR_LENGTH);
}

static ssize_t power_store(struct device *dev, struct device_attribute *attribute,
			   const char *text, size_t count)
{
	struct ssdsim_device *device = to_device(dev);
	char error[ERROR_LENGTH] = "";
	int r;

	mutex_lock(&device->control);
	r = power_command(device, text, error);
	mutex_unlock(&device->control);
	return conclude(r, error, count);
}

static ssize_t faults_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct ssdsim_device *device = to_device(dev);
	unsigned long flags;
	int used;

	spin_lock_irqsave(&device->lock, flags);
	used = ssd_faults_print(&device->host.faults, text, PAGE_SIZE);
	spin_unlock_irqrestore(&device->lock, flags);
	return used;
}

static ssize_t faults_store(struct device *dev, struct device_attribute *attribute,
			    const char *text, size_t count)
{
	struct ssdsim_device *device = to_device(dev);
	char error[ERROR_LENGTH] = "";
	unsigned long flags;
	int r;

	spin_lock_irqsave(&device->lock, flags);
	r = ssd_faults_control(&device->host.faults, device->host.drive->geometry.sectors, text,
			       error, ERROR_LENGTH);
	spin_unlock_irqrestore(&device->lock, flags);
	return conclude(r, error, count);
}

static DEVICE_ATTR_RO(stats);
static DEVICE_ATTR_WO(reset);
static DEVICE_ATTR_RO(profile);
static DEVICE_ATTR_RW(power);
static DEVICE_ATTR_RW(faults);

static struct attribute *disk_attributes[] = {
	&dev_attr_stats.attr,
	&dev_attr_reset.attr,
	&dev_attr_profile.attr,
	&dev_attr_power.attr,
	&dev_attr_faults.attr,
	NULL,
};

static const struct attribute_group disk_group = {
	.name = "ssdsim",
	.attrs = disk_attributes,
};

const struct attribute_group *ssdsim_disk_groups[] = {
	&disk_group,
	NULL,
};

int ssdsim_control_init(void)
{
	int r;

	control_directory = kobject_create_and_add("ssdsim", kernel_kobj);
	if (!control_directory)
		return -ENOMEM;
	r = sysfs_create_group(control_directory, &control_group);
	if (r)
		kobject_put(control_directory);
	return r;
}

void ssdsim_control_exit(void)
{
	struct ssdsim_device *device, *next;

	kobject_put(control_directory);
	mutex_lock(&control_mutex);
	list_for_each_entry_safe(device, next, &devices, list)
		remove_device(device);
	mutex_unlock(&control_mutex);
}
