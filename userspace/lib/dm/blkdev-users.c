// SPDX-License-Identifier: GPL-2.0-only
/* Who uses a block device or its partitions: mounts, swap, holders; see blkdev-users.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "dm/blkdev-users.h"
#include "dm/ressd-dm.h"

/* One device to look for: the disk itself or one of its partitions. */
struct candidate {
	unsigned int major;
	unsigned int minor;
	char name[NAME_MAX + 1];	/* "sda1" */
};

static bool is_device(const struct candidate *candidate, const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISBLK(status.st_mode) &&
	       major(status.st_rdev) == candidate->major &&
	       minor(status.st_rdev) == candidate->minor;
}

/*
 * mountinfo: id parent major:minor root mountpoint options [tags] - type source super-options.
 * btrfs shows a number of its own, so the source is compared as well.
 */
static int check_mounts(const struct candidate *candidate, struct failure *failure)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[8192], point[4096], source[4096];
	unsigned int number_major, number_minor;
	int code = 0;

	if (!file)
		return fail(failure, -errno, "cannot read /proc/self/mountinfo: %s",
			    strerror(errno));
	while (!code && fgets(line, sizeof(line), file)) {
		char *tail = strstr(line, " - ");

		if (sscanf(line, "%*s %*s %u:%u %*s %4095s", &number_major, &number_minor,
			   point) != 3)
			continue;
		if (!tail || sscanf(tail, " - %*s %4095s", source) != 1)
			source[0] = '\0';
		if ((number_major == candidate->major && number_minor == candidate->minor) ||
		    is_device(candidate, source))
			code = fail(failure, -EBUSY,
				    "/dev/%s is mounted on %s; unmount it first", candidate->name,
				    point);
	}
	fclose(file);
	return code;
}

static int check_swap(const struct candidate *candidate, struct failure *failure)
{
	FILE *file = fopen("/proc/swaps", "re");
	char line[8192], path[4096];
	int code = 0;

	if (!file)
		return 0;	/* a kernel without swap */
	while (!code && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%4095s", path) == 1 && is_device(candidate, path))
			code = fail(failure, -EBUSY,
				    "/dev/%s is swap space in use; run swapoff /dev/%s first",
				    candidate->name, candidate->name);
	}
	fclose(file);
	return code;
}

/* Is the holder @name of the device in @folder a ressd device?  Its UUID tells. */
static bool is_ressd(const char *folder, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 32], prefix[sizeof(DM_UUID_PREFIX)];
	FILE *file;
	bool found;

	snprintf(path, sizeof(path), "%s/holders/%s/dm/uuid", folder, name);
	file = fopen(path, "re");
	found = file && fgets(prefix, sizeof(prefix), file) && !strcmp(prefix, DM_UUID_PREFIX);
	if (file)
		fclose(file);
	return found;
}

/* @ressd_may: another ressd device may use it as well. */
static int check_holders(const struct candidate *candidate, const char *folder, bool ressd_may,
			 struct failure *failure)
{
	char path[PATH_MAX + 16];
	struct dirent *entry;
	int code = 0;
	DIR *holders;

	snprintf(path, sizeof(path), "%s/holders", folder);
	holders = opendir(path);
	if (!holders)
		return 0;
	while (!code && (entry = readdir(holders)))
		if (entry->d_name[0] != '.' && !(ressd_may && is_ressd(folder, entry->d_name)))
			code = fail(failure, -EBUSY,
				    "/dev/%s is in use: /dev/%s is built on it; remove that device first",
				    candidate->name, entry->d_name);
	closedir(holders);
	return code;
}

static int check_candidate(const char *folder, bool ressd_may, struct failure *failure)
{
	struct candidate candidate;
	char path[PATH_MAX + 16];
	const char *name = strrchr(folder, '/');
	FILE *file;
	int fields, code;

	snprintf(candidate.name, sizeof(candidate.name), "%s", name ? name + 1 : folder);
	snprintf(path, sizeof(path), "%s/dev", folder);
	file = fopen(path, "re");
	if (!file)
		return 0;
	fields = fscanf(file, "%u:%u", &candidate.major, &candidate.minor);
	fclose(file);
	if (fields != 2)
		return 0;
	code = check_mounts(&candidate, failure);
	if (!code)
		code = check_swap(&candidate, failure);
	if (!code)
		code = check_holders(&candidate, folder, ressd_may, failure);
	return code;
}

bool users_is_partition(const char *disk, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s/partition", disk, name);
	return !access(path, F_OK);
}

static int check_partitions(const char *disk, struct failure *failure)
{
	char path[PATH_MAX + NAME_MAX + 16];
	struct dirent *entry;
	DIR *folder = opendir(disk);
	int code = 0;

	if (!folder)
		return 0;
	while (!code && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || !users_is_partition(disk, entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", disk, entry->d_name);
		code = check_candidate(path, false, failure);
	}
	closedir(folder);
	return code;
}

int users_folder(dev_t number, char *folder, struct failure *failure)
{
	char link[64];

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(number), minor(number));
	if (realpath(link, folder))
		return 0;
	return fail(failure, -ENODEV,
		    "cannot find device %u:%u in /sys (%s): is sysfs mounted? Without it nobody can tell who uses the device",
		    major(number), minor(number), strerror(errno));
}

int users_of_device(dev_t number, bool ressd_may, struct failure *failure)
{
	char folder[PATH_MAX];
	int code = users_folder(number, folder, failure);

	if (!code)
		code = check_candidate(folder, ressd_may, failure);
	if (!code)
		code = check_partitions(folder, failure);
	return code;
}

int users_of_swap_file(const struct backing *backing, const char *name, struct failure *failure)
{
	FILE *file = fopen("/proc/swaps", "re");
	char line[8192], path[4096];
	struct stat status;
	int code = 0;

	if (!file)
		return 0;	/* a kernel without swap */
	while (!code && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%4095s", path) == 1 && !stat(path, &status) &&
		    S_ISREG(status.st_mode) && status.st_dev == backing->dev &&
		    status.st_ino == backing->inode)
			code = fail(failure, -EBUSY,
				    "%s is swap space in use; run swapoff %s first", name, path);
	}
	fclose(file);
	return code;
}
