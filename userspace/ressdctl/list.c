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
#include "log/contents.h"
#include "log/covers.h"
#include "log/stored-options.h"
#include "ressdctl.h"

#define LIST_SCHEMA	1	/* of the JSON; ressdctl(8) describes it */
#define MAX_ACTIVE	256

/* The reserved area of an active device: it is not a closed one. */
struct used_area {
	char name[128];		/* of the active device */
	char path[PATH_MAX];
	u64 start;		/* sectors */
};

struct list {
	bool json;
	bool udev;		/* properties for the udev rule, of one device */
	char **links;		/* those of it that udev knows, below /dev, NULL at the end */
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

static void note_active(void *context, const char *name)
{
	struct list *list = context;
	struct used_area *used = &list->used[list->nr_used];
	char text[TABLE_LINE_TEXT];
	struct table_line line;
	struct failure failure;

	/* Who shows it tells what is wrong with it. */
	if (list->nr_used == MAX_ACTIVE || ressd_dm_table(name, text, &failure) ||
	    table_line_parse(&line, text, &failure))
		return;
	snprintf(used->name, sizeof(used->name), "%s", name);
	path_of(line.reserved_path, used->path);
	used->start = line.table.reserved_start;
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
	path_of(line.reserved_path, reserved);
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

static const struct used_area *find_used(const struct list *list, const char *path, u64 start)
{
	unsigned int i;

	for (i = 0; i < list->nr_used; i++)
		if (list->used[i].start == start && !strcmp(list->used[i].path, path))
			return &list->used[i];
	return NULL;
}

/* A member keeps the links that do not stem from what its first blocks look like. */
static void put_member(const struct list *list)
{
	char **link;

	printf("ID_FS_TYPE=ressd_member\nID_FS_USAGE=other\nRESSD_LINKS=");
	for (link = list->links; *link; link++)
		if (strncmp(*link, "disk/by-uuid/", 13) && strncmp(*link, "disk/by-label/", 14))
			printf("%s ", *link);
	putchar('\n');
}

static void show_closed(void *context, const struct blkdev *dev,
			const struct ressd_super_info *info)
{
	struct list *list = context;
	struct failure ignored;
	char uuid[UUID_TEXT];

	/* A file system that has grown over the log, or was made since, has its own names. */
	if (find_used(list, dev->path, info->table.reserved_start) ||
	    (list->udev && log_check_end(dev, info, &ignored) == -EEXIST))
		return;
	uuid_print(info->uuid, uuid);
	if (list->udev) {
		put_member(list);
		printf("ID_FS_UUID=%s\nID_FS_UUID_ENC=%s\n", uuid, uuid);
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
static bool has_device_mapper(void)
{
	return !access("/dev/mapper/control", F_OK);
}

static int show_all(struct list *list, struct failure *failure)
{
	int code = 0;

	if (has_device_mapper())
		code = ressd_dm_list(note_active, list, failure);
	if (!code && has_device_mapper())
		code = ressd_dm_list(show_active, list, failure);
	if (!code)
		block_devices_with_areas(show_closed, list);
	return code;
}

/*
 * A normal area whose log is on another device is known by its covers only.  That one has the UUID.
 */
static int show_covered(const struct list *list, const struct blkdev *dev,
			struct failure *failure)
{
	struct covers covers;
	char uuid[UUID_TEXT];
	int code = covers_find(dev, 0, RESSD_BLOCK_SECTORS, &covers, failure);

	if (!code && covers.sectors) {
		put_member(list);
		printf("RESSD_NORMAL_OF=%s\n", uuid_print(covers.uuid, uuid));
	}
	return code;
}

static int show_named(struct list *list, int argc, char **argv, struct failure *failure)
{
	const struct used_area *used;
	struct ressd_super_info info;
	struct blkdev dev;
	int i, found = 0, missing = 0;

	/* To udev the device is a member, whether it is active or not. */
	if (!list->udev && has_device_mapper())
		(void)ressd_dm_list(note_active, list, failure);
	for (i = 0; i < argc && found >= 0; i++) {
		found = blkdev_open(&dev, argv[i], BLKDEV_READ, failure);
		if (found)
			continue;
		found = area_find(&dev, &info, failure);
		if (found == -EPROTONOSUPPORT && list->udev)
			found = 0;	/* known by covers, or plain as far as this version knows */
		if (!found && list->udev)
			found = show_covered(list, &dev, failure);
		used = found > 0 ? find_used(list, dev.path, info.table.reserved_start) : NULL;
		if (used)
			show_active(list, used->name);
		else if (found > 0)
			show_closed(list, &dev, &info);
		else if (!found && !list->udev)
			missing = fail(failure, -ENODATA,
				       "no reserved area ends with %s or begins with it", argv[i]);
		blkdev_close(&dev);
	}
	return found < 0 ? found : missing;
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
	if (list.udev && argc == optind)
		return fail(failure, -EINVAL, "--udev needs one device");
	if (list.udev) {
		list.links = argv + optind + 1;
		argc = optind + 1;
	}
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
