// SPDX-License-Identifier: GPL-2.0-only
/* Logs of ressd, wherever they lie; see find-logs.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/kernel.h>
#include "cli/progress.h"
#include "cli/words.h"
#include "log/contents.h"
#include "log/find-logs.h"
#include "log/super-pair.h"
#include "ressd-summary.h"

#define PIECE		1048576U
#define MARGIN		1048576U	/* longer than a record: its header is not far away */
#define WHOLE_BYTES	(256ULL << 20)	/* up to that a device is read as a whole */
#define GRID_PLACES	32768U
#define GRID_SECONDS	20

struct search {
	const struct blkdev *dev;
	struct found_logs *logs;
	u8 *buffer;
	u8 *block;		/* one more, for a superblock that a record tells of */
	struct progress progress;
	u64 done, total;
};

static struct found_log *known(struct found_logs *logs, u64 start, const u8 *uuid)
{
	u32 i;

	for (i = 0; i < logs->nr; i++)
		if (logs->list[i].start == start &&
		    !memcmp(logs->list[i].uuid, uuid, RESSD_UUID_SIZE))
			return &logs->list[i];
	return NULL;
}

/* @info NULL: only records tell of it. */
static void add(struct found_logs *logs, u64 start, const u8 *uuid,
		const struct ressd_super_info *info)
{
	struct found_log *log = known(logs, start, uuid);

	if (!log && logs->nr == FOUND_LOGS_KEPT) {
		logs->strange = start ? start : 1;
		return;
	}
	if (!log)
		log = &logs->list[logs->nr++];
	if (!log->has_super) {
		*log = (struct found_log) { .start = start, .has_super = info };
		memcpy(log->uuid, uuid, RESSD_UUID_SIZE);
	}
	if (!info)
		return;
	log->has_super = true;
	log->info = *info;
	log->info.table.reserved_start = start / 512;
}

/*
 * A superblock at @offset: where its area begins follows from which copy it is.  A damaged one is
 * nothing strange if the other one tells the same.
 */
static int take_super(struct search *search, const struct ressd_super *super, u64 offset,
		      struct failure *failure)
{
	const u32 copy = le32_to_cpu(super->copy);
	enum ressd_super_verdict verdict = RESSD_SUPER_FOREIGN;
	struct ressd_super_info info;
	char reason[RESSD_ERROR_SIZE];
	u64 behind;
	int good;

	if (copy < 2)
		verdict = ressd_super_decode(super, copy, &info, reason, sizeof(reason));
	good = verdict == RESSD_SUPER_GOOD;
	if (verdict == RESSD_SUPER_DAMAGED)
		good = super_copy_other(search->dev, super, copy, offset, &info, failure);
	if (good < 0)
		return good;
	if (!good) {
		search->logs->strange = offset ? offset : 1;
		return 0;
	}
	behind = super_copy_offset(copy, info.table.reserved_sectors);
	if (behind <= offset)
		add(search->logs, offset - behind, info.uuid, &info);
	return 0;
}

/* A header or a summary that stands in log block @log_block: does its superblock stand, too? */
static int take_log_block(struct search *search, const u8 *uuid, u64 offset, u32 log_block,
			  struct failure *failure)
{
	const struct ressd_super *super = (void *)search->block;
	const u64 behind = (u64)log_block * RESSD_BLOCK_SIZE, start = offset - behind;
	int code;

	if (behind > offset || known(search->logs, start, uuid))
		return 0;
	code = blkdev_read(search->dev, start, search->block, RESSD_BLOCK_SIZE, failure);
	if (code)
		return code;
	if (super->magic != cpu_to_le64(RESSD_SUPER_MAGIC))
		add(search->logs, start, uuid, NULL);
	/* Under another UUID the record is one of an earlier format, and means nothing. */
	else if (!memcmp(super->uuid, uuid, RESSD_UUID_SIZE))
		return take_super(search, super, start, failure);
	return 0;
}

static int look_at(struct search *search, const void *block, u64 offset, struct failure *failure)
{
	const struct ressd_record_header *header = block;
	const struct ressd_summary *summary = block;

	if (header->magic == cpu_to_le64(RESSD_SUPER_MAGIC))
		return take_super(search, block, offset, failure);
	if ((header->magic != cpu_to_le64(RESSD_RECORD_MAGIC) &&
	     header->magic != cpu_to_le64(RESSD_SUMMARY_MAGIC)) ||
	    le32_to_cpu(header->crc) != ressd_block_crc(block))
		return 0;
	return take_log_block(search, header->uuid, offset,
			      le32_to_cpu(header->magic == cpu_to_le64(RESSD_RECORD_MAGIC) ?
				       header->block : summary->block), failure);
}

/* Looks at every block from @start to @end, both on the device and multiples of a block. */
static int read_through(struct search *search, u64 start, u64 end, struct failure *failure)
{
	u32 bytes, i;
	int code = 0;

	for (; !code && start < end; start += bytes) {
		bytes = min_t(u64, end - start, PIECE);
		code = blkdev_read(search->dev, start, search->buffer, bytes, failure);
		for (i = 0; !code && i < bytes; i += RESSD_BLOCK_SIZE)
			code = look_at(search, search->buffer + i, start + i, failure);
		search->done += bytes;
		progress_update(&search->progress, min_t(u64, search->done, search->total),
				search->total);
	}
	return code;
}

static int read_range(struct search *search, const struct byte_range *range,
		      struct failure *failure)
{
	const u64 all = blkdev_blocks_end(search->dev);
	u64 start = range->start > MARGIN ? range->start - MARGIN : 0, end = all;

	if (range->start < all && range->bytes < all - range->start &&
	    all - range->start - range->bytes > MARGIN)
		end = range->start + range->bytes + MARGIN;
	start = start / RESSD_BLOCK_SIZE * RESSD_BLOCK_SIZE;
	end = (end + RESSD_BLOCK_SIZE - 1) / RESSD_BLOCK_SIZE * RESSD_BLOCK_SIZE;
	return start < end ? read_through(search, start, end, failure) : 0;
}

static u64 seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The last block before each step, where an area may end, and the first one behind it. */
static int read_grid(struct search *search, struct failure *failure)
{
	const u64 end = blkdev_blocks_end(search->dev), limit = seconds_now() + GRID_SECONDS;
	u64 step = PIECE, at;
	int code = 0;

	while (end / step > GRID_PLACES)
		step *= 2;
	for (at = step; !code && at < end && seconds_now() < limit; at += step)
		code = read_through(search, at - RESSD_BLOCK_SIZE,
				    min_t(u64, at + RESSD_BLOCK_SIZE, end), failure);
	return code;
}

static int search_all(struct search *search, const struct byte_range *ranges, u32 nr,
		      struct failure *failure)
{
	const u64 end = blkdev_blocks_end(search->dev);
	u32 i;
	int code;

	search->total = end;
	if (end <= WHOLE_BYTES)
		return read_through(search, 0, end, failure);
	search->total = 2ULL * RESSD_BLOCK_SIZE * GRID_PLACES;
	for (i = 0; i < nr; i++)
		search->total += ranges[i].bytes;
	code = read_through(search, 0, RESSD_BLOCK_SIZE, failure);
	if (!code)
		code = read_through(search, end - RESSD_BLOCK_SIZE, end, failure);
	if (!code)
		code = read_grid(search, failure);
	for (i = 0; !code && i < nr; i++)
		code = read_range(search, &ranges[i], failure);
	return code;
}

static u64 area_bytes(const struct found_log *log)
{
	return log->has_super ? log->info.table.reserved_sectors * 512 : RESSD_BLOCK_SIZE;
}

/* What was formatted over a log that has no superblock any more has made an end of that. */
static bool is_buried(const struct found_logs *logs, const struct found_log *log)
{
	u32 i;

	for (i = 0; !log->has_super && i < logs->nr; i++) {
		const struct found_log *other = &logs->list[i];

		if (other->has_super && log->start >= other->start &&
		    log->start < other->start + area_bytes(other))
			return true;
	}
	return false;
}

static void drop_buried(struct found_logs *logs)
{
	u32 i, kept = 0;

	for (i = 0; i < logs->nr; i++)
		if (!is_buried(logs, &logs->list[i]))
			logs->list[kept++] = logs->list[i];
	logs->nr = kept;
}

int find_logs(const struct blkdev *dev, const struct byte_range *ranges, u32 nr,
	      struct found_logs *logs, struct failure *failure)
{
	struct search search = {
		.dev = dev, .logs = logs,
		.buffer = blkdev_buffer(PIECE), .block = blkdev_buffer(RESSD_BLOCK_SIZE),
	};
	int code;

	memset(logs, 0, sizeof(*logs));
	progress_start(&search.progress, "looking for logs of ressd");
	if (search.buffer && search.block)
		code = blkdev_blocks_end(dev) ? search_all(&search, ranges, nr, failure) : 0;
	else
		code = fail(failure, -ENOMEM, "there is not enough memory to look for logs");
	progress_end();
	drop_buried(logs);
	free(search.buffer);
	free(search.block);
	return code;
}

int found_log_holds(const struct blkdev *dev, const struct found_log *log, char *what,
		    struct failure *failure)
{
	u64 blocks = 0;
	int code = -EUCLEAN;

	if (!log->has_super) {
		snprintf(what, FOUND_LOG_TEXT,
			 "records of a log of ressd whose superblock at byte %llu is gone",
			 (unsigned long long)log->start);
		return 1;
	}
	/* One that reaches beyond the device was cut off, or is something else's copy. */
	if (log->start + area_bytes(log) <= dev->bytes)
		code = log_contents(dev, &log->info, &blocks, failure);
	if (code && code != -EUCLEAN)
		return code;
	if (code)
		snprintf(what, FOUND_LOG_TEXT, "a damaged reserved area of ressd at byte %llu",
			 (unsigned long long)log->start);
	else
		snprintf(what, FOUND_LOG_TEXT,
			 "a reserved area of ressd at byte %llu with %llu block%s not yet moved",
			 (unsigned long long)log->start, (unsigned long long)blocks,
			 plural(blocks));
	return code || blocks;
}

bool found_logs_strange(const struct found_logs *logs, char *what)
{
	if (logs->strange)
		snprintf(what, FOUND_LOG_TEXT,
			 "a superblock of ressd at byte %llu that this program cannot read",
			 (unsigned long long)logs->strange / 512 * 512);
	return logs->strange;
}

static bool overlap(u64 start, u64 bytes, const struct byte_range *range)
{
	return start < range->start + range->bytes && range->start < start + bytes;
}

bool found_log_meets(const struct found_log *log, const struct byte_range *range)
{
	/* How far one without a superblock reaches nobody knows. */
	return !log->has_super || overlap(log->start, area_bytes(log), range) ||
	       (log->info.table.len && overlap(log->info.table.normal_start * 512,
					  log->info.table.len * 512, range));
}

/* Is the superblock @copy of @log good, so that the log opens without the other one? */
static bool stands(const struct blkdev *dev, const struct found_log *log, u32 copy)
{
	const u64 sectors = log->info.table.reserved_sectors;
	const u64 at = log->start + super_copy_offset(copy, sectors);
	struct ressd_super *super = blkdev_buffer(RESSD_BLOCK_SIZE);
	char reason[RESSD_ERROR_SIZE];
	struct ressd_super_info info;
	struct failure ignored;
	bool good;

	good = super && !blkdev_read(dev, at, super, RESSD_BLOCK_SIZE, &ignored) &&
	       ressd_super_decode(super, copy, &info, reason, sizeof(reason)) == RESSD_SUPER_GOOD;
	free(super);
	return good;
}

int found_logs_forget(const struct blkdev *dev, const struct found_logs *logs,
		      const struct byte_range *range, struct failure *failure)
{
	u32 i, copy;
	int code = 0;

	for (i = 0; i < logs->nr; i++) {
		const struct found_log *log = &logs->list[i];
		const u64 sectors = log->info.table.reserved_sectors;

		for (copy = 0; !code && log->has_super && copy < 2; copy++) {
			u64 at = log->start + super_copy_offset(copy, sectors);

			/* Copy 0 goes beside copy 1; that one is alone then, unless 0 stays. */
			if (at >= range->start && at < range->start + range->bytes)
				code = super_copy_change(dev, log->start, sectors, copy, NULL,
							 !stands(dev, log, !copy), failure);
		}
	}
	return code;
}
