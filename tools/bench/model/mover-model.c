// SPDX-License-Identifier: GPL-2.0-only
/*
 * mover-model: what the choices of log and mover cost on an emulated drive, in userspace and in
 * virtual time, in seconds instead of the minutes of a guest.
 *
 *	mover-model PROFILE [key=value...] [then [key=value...]]...	a line of figures for each load
 *
 * The code of dm-ressd/core (log, map, sweep) and of the drive (tests/ssdsim) is what runs in the
 * kernel.  Around them is the simplest host there is: one request at a time, or as many direct ones
 * as depth= says; a mover that works when a writer has to wait for room (pace even); and nothing
 * that takes processor time.  A record is written before the next block is accepted, or with
 * records=2 when the next one is full as well: as in the kernel, whose writers are faster than the
 * drive.  With threads=1, or with a rate of writes in KB/s, writer, log and mover work beside one
 * another (model-threads.c), adaptive=1, open_units= and bypass=1 send writes past the log as the
 * target does, and how long writes wait is told as well; then all loads must be such.
 * With "threads=1 writethrough=1 apart=1" the log is that of RE: each write is appended at once and
 * alone, and the map of it is written to another place.
 * The word "then" begins another load, measured after the one before on the same drive;
 * keys behind it are for that one.  With install=1 the load is an installation of packages, with
 * flushes of its own.  With replay=FILE the load is a trace of an application
 * (tools/bench.sh --only apps --record-traces), routed as the target routes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "mover-model.h"
#include "plain-log.h"
#include "ressd-summary.h"

#define MAX_LOADS	16U

static const struct {
	const char *key;
	size_t offset;
	unsigned int initial;
} keys[] = {
#define KEY(k, i) { #k, offsetof(struct settings, k), i }
	KEY(span_mb, 256), KEY(warm_mb, 32), KEY(total_mb, 96), KEY(write_kb, 4), KEY(fsync, 0),
	KEY(threshold, 50), KEY(batch, 128), KEY(visit, 0), KEY(fill, 0), KEY(segment, 0),
	KEY(align, 1), KEY(page, 0), KEY(bare, 0), KEY(adaptive, 0), KEY(log_cost_us, 0), KEY(drain, 0),
	KEY(burst_kb, 0), KEY(prime, 1), KEY(through, 0), KEY(whole_rounds, 0),
	KEY(fullest, 0), KEY(parts, 0), KEY(hot, 0), KEY(zipf, 0), KEY(flows, 0),
	KEY(install, 0),
	KEY(depth, 1), KEY(mover_depth, 1), KEY(seed, 0), KEY(log_discard, 0),
	KEY(records, 1), KEY(rewrite, 0),
	KEY(threads, 0), KEY(rate, 0), KEY(even, 1), KEY(bypass, 0), KEY(commit_ms, 100),
	KEY(trace, 0), KEY(keep, 1), KEY(reserved_mb, 0), KEY(reserved_kb, 0),
	KEY(offset, 0), KEY(host_ns, 0), KEY(small_kb, 8), KEY(open_units, 0),
	KEY(writethrough, 0), KEY(apart, 0),
};

/*
 * The log of RE has no headers: of each two blocks of our log, a header and the block behind it, it
 * has one, and a 16th of the reserved area for the map.  Returns the size that ours is to have then.
 */
static u64 set_map_apart(struct model *model, u64 reserved)
{
	u64 map = reserved / 16;

	model->map_start = model_drive_sectors(model->drive) - map;
	return 2 * (reserved - map);
}

static void make_log(struct model *model)
{
	static const u8 uuid[RESSD_UUID_SIZE] = { 1 };
	u64 reserved = (u64)model->set.reserved_mb * 2048 + model->set.reserved_kb * 2;
	struct ressd_log_setup setup = {
		.uuid = uuid, .activation = 1, .segment_busy = never_busy,
	};
	void *buffers[RESSD_RECORDS];
	char error[256];
	u32 i;

	if (!reserved)
		reserved = (u64)model->set.span_mb * 2048 / 8;
	model->reserved_start = model_drive_sectors(model->drive) - reserved;
	if (model->set.apart)
		reserved = set_map_apart(model, reserved);
	setup.normal_blocks = model->reserved_start / RESSD_BLOCK_SECTORS;
	if (ressd_geom_init(&setup.geom, reserved, model->set.segment * RESSD_BLOCK_SECTORS,
			    error, sizeof(error))) {
		fprintf(stderr, "mover-model: %s\n", error);
		exit(2);
	}
	setup.nodes = allocate(ressd_map_nodes_bytes(setup.geom.nr_blocks));
	setup.clean = allocate(ressd_map_clean_bytes(setup.geom.nr_blocks));
	setup.segments = allocate(setup.geom.nr_segments * sizeof(*setup.segments));
	setup.summary = allocate(ressd_summary_bytes(&setup.geom));
	for (i = 0; i < RESSD_RECORDS; i++)
		buffers[i] = allocate(RESSD_MAX_RECORD_BLOCKS * RESSD_BLOCK_SIZE);
	setup.buffers = buffers;
	ressd_log_init(&model->log, &setup);
	model->log.align_blocks = max(model->set.align, 1U);
	model->log.step_nodes = U32_MAX;	/* there is no lock to be held for long */
	if (model->set.visit) {
		model->log.page_blocks = model->set.page;
		model->log.unit_blocks = model->set.visit;
		model->log.unit_phase = (model->reserved_start + model->set.offset) /
			RESSD_BLOCK_SECTORS % model->set.visit;
	}
	if (model->set.visit && model->set.rewrite)
		model->log.page_buffer = allocate(model->set.page * RESSD_BLOCK_SIZE);
}

static void write_some(struct model *model, u64 blocks)
{
	model->longest = 0;
	if ((model->set.threads || model->set.rate) && !model->set.bare)
		model_threads_write(model, blocks);
	else
		model_simple_write(model, blocks);
	model_drive_flush(model->drive);
}

/* What the target is used for at its best: writes after a pause, less than the log has room for. */
static void burst(struct model *model)
{
	u64 start;

	while (model->set.prime && ressd_log_can_prime(&model->log))
		model_settle(model, ressd_log_prime(&model->log));
	start = model_drive_now(model->drive);
	model->set.fsync = 0;
	model->through = model->set.through;
	write_some(model, model->set.burst_kb / 4);
	printf("%8.4f MB/s in the burst\n",
	       model->set.burst_kb * 1024e3 / (model_drive_now(model->drive) - start));
}

static int set_key(struct settings *set, const char *word)
{
	const char *value = strchr(word, '=');
	size_t i;

	for (i = 0; value && i < ARRAY_SIZE(keys); i++) {
		if (strncmp(word, keys[i].key, value - word) || keys[i].key[value - word])
			continue;
		*(unsigned int *)((char *)set + keys[i].offset) = strtoul(value + 1, NULL, 10);
		return 0;
	}
	return -EINVAL;
}

/* The words of the command line; returns the number of loads, each with all that was set so far. */
static u32 read_words(struct model *model, struct settings *loads, int argc, char **argv)
{
	u32 nr = 1;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "then")) {
			if (nr == MAX_LOADS) {
				fprintf(stderr, "mover-model: %u loads at most\n", MAX_LOADS);
				exit(2);
			}
			loads[nr] = loads[nr - 1];
			nr++;
		} else if (!strncmp(argv[i], "replay=", 7)) {
			model->replay = argv[i] + 7;
		} else if (set_key(&loads[nr - 1], argv[i]) &&
			   model_drive_set(model->drive, argv[i])) {
			exit(2);
		}
	}
	return nr;
}

static void measure(struct model *model)
{
	const struct ressd_route_case *now;
	u64 blocks = (u64)model->set.total_mb * 256, writes = blocks * 4 / model->set.write_kb;
	u64 start = model_drive_now(model->drive), erases = model_drive_erases(model->drive);

	model->moved = 0;
	model->holes = 0;
	model->direct = 0;
	model->longest = 0;
	write_some(model, blocks);
	if (model->set.drain && model->threads && !model->set.bare)
		model_threads_drain(model);
	else if (model->set.drain && !model->set.bare)
		model_simple_drain(model, false);
	now = ressd_route_case(&model->route);
	if (model->set.adaptive || model->set.bypass)
		printf("direct %llu of %llu, ns: direct %llu log %llu move %llu\n",
		       (unsigned long long)model->direct,
		       (unsigned long long)blocks,
		       (unsigned long long)ressd_route_ns(&now->direct),
		       (unsigned long long)ressd_route_ns(&now->log),
		       (unsigned long long)ressd_route_ns(&model->route.move));
	printf("%8.4f MB/s  %9.1f us a write  %7llu erases  %llu moved  %llu holes  longest %llu ms\n",
	       blocks * 4096e3 /
	       (model_drive_now(model->drive) - start),
	       (double)(model_drive_now(model->drive) - start) / writes / 1e3,
	       (unsigned long long)(model_drive_erases(model->drive) - erases),
	       (unsigned long long)model->moved, (unsigned long long)model->holes,
	       (unsigned long long)model->longest / 1000000);
	if (model->set.burst_kb)
		burst(model);
}

int main(int argc, char **argv)
{
	struct model *model = allocate(sizeof(*model));
	static struct settings loads[MAX_LOADS];
	u32 nr, i;
	size_t k;

	if (argc < 2) {
		fprintf(stderr, "how to call: mover-model PROFILE [key=value...] [then ...]\n");
		return 2;
	}
	for (k = 0; k < ARRAY_SIZE(keys); k++)
		*(unsigned int *)((char *)loads + keys[k].offset) = keys[k].initial;
	model->drive = model_drive_create(argv[1]);
	if (!model->drive)
		return 2;
	nr = read_words(model, loads, argc - 2, argv + 2);
	for (i = 0; i < nr; i++)
		if (loads[i].install && loads[i].span_mb < INSTALL_MB) {
			fprintf(stderr, "mover-model: install=1 needs span_mb=%u or more\n",
				INSTALL_MB);
			return 2;
		}
	if (model_drive_start(model->drive))
		return 2;
	model->set = loads[0];
	model_drive_host(model->drive, model->set.offset, model->set.host_ns);
	model->random = 88172645463325252ULL + model->set.seed;
	make_log(model);
	if (model->replay) {
		model_replay(model, model->replay);
		return 0;
	}
	ressd_route_init(&model->route, model->set.log_cost_us * 1000ULL);
	write_some(model, (u64)model->set.warm_mb * 256);
	for (i = 0; i < nr; i++) {
		/* As the message set does it. */
		if (loads[i].adaptive && (!model->set.adaptive ||
					  loads[i].log_cost_us != model->set.log_cost_us))
			ressd_route_init(&model->route, loads[i].log_cost_us * 1000ULL);
		model->set = loads[i];
		measure(model);
	}
	return 0;
}
