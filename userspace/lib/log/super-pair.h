/* SPDX-License-Identifier: GPL-2.0-only */
/* Both superblock copies of a reserved area, as read and as judged. */
#ifndef RESSD_SUPER_PAIR_H
#define RESSD_SUPER_PAIR_H

#include "dm/blkdev.h"
#include "ressd-record.h"

struct super_copy {
	struct ressd_super raw;
	bool readable;
	struct failure failure;			/* when not readable */
	enum ressd_super_verdict verdict;	/* damaged when not readable */
	struct ressd_super_info info;		/* when good */
	char error[RESSD_ERROR_SIZE];		/* when foreign or damaged */
};

struct super_pair {
	struct super_copy copies[2];
	int choice;		/* as ressd_super_choose(): 0, -ENODATA, -EINVAL; -EIO unreadable */
	struct ressd_super_info info;	/* when the choice is 0 */
	char error[RESSD_ERROR_SIZE];	/* when it is not, and when one copy is damaged */
};

/* Judges copies[].raw, those that are readable; fills in all the rest. */
void super_pair_judge(struct super_pair *pair);

/* Reads and judges the copies of the area at @start, @sectors long, of @dev. */
void super_pair_read(struct super_pair *pair, const struct blkdev *dev, u64 start, u64 sectors);

/*
 * True if both are good and say the same, apart from which copy they are, from the length of the
 * normal area (that differs when growing it was cut short: info.uneven), and from the options.
 */
bool super_pair_equal(const struct super_pair *pair);

/* True if both are good, but keep other options: storing them was cut short. */
bool super_pair_options_differ(const struct super_pair *pair);

/* "good", "blank", "foreign", "damaged" or "unreadable". */
const char *super_copy_word(const struct super_copy *copy);

/* Byte offset of copy 0 or 1 in the reserved area of @sectors. */
u64 super_copy_offset(u32 copy, u64 sectors);

/*
 * @damaged stands at byte @offset of @dev in the place of @copy, but is not good, as after a torn
 * write: is the other copy good, where this one has it, and of the same area?  Then 1 and its
 * @info, else 0, or a negative errno with a sentence.
 */
int super_copy_other(const struct blkdev *dev, const struct ressd_super *damaged, u32 copy,
		     u64 offset, struct ressd_super_info *info, struct failure *failure);

/*
 * Writes @super, or without it zeroes, to the place of @copy in the area that begins at byte
 * @start, durably and so that it is no matter which sectors of it a cut leaves: beside a copy that
 * counts, @copy is then one that counts, or damaged, which the device opens with; where it is
 * @alone, one that counts, or none.  0, or a negative errno with a sentence.
 */
int super_copy_change(const struct blkdev *dev, u64 start, u64 sectors, u32 copy,
		      const struct ressd_super *super, bool alone, struct failure *failure);

#endif
