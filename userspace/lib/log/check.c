// SPDX-License-Identifier: GPL-2.0-only
/* Offline check of the log; see check.h.  The superblocks: check-supers.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "cli/words.h"
#include "log/chain.h"
#include "log/check.h"
#include "log/covers.h"

#define REMEDY_MEDIUM \
	"what these blocks held is lost; restore them from a backup, and replace the medium if this happens again"
#define REMEDY_REPAIR \
	"ressdctl repair --backup FILE cuts the log before the damage and says what is lost"
#define REMEDY_REWRITE "nothing is lost; drain the device to have the log written anew"
#define REMEDY_UNREADABLE \
	"copy what can be read to a new medium, with ddrescue for example, and check that; ressdctl repair --backup FILE cuts the log there, and overwrites such blocks where nothing is lost by it"
#define REMEDY_COVERED \
	"the log has what belongs there: drain the device, which writes these blocks anew"
#define REMEDY_BUG \
	"this is a fault of the software rather than of the device; please report it with the output of ressdctl dump"

/* One check of a log under way. */
struct checking {
	struct log_check *check;
	struct log_image *image;
	struct log_chain chain;
	u64 segment;			/* whose records are being looked at; 0: none yet */
	struct ressd_summary *stored;	/* of that segment, or NULL */
	struct ressd_summary *expected;	/* what its records add up to so far */
	u64 tail_seq, durable_seq;	/* claims of the record before */
	u64 blocks_done;
};

static struct finding_place place_of(const struct log_spot *spot)
{
	return (struct finding_place) {
		.segment = log_spot_segment(spot), .record = log_spot_seq(spot),
		.log_block = spot->block, .normal_block = FINDING_NOWHERE,
	};
}

/* A data block that does not match: does the map still need it? */
static void report_data(struct checking *checking, const struct log_spot *spot, u32 entry,
			bool readable)
{
	const struct ressd_map *map = &checking->image->log.map;
	u32 block = spot->block + 1 + entry, lbn = le32_to_cpu(spot->header.entries[entry].block);
	const struct ressd_node *node = ressd_map_find(map, lbn);
	struct finding_place place = place_of(spot);
	const char *what = readable ? "does not match its checksum" : "cannot be read";

	place.log_block = block;
	place.normal_block = lbn;
	if (node && ressd_map_block(map, node) == block) {
		checking->check->lost_blocks++;
		findings_add(&checking->check->findings, FINDING_DAMAGE, "data", place,
			     REMEDY_MEDIUM,
			     "log block %u %s: the newest contents of normal block %u are lost",
			     block, what, lbn);
	} else {
		findings_add(&checking->check->findings, FINDING_WARNING, "dead-data", place,
			     REMEDY_REWRITE,
			     "log block %u %s, but normal block %u has newer contents elsewhere",
			     block, what, lbn);
	}
}

static void check_data(struct checking *checking, const struct log_spot *spot)
{
	u32 nr = le16_to_cpu(spot->header.nr_maps), i;

	for (i = 0; i < nr; i++) {
		const void *data = log_image_block(checking->image, spot->block + 1 + i);

		checking->check->data_blocks++;
		if (!data || ressd_crc(data, RESSD_BLOCK_SIZE) !=
		    le32_to_cpu(spot->header.entries[i].crc))
			report_data(checking, spot, i, data);
	}
}

/* Tail and durable record only ever grow. */
static void check_claims(struct checking *checking, const struct log_spot *spot)
{
	u64 tail = le64_to_cpu(spot->header.tail_seq);
	u64 durable = le64_to_cpu(spot->header.durable_seq);

	if (tail < checking->tail_seq || durable < checking->durable_seq)
		findings_add(&checking->check->findings, FINDING_DAMAGE, "claims",
			     place_of(spot), REMEDY_BUG,
			     "record %llu says tail %llu and durable %llu, but the one before said %llu and %llu, and both can only grow",
			     log_spot_seq(spot), tail, durable, checking->tail_seq,
			     checking->durable_seq);
	checking->tail_seq = tail;
	checking->durable_seq = durable;
}

/*
 * The stored summary must be what the records add up to.  It speaks of the records up to its last
 * one; another last record means that it is of an earlier life of the slot, or outdated.
 */
static void check_summary(struct checking *checking, const struct log_spot *spot)
{
	const struct ressd_geom *geom = &checking->image->geom;
	const struct ressd_summary *stored = checking->stored;
	struct finding_place place = place_of(spot);

	if (!stored || stored->last_seq != spot->header.seq ||
	    stored->last_crc != spot->header.crc)
		return;
	place.record = FINDING_NOWHERE;
	place.log_block = ressd_geom_slot_end(geom, spot->slot);
	if (ressd_summary_fits(checking->expected, geom)) {
		ressd_summary_seal(checking->expected, geom, checking->image->info.uuid,
				   le64_to_cpu(stored->durable_seq));
		if (!memcmp(checking->expected, stored, ressd_summary_bytes(geom)))
			return;
	}
	findings_add(&checking->check->findings, FINDING_DAMAGE, "summary", place, REMEDY_BUG,
		     "the summary of segment %llu does not agree with the records of that segment",
		     place.segment);
}

static void begin_segment(struct checking *checking, u64 segment_seq)
{
	const struct ressd_geom *geom = &checking->image->geom;

	free(checking->stored);
	checking->segment = segment_seq;
	checking->stored = log_read_summary(checking->image,
					    ressd_geom_slot_of_seq(geom, segment_seq), segment_seq);
	ressd_summary_start(checking->expected, geom, segment_seq);
	checking->check->segments++;
}

static void tell_progress(struct checking *checking, u64 blocks)
{
	checking->blocks_done += blocks;
	if (checking->check->progress)
		checking->check->progress(checking->check->context, checking->blocks_done,
					  checking->image->geom.nr_blocks);
}

static int check_record(void *context, const struct log_spot *spot)
{
	struct checking *checking = context;

	if (log_spot_segment(spot) != checking->segment)
		begin_segment(checking, log_spot_segment(spot));
	ressd_summary_add(checking->expected, &checking->image->geom, &spot->header, spot->block);
	check_summary(checking, spot);
	checking->check->records++;
	checking->check->unmaps += le16_to_cpu(spot->header.nr_unmaps);
	check_claims(checking, spot);
	check_data(checking, spot);
	tell_progress(checking, le32_to_cpu(spot->header.nr_blocks));
	return 0;
}

/* Data blocks that are known from the summary only: of those that the map needs. */
static void check_summary_data(struct checking *checking, const struct ressd_summary *summary,
			       u32 slot)
{
	const struct ressd_map *map = &checking->image->log.map;
	u32 block = ressd_geom_slot_start(&checking->image->geom, slot);

	for (; block < le32_to_cpu(summary->next_block); block++) {
		const struct ressd_node *node = &map->nodes[block];
		const void *data;

		if (node->lbn == RESSD_NO_BLOCK || ressd_map_find(map, node->lbn) != node)
			continue;
		data = log_image_block(checking->image, block);
		checking->check->data_blocks++;
		if (data && ressd_crc(data, RESSD_BLOCK_SIZE) == node->crc)
			continue;
		checking->check->lost_blocks++;
		findings_add(&checking->check->findings, FINDING_DAMAGE, "data",
			     (struct finding_place) {
				.segment = le64_to_cpu(summary->segment_seq),
				.record = FINDING_NOWHERE, .log_block = block,
				.normal_block = node->lbn },
			     REMEDY_MEDIUM,
			     "log block %u does not match its checksum: the newest contents of normal block %u are lost",
			     block, node->lbn);
	}
}

static int check_summarised(void *context, const struct ressd_summary *summary, u64 last)
{
	struct checking *checking = context;
	u64 segment_seq = le64_to_cpu(summary->segment_seq);
	u64 missing = last ? last + 1 : le64_to_cpu(summary->first_seq);

	if (segment_seq != checking->segment)
		begin_segment(checking, segment_seq);
	checking->check->records += le64_to_cpu(summary->last_seq) - missing + 1;
	findings_add(&checking->check->findings, FINDING_WARNING, "header",
		     (struct finding_place) {
			.segment = segment_seq, .record = missing,
			.log_block = checking->chain.block, .normal_block = FINDING_NOWHERE },
		     REMEDY_REWRITE,
		     "the header of record %llu is damaged; the summary of segment %llu takes its place",
		     missing, segment_seq);
	check_summary_data(checking, summary,
			   ressd_geom_slot_of_seq(&checking->image->geom, segment_seq));
	return 0;
}

/* Where and why the chain is broken, in the words of a person. */
static void report_break(struct checking *checking, enum finding_level level)
{
	const struct log_chain *chain = &checking->chain;
	struct finding_place place = {
		.segment = chain->link.segment_seq, .record = chain->link.seq + 1,
		.log_block = chain->block, .normal_block = FINDING_NOWHERE,
	};

	if (!chain->any)
		findings_add(&checking->check->findings, level, "chain", place,
			     REMEDY_REPAIR,
			     "the log should begin with segment %llu at log block %u, but there is %s; records up to %llu were known durable",
			     chain->link.segment_seq, chain->block, log_stop_words(chain->stop),
			     chain->claims.durable_seq);
	else
		findings_add(&checking->check->findings, level, "chain", place,
			     REMEDY_REPAIR,
			     "the chain ends after record %llu, but records up to %llu were known durable: at log block %u there is %s",
			     chain->link.seq,
			     max_t(u64, chain->claims.durable_seq, chain->link.seq + 1),
			     chain->block, log_stop_words(chain->stop));
}

/* What kept recovery from reading may be one block of many: all of them are counted. */
static void report_unread(struct checking *checking)
{
	struct log_image *image = checking->image;
	struct finding_place place = FINDING_PLACE_NONE;
	const struct failure read = image->failure;

	log_image_read_all(image, checking->check->progress, checking->check->context);
	if (image->nr_unreadable)
		place.log_block = image->first_unreadable;
	findings_add(&checking->check->findings, FINDING_REFUSED, "unreadable", place,
		     REMEDY_UNREADABLE,
		     "the kernel refuses the log, for %u block%s of it cannot be read, this one first: %.200s",
		     image->nr_unreadable, plural(image->nr_unreadable),
		     image->nr_unreadable ? image->unreadable.text : read.text);
}

static void report_refusal(struct checking *checking, int recovered)
{
	checking->check->refused = true;
	if (recovered != -EUCLEAN) {
		report_unread(checking);
		return;
	}
	findings_add(&checking->check->findings, FINDING_REFUSED, "recovery", FINDING_PLACE_NONE,
		     NULL, "the kernel refuses the log: %s", checking->image->error);
}

/* A record that a power cut has torn is no damage. */
static void report_end(struct checking *checking)
{
	const struct log_chain *chain = &checking->chain;
	struct finding_place place = {
		.segment = chain->link.segment_seq, .record = chain->link.seq + 1,
		.log_block = chain->block, .normal_block = FINDING_NOWHERE,
	};

	if (chain->stop == LOG_STOP_TORN)
		findings_add(&checking->check->findings, FINDING_NOTE, "torn", place, NULL,
			     "record %llu was being written when the power failed; it was not acknowledged as durable and is dropped",
			     place.record);
}

/* Of a log that is not refused for them: those that were met. */
static void report_unreadable(struct checking *checking)
{
	const struct log_image *image = checking->image;
	struct finding_place place = FINDING_PLACE_NONE;

	place.log_block = image->first_unreadable;
	if (image->nr_unreadable)
		findings_add(&checking->check->findings, FINDING_WARNING, "unreadable", place,
			     "drain the device and replace the medium, or overwrite the blocks",
			     "%u block%s of the log cannot be read, this one first: %.200s",
			     image->nr_unreadable, plural(image->nr_unreadable),
			     image->unreadable.text);
}

static void take_totals(struct checking *checking)
{
	const struct ressd_log *log = &checking->image->log;

	checking->check->mapped_blocks = log->map.nr_mapped;
	checking->check->covered = log->covered;
	checking->check->tail_segment = log->tail_seq;
	checking->check->head_segment = log->head_seq;
}

/* After recovery: follows the chain, and compares what both say. */
static int check_chain(struct checking *checking, int recovered)
{
	struct log_chain_visitor visitor = {
		.record = check_record, .summary = check_summarised, .context = checking,
	};
	struct log_chain_visitor as_recovery = { .as_recovery = true };
	int code = log_chain_follow(&checking->chain, checking->image,
				    recovered ? NULL : &visitor);

	if (!code && recovered && !checking->chain.broken)
		code = log_chain_follow(&checking->chain, checking->image, &as_recovery);
	if (code && code != -ENODATA)
		return code;
	if (recovered) {
		report_refusal(checking, recovered);
		if (!code && checking->chain.broken)
			report_break(checking, FINDING_REFUSED);
		return 0;
	}
	take_totals(checking);
	if (!code && checking->chain.broken)
		report_break(checking, FINDING_DAMAGE);
	else if (!code)
		report_end(checking);
	return 0;
}

int log_check_log(struct log_check *check, struct log_image *image, struct failure *failure)
{
	struct checking checking = { .check = check, .image = image };
	int recovered = log_image_recover(image), code;

	checking.expected = calloc(1, ressd_summary_bytes(&image->geom));
	if (!checking.expected)
		return fail(failure, -ENOMEM, "there is not enough memory to check the log");
	code = check_chain(&checking, recovered);
	if (!code && (!recovered || recovered == -EUCLEAN))
		report_unreadable(&checking);
	check->unreadable_blocks = image->nr_unreadable;
	free(checking.expected);
	free(checking.stored);
	return code ? fail(failure, code, "the check was ended") : 0;
}

int log_check_covers(struct log_check *check, const struct log_image *image,
		     const struct blkdev *normal, struct failure *failure)
{
	const u32 sectors = image->info.cover_blocks * RESSD_COVER_SECTORS;
	const bool covered = image->log.covered;
	struct covers_unread unread;
	u32 missing;
	int code;

	if (check->refused || !sectors)
		return 0;
	code = covers_look(normal, &image->info, &missing, &unread, failure);
	if (code)
		return code;
	if (unread.blocks)
		findings_add(&check->findings, covered ? FINDING_WARNING : FINDING_DAMAGE, "cover",
			     FINDING_PLACE_NONE,
			     covered ? REMEDY_COVERED : REMEDY_MEDIUM,
			     "%u of the first %u blocks of the normal area cannot be read, the first: %.200s",
			     unread.blocks, image->info.cover_blocks, unread.first.text);
	if (covered && missing)
		findings_add(&check->findings, FINDING_WARNING, "cover", FINDING_PLACE_NONE,
			     "the log counts: open the device, copy from the bare disk beforehand what is still wanted of that, and drain",
			     "%u of the %u sectors at the begin of the normal area are not covered: somebody has written to the bare disk while its newest data was in the log, or the cover could not be written",
			     missing, sectors);
	if (!covered && missing + unread.blocks * RESSD_COVER_SECTORS != sectors)
		findings_add(&check->findings, FINDING_NOTE, "cover", FINDING_PLACE_NONE, NULL,
			     "the power failed while the device was covered, or drained: the next activation restores the first %u blocks of the normal area",
			     image->info.cover_blocks);
	return 0;
}

void log_check_free(struct log_check *check)
{
	findings_free(&check->findings);
}
