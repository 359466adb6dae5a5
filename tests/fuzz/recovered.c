// SPDX-License-Identifier: GPL-2.0-only
/* What must hold after recovery; see recovered.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bug.h>
#include "life.h"
#include "log/chain.h"
#include "log/check.h"
#include "recovered.h"
#include "ressd-summary.h"

/* An opening writes one record, or a few when there are many UNMAPs to write; never more. */
#define MAX_OPENING_IOS	16

static void require(bool holds, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void require(bool holds, const char *format, ...)
{
	va_list arguments;

	if (holds)
		return;
	va_start(arguments, format);
	fputs("fuzz: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("\n", stderr);
	va_end(arguments);
	abort();
}

static void check_node(const struct ressd_log *log, const struct ressd_node *node, u32 *live)
{
	u32 block = ressd_map_block(&log->map, node);
	u32 slot = ressd_geom_slot(&log->geom, block);
	u64 seq = ressd_log_segment_seq(log, block);

	require(node->lbn < log->normal_blocks, "normal block %u of %u", node->lbn,
		log->normal_blocks);
	require(slot < log->geom.nr_segments &&
		block > ressd_geom_slot_start(&log->geom, slot) &&
		block < ressd_geom_slot_end(&log->geom, slot), "log block %u", block);
	require(seq >= log->tail_seq && seq <= log->head_seq,
		"log block %u is in segment %llu, but tail is %llu and head %llu", block, seq,
		log->tail_seq, log->head_seq);
	require(!ressd_map_is_clean(&log->map, block), "log block %u is clean", block);
	live[slot]++;
}

static void check_map(const struct ressd_log *log)
{
	u32 live[AREA_MAX_BLOCKS] = { 0 }, nr = 0, slot, previous = 0;
	const struct ressd_node *node;

	for (node = ressd_map_first_from(&log->map, 0); node; node = ressd_map_next(node)) {
		check_node(log, node, live);
		require(!nr || node->lbn > previous, "normal block %u is mapped twice", node->lbn);
		previous = node->lbn;
		nr++;
	}
	require(nr == log->map.nr_mapped && nr == log->map.nr_dirty,
		"%u nodes, but %u mapped and %u dirty", nr, log->map.nr_mapped, log->map.nr_dirty);
	for (slot = 0; slot < log->geom.nr_segments; slot++)
		require(live[slot] == log->segments[slot].live, "slot %u has %u blocks, not %u",
			slot, live[slot], log->segments[slot].live);
}

static void check_head(const struct ressd_log *log)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq);
	u32 block = log->records[log->open].block;

	require(log->head_seq >= 1 && log->tail_seq >= 1 && log->tail_seq <= log->head_seq &&
		log->head_seq - log->tail_seq < log->geom.nr_segments,
		"tail is segment %llu, head %llu", log->tail_seq, log->head_seq);
	require(log->reuse_seq >= 1 && log->reuse_seq <= log->head_seq, "reuse_seq %llu",
		log->reuse_seq);
	require(block >= ressd_geom_slot_start(&log->geom, slot) &&
		block <= ressd_geom_slot_end(&log->geom, slot),
		"the head is at block %u, not in slot %u", block, slot);
}

/* Where every normal block is, for comparing. */
static u32 copy_map(const struct ressd_log *log, u32 (*places)[2])
{
	const struct ressd_node *node = ressd_map_first_from(&log->map, 0);
	u32 nr = 0;

	for (; node; node = ressd_map_next(node), nr++) {
		places[nr][0] = node->lbn;
		places[nr][1] = ressd_map_block(&log->map, node);
	}
	return nr;
}

/* Does the slot of segment @segment_seq claim that more was durable than the chain of @image? */
static bool claims_more(struct area_memory *area, const struct log_image *image, u64 segment_seq)
{
	u32 slot = ressd_geom_slot_of_seq(&image->geom, segment_seq);
	u32 block = ressd_geom_slot_start(&image->geom, slot);

	for (; block < ressd_geom_slot_end(&image->geom, slot); block++) {
		const struct ressd_record_header *header = area_block(area, block);

		if (ressd_record_valid(header, image->info.uuid, &image->geom, block) &&
		    le64_to_cpu(header->durable_seq) > image->log.written_seq)
			return true;
	}
	return false;
}

/*
 * Recovery searches segment after segment behind the end of the chain, up to a slot that was not
 * begun.  Does something stand where it has not searched, and the next one would?  A log that the
 * opening makes full is searched in the slot of its tail, too: recover/found-behind-a-full-log.
 */
static bool hides_claims(struct area_memory *area, const struct log_image *image)
{
	u64 seq = image->recovery.searched_seq + 1;
	u64 last = image->log.tail_seq + image->geom.nr_segments;

	for (; seq <= last; seq++)
		if (claims_more(area, image, seq))
			return true;
	return false;
}

/* The summary that a slot holds, and what the records there add up to so far. */
struct adding {
	const struct log_image *image;
	__le64 segment_seq, last_seq;		/* that it speaks of */
	__le64 tail_seq, durable_seq;
	__le32 last_crc, epoch;
	struct ressd_claims claims;		/* of the records */
	const struct ressd_summary *stored;	/* NULL: only its first block is intact */
	struct ressd_summary *sum;
	bool differs;
};

static bool same_summary(struct adding *adding)
{
	const struct ressd_geom *geom = &adding->image->geom;

	if (!adding->stored)
		return adding->sum->last_crc == adding->last_crc &&
		       adding->sum->tail_seq == adding->tail_seq;
	if (ressd_summary_fits(adding->sum, geom))
		ressd_summary_seal(adding->sum, geom, adding->image->info.uuid,
				   le64_to_cpu(adding->durable_seq));
	return !memcmp(adding->sum, adding->stored, ressd_summary_bytes(geom));
}

/*
 * Does the summary claim all that its records do?  The claims of a chain only grow, so it repeats
 * those of the last one: recover/found-epoch-that-falls.
 */
static bool claims_all(const struct adding *adding)
{
	return adding->claims.epoch == le32_to_cpu(adding->epoch) &&
	       adding->claims.tail_seq == le64_to_cpu(adding->tail_seq) &&
	       adding->claims.durable_seq <= le64_to_cpu(adding->durable_seq);
}

/*
 * Compares where the last record is that the summary speaks of; no further.  Another record by that
 * number is a lie, too, and what it claims is not looked at: recover/found-another-last-record, and
 * found-header-of-a-summary, of which nothing else was left.
 */
static int add_record(void *context, const struct log_spot *spot)
{
	struct adding *adding = context;

	if (spot->header.segment_seq != adding->segment_seq)
		return 1;
	ressd_summary_add(adding->sum, &adding->image->geom, &spot->header, spot->block);
	ressd_claims_of_record(&adding->claims, &spot->header);
	if (spot->header.seq != adding->last_seq)
		return 0;
	adding->differs = !claims_all(adding) || !same_summary(adding);
	return 1;
}

static bool summary_lies(struct log_image *image, u32 slot)
{
	const struct ressd_geom *geom = &image->geom;
	u32 place = ressd_geom_slot_end(geom, slot);
	const struct ressd_summary *header = log_image_block(image, place);
	struct adding adding = { .image = image };
	struct ressd_summary *stored;

	if (!header || !ressd_summary_header_valid(header, image->info.uuid, geom, place))
		return false;
	adding.segment_seq = header->segment_seq;
	adding.last_seq = header->last_seq;
	adding.tail_seq = header->tail_seq;
	adding.durable_seq = header->durable_seq;
	adding.last_crc = header->last_crc;
	adding.epoch = header->epoch;
	stored = log_read_summary(image, slot, 0);
	adding.stored = stored;
	adding.sum = calloc(1, ressd_summary_bytes(geom));
	require(adding.sum, "there is no memory for a summary");
	ressd_summary_start(adding.sum, geom, le64_to_cpu(adding.segment_seq));
	log_walk_slot(image, slot, false, NULL, add_record, &adding);
	free(adding.sum);
	free(stored);
	return adding.differs;
}

/*
 * Of every slot, and not only where ressdctl check has something to say: it follows one chain, and
 * that is another than recovery's where claims contradict each other (recover/found-two-tails).
 */
static bool summaries_agree(struct log_image *image)
{
	u32 slot;

	for (slot = 0; slot < image->geom.nr_segments; slot++)
		if (summary_lies(image, slot))
			return false;
	return true;
}

/* ressdctl check must come to an end, whatever it finds. */
static void check_checker(struct area_memory *area)
{
	struct log_source source = area_source(area);
	struct log_check check = { .refused = false };
	struct log_image image;
	struct failure failure;
	int code = log_image_open(&image, &area->info, &source, &failure);

	if (!code)
		code = log_check_log(&check, &image, &failure);
	require(!code, "%s", failure.text);
	require(!check.refused, "ressdctl check says that the kernel refuses what it accepts");
	log_check_free(&check);
	log_image_close(&image);
}

/* The opening record must not change what the log holds. */
static void check_opening(struct area_memory *area, struct log_image *image)
{
	u32 before[AREA_MAX_BLOCKS][2], after[AREA_MAX_BLOCKS][2];
	u32 nr = copy_map(&image->log, before);
	u32 ios;
	int code;

	/*
	 * Left out are logs that contradict themselves.  A summary made to disagree with its
	 * records counts only once a record behind confirms it, such as the opening one:
	 * recover/found-lying-summary.  And a slot that begins with an intact record of an earlier
	 * segment holds none of a later one.
	 */
	if (!summaries_agree(image) || hides_claims(area, image))
		return;
	image->log.activation = 0x6f70656e;
	ressd_log_sync(&image->log);
	ios = life_write(area, &image->log, MAX_OPENING_IOS);
	require(ios < MAX_OPENING_IOS, "the opening does not end");
	require(ressd_log_synced(&image->log) == image->log.sync_wanted,
		"the opening is not durable");
	code = log_image_recover(image);
	require(!code, "after its opening the log is refused: %s", image->error);
	require(copy_map(&image->log, after) == nr &&
		!memcmp(before, after, nr * sizeof(before[0])),
		"after its opening the log holds something else");
}

static void check_reads(const struct area_memory *area)
{
	require(area->reads <= 8 * area->nr_blocks && area->blocks_read <= 32 * area->nr_blocks,
		"recovery of %u blocks has read %u blocks in %u reads", area->nr_blocks,
		area->blocks_read, area->reads);
}

int recovered_check(struct area_memory *area)
{
	struct log_source source = area_source(area);
	struct log_image image;
	struct failure failure;
	struct area_memory before;
	int code;

	area_copy(&before, area);
	code = log_image_open(&image, &area->info, &source, &failure);
	require(!code, "%s", failure.text);
	area->reads = 0;
	area->blocks_read = 0;
	code = log_image_recover(&image);
	check_reads(area);
	require(!memcmp(before.blocks, area->blocks, (size_t)area->nr_blocks * RESSD_BLOCK_SIZE),
		"recovery has written");
	area_free(&before);
	if (code) {
		require(code == -EUCLEAN, "recovery ended with %d", code);
		require(image.error[0], "refused without a sentence");
	} else {
		check_map(&image.log);
		check_head(&image.log);
		check_checker(area);
		check_opening(area, &image);
	}
	log_image_close(&image);
	return code;
}
