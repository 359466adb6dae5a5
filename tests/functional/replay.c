// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-replay: reads what the kernel's dm-log-writes has recorded, and makes a device as it was
 * at some moment of the recording.  The help text below says how.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "arguments.h"
#include "output.h"
#include "writes-log.h"

static const char help_text[] =
	"Usage: ressd-replay list LOG\n"
	"       ressd-replay apply|tear|discard LOG DEVICE FIRST LAST\n"
	"       ressd-replay subset LOG DEVICE FIRST LAST SEED\n"
	"\n"
	"  list     one line for each entry: its number, and flush, fua, write, discard or mark TEXT;\n"
	"           after a flush and after fua the device was known durable\n"
	"  apply    write the entries FIRST to LAST to DEVICE; 0 is the first of all. What was\n"
	"           discarded becomes zeros\n"
	"  tear     the same, but of LAST only the first half of its sectors\n"
	"  discard  the same as apply, but discards become discards of DEVICE\n"
	"  subset   what a loss of power before the next flush may leave of the entries, none of which\n"
	"           is a flush: all of those with fua, and any sectors of the others, as SEED says\n"
	"\n"
	"LOG is the log device of dm-log-writes, after the recording device has been removed.\n";

static const char *kind(uint64_t flags)
{
	return flags & ENTRY_FLUSH ? "flush" : flags & ENTRY_FUA ? "fua" :
	       flags & ENTRY_DISCARD ? "discard" : "write";
}

static void list(struct writes_log *log)
{
	static struct entry entry;
	uint64_t number;

	for (number = 0; number < log->entries; number++) {
		writes_log_next(log, &entry);
		if (entry.flags & ENTRY_MARK)
			printf("%" PRIu64 " mark %s\n", number, entry.mark);
		else
			printf("%" PRIu64 " %s\n", number, kind(entry.flags));
	}
}

/* The way of a command to replay, or -1. */
static int parse_way(const char *word)
{
	static const char * const words[] = {
		[REPLAY_ALL] = "apply", [REPLAY_TORN] = "tear", [REPLAY_DISCARDS] = "discard",
		[REPLAY_SUBSET] = "subset",
	};
	int way;

	for (way = 0; way < 4; way++)
		if (!strcmp(word, words[way]))
			return way;
	return -1;
}

int main(int argc, char **argv)
{
	struct writes_log log = { .fd = -1 };
	uint64_t first, last, seed = 0;
	int way, words;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help_text, stdout);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "list")) {
		writes_log_open(&log, argv[2]);
		list(&log);
		return 0;
	}
	way = argc >= 6 ? parse_way(argv[1]) : -1;
	words = way == REPLAY_SUBSET ? 7 : 6;
	if (way < 0 || argc != words)
		die(0, "this is not how it is called; see ressd-replay --help");
	writes_log_open(&log, argv[2]);
	if (!log.entries)
		die(0, "the log '%s' has no entries", argv[2]);
	first = parse_number("FIRST", argv[4], log.entries - 1);
	last = parse_number("LAST", argv[5], log.entries - 1);
	if (first > last)
		die(0, "FIRST is %" PRIu64 ", beyond LAST, %" PRIu64, first, last);
	if (way == REPLAY_SUBSET)
		seed = parse_number("SEED", argv[6], UINT64_MAX);
	writes_log_apply(&log, argv[3], first, last, way, seed);
	return 0;
}
