/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dm-ressd on-disk format: the superblock, the log record, the summary of a
 * segment and the cover.
 *
 * All integers are little-endian.  Every structure is one 4 KiB block (of a
 * cover one sector), or begins with one, that is protected by its crc32c,
 * computed with the crc field itself set to zero (seed ~0, as everywhere in
 * this format).  docs/on-disk-format.md describes the same bytes in prose.
 *
 * Reserved area, in 4 KiB blocks:
 *
 *	block 0			superblock, copy 0
 *	1 .. last - 1		ring of segments; see ressd-geom.h
 *	last			superblock, copy 1
 */
#ifndef RESSD_FORMAT_H
#define RESSD_FORMAT_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define RESSD_BLOCK_SIZE	4096U
#define RESSD_BLOCK_SECTORS	(RESSD_BLOCK_SIZE / 512)

#define RESSD_SUPER_MAGIC	0x6473736572306d64ULL	/* "dm0ressd" */
#define RESSD_COVER_MAGIC	0x766f636473736572ULL	/* "ressdcov" */
#define RESSD_RECORD_MAGIC	0x676f6c6473736572ULL	/* "ressdlog" */
#define RESSD_SUMMARY_MAGIC	0x6d75736473736572ULL	/* "ressdsum" */
#define RESSD_FORMAT_VERSION	1
#define RESSD_UUID_SIZE		16

/*
 * No normal-area block has this number; in RAM it marks a log block that is
 * free.
 */
#define RESSD_NO_BLOCK		0xffffffffU

/*
 * Feature bits.  An unknown compat bit is ignored, an unknown incompat bit
 * refuses the device; so does an unknown ro_compat bit, for nothing here only
 * reads.
 *
 * COVER: cover_blocks is not zero, see ressd-cover.h.  A version without covers
 * would write covered blocks back, or read from the log where home is newer.
 */
#define RESSD_INCOMPAT_COVER	0x1U

#define RESSD_RO_COMPAT_KNOWN	0U
#define RESSD_INCOMPAT_KNOWN	RESSD_INCOMPAT_COVER

/*
 * Room for the options of the table line, in the superblock: more than all of
 * them take.
 */
#define RESSD_STORED_OPTIONS	512U

struct ressd_super {
	__le64 magic;			/*   0: RESSD_SUPER_MAGIC */
	__le32 version;			/*   8: RESSD_FORMAT_VERSION */
	__le32 crc;			/*  12: crc32c of this block */
	__u8 uuid[RESSD_UUID_SIZE];	/*  16: random, made by each format */
	__le32 compat;			/*  32: feature bits */
	__le32 ro_compat;		/*  36 */
	__le32 incompat;		/*  40 */
	__le32 copy;			/*  44: where it belongs: 0 or 1 */
	__le64 normal_start;		/*  48: sectors, as in the table line */
	__le64 normal_sectors;		/*  56 */
	__le64 reserved_start;		/*  64 */
	__le64 reserved_sectors;	/*  72 */
	__le32 segment_blocks;		/*  80: 4 KiB blocks of a segment */
	__le32 record_blocks;		/*  84: ... and of the largest record */
	__le32 devices;			/*  88: 1 or 2; 0: not recorded */
	__le32 unused0;			/*  92: zero */
	char options[RESSD_STORED_OPTIONS];	/*  96: text, then zeroes */
	__le32 cover_blocks;		/* 608: covered, from block 0 on */
	__u8 unused[3484];		/* 612: zero */
};

/*
 * Numbers of records and segments never come near this one, which a log that
 * writes a million records a second would reach after 100,000 years: a greater
 * one is forged or damaged.  What counts on from a number of the log must not
 * wrap, nor write what the next activation refuses, so recovery takes no log
 * that has less than RESSD_SEQ_ROOM of them left.
 */
#define RESSD_MAX_SEQ		0x4000000000000000ULL
#define RESSD_SEQ_ROOM		0x1000000000000ULL

/*
 * MAP:   block = normal-area block whose new contents are the data block at the
 *        entry's position in this record, crc = crc32c of those 4096 bytes.
 * UNMAP: block = log block (block of the reserved area) that is superseded,
 *        crc = 0.
 */
struct ressd_entry {
	__le32 block;
	__le32 crc;
};

#define RESSD_RECORD_ENTRIES	496

/*
 * ressd_record_header.flags: first record written since the device was
 * activated.
 */
#define RESSD_RECORD_FIRST	0x1U
/*
 * With RESSD_INCOMPAT_COVER: what home holds counts, but for covers; see
 * ressd-cover.h.
 */
#define RESSD_RECORD_UNCOVERED	0x2U

/*
 * A record is this header, then nr_maps data blocks in the order of the MAP
 * entries, then padding up to nr_blocks.  MAP entries come first in entries[],
 * UNMAP entries follow.
 */
struct ressd_record_header {
	__le64 magic;		/*   0: RESSD_RECORD_MAGIC */
	__le32 version;		/*   8: RESSD_FORMAT_VERSION */
	__le32 crc;		/*  12: crc32c of this block */
	__u8 uuid[RESSD_UUID_SIZE];	/*  16: of the superblock */
	__le64 seq;		/*  32: record number: 1, 2, ... */
	__le64 segment_seq;	/*  40: segment number: 1, 2, ... */
	__le64 tail_seq;	/*  48: segments before it are dead */
	__le64 durable_seq;	/*  56: highest record known durable */
	__le64 activation;	/*  64: random, of the activation */
	__le32 prev_crc;	/*  72: crc of the record before, or 0 */
	__le16 nr_maps;		/*  76 */
	__le16 nr_unmaps;	/*  78 */
	__le32 nr_blocks;	/*  80: with header and padding */
	__le32 flags;		/*  84: RESSD_RECORD_... */
	__le32 block;		/*  88: log block that it stands in */
	__le32 epoch;		/*  92: activations that wrote so far */
	__u8 unused[32];	/*  96: zero */
	struct ressd_entry entries[RESSD_RECORD_ENTRIES];	/* 128 */
};

/*
 * The summary of a segment: everything that recovery needs of the segment's
 * records, so that it need not read their headers.  It is written once the head
 * has left the segment, into blocks at the segment's end that records never
 * use: this first block, and as many more as the arrays need (ressd-geom.h).
 * It is redundant: without it the records say the same.
 *
 * maps[] is indexed by the block in the segment (log block modulo
 * segment_blocks): the MAP entry of each data block, and RESSD_NO_BLOCK and
 * 0xffffffff for every other block.  The UNMAPs of all the records follow
 * directly: nr_unmaps log blocks, __le32 each; then zeroes.
 */
struct ressd_summary {
	__le64 magic;			/*   0: RESSD_SUMMARY_MAGIC */
	__le32 version;			/*   8: RESSD_FORMAT_VERSION */
	__le32 crc;			/*  12: crc32c of the first block */
	__u8 uuid[RESSD_UUID_SIZE];	/*  16: of the superblock */
	__le64 segment_seq;		/*  32: the segment's number */
	__le64 first_seq;		/*  40: number of its first record */
	__le64 last_seq;		/*  48: and of the last one */
	__le64 tail_seq;		/*  56: tail_seq of the last record */
	__le64 durable_seq;		/*  64: highest record known durable */
	__le64 first_activation;	/*  72: the first record's activation */
	__le64 activation;		/*  80: and of the last one */
	__le32 first_prev_crc;		/*  88: prev_crc of the first record */
	__le32 first_crc;		/*  92: crc of the first record */
	__le32 last_crc;		/*  96: and of the last one */
	__le32 block;			/* 100: log block that it stands in */
	__le32 next_block;		/* 104: block after the last record */
	__le32 nr_records;		/* 108 */
	__le32 nr_unmaps;		/* 112 */
	/* 116: FIRST of the first record, UNCOVERED of the last. */
	__le32 flags;
	__le32 payload_crc;		/* 120: crc32c of the blocks behind */
	__le32 epoch;			/* 124: epoch of the last record */
	struct ressd_entry maps[];	/* 128 */
};

/* One of the eight sectors of a cover; see ressd-cover.h. */
#define RESSD_COVER_SECTORS	8U
#define RESSD_COVER_TEXT	448U
#define RESSD_COVER_MAX		64U	/* blocks, of one area */

struct ressd_cover_sector {
	__le64 magic;	/*   0: RESSD_COVER_MAGIC */
	__le32 version;	/*   8: RESSD_FORMAT_VERSION */
	__le32 crc;	/*  12: of the sector, this field zero */
	__u8 uuid[RESSD_UUID_SIZE];	/*  16: of the superblock */
	__le32 block;	/*  32: normal block that is covered */
	__le32 index;	/*  36: sector of it */
	__u8 unused[8];	/*  40: zero */
	char text[RESSD_COVER_TEXT];	/*  48: text for people, then zero */
	__u8 end[16];	/* 496: zero: it is no boot sector */
};

static_assert(sizeof(struct ressd_cover_sector) == 512, "a sector");
static_assert(sizeof(struct ressd_super) == RESSD_BLOCK_SIZE,
	      "superblock is one block");
static_assert(__builtin_offsetof(struct ressd_super, options) == 96,
	      "options at 96");
static_assert(__builtin_offsetof(struct ressd_super, cover_blocks) == 608,
	      "covers at 608");
static_assert(sizeof(struct ressd_record_header) == RESSD_BLOCK_SIZE,
	      "header is one block");
static_assert(__builtin_offsetof(struct ressd_record_header, entries) == 128,
	      "entries at 128");
static_assert(sizeof(struct ressd_summary) == 128, "maps at 128");

#endif
