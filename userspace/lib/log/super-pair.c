// SPDX-License-Identifier: GPL-2.0-only
/* Both superblock copies; see super-pair.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "log/super-pair.h"

u64 super_copy_offset(u32 copy, u64 sectors)
{
	return copy ? (sectors / RESSD_BLOCK_SECTORS - 1) * RESSD_BLOCK_SIZE : 0;
}

int super_copy_other(const struct blkdev *dev, const struct ressd_super *damaged, u32 copy,
		     u64 offset, struct ressd_super_info *info, struct failure *failure)
{
	const u64 sectors = le64_to_cpu(damaged->reserved_sectors);
	struct ressd_super *other;
	char reason[RESSD_ERROR_SIZE];
	u64 start, place;
	int code;

	if (damaged->magic != cpu_to_le64(RESSD_SUPER_MAGIC) ||
	    le32_to_cpu(damaged->copy) != copy || sectors < 2 * RESSD_BLOCK_SECTORS ||
	    sectors > dev->bytes / 512 || super_copy_offset(copy, sectors) > offset)
		return 0;
	start = offset - super_copy_offset(copy, sectors);
	place = start + super_copy_offset(!copy, sectors);
	if (place > dev->bytes - RESSD_BLOCK_SIZE)
		return 0;
	other = blkdev_buffer(RESSD_BLOCK_SIZE);
	if (!other)
		return fail(failure, -ENOMEM, "there is not enough memory for a block");
	code = blkdev_read(dev, place, other, RESSD_BLOCK_SIZE, failure);
	if (!code)
		code = ressd_super_decode(other, !copy, info, reason, sizeof(reason)) ==
			       RESSD_SUPER_GOOD &&
		       info->table.reserved_sectors == sectors &&
		       !memcmp(other->uuid, damaged->uuid, RESSD_UUID_SIZE);
	free(other);
	return code;
}

/*
 * The first sector has the magic.  So beside another copy it comes first and goes last; alone it
 * comes last and goes first.
 */
int super_copy_change(const struct blkdev *dev, u64 start, u64 sectors, u32 copy,
		      const struct ressd_super *super, bool alone, struct failure *failure)
{
	const u64 offset = start + super_copy_offset(copy, sectors);
	const size_t first = alone == !super ? 0 : 512;
	const size_t bytes = first ? RESSD_BLOCK_SIZE - 512 : 512;
	u8 *new = blkdev_buffer(2 * RESSD_BLOCK_SIZE), *mixed = new + RESSD_BLOCK_SIZE;
	int code;

	if (!new)
		return fail(failure, -ENOMEM, "not enough memory for two superblocks");
	if (super)
		memcpy(new, super, RESSD_BLOCK_SIZE);
	code = blkdev_read(dev, offset, mixed, RESSD_BLOCK_SIZE, failure);
	memcpy(mixed + first, new + first, bytes);
	if (!code)
		code = blkdev_write(dev, offset, mixed, RESSD_BLOCK_SIZE, failure);
	if (!code)
		code = blkdev_flush(dev, failure);
	if (!code)
		code = blkdev_write(dev, offset, new, RESSD_BLOCK_SIZE, failure);
	if (!code)
		code = blkdev_flush(dev, failure);
	free(new);
	return code;
}

void super_pair_judge(struct super_pair *pair)
{
	struct super_copy *copies = pair->copies;
	u32 i;

	pair->error[0] = '\0';
	for (i = 0; i < 2; i++) {
		copies[i].error[0] = '\0';
		copies[i].verdict = RESSD_SUPER_DAMAGED;
		if (copies[i].readable)
			copies[i].verdict = ressd_super_decode(&copies[i].raw, i, &copies[i].info,
							       copies[i].error,
							       sizeof(copies[i].error));
	}
	if (copies[0].readable && copies[1].readable) {
		pair->choice = ressd_super_choose(&copies[0].raw, &copies[1].raw, &pair->info,
						  pair->error, sizeof(pair->error));
		return;
	}
	/* The kernel needs both; what can be read is good enough to look at the rest. */
	pair->choice = -EIO;
	snprintf(pair->error, sizeof(pair->error), "superblock copy %u cannot be read",
		 copies[0].readable ? 1 : 0);
	for (i = 0; i < 2; i++)
		if (copies[i].readable && copies[i].verdict == RESSD_SUPER_GOOD)
			pair->info = copies[i].info;
}

void super_pair_read(struct super_pair *pair, const struct blkdev *dev, u64 start, u64 sectors)
{
	void *buffer = blkdev_buffer(RESSD_BLOCK_SIZE);
	u32 i;

	memset(pair, 0, sizeof(*pair));
	for (i = 0; i < 2; i++) {
		struct super_copy *copy = &pair->copies[i];

		if (!buffer) {
			fail(&copy->failure, -ENOMEM, "there is not enough memory for a block");
			continue;
		}
		copy->readable = !blkdev_read(dev, start * 512 + super_copy_offset(i, sectors),
					      buffer, RESSD_BLOCK_SIZE, &copy->failure);
		memcpy(&copy->raw, buffer, sizeof(copy->raw));
	}
	free(buffer);
	super_pair_judge(pair);
}

bool super_pair_equal(const struct super_pair *pair)
{
	struct ressd_super other = pair->copies[1].raw;

	other.copy = pair->copies[0].raw.copy;
	other.crc = pair->copies[0].raw.crc;
	other.normal_sectors = pair->copies[0].raw.normal_sectors;
	memcpy(other.options, pair->copies[0].raw.options, sizeof(other.options));
	return pair->copies[0].readable && pair->copies[1].readable &&
	       pair->copies[0].verdict == RESSD_SUPER_GOOD &&
	       pair->copies[1].verdict == RESSD_SUPER_GOOD &&
	       !memcmp(&other, &pair->copies[0].raw, sizeof(other));
}

bool super_pair_options_differ(const struct super_pair *pair)
{
	return super_pair_equal(pair) &&
	       memcmp(pair->copies[0].raw.options, pair->copies[1].raw.options,
		      RESSD_STORED_OPTIONS);
}

const char *super_copy_word(const struct super_copy *copy)
{
	static const char *const words[] = {
		[RESSD_SUPER_GOOD] = "good",
		[RESSD_SUPER_BLANK] = "blank",
		[RESSD_SUPER_FOREIGN] = "foreign",
		[RESSD_SUPER_DAMAGED] = "damaged",
	};

	return copy->readable ? words[copy->verdict] : "unreadable";
}
