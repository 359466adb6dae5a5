// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-ressd-copy.h in all interleavings: a small write copies its block into the open record without
 * the lock, beside one that overwrites it, a read, and the worker that seals and sends the record.
 * Core settles where this does: the unit test log looks after that.
 */
#include <string.h>
#include "copies.h"
#include "dm-ressd-copy.h"

struct block {
	u32 data[2];
	u32 crc;			/* their sum; 0: not known */
};

static struct {
	struct ressd_copies copies;
	u32 lock;
	u32 mapped;
	u32 sealed;
	struct block block;
	/* What has happened, for the checks. */
	bool overwritten, sent;
	struct block device;
} shared;

static void put(u32 value)
{
	WRITE_ONCE(shared.block.data[0], value);
	WRITE_ONCE(shared.block.data[1], value);
}

static struct block look(void)
{
	return (struct block) {
		.data = { READ_ONCE(shared.block.data[0]), READ_ONCE(shared.block.data[1]) },
		.crc = READ_ONCE(shared.block.crc),
	};
}

static bool is_whole(const struct block *block)
{
	return block->data[0] && block->data[0] == block->data[1];
}

static void small_write(void)
{
	thread_lock(&shared.lock);
	if (READ_ONCE(shared.sealed)) {
		thread_unlock(&shared.lock);
		return;
	}
	WRITE_ONCE(shared.mapped, 1);
	ressd_copy_begin(&shared.copies);
	thread_unlock(&shared.lock);
	put(1);
	WRITE_ONCE(shared.block.crc, 2);
	ressd_copy_end(&shared.copies);
}

static void overwrite(void)
{
	thread_lock(&shared.lock);
	if (READ_ONCE(shared.mapped) && !READ_ONCE(shared.sealed)) {
		ressd_copies_settle(&shared.copies);
		WRITE_ONCE(shared.block.crc, 0);
		put(2);
		thread_note(shared.overwritten, true);
	}
	thread_unlock(&shared.lock);
}

static void read_block(void)
{
	struct block seen;

	thread_lock(&shared.lock);
	if (READ_ONCE(shared.mapped)) {
		ressd_copies_settle(&shared.copies);
		seen = look();
		if (!is_whole(&seen))
			thread_fail("a read sees a block before its copy has ended");
	}
	thread_unlock(&shared.lock);
}

static void send(void)
{
	bool mapped;

	thread_lock(&shared.lock);
	WRITE_ONCE(shared.sealed, 1);
	mapped = READ_ONCE(shared.mapped);
	thread_unlock(&shared.lock);
	if (!mapped)
		return;
	ressd_copies_settle(&shared.copies);
	thread_note(shared.device, look());
	thread_note(shared.sent, true);
	if (!is_whole(&shared.device))
		thread_fail("a record is sent before a copy into it has ended");
}

static void start(void)
{
}

static void check_end(void)
{
	const struct block *sent = &shared.device;

	/* All threads but that of the record may end before. */
	if (!shared.sent) {
		if (shared.mapped)
			thread_fail("a record waits for ever for a copy");
		return;
	}
	if (memcmp(sent, &shared.block, sizeof(*sent)))
		thread_fail("a record changes when it is sent");
	if (sent->data[0] != (shared.overwritten ? 2 : 1))
		thread_fail("a copy that began before hides what has overwritten it");
	if (sent->crc && sent->crc != sent->data[0] + sent->data[1])
		thread_fail("the checksum is not that of the data");
}

const char *explore_copies(u32 stale, u32 *states)
{
	void (*const threads[])(void) = { small_write, overwrite, read_block, send };

	return threads_explore(threads, NR_THREADS, &shared, sizeof(shared), start, check_end,
			       stale, states);
}
