// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control files of the emulated SSD:
 *   /sys/kernel/ssdsim/add         write: a profile; makes /dev/<name>
 *   /sys/kernel/ssdsim/remove      write: a name
 *   /sys/kernel/ssdsim/last_error  read: why the last write failed, one sentence
 *   /sys/block/<name>/ssdsim/stats    read: counters, "key value" lines
 *   /sys/block/<name>/ssdsim/reset    write anything: counters start from zero
 *   /sys/block/<name>/ssdsim/profile  read: the profile, as "add" takes it
 */
#include <linux/blkdev.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "ssdsim.h"

#define ERROR_LENGTH	256

/* Covers the list of devices and the last error. */
static DEFINE_MUTEX(control_mutex);
static LIST_HEAD(devices);
static char last_error[ERROR_LENGTH];
static struct kobject *control_directory;

static struct ssdsim_device *find_device(const char *name)
{
	struct ssdsim_device *device;

	list_for_each_entry(device, &devices, list) {
		if (!strcmp(device->drive->profile.name, name))
			return device;
	}
	return NULL;
}

/* Another driver's disk of the same name would make the kernel complain loudly. */
static int check_name(const char *name)
{
	if (strncmp(name, "ssd", 3)) {
		scnprintf(last_error, ERROR_LENGTH,
			  "name=%s could be another driver's disk; begin it with 'ssd'", name);
		return -EINVAL;
	}
	if (find_device(name)) {
		scnprintf(last_error, ERROR_LENGTH,
			  "drive '%s' exists; remove it first or choose another name", name);
		return -EEXIST;
	}
	return 0;
}

static int add_device(const char *text)
{
	struct ssdsim_device *device;
	struct ssd_profile profile;
	int r;

	ssd_profile_init(&profile);
	r = ssd_profile_parse(&profile, text, last_error, ERROR_LENGTH);
	if (r)
		return r;
	r = check_name(profile.name);
	if (r)
		return r;
	device = ssdsim_device_create(&profile, last_error, ERROR_LENGTH);
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

static int remove_by_name(const char *text)
{
	char name[SSD_NAME_LENGTH + 2];
	struct ssdsim_device *device;

	strscpy(name, text, sizeof(name));
	device = find_device(strim(name));
	if (!device) {
		scnprintf(last_error, ERROR_LENGTH,
			  "there is no drive '%s'; see /sys/block/ssd*", strim(name));
		return -ENODEV;
	}
	if (disk_openers(device->disk)) {
		scnprintf(last_error, ERROR_LENGTH,
			  "drive '%s' is in use; unmount it or close what is stacked on it",
			  device->drive->profile.name);
		return -EBUSY;
	}
	remove_device(device);
	return 0;
}

/* Run one control operation and keep its error for last_error. */
static ssize_t control(int (*operation)(const char *text), const char *text, size_t count)
{
	int r;

	mutex_lock(&control_mutex);
	last_error[0] = '\0';
	r = operation(text);
	if (r)
		pr_err("ssdsim: %s\n", last_error);
	mutex_unlock(&control_mutex);
	return r ? r : count;
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

	mutex_lock(&control_mutex);
	length = sysfs_emit(text, "%s\n", last_error);
	mutex_unlock(&control_mutex);
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
	used = ssd_drive_print(device->drive, text, PAGE_SIZE);
	used += scnprintf(text + used, PAGE_SIZE - used, "store_bytes %llu\n",
			  (unsigned long long)ssd_store_bytes(device->store));
	spin_unlock_irqrestore(&device->lock, flags);
	return used;
}

static ssize_t reset_store(struct device *dev, struct device_attribute *attribute,
			   const char *text, size_t count)
{
	struct ssdsim_device *device = to_device(dev);
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	ssd_drive_reset_counters(device->drive);
	spin_unlock_irqrestore(&device->lock, flags);
	return count;
}

static ssize_t profile_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return ssd_profile_print(&to_device(dev)->drive->profile, text, PAGE_SIZE);
}

static DEVICE_ATTR_RO(stats);
static DEVICE_ATTR_WO(reset);
static DEVICE_ATTR_RO(profile);

static struct attribute *disk_attributes[] = {
	&dev_attr_stats.attr,
	&dev_attr_reset.attr,
	&dev_attr_profile.attr,
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
