// SPDX-License-Identifier: GPL-2.0-only
/* The search behind the end of the chain: where it looks, where it ends, what it finds. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "logbox.h"
#include "ressd-claims.h"
#include "ressd-record.h"

TEST_SUITE("claims");

#define SLOTS		8U
#define END		20U		/* segment that the chain ends in, */
#define END_BLOCK	(END % SLOTS * BOX_SEGMENT_BLOCKS + 5)	/* before this block */
#define MIDDLE		7U		/* block of a slot */

static const u8 uuid[RESSD_UUID_SIZE] = "unit test";
static struct ressd_geom geom;
static u32 nr_reads;			/* that have succeeded */
static u32 bad_read;			/* number of the read that fails; 0: none */

static int read_disk(void *context, u32 block, u32 nr, void *buffer)
{
	(void)context;
	if (nr_reads + 1 == bad_read)
		return -EIO;
	nr_reads++;
	memcpy(buffer, disk_block(block), (size_t)nr * RESSD_BLOCK_SIZE);
	return 0;
}

static const struct ressd_reader reader = { .read = read_disk, .buffer = box.buffers[0] };

/* An intact header of segment @segment_seq. */
static void put_header(u64 segment_seq, u32 at, u64 seq, u64 durable_seq)
{
	u32 block = ressd_geom_slot_start(&geom, ressd_geom_slot_of_seq(&geom, segment_seq)) + at;
	struct ressd_record_header *header = header_at(block);

	memset(header, 0, sizeof(*header));
	header->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
	header->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(header->uuid, uuid, sizeof(uuid));
	header->segment_seq = cpu_to_le64(segment_seq);
	header->seq = cpu_to_le64(seq);
	header->durable_seq = cpu_to_le64(durable_seq);
	header->tail_seq = cpu_to_le64(1);
	header->block = cpu_to_le32(block);
	header->nr_blocks = cpu_to_le32(1);
	ressd_record_seal(header);
}

/* The slot of segment @segment_seq holds what @what says: see below. */
static void put_slot(u64 segment_seq, char what)
{
	u32 block = ressd_geom_slot_start(&geom, ressd_geom_slot_of_seq(&geom, segment_seq));

	if (what == 'x' || what == 'X')
		memset(disk_block(block), 0xee, BOX_SEGMENT_BLOCKS * RESSD_BLOCK_SIZE);
	if (what == 'o' || what == 'O')
		put_header(segment_seq - SLOTS, 0, 30, 20);
	if (what == 'n')
		put_header(segment_seq, 0, 40, 20);
	if (what == 'X' || what == 'O' || what == 'Z')
		put_header(segment_seq, MIDDLE, 2000, 1000 + segment_seq);
}

/* A blank log; the slots behind END as @slots says. */
static void layout(const char *slots)
{
	char error[RESSD_ERROR_SIZE];
	u32 i;

	memset(&box, 0, sizeof(box));
	CHECK(!ressd_geom_init(&geom, SLOTS * BOX_SEGMENT_BLOCKS * 8, BOX_SEGMENT_BLOCKS * 8, error,
			       sizeof(error)), "%s", error);
	for (i = 0; slots[i]; i++)
		put_slot(END + 1 + i, slots[i]);
}

static int search(u64 tail_seq, struct ressd_behind *behind)
{
	struct ressd_window window = {
		.reader = &reader, .geom = &geom, .uuid = uuid, .ahead = 1,
	};

	nr_reads = 0;
	*behind = (struct ressd_behind) { .claims.tail_seq = tail_seq, .claims.durable_seq = 50 };
	return ressd_claims_behind(&window, END, END_BLOCK, behind);
}

/*
 * Slots:	z	zero		o	begins with a header of an earlier lap
 *		x	garbage		n	begins with a header of its own
 *	Z, X, O: the same, but behind the begin there is a header that claims more
 */
TEST(ends_where_nothing_was_begun)
{
	static const struct {
		const char *slots;
		u64 tail_seq, last, found;	/* segments; found: 0 none */
	} cases[] = {
		/* Nothing was begun: only the next one is looked through. */
		{ "", END, END + 1, 0 },
		{ "zZ", END, END + 1, 0 },
		{ "o", END, END + 1, 0 },
		{ "oX", END, END + 1, 0 },
		{ "xoX", END, END + 1, 0 },
		{ "noX", END, END + 1, 0 },
		{ "xO", END, END + 1, 0 },
		{ "nzzX", END, END + 2, 0 },
		/* That one has lost its begin: what was there before is seen again. */
		{ "O", END, END + 1, END + 1 },
		{ "Z", END, END + 2, END + 1 },
		{ "X", END, END + 2, END + 1 },
		/* Zeroes behind a slot that was begun, garbage behind one that seems not. */
		{ "xZ", END, END + 3, END + 2 },
		{ "nZ", END, END + 3, END + 2 },
		{ "zX", END, END + 3, END + 2 },
		/* Its first header is intact, the next one is not. */
		{ "xnX", END, END + 4, END + 3 },
		/* A few slots without any header. */
		{ "xxX", END, END + 4, END + 3 },
		{ "xxxX", END, END + 3, 0 },
		{ "xxnxxX", END, END + 7, END + 6 },
		/* All others; those from the tail on are no others, but for the next one. */
		{ "nnnnnnX", END, END + 7, END + 7 },
		{ "nnnnnnX", END - 1, END + 6, 0 },
		{ "nnnX", END - 3, END + 4, END + 4 },
		{ "nnnX", END - 4, END + 3, 0 },
		{ "X", 0, END + 1, END + 1 },
	};
	struct ressd_behind behind;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 found = 50;

		if (cases[i].found)
			found = 1000 + cases[i].found;
		layout(cases[i].slots);
		CHECK_EQ(search(cases[i].tail_seq, &behind), 0);
		CHECK(behind.segment_seq == cases[i].last, "'%s': up to segment %llu, not %llu",
		      cases[i].slots, behind.segment_seq, cases[i].last);
		CHECK(behind.claims.durable_seq == found, "'%s': record %llu is durable, not %llu",
		      cases[i].slots, behind.claims.durable_seq, found);
	}
}

/* Does a record say of the one before it, at the end or behind, that it was durable? */
TEST(lost_records_are_noticed)
{
	static const struct {
		u64 segment_seq;
		u32 at;
		u64 seq, durable_seq;
		bool lost;
	} cases[] = {
		/* At the end itself: the one before it is in the chain. */
		{ END, 5, 61, 60, false },
		{ END, 6, 61, 60, true },
		{ END, 6, 61, 59, false },
		{ END - SLOTS, 6, 61, 60, false },
		{ END + 1, 0, 61, 60, true },
		{ END + 1, 0, 61, 59, false },
		{ END + 1, 3, 61, 60, true },
	};
	struct ressd_behind behind;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		layout("");
		put_header(cases[i].segment_seq, cases[i].at, cases[i].seq, cases[i].durable_seq);
		CHECK_EQ(search(END, &behind), 0);
		CHECK(behind.lost == cases[i].lost, "case %u: lost is %d", i, behind.lost);
	}
}

TEST(error_of_the_reader_ends_it)
{
	struct ressd_behind behind;
	u32 reads;

	layout("xnX");
	CHECK_EQ(search(END, &behind), 0);
	reads = nr_reads;
	CHECK(reads >= 4, "%u reads", reads);
	for (bad_read = 1; bad_read <= reads; bad_read++)
		CHECK(search(END, &behind) == -EIO, "read %u fails: not told", bad_read);
	bad_read = 0;
}
