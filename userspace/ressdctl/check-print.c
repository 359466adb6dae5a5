// SPDX-License-Identifier: GPL-2.0-only
/* The report of ressdctl check, for people and for programs; see check-print.h. */
#include <stdio.h>
#include "check-print.h"
#include "cli/json-stream.h"
#include "log/area.h"

#define CHECK_SCHEMA	1	/* of the JSON; ressdctl(8) describes it */

static const char *verdict(const struct log_check *check)
{
	const u64 *counts = check->findings.counts;

	if (check->refused)
		return "damaged; the kernel refuses it";
	if (counts[FINDING_DAMAGE])
		return "damaged; the kernel accepts it, but data is lost";
	if (counts[FINDING_WARNING])
		return "usable, but not all of it is in order";
	return check->blank ? "blank; the kernel formats it when it is first used" : "clean";
}

static void print_place(const char *name, u64 number)
{
	if (number != FINDING_NOWHERE)
		printf(", %s %llu", name, number);
}

static void print_finding(const struct finding *finding)
{
	fputs(finding_level_word(finding->level), stdout);
	print_place("segment", finding->segment);
	print_place("record", finding->record);
	print_place("log block", finding->log_block);
	print_place("normal block", finding->normal_block);
	printf(": %s.\n", finding->text);
	if (finding->remedy)
		printf("    Remedy: %s.\n", finding->remedy);
}

static u64 nr_findings(const struct log_check *check)
{
	u64 nr = 0;
	int level;

	for (level = FINDING_NOTE; level <= FINDING_REFUSED; level++)
		nr += check->findings.counts[level];
	return nr;
}

static void print_totals(const struct log_check *check, const struct offline_area *area)
{
	char uuid[UUID_TEXT];

	if (check->blank)
		return;
	printf("%-22s %s\n", "UUID", uuid_print(area->supers.info.uuid, uuid));
	if (check->refused)
		return;
	printf("%-22s %llu (number %llu to %llu)\n", "segments in use", check->segments,
	       check->tail_segment, check->head_segment);
	printf("%-22s %llu\n", "records", check->records);
	printf("%-22s %llu\n", "data blocks checked", check->data_blocks);
	printf("%-22s %llu\n", "not yet moved", check->mapped_blocks);
	if (check->covered)
		printf("%-22s the first %u blocks of the normal area\n", "covered",
		       area->supers.info.cover_blocks);
}

void check_print_text(const struct log_check *check, const struct offline_area *area)
{
	size_t i;

	printf("%-22s sector %llu + %llu of %s\n", "reserved area", area->start, area->sectors,
	       area->dev.path);
	print_totals(check, area);
	for (i = 0; i < check->findings.nr; i++)
		print_finding(&check->findings.list[i]);
	if (nr_findings(check) > check->findings.nr)
		printf("and %llu more\n", nr_findings(check) - check->findings.nr);
	printf("%s\n", verdict(check));
}

static void put_place(const char *key, u64 number)
{
	if (number != FINDING_NOWHERE)
		json_number(key, number);
}

static void put_finding(const struct finding *finding)
{
	json_open(NULL, '{');
	json_string("level", finding_level_word(finding->level));
	json_string("kind", finding->kind);
	put_place("segment", finding->segment);
	put_place("record", finding->record);
	put_place("log_block", finding->log_block);
	put_place("normal_block", finding->normal_block);
	json_string("text", finding->text);
	if (finding->remedy)
		json_string("remedy", finding->remedy);
	json_close();
}

void check_print_json(const struct log_check *check, const struct offline_area *area)
{
	const u64 *counts = check->findings.counts;
	char uuid[UUID_TEXT];
	size_t i;

	json_open(NULL, '{');
	json_number("version", CHECK_SCHEMA);
	json_string("device", area->dev.path);
	json_number("reserved_start", area->start);
	json_number("reserved_sectors", area->sectors);
	json_string("verdict", verdict(check));
	json_bool("clean", !counts[FINDING_WARNING] && !counts[FINDING_DAMAGE] && !check->refused);
	json_bool("refused", check->refused);
	json_bool("blank", check->blank);
	if (!check->blank)
		json_string("uuid", uuid_print(area->supers.info.uuid, uuid));
	json_number("segments", check->segments);
	json_number("records", check->records);
	json_number("data_blocks", check->data_blocks);
	json_number("mapped_blocks", check->mapped_blocks);
	json_number("lost_blocks", check->lost_blocks);
	json_number("unreadable_blocks", check->unreadable_blocks);
	json_bool("covered", check->covered);
	json_number("notes", counts[FINDING_NOTE]);
	json_number("warnings", counts[FINDING_WARNING]);
	json_number("damages", counts[FINDING_DAMAGE]);
	json_number("refusals", counts[FINDING_REFUSED]);
	json_open("findings", '[');
	for (i = 0; i < check->findings.nr; i++)
		put_finding(&check->findings.list[i]);
	json_close();
	json_close();
}
