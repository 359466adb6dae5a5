// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loop devices, followed to what they stand on and from there upwards: the kernel takes neither for
 * a use.  Two ways to the same bytes, each with a cache of its own, destroy what they hold.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "dm/blkdev-users.h"

#define LOOP_MAJOR	7
#define DEPTH		8	/* loops over loops */

struct loop {
	char name[32];		/* "loop0" */
	dev_t number;
	struct backing backing;
	u64 offset, limit;	/* part of it; limit 0: to its end */
};

static bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	const bool good = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

static u64 read_number(const char *name, const char *attribute)
{
	char path[128], line[32];
	unsigned long long number = 0;

	snprintf(path, sizeof(path), "/sys/block/%s/loop/%s", name, attribute);
	if (read_line(path, line, sizeof(line)))
		sscanf(line, "%llu", &number);
	return number;
}

/* The kernel's own answer, where we may ask: a path may lead elsewhere by now. */
static bool ask_loop(struct loop *loop)
{
	struct loop_info64 info;
	char path[64];
	int fd, code;

	snprintf(path, sizeof(path), "/dev/%s", loop->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	code = ioctl(fd, LOOP_GET_STATUS64, &info);
	close(fd);
	if (code)
		return false;
	loop->backing = (struct backing) {
		.rdev = info.lo_rdevice, .dev = info.lo_device, .inode = info.lo_inode,
	};
	return true;
}

/* False if the loop device @name is not there or not attached. */
static bool read_loop(struct loop *loop, const char *name)
{
	char path[128], line[PATH_MAX];
	unsigned int loop_major, loop_minor;
	struct stat status;

	memset(loop, 0, sizeof(*loop));
	snprintf(loop->name, sizeof(loop->name), "%.31s", name);
	snprintf(path, sizeof(path), "/sys/block/%s/dev", loop->name);
	if (!read_line(path, line, sizeof(line)) ||
	    sscanf(line, "%u:%u", &loop_major, &loop_minor) != 2)
		return false;
	loop->number = makedev(loop_major, loop_minor);
	loop->offset = read_number(loop->name, "offset");
	loop->limit = read_number(loop->name, "sizelimit");
	snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", loop->name);
	if (!read_line(path, line, sizeof(line)))
		return false;
	if (ask_loop(loop))
		return true;
	if (stat(line, &status))
		return false;
	loop->backing = (struct backing) {
		.rdev = S_ISBLK(status.st_mode) ? status.st_rdev : 0,
		.dev = status.st_dev, .inode = status.st_ino,
	};
	return true;
}

bool same_backing(const struct backing *a, const struct backing *b)
{
	if (a->rdev || b->rdev)
		return a->rdev == b->rdev;
	return a->dev == b->dev && a->inode == b->inode;
}

static bool parts_meet(const struct loop *a, const struct loop *b)
{
	return (!a->limit || b->offset < a->offset + a->limit) &&
	       (!b->limit || a->offset < b->offset + b->limit);
}

/* @self, if any, is the loop device that is asked for. */
static int check_loop(const struct loop *loop, const struct loop *self,
		      const struct backing *backing, const char *name, struct failure *failure)
{
	struct failure user;

	if (!same_backing(&loop->backing, backing) ||
	    (self && (self->number == loop->number || !parts_meet(self, loop))))
		return 0;
	if (users_of_device(loop->number, false, &user))
		return fail(failure, -EBUSY, "%s is attached to /dev/%s, which is in use: %.700s",
			    name, loop->name, user.text);
	return fail(failure, -EBUSY,
		    "%s is attached to /dev/%s; name that device instead, or detach it first: losetup -d /dev/%s",
		    name, loop->name, loop->name);
}

static int check_all(const struct backing *backing, const struct loop *self, const char *name,
		     struct failure *failure)
{
	DIR *folder = opendir("/sys/block");
	struct dirent *entry;
	struct loop loop;
	int code = 0;

	if (!folder)
		return 0;	/* without sysfs block devices are refused as a whole */
	while (!code && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, "loop", 4) && read_loop(&loop, entry->d_name))
			code = check_loop(&loop, self, backing, name, failure);
	closedir(folder);
	return code;
}

int loops_above(const struct backing *backing, const char *name, struct failure *failure)
{
	return check_all(backing, NULL, name, failure);
}

static bool loop_of(dev_t number, struct loop *loop)
{
	char link[64], folder[PATH_MAX];
	const char *name;

	if (major(number) != LOOP_MAJOR)
		return false;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(number), minor(number));
	if (!realpath(link, folder))
		return false;
	name = strrchr(folder, '/') + 1;
	return read_loop(loop, name);
}

bool loop_backing(dev_t number, struct backing *backing, u64 *offset)
{
	struct loop loop;

	if (!loop_of(number, &loop))
		return false;
	*backing = loop.backing;
	*offset = loop.offset;
	return true;
}

int loops_below(dev_t number, struct failure *failure)
{
	struct loop loop;
	char name[64];
	int depth, code = 0;

	for (depth = 0; !code && depth < DEPTH && loop_of(number, &loop); depth++) {
		snprintf(name, sizeof(name), "what /dev/%s stands on", loop.name);
		code = check_all(&loop.backing, &loop, name, failure);
		if (!code && loop.backing.rdev)
			code = users_of_device(loop.backing.rdev, false, failure);
		else if (!code)
			code = users_of_swap_file(&loop.backing, name, failure);
		number = loop.backing.rdev;
	}
	return code;
}
