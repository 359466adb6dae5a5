// SPDX-License-Identifier: GPL-2.0-only
/* Is a block device or file in use, also by way of loop devices?  See blkdev.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "dm/blkdev-users.h"
#include "dm/blkdev.h"

/* Loops over the device of @folder in sysfs. */
static int check_loops_on(const char *folder, struct failure *failure)
{
	const char *name = strrchr(folder, '/');
	unsigned int number_major, number_minor;
	struct backing backing = { .rdev = 0 };
	char path[PATH_MAX + 16], text[NAME_MAX + 16];
	FILE *file;
	int fields;

	snprintf(path, sizeof(path), "%s/dev", folder);
	file = fopen(path, "re");
	if (!file)
		return 0;
	fields = fscanf(file, "%u:%u", &number_major, &number_minor);
	fclose(file);
	if (fields != 2)
		return 0;
	backing.rdev = makedev(number_major, number_minor);
	snprintf(text, sizeof(text), "/dev/%.255s", name ? name + 1 : folder);
	return loops_above(&backing, text, failure);
}

/* Loops over the device, over its partitions, and over the disk that it is a partition of. */
static int check_loops(char *folder, struct failure *failure)
{
	char path[PATH_MAX + NAME_MAX + 16];
	struct dirent *entry;
	int code = check_loops_on(folder, failure);
	DIR *parts = opendir(folder);

	while (!code && parts && (entry = readdir(parts))) {
		if (entry->d_name[0] == '.' || !users_is_partition(folder, entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		code = check_loops_on(path, failure);
	}
	if (parts)
		closedir(parts);
	snprintf(path, sizeof(path), "%s/partition", folder);
	if (!code && !access(path, F_OK)) {
		*strrchr(folder, '/') = '\0';
		code = check_loops_on(folder, failure);
	}
	return code;
}

static int check_block_device(dev_t number, bool ressd_may, struct failure *failure)
{
	char folder[PATH_MAX];
	int code = users_of_device(number, ressd_may, failure);

	if (!code)
		code = users_folder(number, folder, failure);
	if (!code)
		code = check_loops(folder, failure);
	return code ? code : loops_below(number, failure);
}

int blkdev_check_for_ressd(const struct blkdev *dev, struct failure *failure)
{
	if (dev->is_file)
		return fail(failure, -EINVAL,
			    "%s is a file, and a ressd device stands on block devices; attach it with losetup -f --show, and name the loop device",
			    dev->path);
	return check_block_device(makedev(dev->major, dev->minor), true, failure);
}

int blkdev_check_unused(const struct blkdev *dev, struct failure *failure)
{
	struct backing backing;
	struct stat status;
	int code;

	if (!dev->is_file)
		return check_block_device(makedev(dev->major, dev->minor), false, failure);
	if (stat(dev->path, &status))
		return fail(failure, -errno, "cannot find %s: %s", dev->path, strerror(errno));
	backing = (struct backing) { .dev = status.st_dev, .inode = status.st_ino };
	code = loops_above(&backing, dev->path, failure);
	return code ? code : users_of_swap_file(&backing, dev->path, failure);
}
