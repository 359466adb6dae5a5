/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Codec of the superblock and of the record header: encode, and validate what a
 * disk returned.  Everything read from a disk is hostile: a block passes only
 * if every field is in range.
 */
#ifndef RESSD_RECORD_H
#define RESSD_RECORD_H

#include "ressd-args.h"
#include "ressd-format.h"
#include "ressd-geom.h"

/* crc32c of one block or of data; the one checksum of the format. */
u32 ressd_crc(const void *data, size_t bytes);

/* That of data with its own crc at byte 12: as if that field were zero. */
u32 ressd_own_crc(const void *data, size_t bytes);
static inline u32 ressd_block_crc(const void *block)
{
	return ressd_own_crc(block, RESSD_BLOCK_SIZE);
}

/* What a superblock says, in host order. */
struct ressd_super_info {
	u8 uuid[RESSD_UUID_SIZE];
	/*
	 * Normal and reserved areas as formatted.  The normal area may have
	 * grown since: len is then the new length, once both copies say so.
	 */
	struct ressd_table table;
	u32 segment_sectors;
	u32 record_blocks;
	u32 devices;		/* 1 or 2; 0: not recorded */
	/*
	 * As they stand on the disk: nothing here looks at them, not even for
	 * their end.
	 */
	char options[RESSD_STORED_OPTIONS];
	u32 cover_blocks;		/* see ressd-cover.h; 0: none */
	/*
	 * The copies differ in the length: power failed while the area grew;
	 * len is the old one.
	 */
	bool uneven;
};

void ressd_super_encode(struct ressd_super *super,
			const struct ressd_super_info *info, u32 copy);

enum ressd_super_verdict {
	RESSD_SUPER_GOOD,
	RESSD_SUPER_BLANK,	/* all zero */
	RESSD_SUPER_FOREIGN,	/* not ours: @error says what it looks like */
	RESSD_SUPER_DAMAGED,	/* our magic, bad crc or field: see @error */
};

/*
 * Looks at one copy as read; fills @info when good, @error when foreign or
 * damaged.
 */
enum ressd_super_verdict ressd_super_decode(const struct ressd_super *super,
					    u32 copy,
					    struct ressd_super_info *info,
					    char *error, size_t size);

/*
 * Decides from both copies.  Returns 0 and @info; -ENODATA when both are blank;
 * -EINVAL with a sentence otherwise.  One good copy is enough (@error then
 * describes the damaged other one, or is empty).
 */
int ressd_super_choose(const struct ressd_super *copy0,
		       const struct ressd_super *copy1,
		       struct ressd_super_info *info, char *error, size_t size);

/*
 * The copy to be written first, by copy 0 as it was read: copy 1, unless that
 * is the only one that is intact, for a cut may damage what is being written.
 */
u32 ressd_super_first(const struct ressd_super *copy0);

/*
 * Is @info the superblock of this @table?  0, or -EINVAL with a sentence.  The
 * table's normal area may be longer: then, or if @info is uneven, both copies
 * must be written with the new length, the second durably before the first
 * block beyond the old length is served.
 */
int ressd_super_matches(const struct ressd_super_info *info,
			const struct ressd_table *table,
			const struct ressd_options *options, char *error,
			size_t size);

bool ressd_is_zero(const void *data, size_t bytes);

/* Seals a header whose other fields are filled: computes and stores its crc. */
void ressd_record_seal(struct ressd_record_header *header);

/*
 * What as many unused entries, all zero, do to the checksum of what is before
 * them.
 */
struct ressd_zeroes {
	u32 factors[RESSD_RECORD_ENTRIES + 1];
};

void ressd_zeroes_init(struct ressd_zeroes *zeroes);

/*
 * The same, faster: only the first @used entries are not zero.  Most records of
 * commits hold one block, and half of what their checksums take is for zeroes.
 */
void ressd_record_seal_short(struct ressd_record_header *header,
			     const struct ressd_zeroes *zeroes, u32 used);

/*
 * True if @header is an intact record header of the log @uuid that was written
 * to log block @block: magic, version, crc, uuid, place, counts, length within
 * its segment, and the segment's slot.
 */
bool ressd_record_valid(const struct ressd_record_header *header,
			const u8 *uuid, const struct ressd_geom *geom,
			u32 block);

/* The end of a chain of records: what the next record has to follow. */
struct ressd_link {
	u64 seq;
	u64 segment_seq;
	u64 activation;
	u32 crc;
	bool uncovered;		/* as the last record says, see ressd-cover.h */
};

/* The end of the chain once @header belongs to it. */
void ressd_record_link(const struct ressd_record_header *header,
		       struct ressd_link *link);

/*
 * True if the record of the valid @header continues the chain that ends in
 * @link: the next number, the crc of the record before, in the same or the next
 * segment, and of the same activation unless it is the first one of a new
 * activation.
 */
bool ressd_record_follows(const struct ressd_record_header *header,
			  const struct ressd_link *link);

#endif
