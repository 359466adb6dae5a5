// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl dump: what stands in the reserved area, block by block. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "dump.h"
#include "log/chain.h"
#include "offline.h"
#include "ressdctl.h"

/* What recovery makes of a record. */
enum fate {
	FATE_CURRENT,	/* belongs to the log */
	FATE_DEAD,	/* everything in it was superseded or moved; its segment may be reused */
	FATE_LEFT,	/* left behind by a power cut or an earlier lap; it does not count */
	FATE_UNKNOWN,	/* the log is refused, so nothing can be said */
};

struct dump {
	struct log_image image;
	const struct dump_writer *writer;
	int recovered;		/* what log_image_recover() returned */
	u64 record, segment;	/* show only this one; 0: all */
	struct ressd_link last;	/* last record that counts seen in this slot; seq 0: none */
	bool found;		/* something of the wanted number */
	bool slot_begun;	/* its heading is written */
	u32 slot;
};

static const char *fate_word(enum fate fate)
{
	static const char *const words[] = {
		[FATE_CURRENT] = "current",
		[FATE_DEAD] = "dead",
		[FATE_LEFT] = "left behind",
		[FATE_UNKNOWN] = "unknown",
	};

	return words[fate];
}

/* Recovery has said where the chain begins and ends. */
static enum fate fate_of(struct dump *dump, const struct log_spot *spot)
{
	const struct ressd_log *log = &dump->image.log;
	u64 segment = log_spot_segment(spot);

	if (dump->recovered)
		return FATE_UNKNOWN;
	if (spot->loose || (dump->last.seq && !ressd_record_follows(&spot->header, &dump->last)))
		return FATE_LEFT;
	if (segment < log->tail_seq && segment + log->geom.nr_segments > log->head_seq)
		return FATE_DEAD;
	if (segment < log->tail_seq || segment > log->head_seq ||
	    log_spot_seq(spot) > log->written_seq)
		return FATE_LEFT;
	return FATE_CURRENT;
}

/* The heading of a slot, once there is something below it. */
static void begin_slot(struct dump *dump)
{
	if (!dump->slot_begun)
		dump->writer->segment_begin(&dump->image, dump->slot);
	dump->slot_begun = true;
	dump->found = true;
}

static int show_record(void *context, const struct log_spot *spot)
{
	struct dump *dump = context;
	enum fate fate = fate_of(dump, spot);

	if (fate == FATE_CURRENT || fate == FATE_DEAD)
		ressd_record_link(&spot->header, &dump->last);
	if ((dump->record && log_spot_seq(spot) != dump->record) ||
	    (dump->segment && log_spot_segment(spot) != dump->segment))
		return 0;
	begin_slot(dump);
	dump->writer->record(spot, fate_word(fate));
	return 0;
}

/* An intact summary stays until the next one is written, so it may be of the slot's last life. */
static void show_summary(struct dump *dump)
{
	u64 segment = dump->last.segment_seq;
	struct ressd_summary *summary = log_read_summary(&dump->image, dump->slot, dump->segment);

	if (dump->slot_begun)
		dump->writer->records_end();
	if (summary && !dump->record) {
		if (!dump->slot_begun) {
			begin_slot(dump);
			dump->writer->records_end();
		}
		dump->writer->summary(&dump->image, summary,
				      !dump->last.seq ||
				      le64_to_cpu(summary->segment_seq) != segment);
	}
	free(summary);
	if (dump->slot_begun)
		dump->writer->segment_end();
}

static void show_segments(struct dump *dump)
{
	u32 unreadable;

	dump->writer->segments_begin();
	for (dump->slot = 0; dump->slot < dump->image.geom.nr_segments; dump->slot++) {
		dump->slot_begun = false;
		dump->last = (struct ressd_link) { .seq = 0 };
		log_walk_slot(&dump->image, dump->slot, true, &unreadable, show_record, dump);
		show_summary(dump);
		if (unreadable != RESSD_NO_BLOCK)
			fprintf(stderr, "ressdctl: warning: log block %u: %s.\n", unreadable,
				dump->image.failure.text);
	}
	dump->writer->segments_end();
}

static void show_map(struct dump *dump)
{
	const struct ressd_map *map = &dump->image.log.map;
	const struct ressd_node *node;

	dump->writer->map_begin(&dump->image, dump->recovered);
	if (!dump->recovered)
		for (node = ressd_map_first_from(map, 0); node; node = ressd_map_next(node))
			dump->writer->mapping(node->lbn, ressd_map_block(map, node), node->crc);
	dump->writer->map_end();
}

static int dump_log(struct dump *dump, struct offline_area *area, struct failure *failure)
{
	struct log_source source = offline_source(area);
	bool all = !dump->record && !dump->segment;
	int code = log_image_open(&dump->image, &area->supers.info, &source, failure);

	if (!code) {
		dump->recovered = log_image_recover(&dump->image);
		show_segments(dump);
		if (all)
			show_map(dump);
	}
	log_image_close(&dump->image);
	if (!code && !all && !dump->found)
		code = fail(failure, -ENOENT,
			    "the log of %s has no %s %llu; ressdctl dump without a number shows what it has",
			    area->dev.path, dump->record ? "record" : "segment",
			    dump->record ? dump->record : dump->segment);
	return code;
}

static int dump_area(struct dump *dump, struct offline_area *area, struct failure *failure)
{
	const struct super_pair *supers = &area->supers;
	bool good = supers->copies[0].verdict == RESSD_SUPER_GOOD ||
		    supers->copies[1].verdict == RESSD_SUPER_GOOD;
	int code = 0;

	dump->writer->begin();
	if (!dump->record && !dump->segment)
		dump->writer->superblocks(supers);
	if (supers->choice == 0 || (supers->choice == -EIO && good))
		code = dump_log(dump, area, failure);
	else
		code = fail(failure, -ENODATA, "%s", supers->error[0] ? supers->error :
			    "both superblocks are blank, so nothing says how to read the log");
	dump->writer->end();
	return code;
}

static int parse_number(const char *text, const char *name, u64 *number, struct failure *failure)
{
	if (ressd_parse_u64(text, name, number, failure->text, sizeof(failure->text)) || !*number)
		return fail(failure, -EINVAL, "%s is '%.40s', but must be a number from 1 upwards",
			    name, text);
	return 0;
}

static int parse(struct dump *dump, struct offline_arguments *arguments, int argc, char **argv,
		 struct failure *failure)
{
	static const struct option options[] = {
		OFFLINE_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ "record", required_argument, NULL, 'r' },
		{ "segment", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, code = 0;

	while (!code && (option = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		if (option == 'j')
			dump->writer = &dump_json;
		else if (option == 'r')
			code = parse_number(optarg, "--record", &dump->record, failure);
		else if (option == 'g')
			code = parse_number(optarg, "--segment", &dump->segment, failure);
		else if (option == 'h')
			return COMMAND_HELP;
		else if (!offline_option(arguments, option))
			return bad_option(argv, option, failure);
	}
	return code ? code :
	       offline_words(arguments, "dump", argc - optind, argv + optind, failure);
}

int command_dump(int argc, char **argv, struct failure *failure)
{
	struct offline_arguments arguments = { .table = NULL };
	struct dump dump = { .writer = &dump_text };
	struct offline_area area;
	int code = parse(&dump, &arguments, argc, argv, failure);

	if (!code)
		code = offline_open(&area, &arguments, false, failure);
	if (code)
		return code;
	code = dump_area(&dump, &area, failure);
	offline_close(&area);
	return code;
}
