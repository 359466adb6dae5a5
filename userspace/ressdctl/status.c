// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl status: the counters of a device. */
#include <errno.h>
#include <getopt.h>
#include <json.h>
#include <stdio.h>
#include <string.h>
#include "ressd-dm.h"
#include "ressdctl.h"
#include "size.h"
#include "words.h"

#define STATUS_SCHEMA	1	/* of the JSON; ressdctl(8) describes it */

static void add(struct json_object *object, const char *key, u64 value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static struct json_object *make_json(const char *name, const struct ressd_status *status)
{
	struct json_object *object = json_object_new_object();
	struct json_object *counters = json_object_new_object();
	unsigned int i;

	add(object, "version", STATUS_SCHEMA);
	json_object_object_add(object, "name", json_object_new_string(name));
	json_object_object_add(object, "state", json_object_new_string(status->state));
	add(object, "used_blocks", status->used_blocks);
	add(object, "total_blocks", status->total_blocks);
	add(object, "dirty_blocks", status->dirty_blocks);
	add(object, "mapped_blocks", status->mapped_blocks);
	for (i = 0; i < status->nr_counters; i++)
		add(counters, status->counters[i].key, status->counters[i].value);
	json_object_object_add(object, "counters", counters);
	return object;
}

static void print_json(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
	json_object_put(object);
}

static const char *state_words(const char *state)
{
	static const struct {
		const char *state;
		const char *words;
	} known[] = {
		{ "rw", "in service" },
		{ "bypass", "in service, new small writes go straight to the normal area" },
		{ "damaged", "in service, but some blocks cannot be moved out of the log" },
		{ "off", "a write of the log failed: flushes fail; see ressdctl recover" },
		{ "ro", "a flush failed: all writes fail; see ressdctl recover" },
		{ "Fail", "the device has lost data: all writes fail; see dmesg" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(state, known[i].state))
			return known[i].words;
	return "not known to this program";
}

static void print_blocks(const char *label, u64 blocks, u64 total)
{
	char size[SIZE_TEXT];

	printf("%-22s %llu block%s (%s, %llu %%)\n", label, blocks, plural(blocks),
	       size_print(blocks * 4096, size), total ? blocks * 100 / total : 0);
}

static void print_table(const char *name, const struct ressd_status *status)
{
	unsigned int i;

	printf("%-22s %s\n", "device", name);
	printf("%-22s %s (%s)\n", "state", status->state, state_words(status->state));
	print_blocks("log in use", status->used_blocks, status->total_blocks);
	print_blocks("not yet moved", status->dirty_blocks, status->total_blocks);
	print_blocks("mapped", status->mapped_blocks, status->total_blocks);
	for (i = 0; i < status->nr_counters; i++)
		printf("%-22s %llu\n", status->counters[i].key, status->counters[i].value);
}

struct shown {
	struct json_object *list;	/* NULL: as text */
	unsigned int nr;
	int code;
	struct failure failure;		/* of the last one that could not be shown */
};

static void show(void *context, const char *name)
{
	struct ressd_status status;
	struct shown *shown = context;
	int code = ressd_dm_status(name, &status, &shown->failure);

	if (code) {
		shown->code = code;
		return;
	}
	if (shown->list)
		json_object_array_add(shown->list, make_json(name, &status));
	else if (shown->nr)
		putchar('\n');
	if (!shown->list)
		print_table(name, &status);
	shown->nr++;
}

/* Without a name: all of them, which may be none. */
static int show_all(bool json, struct failure *failure)
{
	struct shown shown = { .list = json ? json_object_new_array() : NULL };
	struct json_object *object;
	int code = ressd_dm_list(show, &shown, failure);

	if (code) {
		json_object_put(shown.list);
		return code;
	}
	if (shown.code)
		code = fail(failure, shown.code, "%s", shown.failure.text);
	if (!json) {
		if (!code && !shown.nr)
			puts("no ressd device is active; ressdctl list shows the others");
		return code;
	}
	object = json_object_new_object();
	add(object, "version", STATUS_SCHEMA);
	json_object_object_add(object, "devices", shown.list);
	print_json(object);
	return code;
}

static int show_one(const char *name, bool json, struct failure *failure)
{
	struct ressd_status status;
	int code = ressd_dm_status(name, &status, failure);

	if (code)
		return code;
	if (json)
		print_json(make_json(name, &status));
	else
		print_table(name, &status);
	return 0;
}

int command_status(int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *name;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		if (option == 'j')
			json = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	if (argc - optind > 1)
		return fail(failure, -EINVAL,
			    "status takes the name of one device, or none to show all");
	if (argc == optind)
		return show_all(json, failure);
	name = device_name(argv[optind], failure);
	return name ? show_one(name, json, failure) : -EINVAL;
}
