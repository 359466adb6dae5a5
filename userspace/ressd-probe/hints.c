// SPDX-License-Identifier: GPL-2.0-only
/* Hints from sysfs; see hints.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hints.h"

static const char *const names[] = {
	"device/vendor", "device/model", "device/name", "device/type", "device/serial",
	"device/manfid", "device/date", "device/preferred_erase_size", "device/erase_size",
	"device/life_time", "device/pre_eol_info", "device/rel_sectors", "device/cmdq_en",
	"device/rev", "queue/fua", "queue/max_hw_sectors_kb", "queue/discard_max_bytes",
	"queue/rotational", "queue/zoned", "queue/write_cache",
	"queue/logical_block_size", "queue/physical_block_size", "queue/minimum_io_size",
	"queue/optimal_io_size", "queue/chunk_sectors", "queue/max_sectors_kb",
	"queue/discard_granularity", "queue/scheduler", "mq/0/nr_tags", "mq/1/nr_tags",
};

static bool read_line(const char *path, char *value, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length;
	bool good;

	if (!file)
		return false;
	good = fgets(value, size, file);
	fclose(file);
	if (!good)
		return false;
	for (length = strlen(value); length && (value[length - 1] == '\n' ||
						value[length - 1] == ' '); length--)
		value[length - 1] = '\0';
	return length;
}

/* Folder of the disk in sysfs; of a partition, that of its disk. */
static bool disk_folder(const struct blkdev *dev, char *folder)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev->major, dev->minor);
	if (dev->is_file || !realpath(path, folder))
		return false;
	snprintf(path, sizeof(path), "%s/partition", folder);
	if (!access(path, F_OK))
		*strrchr(folder, '/') = '\0';
	return true;
}

const char *backing_name(enum backing backing)
{
	static const char *const words[] = {
		[BACKING_DRIVE] = "drive", [BACKING_MEMORY] = "memory", [BACKING_FILE] = "file",
	};

	return words[backing];
}

static enum backing backing_of(const char *folder)
{
	const char *name = strrchr(folder, '/') + 1;

	if (!strncmp(name, "zram", 4) || !strncmp(name, "ram", 3))
		return BACKING_MEMORY;
	return strncmp(name, "loop", 4) ? BACKING_DRIVE : BACKING_FILE;
}

static u64 partition_start(const struct blkdev *dev)
{
	char path[64], value[32];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/start", dev->major, dev->minor);
	return read_line(path, value, sizeof(value)) ? strtoull(value, NULL, 10) * 512 : 0;
}

bool hints_one_at_a_time(const struct hints *hints)
{
	const char *depth = hints_get(hints, "device/queue_depth");
	const char *type = hints_get(hints, "device/type");
	const char *queue = hints_get(hints, "device/cmdq_en");
	const char *tags = hints_get(hints, "mq/0/nr_tags");

	if (depth)
		return !strcmp(depth, "1");
	if (type && (!strcmp(type, "SD") || !strcmp(type, "MMC")))
		return !queue || !strcmp(queue, "0");
	return tags && !strcmp(tags, "1") && !hints_get(hints, "mq/1/nr_tags");
}

void hints_read(const struct blkdev *dev, struct hints *hints)
{
	char folder[PATH_MAX], path[PATH_MAX + 64];
	const char *value;
	size_t i;

	memset(hints, 0, sizeof(*hints));
	if (dev->is_file)
		hints->backing = BACKING_FILE;
	if (!disk_folder(dev, folder))
		return;
	hints->backing = backing_of(folder);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hint *hint = &hints->hint[hints->count];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (!read_line(path, hint->value, sizeof(hint->value)))
			continue;
		hint->name = names[i];
		hints->count++;
	}
	hints_ask_device(dev, folder, hints);
	hints->start = partition_start(dev);
	value = hints_get(hints, "queue/max_sectors_kb");
	hints->max_request_bytes = value ? strtoul(value, NULL, 10) * 1024 : 0;
	value = hints_get(hints, "queue/rotational");
	hints->rotational = value && !strcmp(value, "1");
	value = hints_get(hints, "queue/zoned");
	hints->zoned = value && strcmp(value, "none");
	value = hints_get(hints, "queue/discard_max_bytes");
	hints->takes_discards = value && strcmp(value, "0");
	hints->one_at_a_time = hints_one_at_a_time(hints);
}
