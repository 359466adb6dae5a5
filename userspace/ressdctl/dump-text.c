// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl dump for people; see dump.h. */
#include <stdio.h>
#include "cli/words.h"
#include "dump.h"
#include "log/area.h"
#include "log/stored-options.h"

static void nothing(void)
{
}

static void print_copy(const struct super_copy *copy, u32 number)
{
	char uuid[UUID_TEXT];

	const char *options = stored_options_are_text(&copy->info) ? copy->info.options :
			      "not readable";

	printf("superblock copy %u: %s\n", number, super_copy_word(copy));
	if (!copy->readable)
		printf("  %s\n", copy->failure.text);
	else if (copy->verdict == RESSD_SUPER_GOOD)
		printf("  UUID           %s\n"
		       "  normal area    sector %llu + %llu\n"
		       "  reserved area  sector %llu + %llu\n"
		       "  segments       %u sectors, records up to %u blocks\n"
		       "  options        %s\n",
		       uuid_print(copy->info.uuid, uuid), copy->info.table.normal_start,
		       copy->info.table.len, copy->info.table.reserved_start,
		       copy->info.table.reserved_sectors, copy->info.segment_sectors,
		       copy->info.record_blocks, *options ? options : "the defaults");
	else if (copy->error[0])
		printf("  %s\n", copy->error);
	if (copy->verdict == RESSD_SUPER_GOOD && copy->info.cover_blocks)
		printf("  cover          the first %u blocks while the log is not drained\n",
		       copy->info.cover_blocks);
}

static void superblocks(const struct super_pair *supers)
{
	print_copy(&supers->copies[0], 0);
	print_copy(&supers->copies[1], 1);
}

static void segment_begin(const struct log_image *image, u32 slot)
{
	printf("slot %u: log blocks %u to %u\n", slot, ressd_geom_slot_start(&image->geom, slot),
	       ressd_geom_slot_end(&image->geom, slot) - 1);
}

static void print_record(const struct log_spot *spot, const char *fate)
{
	const struct ressd_record_header *header = &spot->header;
	u32 nr_maps = le16_to_cpu(header->nr_maps), i;
	u32 nr = nr_maps + le16_to_cpu(header->nr_unmaps);

	printf("  record %llu of segment %llu at log block %u: %u block%s, %s%s%s%s\n",
	       log_spot_seq(spot), log_spot_segment(spot), spot->block,
	       le32_to_cpu(header->nr_blocks), plural(le32_to_cpu(header->nr_blocks)),
	       fate,
	       le32_to_cpu(header->flags) & RESSD_RECORD_FIRST ? ", first of its activation" : "",
	       le32_to_cpu(header->flags) & RESSD_RECORD_UNCOVERED ? ", not covered" : "",
	       spot->loose ? ", behind a gap" : "");
	printf("    tail %llu, durable %llu, activation %016llx (epoch %u), crc %08x after %08x\n",
	       le64_to_cpu(header->tail_seq), le64_to_cpu(header->durable_seq),
	       le64_to_cpu(header->activation), le32_to_cpu(header->epoch),
	       le32_to_cpu(header->crc), le32_to_cpu(header->prev_crc));
	for (i = 0; i < nr_maps; i++)
		printf("    map   log block %u holds normal block %u, crc %08x\n",
		       spot->block + 1 + i, le32_to_cpu(header->entries[i].block),
		       le32_to_cpu(header->entries[i].crc));
	for (; i < nr; i++)
		printf("    unmap log block %u\n", le32_to_cpu(header->entries[i].block));
}

static void print_summary(const struct log_image *image, const struct ressd_summary *found,
			  bool stale)
{
	const struct ressd_geom *geom = &image->geom;
	const __le32 *unmaps = ressd_summary_unmaps(found, geom);
	u32 first = le32_to_cpu(found->block) / geom->segment_blocks * geom->segment_blocks, i;

	printf("  summary of segment %llu at log block %u: records %llu to %llu%s%s%s\n",
	       le64_to_cpu(found->segment_seq), le32_to_cpu(found->block),
	       le64_to_cpu(found->first_seq), le64_to_cpu(found->last_seq),
	       le32_to_cpu(found->flags) & RESSD_RECORD_FIRST ? ", first of its activation" : "",
	       le32_to_cpu(found->flags) & RESSD_RECORD_UNCOVERED ? ", not covered" : "",
	       stale ? ", left behind" : "");
	printf("    tail %llu, durable %llu, activation %016llx to %016llx (epoch %u), crc %08x to %08x after %08x, next log block %u\n",
	       le64_to_cpu(found->tail_seq), le64_to_cpu(found->durable_seq),
	       le64_to_cpu(found->first_activation), le64_to_cpu(found->activation),
	       le32_to_cpu(found->epoch),
	       le32_to_cpu(found->first_crc), le32_to_cpu(found->last_crc),
	       le32_to_cpu(found->first_prev_crc), le32_to_cpu(found->next_block));
	for (i = 0; i < geom->segment_blocks; i++)
		if (le32_to_cpu(found->maps[i].block) != RESSD_NO_BLOCK)
			printf("    map   log block %u holds normal block %u, crc %08x\n",
			       first + i, le32_to_cpu(found->maps[i].block),
			       le32_to_cpu(found->maps[i].crc));
	for (i = 0; i < le32_to_cpu(found->nr_unmaps); i++)
		printf("    unmap log block %u\n", le32_to_cpu(unmaps[i]));
}

static void map_begin(const struct log_image *image, int code)
{
	if (code)
		printf("map: none, because %s\n",
		       image->error[0] ? image->error : image->failure.text);
	else
		printf("map: %u block%s, from %llu record%s; head is segment %llu, tail segment %llu\n",
		       image->log.map.nr_mapped, plural(image->log.map.nr_mapped),
		       image->recovery.records, plural(image->recovery.records),
		       image->log.head_seq, image->log.tail_seq);
}

static void mapping(u32 normal_block, u32 log_block, u32 crc)
{
	printf("  normal block %u is in log block %u, crc %08x\n", normal_block, log_block, crc);
}

const struct dump_writer dump_text = {
	.begin = nothing,
	.superblocks = superblocks,
	.segments_begin = nothing,
	.segment_begin = segment_begin,
	.record = print_record,
	.records_end = nothing,
	.summary = print_summary,
	.segment_end = nothing,
	.segments_end = nothing,
	.map_begin = map_begin,
	.mapping = mapping,
	.map_end = nothing,
	.end = nothing,
};
