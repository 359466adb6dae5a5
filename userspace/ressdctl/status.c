// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl status: the counters of a device. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/json-stream.h"
#include "cli/size.h"
#include "cli/words.h"
#include "dm/ressd-dm.h"
#include "ressdctl.h"

#define STATUS_SCHEMA	1	/* of the JSON; ressdctl(8) describes it */

static void print_json(const char *name, const struct ressd_status *status)
{
	unsigned int i;

	json_open(NULL, '{');
	json_number("version", STATUS_SCHEMA);
	json_string("name", name);
	json_string("state", status->state);
	json_number("used_blocks", status->used_blocks);
	json_number("total_blocks", status->total_blocks);
	json_number("dirty_blocks", status->dirty_blocks);
	json_number("mapped_blocks", status->mapped_blocks);
	json_open("counters", '{');
	for (i = 0; i < status->nr_counters; i++)
		json_number(status->counters[i].key, status->counters[i].value);
	json_close();
	json_close();
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
	bool json;
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
	if (shown->json) {
		print_json(name, &status);
	} else {
		if (shown->nr)
			putchar('\n');
		print_table(name, &status);
	}
	shown->nr++;
}

/* Without a name: all of them, which may be none. */
static int show_all(bool json, struct failure *failure)
{
	struct shown shown = { .json = json };
	int code;

	if (json) {
		json_open(NULL, '{');
		json_number("version", STATUS_SCHEMA);
		json_open("devices", '[');
	}
	code = ressd_dm_list(show, &shown, failure);
	if (!code && shown.code)
		code = fail(failure, shown.code, "%s", shown.failure.text);
	if (json) {
		json_close();
		json_close();
	} else if (!code && !shown.nr) {
		puts("no ressd device is active; ressdctl list shows the others");
	}
	return code;
}

static int show_one(const char *name, bool json, struct failure *failure)
{
	struct ressd_status status;
	int code = ressd_dm_status(name, &status, failure);

	if (code)
		return code;
	if (json)
		print_json(name, &status);
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
	return argc > optind ? show_one(argv[optind], json, failure) : show_all(json, failure);
}
