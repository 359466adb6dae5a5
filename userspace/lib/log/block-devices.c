// SPDX-License-Identifier: GPL-2.0-only
/* Block devices of the machine; see block-devices.h. */
#include <blkid.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "log/area.h"
#include "log/block-devices.h"

/* A line KEY=VALUE of a sysfs file. */
static bool read_key(const char *file, const char *key, char *value, size_t size)
{
	const size_t length = strlen(key);
	FILE *stream = fopen(file, "re");
	char line[PATH_MAX];
	bool found = false;

	while (stream && !found && fgets(line, sizeof(line), stream)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, key, length) && line[length] == '=' &&
			snprintf(value, size, "%s", line + length + 1) < (int)size;
	}
	if (stream)
		fclose(stream);
	return found;
}

static bool path_of(const char *uevent, char path[PATH_MAX])
{
	char name[256];

	if (!read_key(uevent, "DEVNAME", name, sizeof(name)))
		return false;
	snprintf(path, PATH_MAX, "/dev/%s", name);
	return true;
}

bool block_device_path(const char *number, char path[PATH_MAX])
{
	char uevent[PATH_MAX];

	return snprintf(uevent, sizeof(uevent), "/sys/dev/block/%.40s/uevent", number) > 0 &&
	       path_of(uevent, path);
}

/* Without opening it: a drive without a medium would make a noise, and take its time. */
static bool has_size(const char *name)
{
	char file[PATH_MAX], text[32] = "";
	FILE *stream;

	snprintf(file, sizeof(file), "/sys/class/block/%s/size", name);
	stream = fopen(file, "re");
	if (stream && !fgets(text, sizeof(text), stream))
		text[0] = '\0';
	if (stream)
		fclose(stream);
	return strtoull(text, NULL, 10);
}

static bool look(const char *name, struct blkdev *dev, struct ressd_super_info *info)
{
	char uevent[PATH_MAX], path[PATH_MAX];
	struct failure failure;
	int found;

	snprintf(uevent, sizeof(uevent), "/sys/class/block/%s/uevent", name);
	if (!has_size(name) || !path_of(uevent, path))
		return false;
	found = blkdev_open(dev, path, BLKDEV_READ, &failure);
	if (!found) {
		found = area_find(dev, info, &failure);
		blkdev_close(dev);
	}
	/*
	 * Not of a drive for disks that has none, and yet says a size, nor of what a container has
	 * no node of.
	 */
	if (found < 0 && found != -ENOMEDIUM && found != -ENXIO && found != -ENOENT)
		fprintf(stderr, "ressdctl: warning: %s.\n", failure.text);
	return found > 0;
}

void block_devices_with_areas(void (*visit)(void *context, const struct blkdev *dev,
					    const struct ressd_super_info *info), void *context)
{
	struct ressd_super_info info;
	struct dirent **names;
	struct blkdev dev;
	int i, nr = scandir("/sys/class/block", &names, NULL, versionsort);

	for (i = 0; i < nr; i++) {
		if (names[i]->d_name[0] != '.' && look(names[i]->d_name, &dev, &info))
			visit(context, &dev, &info);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

struct wanted {
	const char *uuid;
	char *path;
	int nr;
};

static void compare(void *context, const struct blkdev *dev, const struct ressd_super_info *info)
{
	struct wanted *wanted = context;
	char uuid[UUID_TEXT];

	if (strcasecmp(uuid_print(info->uuid, uuid), wanted->uuid))
		return;
	snprintf(wanted->path, PATH_MAX, "%s", dev->path);
	wanted->nr++;
}

/* All that libblkid knows by the tag: blkid_evaluate_spec() would take any of them. */
static void find_by_tag(struct wanted *wanted, const char *text)
{
	char *type = NULL, *value = NULL;
	blkid_dev_iterate devices = NULL;
	blkid_cache cache = NULL;
	bool searches = false;
	blkid_dev dev;

	/* Its file may have devices that are gone. */
	if (!blkid_parse_tag_string(text, &type, &value) &&
	    !blkid_get_cache(&cache, "/dev/null") && !blkid_probe_all(cache))
		devices = blkid_dev_iterate_begin(cache);
	if (devices)
		searches = !blkid_dev_set_search(devices, type, value);
	while (searches && !blkid_dev_next(devices, &dev)) {
		snprintf(wanted->path, PATH_MAX, "%s", blkid_dev_devname(dev));
		wanted->nr++;
	}
	if (devices)
		blkid_dev_iterate_end(devices);
	if (cache)
		blkid_put_cache(cache);
	free(type);
	free(value);
}

int block_device_find(const char *text, char path[PATH_MAX], struct failure *failure)
{
	struct wanted wanted = { .path = path };
	char *found;

	if (!strncmp(text, "UUID=", 5)) {
		wanted.uuid = text + 5;
		block_devices_with_areas(compare, &wanted);
	} else if (strncmp(text, "LABEL=", 6) && !strchr(text, '/')) {
		find_by_tag(&wanted, text);
	}
	if (wanted.nr > 1)
		return fail(failure, -EEXIST,
			    "%d devices have the %s%s; name the device by its path",
			    wanted.nr, text,
			    strncmp(text, "PARTLABEL=", 10) ? ", so one is a copy" : "");
	if (wanted.nr)
		return 0;
	/* libblkid finds a file system on a drained device, and not when it is covered. */
	if (!strncmp(text, "UUID=", 5) || !strncmp(text, "LABEL=", 6))
		return fail(failure, -ENODEV,
			    "no device has the %s; give the UUID of its reserved area, as ressdctl list shows it, or PARTUUID=: UUID and label of a file system are covered while the log holds data",
			    text);
	if (!strchr(text, '=') || strchr(text, '/')) {
		snprintf(path, PATH_MAX, "%s", text);
		return 0;
	}
	/* By a link of udev, where libblkid cannot tell what is on the device. */
	found = blkid_evaluate_spec(text, NULL);
	if (!found)
		return fail(failure, -ENODEV, "no device has the %s; ressdctl list shows those with a reserved area",
			    text);
	snprintf(path, PATH_MAX, "%s", found);
	free(found);
	return 0;
}
