// SPDX-License-Identifier: GPL-2.0-only
/* The page in which the log goes on; see ressd-page.h. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-log-private.h"
#include "ressd-page.h"

static u8 *page_data(const struct ressd_io *io, u32 block)
{
	return (u8 *)io->page +
	       (size_t)(block - io->page_start) * RESSD_BLOCK_SIZE;
}

/* Is all known that stands from the page's start to @block? */
static bool knows_up_to(const struct ressd_page *page,
			const struct ressd_io *io, u32 block)
{
	return block == io->page_start || (page->start == io->page_start &&
					   page->size == io->page_blocks &&
					   block - page->start <= page->nr);
}

/*
 * The page in which the record of @io ends; false if it is not all of one
 * segment's records.
 */
static bool find_page(const struct ressd_log *log, struct ressd_io *io)
{
	u32 slot = ressd_geom_slot(&log->geom, io->block);
	u32 last = io->block + io->nr_blocks - 1, into;

	if (!log->page_buffer || !log->page_blocks)
		return false;
	div_u64_rem((u64)last + log->unit_phase, log->page_blocks, &into);
	if (last < ressd_geom_slot_start(&log->geom, slot) + into)
		return false;
	io->page_start = last - into;
	io->page_blocks = log->page_blocks;
	return io->page_start + io->page_blocks <=
	       ressd_geom_slot_end(&log->geom, slot);
}

void ressd_page_plan(const struct ressd_log *log, struct ressd_io *io,
		     bool commit)
{
	u32 from;

	io->page = NULL;
	io->whole_page = false;
	if (!find_page(log, io))
		return;
	from = max(io->block, io->page_start);
	if (!knows_up_to(&log->page, io, from) ||
	    (!commit && from == io->page_start))
		return;
	io->page = log->page_buffer;
	io->whole_page = commit && io->block >= io->page_start &&
			 io->nr_blocks < io->page_blocks;
}

void ressd_page_forget(struct ressd_log *log)
{
	log->page.nr = 0;
}

static void begin_page(struct ressd_page *page, const struct ressd_io *io)
{
	memset(io->page, 0, (size_t)io->page_blocks * RESSD_BLOCK_SIZE);
	page->start = io->page_start;
	page->size = io->page_blocks;
}

void ressd_page_add(struct ressd_log *log, struct ressd_io *io)
{
	u32 end = io->block + io->nr_blocks, from;
	struct ressd_page *page = &log->page;

	if (!io->page) {
		ressd_page_forget(log);
		return;
	}
	from = max(io->block, io->page_start);
	if (from == io->page_start)
		begin_page(page, io);
	page->nr = end - page->start;
	memcpy(page_data(io, from), ressd_record_data(io->record, from),
	       (size_t)(end - from) * RESSD_BLOCK_SIZE);
	if (io->whole_page) {
		io->data = io->page;
		io->block = io->page_start;
		io->nr_blocks = io->page_blocks;
	}
}
