// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl dump --json; see dump.h. */
#include "cli/json-stream.h"
#include "dump.h"
#include "log/area.h"
#include "log/stored-options.h"

#define DUMP_SCHEMA	1	/* ressdctl(8) describes it */

static void begin(void)
{
	json_open(NULL, '{');
	json_number("version", DUMP_SCHEMA);
}

static void put_copy(const struct super_copy *copy, u32 number)
{
	char uuid[UUID_TEXT];

	json_open(NULL, '{');
	json_number("copy", number);
	json_string("state", super_copy_word(copy));
	if (!copy->readable) {
		json_string("reason", copy->failure.text);
	} else if (copy->verdict == RESSD_SUPER_GOOD) {
		json_string("uuid", uuid_print(copy->info.uuid, uuid));
		json_number("normal_start", copy->info.table.normal_start);
		json_number("normal_sectors", copy->info.table.len);
		json_number("reserved_start", copy->info.table.reserved_start);
		json_number("reserved_sectors", copy->info.table.reserved_sectors);
		json_number("segment_sectors", copy->info.segment_sectors);
		json_number("record_blocks", copy->info.record_blocks);
		json_number("cover_blocks", copy->info.cover_blocks);
		if (copy->info.devices)
			json_number("devices", copy->info.devices);
		if (stored_options_are_text(&copy->info))
			json_string("options", copy->info.options);
	} else if (copy->error[0]) {
		json_string("reason", copy->error);
	}
	json_close();
}

static void superblocks(const struct super_pair *supers)
{
	json_open("superblocks", '[');
	put_copy(&supers->copies[0], 0);
	put_copy(&supers->copies[1], 1);
	json_close();
}

static void segments_begin(void)
{
	json_open("slots", '[');
}

static void segment_begin(const struct log_image *image, u32 slot)
{
	json_open(NULL, '{');
	json_number("slot", slot);
	json_number("first_block", ressd_geom_slot_start(&image->geom, slot));
	json_number("end_block", ressd_geom_slot_end(&image->geom, slot));
	json_open("records", '[');
}

static void put_entries(const struct log_spot *spot)
{
	const struct ressd_record_header *header = &spot->header;
	u32 nr_maps = le16_to_cpu(header->nr_maps), i;
	u32 nr = nr_maps + le16_to_cpu(header->nr_unmaps);

	json_open("maps", '[');
	for (i = 0; i < nr_maps; i++) {
		json_open(NULL, '{');
		json_number("normal_block", le32_to_cpu(header->entries[i].block));
		json_number("log_block", spot->block + 1 + i);
		json_hex("crc", le32_to_cpu(header->entries[i].crc));
		json_close();
	}
	json_close();
	json_open("unmaps", '[');
	for (; i < nr; i++)
		json_number(NULL, le32_to_cpu(header->entries[i].block));
	json_close();
}

static void record(const struct log_spot *spot, const char *fate)
{
	const struct ressd_record_header *header = &spot->header;

	json_open(NULL, '{');
	json_number("record", log_spot_seq(spot));
	json_number("segment", log_spot_segment(spot));
	json_number("block", spot->block);
	json_number("blocks", le32_to_cpu(header->nr_blocks));
	json_string("state", fate);
	json_bool("behind_gap", spot->loose);
	json_bool("first", le32_to_cpu(header->flags) & RESSD_RECORD_FIRST);
	json_bool("uncovered", le32_to_cpu(header->flags) & RESSD_RECORD_UNCOVERED);
	json_number("tail", le64_to_cpu(header->tail_seq));
	json_number("durable", le64_to_cpu(header->durable_seq));
	json_hex("activation", le64_to_cpu(header->activation));
	json_number("epoch", le32_to_cpu(header->epoch));
	json_hex("crc", le32_to_cpu(header->crc));
	json_hex("previous_crc", le32_to_cpu(header->prev_crc));
	put_entries(spot);
	json_close();
}

static void summary(const struct log_image *image, const struct ressd_summary *found, bool stale)
{
	const struct ressd_geom *geom = &image->geom;
	const __le32 *unmaps = ressd_summary_unmaps(found, geom);
	u32 first = le32_to_cpu(found->block) / geom->segment_blocks * geom->segment_blocks, i;

	json_open("summary", '{');
	json_number("segment", le64_to_cpu(found->segment_seq));
	json_number("block", le32_to_cpu(found->block));
	json_bool("left_behind", stale);
	json_number("first_record", le64_to_cpu(found->first_seq));
	json_number("last_record", le64_to_cpu(found->last_seq));
	json_number("next_block", le32_to_cpu(found->next_block));
	json_bool("first", le32_to_cpu(found->flags) & RESSD_RECORD_FIRST);
	json_bool("uncovered", le32_to_cpu(found->flags) & RESSD_RECORD_UNCOVERED);
	json_number("tail", le64_to_cpu(found->tail_seq));
	json_number("durable", le64_to_cpu(found->durable_seq));
	json_hex("first_activation", le64_to_cpu(found->first_activation));
	json_hex("activation", le64_to_cpu(found->activation));
	json_number("epoch", le32_to_cpu(found->epoch));
	json_hex("first_crc", le32_to_cpu(found->first_crc));
	json_hex("last_crc", le32_to_cpu(found->last_crc));
	json_hex("previous_crc", le32_to_cpu(found->first_prev_crc));
	json_open("maps", '[');
	for (i = 0; i < geom->segment_blocks; i++) {
		if (le32_to_cpu(found->maps[i].block) == RESSD_NO_BLOCK)
			continue;
		json_open(NULL, '{');
		json_number("normal_block", le32_to_cpu(found->maps[i].block));
		json_number("log_block", first + i);
		json_hex("crc", le32_to_cpu(found->maps[i].crc));
		json_close();
	}
	json_close();
	json_open("unmaps", '[');
	for (i = 0; i < le32_to_cpu(found->nr_unmaps); i++)
		json_number(NULL, le32_to_cpu(unmaps[i]));
	json_close();
	json_close();
}

static void map_begin(const struct log_image *image, int code)
{
	json_open("recovery", '{');
	json_bool("accepted", !code);
	if (code) {
		json_string("reason", image->error[0] ? image->error : image->failure.text);
	} else {
		json_number("records", image->recovery.records);
		json_bool("dropped", image->recovery.dropped);
		json_number("head_segment", image->log.head_seq);
		json_number("tail_segment", image->log.tail_seq);
		json_number("mapped_blocks", image->log.map.nr_mapped);
	}
	json_close();
	json_open("map", '[');
}

static void mapping(u32 normal_block, u32 log_block, u32 crc)
{
	json_open(NULL, '{');
	json_number("normal_block", normal_block);
	json_number("log_block", log_block);
	json_hex("crc", crc);
	json_close();
}

const struct dump_writer dump_json = {
	.begin = begin,
	.superblocks = superblocks,
	.segments_begin = segments_begin,
	.segment_begin = segment_begin,
	.record = record,
	.records_end = json_close,
	.summary = summary,
	.segment_end = json_close,
	.segments_end = json_close,
	.map_begin = map_begin,
	.mapping = mapping,
	.map_end = json_close,
	.end = json_close,
};
