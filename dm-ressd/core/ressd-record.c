// SPDX-License-Identifier: GPL-2.0-only
/* Codec of superblock and record header; see ressd-record.h. */
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-record.h"

#define CRC_POLYNOMIAL	0x82f63b78U	/* 0x1edc6f41 with its bits reversed */

u32 ressd_crc(const void *data, size_t bytes)
{
	return crc32c(~0U, data, bytes);
}

u32 ressd_own_crc(const void *data, size_t bytes)
{
	static const u8 zero[4];
	u32 crc = crc32c(~0U, data, 12);

	crc = crc32c(crc, zero, sizeof(zero));
	return crc32c(crc, (const u8 *)data + 16, bytes - 16);
}

/*
 * A checksum is a remainder by a polynomial, whose coefficients the bits of a
 * u32 are, the highest power in the lowest bit.  A zero bit behind the data
 * multiplies it by x.  This is the product of two such remainders.
 */
static u32 multiply(u32 a, u32 b)
{
	u32 product = 0;
	int i;

	for (i = 0; i < 32; i++, a >>= 1)
		product = (product >> 1) ^ (CRC_POLYNOMIAL & -(product & 1)) ^
			  (b & -(a & 1));
	return product;
}

void ressd_zeroes_init(struct ressd_zeroes *zeroes)
{
	static const struct ressd_entry zero;
	u32 i;

	zeroes->factors[0] = 1U << 31;	/* x to the power of 0 */
	for (i = 1; i <= RESSD_RECORD_ENTRIES; i++)
		zeroes->factors[i] =
			crc32c(zeroes->factors[i - 1], &zero, sizeof(zero));
}

bool ressd_is_zero(const void *data, size_t bytes)
{
	return !memchr_inv(data, 0, bytes);
}

void ressd_super_encode(struct ressd_super *super,
			const struct ressd_super_info *info, u32 copy)
{
	memset(super, 0, sizeof(*super));
	super->magic = cpu_to_le64(RESSD_SUPER_MAGIC);
	super->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(super->uuid, info->uuid, RESSD_UUID_SIZE);
	super->copy = cpu_to_le32(copy);
	super->normal_start = cpu_to_le64(info->table.normal_start);
	super->normal_sectors = cpu_to_le64(info->table.len);
	super->reserved_start = cpu_to_le64(info->table.reserved_start);
	super->reserved_sectors = cpu_to_le64(info->table.reserved_sectors);
	super->segment_blocks =
		cpu_to_le32(info->segment_sectors / RESSD_BLOCK_SECTORS);
	super->record_blocks = cpu_to_le32(info->record_blocks);
	super->devices = cpu_to_le32(info->devices);
	memcpy(super->options, info->options, RESSD_STORED_OPTIONS);
	super->cover_blocks = cpu_to_le32(info->cover_blocks);
	if (info->cover_blocks)
		super->incompat = cpu_to_le32(RESSD_INCOMPAT_COVER);
	super->crc = cpu_to_le32(ressd_block_crc(super));
}

/*
 * The fields of a superblock whose crc is right, so that only another version
 * can be wrong.
 */
static enum ressd_super_verdict decode_fields(const struct ressd_super *super,
					      struct ressd_super_info *info,
					      char *error, size_t size)
{
	struct ressd_geom geom;
	u64 segment_sectors =
		(u64)le32_to_cpu(super->segment_blocks) * RESSD_BLOCK_SECTORS;

	memcpy(info->uuid, super->uuid, RESSD_UUID_SIZE);
	info->table.normal_start = le64_to_cpu(super->normal_start);
	info->table.len = le64_to_cpu(super->normal_sectors);
	info->table.reserved_start = le64_to_cpu(super->reserved_start);
	info->table.reserved_sectors = le64_to_cpu(super->reserved_sectors);
	info->record_blocks = le32_to_cpu(super->record_blocks);
	info->devices = le32_to_cpu(super->devices);
	memcpy(info->options, super->options, RESSD_STORED_OPTIONS);
	info->uneven = false;
	info->cover_blocks = 0;
	if (le32_to_cpu(super->incompat) & RESSD_INCOMPAT_COVER)
		info->cover_blocks = le32_to_cpu(super->cover_blocks);
	if (!segment_sectors || segment_sectors > ~0U) {
		snprintf(error, size,
			 "the superblock has a segment size of %llu sectors",
			 (unsigned long long)segment_sectors);
		return RESSD_SUPER_DAMAGED;
	}
	info->segment_sectors = segment_sectors;
	/*
	 * No device is known here, so none is too short, and the areas may be
	 * on two.
	 */
	if (ressd_table_check(&info->table, ~0ULL, ~0ULL, false, error, size))
		return RESSD_SUPER_DAMAGED;
	if (ressd_geom_init(&geom, info->table.reserved_sectors,
			    segment_sectors, error, size))
		return RESSD_SUPER_DAMAGED;
	if (info->record_blocks != geom.record_blocks) {
		snprintf(error, size,
			 "the superblock has records of %u blocks, but they must be %u",
			 info->record_blocks, geom.record_blocks);
		return RESSD_SUPER_DAMAGED;
	}
	if (!ressd_cover_fits(&geom, info->cover_blocks) ||
	    (u64)info->cover_blocks * RESSD_BLOCK_SECTORS > info->table.len) {
		snprintf(error, size,
			 "the superblock has %u covered blocks, which is more than its areas can have",
			 info->cover_blocks);
		return RESSD_SUPER_DAMAGED;
	}
	return RESSD_SUPER_GOOD;
}

enum ressd_super_verdict ressd_super_decode(const struct ressd_super *super,
					    u32 copy,
					    struct ressd_super_info *info,
					    char *error, size_t size)
{
	u32 version = le32_to_cpu(super->version);
	u32 unknown;

	if (super->magic != cpu_to_le64(RESSD_SUPER_MAGIC)) {
		if (ressd_is_zero(super, sizeof(*super)))
			return RESSD_SUPER_BLANK;
		snprintf(error, size,
			 "the reserved area is neither blank nor formatted for ressd; if its contents may go, use ressdctl format");
		return RESSD_SUPER_FOREIGN;
	}
	if (le32_to_cpu(super->crc) != ressd_block_crc(super)) {
		snprintf(error, size,
			 "superblock copy %u has a bad checksum; use ressdctl check",
			 copy);
		return RESSD_SUPER_DAMAGED;
	}
	if (version != RESSD_FORMAT_VERSION) {
		snprintf(error, size,
			 "the reserved area has format version %u, this software knows version %u; use the version that made it, drain, and format again",
			 version, RESSD_FORMAT_VERSION);
		return RESSD_SUPER_FOREIGN;
	}
	unknown = (le32_to_cpu(super->incompat) & ~RESSD_INCOMPAT_KNOWN) |
		  (le32_to_cpu(super->ro_compat) & ~RESSD_RO_COMPAT_KNOWN);
	if (unknown) {
		snprintf(error, size,
			 "the reserved area uses features 0x%x that this software does not know; use a newer version",
			 unknown);
		return RESSD_SUPER_FOREIGN;
	}
	if (le32_to_cpu(super->copy) != copy) {
		snprintf(error, size,
			 "superblock copy %u stands in the place of copy %u; the reserved area in the table is not the one that was formatted",
			 le32_to_cpu(super->copy), copy);
		return RESSD_SUPER_FOREIGN;
	}
	return decode_fields(super, info, error, size);
}

int ressd_super_choose(const struct ressd_super *copy0,
		       const struct ressd_super *copy1,
		       struct ressd_super_info *info, char *error, size_t size)
{
	struct ressd_super_info other;
	enum ressd_super_verdict first, second;
	char reason[RESSD_ERROR_SIZE] = "";

	error[0] = '\0';
	first = ressd_super_decode(copy0, 0, info, error, size);
	second = ressd_super_decode(copy1, 1, &other, reason, sizeof(reason));
	if (first == RESSD_SUPER_GOOD && second == RESSD_SUPER_GOOD) {
		if (!memcmp(info->uuid, other.uuid, RESSD_UUID_SIZE)) {
			/*
			 * Nothing beyond the shorter length has ever been
			 * served.  Where the options differ, storing them was
			 * cut short; either may count.
			 */
			info->uneven = info->table.len != other.table.len;
			info->table.len =
				min_t(u64, info->table.len, other.table.len);
			return 0;
		}
		snprintf(error, size,
			 "the two superblock copies belong to different formats; use ressdctl check");
		return -EINVAL;
	}
	if (first == RESSD_SUPER_BLANK && second == RESSD_SUPER_BLANK)
		return -ENODATA;
	/* Another version or another device must not be taken for damage. */
	if (first == RESSD_SUPER_GOOD && second != RESSD_SUPER_FOREIGN) {
		snprintf(error, size,
			 "superblock copy 1 is damaged; use ressdctl check");
		return 0;
	}
	if (second == RESSD_SUPER_GOOD && first != RESSD_SUPER_FOREIGN) {
		snprintf(error, size,
			 "superblock copy 0 is damaged; use ressdctl check");
		*info = other;
		return 0;
	}
	if (!error[0])
		snprintf(error, size, "%s", reason);
	return -EINVAL;
}

u32 ressd_super_first(const struct ressd_super *copy0)
{
	char reason[RESSD_ERROR_SIZE];
	struct ressd_super_info info;

	return ressd_super_decode(copy0, 0, &info, reason, sizeof(reason)) ==
	       RESSD_SUPER_GOOD;
}

int ressd_super_matches(const struct ressd_super_info *info,
			const struct ressd_table *table,
			const struct ressd_options *options, char *error,
			size_t size)
{
	if (info->table.normal_start != table->normal_start ||
	    info->table.reserved_start != table->reserved_start ||
	    info->table.reserved_sectors != table->reserved_sectors) {
		snprintf(error, size,
			 "the superblock describes another device: normal area %llu + %llu, reserved area %llu + %llu sectors; use those numbers or ressdctl format",
			 (unsigned long long)info->table.normal_start,
			 (unsigned long long)info->table.len,
			 (unsigned long long)info->table.reserved_start,
			 (unsigned long long)info->table.reserved_sectors);
		return -EINVAL;
	}
	if (table->len < info->table.len) {
		snprintf(error, size,
			 "the normal area has %llu sectors and cannot shrink to %llu, for the log may hold blocks beyond them; drain, remove the device and use ressdctl format",
			 (unsigned long long)info->table.len,
			 (unsigned long long)table->len);
		return -EINVAL;
	}
	if (options->segment_sectors &&
	    options->segment_sectors != info->segment_sectors) {
		snprintf(error, size,
			 "segment_sectors is %u, but the reserved area was formatted with %u; leave the option out or use ressdctl format",
			 options->segment_sectors, info->segment_sectors);
		return -EINVAL;
	}
	if (options->cover == RESSD_OFF && info->cover_blocks) {
		snprintf(error, size,
			 "cover is off, but the reserved area was formatted with covers; leave the option out or use ressdctl format");
		return -EINVAL;
	}
	return 0;
}

void ressd_record_seal(struct ressd_record_header *header)
{
	header->crc = cpu_to_le32(ressd_block_crc(header));
}

void ressd_record_seal_short(struct ressd_record_header *header,
			     const struct ressd_zeroes *zeroes, u32 used)
{
	const u32 unused = RESSD_RECORD_ENTRIES - used;
	u32 crc;

	header->crc = 0;
	crc = ressd_crc(header,
			sizeof(*header) - unused * sizeof(header->entries[0]));
	header->crc = cpu_to_le32(multiply(crc, zeroes->factors[unused]));
}

bool ressd_record_valid(const struct ressd_record_header *header,
			const u8 *uuid, const struct ressd_geom *geom,
			u32 block)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 nr_unmaps = le16_to_cpu(header->nr_unmaps);
	u32 nr_blocks = le32_to_cpu(header->nr_blocks);
	u32 slot = ressd_geom_slot(geom, block);
	u64 segment_seq = le64_to_cpu(header->segment_seq);

	return header->magic == cpu_to_le64(RESSD_RECORD_MAGIC) &&
	       le32_to_cpu(header->version) == RESSD_FORMAT_VERSION &&
	       !memcmp(header->uuid, uuid, RESSD_UUID_SIZE) &&
	       le32_to_cpu(header->crc) == ressd_block_crc(header) &&
	       le32_to_cpu(header->block) == block &&
	       nr_maps + nr_unmaps <= RESSD_RECORD_ENTRIES &&
	       nr_maps < nr_blocks &&
	       nr_blocks <= ressd_geom_slot_end(geom, slot) - block &&
	       le64_to_cpu(header->seq) <= RESSD_MAX_SEQ &&
	       segment_seq <= RESSD_MAX_SEQ && segment_seq &&
	       ressd_geom_slot_of_seq(geom, segment_seq) == slot &&
	       le64_to_cpu(header->tail_seq) <= segment_seq &&
	       le64_to_cpu(header->durable_seq) < le64_to_cpu(header->seq);
}

void ressd_record_link(const struct ressd_record_header *header,
		       struct ressd_link *link)
{
	link->seq = le64_to_cpu(header->seq);
	link->segment_seq = le64_to_cpu(header->segment_seq);
	link->activation = le64_to_cpu(header->activation);
	link->crc = le32_to_cpu(header->crc);
	link->uncovered = le32_to_cpu(header->flags) & RESSD_RECORD_UNCOVERED;
}

bool ressd_record_follows(const struct ressd_record_header *header,
			  const struct ressd_link *link)
{
	u64 segment_seq = le64_to_cpu(header->segment_seq);

	return le64_to_cpu(header->seq) == link->seq + 1 &&
	       le32_to_cpu(header->prev_crc) == link->crc &&
	       (segment_seq == link->segment_seq ||
		segment_seq == link->segment_seq + 1) &&
	       (le64_to_cpu(header->activation) == link->activation ||
		le32_to_cpu(header->flags) & RESSD_RECORD_FIRST);
}
