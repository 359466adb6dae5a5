// SPDX-License-Identifier: GPL-2.0-only
/*
 * crosscheck: ressdctl's check and repair against recovery, on many damaged logs.
 *
 *	crosscheck FIRST_SEED NUMBER
 *
 * Each seed makes a valid log and damages it.  Then:
 *  - a log that is not damaged is accepted, and check finds nothing but what a power cut leaves;
 *  - check calls refused what recovery refuses, says where, and nothing else;
 *  - the map that the records add up to is the one that recovery makes, unless check says why not;
 *  - what repair plans makes recovery accept the log, and find in it what the plan keeps; after a
 *    power cut at any of its writes a second repair makes recovery accept it.
 * The valid log, once more with each of its segments hidden by a forged header, must hold the same.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "life.h"
#include "log/check.h"
#include "log/cut.h"
#include "mutate.h"

struct totals {
	u32 accepted, refused, cut, nothing_left, unmapped, copied;
};

static u64 seed;
static const struct area_memory *current;	/* the log under test */

/* Keeps the log, as a device, for ressdctl check and dump. */
static void keep_log(void)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/crosscheck-%llu.img", seed);
	file = fopen(path, "wb");
	if (!file || fseek(file, current->info.table.reserved_start * 512, SEEK_SET) ||
	    !fwrite(current->blocks, (size_t)current->nr_blocks * RESSD_BLOCK_SIZE, 1, file) ||
	    fclose(file))
		perror(path);
	else
		printf("# the log as it was then: %s\n", path);
}

static void require(bool holds, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void require(bool holds, const char *format, ...)
{
	va_list arguments;

	if (holds)
		return;
	va_start(arguments, format);
	printf("not ok - crosscheck: seed %llu: ", seed);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	keep_log();
	exit(1);
}

static const struct finding *find_kind(const struct log_check *check, const char *kind)
{
	size_t i;

	for (i = 0; i < check->findings.nr; i++)
		if (!strcmp(check->findings.list[i].kind, kind))
			return &check->findings.list[i];
	return NULL;
}

static const char *first_text(const struct log_check *check)
{
	return check->findings.nr ? check->findings.list[0].text : "nothing";
}

/* Runs check on @area; *@code gets what recovery says. */
static void run_check(struct area_memory *area, struct log_check *check, int *code)
{
	struct log_source source = area_source(area);
	struct log_image image;
	struct failure failure;

	memset(check, 0, sizeof(*check));
	require(!log_image_open(&image, &area->info, &source, &failure), "%s", failure.text);
	*code = log_image_recover(&image);
	require(!log_check_log(check, &image, &failure), "%s", failure.text);
	log_image_close(&image);
}

/* True if refused: then check says in *@missing at which record, also to repair. */
static bool agree(struct area_memory *area, bool damaged, u64 *missing)
{
	const struct finding *chain;
	struct log_check check;
	int code;

	run_check(area, &check, &code);
	require(check.refused == (code == -EUCLEAN), "recovery says %d, check says %s", code,
		check.refused ? "refused" : "accepted");
	require(!check.refused == !check.findings.counts[FINDING_REFUSED],
		"refused %d, but %llu findings say so", check.refused,
		check.findings.counts[FINDING_REFUSED]);
	chain = find_kind(&check, "chain");
	require(!check.refused || chain, "refused, but check does not say where: %s",
		first_text(&check));
	*missing = chain ? chain->record : 0;
	require(damaged || (!check.refused && !check.findings.counts[FINDING_DAMAGE] &&
			    !check.findings.counts[FINDING_WARNING]),
		"a fault in a valid log: %s", first_text(&check));
	log_check_free(&check);
	return code;
}

static int plan(struct area_memory *area, struct log_cut *cut)
{
	struct log_source source = area_source(area);
	struct log_image image;
	struct failure failure;
	int code;

	require(!log_image_open(&image, &area->info, &source, &failure), "%s", failure.text);
	code = log_cut_plan(cut, &image, &failure);
	log_image_close(&image);
	require(code >= 0 || code == -ENODATA, "the repair cannot be planned: %s", failure.text);
	return code;
}

/* How much of a repair is on the device after a power cut. */
struct progress {
	u32 writes;		/* the first ones */
	bool torn;		/* of the last of them only a sector */
	u32 but;		/* all of them but this one, which no flush has followed */
};

#define ALL_WRITES	((struct progress) { .writes = ~0U, .but = ~0U })

static void carry_out(struct area_memory *area, const struct log_cut *cut, struct progress progress)
{
	static const u8 zeroes[RESSD_BLOCK_SIZE];
	u32 i, limit = min(progress.writes, log_cut_nr_writes(cut));

	for (i = 0; i < limit; i++) {
		struct cut_write write = log_cut_write(cut, i);

		if (i != progress.but)
			memcpy(area_block(area, write.block), write.data ? write.data : zeroes,
			       progress.torn && i == limit - 1 ? 512 : RESSD_BLOCK_SIZE);
	}
}

/* The covered blocks that the repair has copied are in the log. */
static void require_copies(struct area_memory *area, const struct log_cut *cut)
{
	struct log_source source = area_source(area);
	struct log_image image;
	struct failure failure;
	u32 i;

	require(!log_image_open(&image, &area->info, &source, &failure), "%s", failure.text);
	require(!log_image_recover(&image), "refused after the repair");
	for (i = 0; i < cut->nr_copies; i++) {
		u32 lbn = le32_to_cpu(cut->records->entries[i].block);
		const struct ressd_node *node = ressd_map_find(&image.log.map, lbn);

		require(node && node->crc == ressd_crc(area_block(area, node - image.nodes),
						       RESSD_BLOCK_SIZE),
			"covered block %u is lost by an interruption of the repair", lbn);
	}
	log_image_close(&image);
}

/* Repeats a repair that a power cut has interrupted. */
static void repeat_repair(const struct area_memory *damaged, const struct log_cut *cut,
			  struct progress progress)
{
	struct area_memory area;
	struct log_cut second;
	u64 missing;
	int code;

	area_copy(&area, damaged);
	current = &area;
	carry_out(&area, cut, progress);
	code = plan(&area, &second);
	require(code >= 0, "a repair of which %u writes were done, but not %u, cannot be repeated",
		progress.writes, progress.but);
	if (code > 0)
		carry_out(&area, &second, ALL_WRITES);
	log_cut_free(&second);
	require(!agree(&area, true, &missing),
		"refused after a repair of which %u writes were done, but not %u, and its repetition",
		progress.writes, progress.but);
	if (cut->nr_copies)
		require_copies(&area, cut);
	area_free(&area);
	current = damaged;
}

/* After each write, whole or torn, and with each of those missing that no flush follows. */
static void interrupt_repair(const struct area_memory *damaged, const struct log_cut *cut)
{
	u32 i, nr = log_cut_nr_writes(cut), unflushed = 0, missing;

	for (i = 0; i <= nr; i++) {
		repeat_repair(damaged, cut, (struct progress) { .writes = i, .but = ~0U });
		repeat_repair(damaged, cut,
			      (struct progress) { .writes = i, .torn = true, .but = ~0U });
		for (missing = unflushed; missing + 1 < i; missing++)
			repeat_repair(damaged, cut,
				      (struct progress) { .writes = i, .but = missing });
		if (i < nr && log_cut_write(cut, i).flush)
			unflushed = i;
	}
}

/* What the repair said that it keeps is what recovery then finds, with the data that were there. */
static void require_kept(struct area_memory *area, const struct area_memory *damaged,
			 const struct log_cut *cut)
{
	struct log_source source = area_source(area);
	struct log_image image;
	struct failure failure;
	u32 block;

	require(!log_image_open(&image, &area->info, &source, &failure), "%s", failure.text);
	require(!log_image_recover(&image), "refused after the repair");
	require(image.log.map.nr_mapped == cut->kept_blocks,
		"the repair keeps %llu blocks, recovery finds %u", cut->kept_blocks,
		image.log.map.nr_mapped);
	for (block = 0; block < area->nr_blocks; block++)
		require(image.nodes[block].lbn == RESSD_NO_BLOCK ||
			block - cut->block <= cut->nr_copies ||
			!memcmp(area_block(area, block), area_block(damaged, block),
				RESSD_BLOCK_SIZE), "the repair changed the data of log block %u",
			block);
	log_image_close(&image);
}

static void repair_log(struct area_memory *area, u64 missing, struct totals *totals)
{
	struct area_memory damaged;
	struct log_cut cut;
	int code = plan(area, &cut);

	require(code, "refused, but there is nothing to repair");
	if (code == -ENODATA) {
		totals->nothing_left++;
		log_cut_free(&cut);
		return;
	}
	require(cut.chain.link.seq + 1 == missing, "check misses record %llu, repair cuts behind %llu",
		missing, cut.chain.link.seq);
	totals->cut++;
	totals->unmapped += cut.unmapped > 0;
	totals->copied += cut.nr_copies > 0;
	interrupt_repair(area, &cut);
	area_copy(&damaged, area);
	carry_out(area, &cut, ALL_WRITES);
	require(!agree(area, true, &missing), "refused after the repair");
	require_kept(area, &damaged, &cut);
	area_free(&damaged);
	log_cut_free(&cut);
}

static void judge(struct area_memory *area, struct totals *totals)
{
	u64 missing;

	if (agree(area, true, &missing)) {
		totals->refused++;
		repair_log(area, missing, totals);
	} else {
		totals->accepted++;
	}
}

static void try_seed(struct totals *totals)
{
	struct random random = { .state = seed };
	u32 lives = 1 + random_below(&random, 3), changes = random_below(&random, 4);
	struct area_memory area;
	bool hostile = random_once_in(&random, 3);

	current = &area;
	area_make_random(&area, &random, 4, 16, 200);
	while (lives--)
		life_run(&area, &random, random_below(&random, 400));
	if (hostile)
		mutate(&area, &random);
	else
		for (; changes; changes--)
			mutate_once(&area, &random);
	/* As if it had been covered all the time. */
	if (random_once_in(&random, 2))
		area.info.cover_blocks = 1 + random_below(&random, 6);
	judge(&area, totals);
	area_free(&area);
}

/*
 * A forged first header, which speaks of another segment, hides its segment from recovery, and the
 * summary that is there.  Check and repair believed that summary (once found by seed 433).
 */
static void hide_segment(const struct area_memory *valid, u32 slot, struct totals *totals)
{
	u32 start = ressd_geom_slot_start(&valid->geom, slot);
	struct ressd_record_header *header;
	struct area_memory area;

	area_copy(&area, valid);
	current = &area;
	header = area_block(&area, start);
	if (ressd_record_valid(header, valid->info.uuid, &valid->geom, start)) {
		header->segment_seq = cpu_to_le64(le64_to_cpu(header->segment_seq) +
						  valid->geom.nr_segments);
		ressd_record_seal(header);
		judge(&area, totals);
	}
	area_free(&area);
	current = valid;
}

static void try_valid(struct totals *totals)
{
	struct random random = { .state = seed };
	struct area_memory area;
	u32 lives = 1 + random_below(&random, 3), slot;
	u64 missing;

	current = &area;
	area_make_random(&area, &random, 4, 16, 200);
	while (lives--) {
		life_run(&area, &random, random_below(&random, 400));
		agree(&area, false, &missing);
	}
	for (slot = 0; slot < area.geom.nr_segments; slot++)
		hide_segment(&area, slot, totals);
	area_free(&area);
}

static void report(const char *kind, const struct totals *totals)
{
	printf("# logs %s: %u accepted, %u refused; of these %u repaired (%u with UNMAPs kept, %u with covered blocks copied), %u with nothing left to keep\n",
	       kind, totals->accepted, totals->refused, totals->cut, totals->unmapped,
	       totals->copied, totals->nothing_left);
}

static bool all_met(const struct totals *totals)
{
	return totals->accepted && totals->refused && totals->cut;
}

int main(int argc, char **argv)
{
	struct totals damaged = { 0 }, hidden = { 0 };
	u64 first, nr;

	if (argc != 3) {
		fputs("crosscheck FIRST_SEED NUMBER\n", stderr);
		return 2;
	}
	first = strtoull(argv[1], NULL, 0);
	nr = strtoull(argv[2], NULL, 0);
	for (seed = first; seed < first + nr; seed++) {
		try_valid(&hidden);
		try_seed(&damaged);
	}
	printf("# seeds %llu to %llu\n", first, first + nr - 1);
	report("damaged", &damaged);
	report("with a hidden segment", &hidden);
	if (nr >= 100 && !(all_met(&damaged) && all_met(&hidden))) {
		printf("not ok - crosscheck: not every outcome was met\n");
		return 1;
	}
	printf("ok - crosscheck: check and repair agree with recovery on %llu logs\n", 2 * nr);
	return 0;
}
