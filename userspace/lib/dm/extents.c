// SPDX-License-Identifier: GPL-2.0-only
/* Where bytes of a device really are; see extents.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "dm/blkdev-users.h"
#include "dm/extents.h"
#include "dm/ressd-dm.h"

#define MAX_EXTENTS	256U
#define MAX_DEPTH	16U

struct extent {
	struct backing on;
	u64 start, bytes;
	bool anywhere;		/* of these bytes some, but nobody here knows which */
};

struct extents {
	struct extent list[MAX_EXTENTS];
	u32 nr;
};

/* A part of a device that is being followed. */
struct part {
	struct extents *extents;
	dev_t number;
	u64 start, bytes;
	u32 depth;
	bool anywhere;
};

static void follow(const struct part *part);

static void add(const struct part *part, const struct backing *on, u64 start)
{
	struct extents *extents = part->extents;

	if (extents->nr < MAX_EXTENTS)
		extents->list[extents->nr++] = (struct extent) {
			*on, start, part->bytes, part->anywhere,
		};
}

static void follow_to(const struct part *part, dev_t number, u64 start, u64 bytes)
{
	const struct part next = {
		part->extents, number, start, bytes, part->depth + 1, part->anywhere,
	};

	if (next.depth < MAX_DEPTH && bytes)
		follow(&next);
}

/* The first line of @name in the device's folder in sysfs. */
static bool read_sysfs(dev_t number, const char *name, char *line, size_t size)
{
	char path[128];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(number), minor(number), name);
	file = fopen(path, "re");
	good = file && fgets(line, size, file);
	if (file)
		fclose(file);
	return good;
}

static bool follow_partition(const struct part *part)
{
	unsigned int disk_major, disk_minor;
	unsigned long long start;
	char line[64];

	if (!read_sysfs(part->number, "partition", line, sizeof(line)) ||
	    !read_sysfs(part->number, "start", line, sizeof(line)) ||
	    sscanf(line, "%llu", &start) != 1 ||
	    !read_sysfs(part->number, "../dev", line, sizeof(line)) ||
	    sscanf(line, "%u:%u", &disk_major, &disk_minor) != 2)
		return false;
	follow_to(part, makedev(disk_major, disk_minor), start * 512 + part->start, part->bytes);
	return true;
}

static bool follow_loop(const struct part *part)
{
	struct backing backing;
	u64 offset;

	if (!loop_backing(part->number, &backing, &offset))
		return false;
	if (backing.rdev)
		follow_to(part, backing.rdev, offset + part->start, part->bytes);
	else
		add(part, &backing, offset + part->start);
	return true;
}

/* A disk, or a device that lies anywhere on those below it. */
static void stop_here(const struct part *part)
{
	const struct backing self = { .rdev = part->number };
	struct part below = *part;
	unsigned int slave_major, slave_minor;
	char path[128], name[NAME_MAX + 16], line[64];
	struct dirent *entry;
	DIR *folder;

	add(part, &self, part->start);
	below.anywhere = true;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/slaves", major(part->number),
		 minor(part->number));
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "slaves/%.255s/dev", entry->d_name);
		if (read_sysfs(part->number, name, line, sizeof(line)) &&
		    sscanf(line, "%u:%u", &slave_major, &slave_minor) == 2)
			follow_to(&below, makedev(slave_major, slave_minor), 0, ~0ULL >> 2);
	}
	if (folder)
		closedir(folder);
}

/* One target of a device-mapper device: only of linear ones it is known where they lead. */
static void follow_target(void *context, u64 start, u64 bytes, const char *type,
			  const char *parameters)
{
	const struct part *part = context;
	const u64 first = max_t(u64, start, part->start);
	const u64 end = min_t(u64, start + bytes, part->start + part->bytes);
	unsigned int target_major, target_minor;
	unsigned long long offset;

	if (first >= end)
		return;
	if (!strcmp(type, "linear") &&
	    sscanf(parameters, "%u:%u %llu", &target_major, &target_minor, &offset) == 3)
		follow_to(part, makedev(target_major, target_minor), offset * 512 + first - start,
			  end - first);
	else
		stop_here(part);
}

static bool follow_mapping(const struct part *part)
{
	char line[64];

	if (!read_sysfs(part->number, "dm/name", line, sizeof(line)))
		return false;
	if (ressd_dm_targets(part->number, follow_target, (void *)part))
		stop_here(part);
	return true;
}

static void follow(const struct part *part)
{
	if (!follow_partition(part) && !follow_loop(part) && !follow_mapping(part))
		stop_here(part);
}

static void find_extents(struct extents *extents, const struct blkdev *dev, u64 start, u64 bytes)
{
	struct backing backing = { .rdev = 0 };
	const struct part part = {
		extents, makedev(dev->major, dev->minor), start, bytes, 0, false,
	};
	struct stat status;

	extents->nr = 0;
	if (!dev->is_file) {
		follow(&part);
	} else if (!stat(dev->path, &status)) {
		backing.dev = status.st_dev;
		backing.inode = status.st_ino;
		add(&part, &backing, start);
	}
}

bool extents_meet(const struct blkdev *a, u64 a_start, u64 a_bytes, const struct blkdev *b,
		  u64 b_start, u64 b_bytes)
{
	static struct extents of_a, of_b;
	u32 i, j;

	find_extents(&of_a, a, a_start, a_bytes);
	find_extents(&of_b, b, b_start, b_bytes);
	for (i = 0; i < of_a.nr; i++)
		for (j = 0; j < of_b.nr; j++) {
			const struct extent *x = &of_a.list[i], *y = &of_b.list[j];

			if (same_backing(&x->on, &y->on) && !(x->anywhere && y->anywhere) &&
			    x->start < y->start + y->bytes && y->start < x->start + x->bytes)
				return true;
		}
	return false;
}
