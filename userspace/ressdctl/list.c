// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl list: the devices that are active, and the reserved areas of those that are not. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/json-stream.h"
#include "cli/size.h"
#include "dm/ressd-dm.h"
#include "log/area.h"
#include "log/block-devices.h"
#include "log/covers.h"
#include "log/stored-options.h"
#include "ressdctl.h"

#define LIST_SCHEMA	1	/* of the JSON; ressdctl(8) describes it */
#define MAX_ACTIVE	256

/* The reserved area of an active device: not to be listed again. */
struct used_area {
	char path[PATH_MAX];
	u64 start;		/* sectors */
};

struct list {
	bool json;
	bool udev;		/* properties for the udev rule, of one device */
	struct used_area used[MAX_ACTIVE];
	unsigned int nr_used;
};

static void put_line(const char *name, const char *state, const char *device, u64 sectors,
		     const char *rest)
{
	char size[SIZE_TEXT];

	printf("%-16s %-8s %-20s %10s  %s\n", name, state, device,
	       size_print(sectors * 512, size), rest);
}

/* The kernel shows devices by number. */
static const char *path_of(const char *number, char path[PATH_MAX])
{
	if (!block_device_path(number, path))
		snprintf(path, PATH_MAX, "%s", number);
	return path;
}

static void note_used(struct list *list, const char *path, u64 start)
{
	struct used_area *used = &list->used[list->nr_used];

	if (list->nr_used == MAX_ACTIVE)
		return;
	snprintf(used->path, sizeof(used->path), "%s", path);
	used->start = start;
	list->nr_used++;
}

static void show_active(void *context, const char *name)
{
	char text[TABLE_LINE_TEXT], normal[PATH_MAX], reserved[PATH_MAX], rest[80 + UUID_TEXT];
	char uuid[UUID_TEXT];
	struct ressd_status status;
	struct list *list = context;
	struct table_line line;
	struct failure failure;

	if (ressd_dm_table(name, text, &failure) || table_line_parse(&line, text, &failure) ||
	    ressd_dm_status(name, &status, &failure) ||
	    ressd_dm_uuid(name, uuid, sizeof(uuid), &failure)) {
		fprintf(stderr, "ressdctl: warning: %s: %s.\n", name, failure.text);
		return;
	}
	path_of(line.normal_path, normal);
	note_used(list, path_of(line.reserved_path, reserved), line.table.reserved_start);
	if (!list->json) {
		snprintf(rest, sizeof(rest), "%s  %llu of %llu blocks not yet moved",
			 *uuid ? uuid : "(no UUID)", status.dirty_blocks, status.total_blocks);
		put_line(name, status.state, normal, line.table.len, rest);
		return;
	}
	json_open(NULL, '{');
	json_string("name", name);
	json_string("state", status.state);
	json_string("normal_device", normal);
	json_string("reserved_device", reserved);
	if (*uuid)
		json_string("uuid", uuid);
	json_number("normal_sectors", line.table.len);
	json_number("reserved_sectors", line.table.reserved_sectors);
	json_number("dirty_blocks", status.dirty_blocks);
	json_number("total_blocks", status.total_blocks);
	json_close();
}

static bool is_used(const struct list *list, const char *path, u64 start)
{
	unsigned int i;

	for (i = 0; i < list->nr_used; i++)
		if (list->used[i].start == start && !strcmp(list->used[i].path, path))
			return true;
	return false;
}

static void show_closed(void *context, const struct blkdev *dev,
			const struct ressd_super_info *info)
{
	struct list *list = context;
	char uuid[UUID_TEXT];

	if (is_used(list, dev->path, info->table.reserved_start))
		return;
	uuid_print(info->uuid, uuid);
	if (list->udev) {
		printf("ID_FS_TYPE=ressd_member\nID_FS_USAGE=other\nID_FS_UUID=%s\nID_FS_UUID_ENC=%s\n",
		       uuid, uuid);
		return;
	}
	if (!list->json) {
		put_line("-", "closed", dev->path, info->table.len, uuid);
		return;
	}
	json_open(NULL, '{');
	json_string("state", "closed");
	json_string("reserved_device", dev->path);
	json_string("uuid", uuid);
	json_number("normal_sectors", info->table.len);
	json_number("reserved_sectors", info->table.reserved_sectors);
	if (info->devices)
		json_number("devices", info->devices);
	if (stored_options_are_text(info))
		json_string("options", info->options);
	json_close();
}

/* Without device-mapper there is nothing active. */
static int show_all(struct list *list, struct failure *failure)
{
	int code = access("/dev/mapper/control", F_OK) ? 0 :
		   ressd_dm_list(show_active, list, failure);

	if (!code)
		block_devices_with_areas(show_closed, list);
	return code;
}

/*
 * A normal area whose log is on another device is known by its covers only.  That one has the UUID.
 */
static int show_covered(const struct blkdev *dev, struct failure *failure)
{
	struct covers covers;
	char uuid[UUID_TEXT];
	int code = covers_find(dev, 0, RESSD_BLOCK_SECTORS, &covers, failure);

	if (!code && covers.sectors)
		printf("ID_FS_TYPE=ressd_member\nID_FS_USAGE=other\nRESSD_NORMAL_OF=%s\n",
		       uuid_print(covers.uuid, uuid));
	return code;
}

static int show_named(struct list *list, int argc, char **argv, struct failure *failure)
{
	struct ressd_super_info info;
	struct blkdev dev;
	int i, found = 0;

	for (i = 0; i < argc && found >= 0; i++) {
		found = blkdev_open(&dev, argv[i], BLKDEV_READ, failure);
		if (found)
			continue;
		found = area_find(&dev, &info, failure);
		if (!found && list->udev)
			found = show_covered(&dev, failure);
		blkdev_close(&dev);
		if (found > 0)
			show_closed(list, &dev, &info);
	}
	return found < 0 ? found : 0;
}

int command_list(int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "udev", no_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static struct list list;
	int option, code;

	while ((option = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		if (option == 'j')
			list.json = true;
		else if (option == 'u')
			list.udev = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	if (list.udev && argc - optind != 1)
		return fail(failure, -EINVAL, "--udev needs one device");
	if (list.json) {
		json_open(NULL, '{');
		json_number("version", LIST_SCHEMA);
		json_open("devices", '[');
	}
	code = argc > optind ? show_named(&list, argc - optind, argv + optind, failure) :
	       show_all(&list, failure);
	if (list.json) {
		json_close();
		json_close();
	}
	return code;
}
