// SPDX-License-Identifier: GPL-2.0-only
/*
 * The crash simulator of the log protocol.
 *
 * Random operations run on a disk with a volatile cache.  Between any two events the power may be
 * cut: for many of the states that the disk may be left in, the log is recovered as after a boot
 * and every sector compared with what the block-device contract allows.  One of those states is
 * then adopted, and the run goes on from there.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bug.h>
#include <linux/kernel.h>
#include "host.h"
#include "wrap.h"

struct options {
	u64 seed, seeds;
	u32 ops, states;
	enum fault fault;
	bool check;
	bool verbose;
	bool trace;
};

/* One run: a host, and a second instance to recover into. */
struct run {
	struct host host;
	struct box after;
	struct image image;
	u32 states_per_cut;
	u32 steps_per_crash;		/* on average */
	u64 states;
	u64 step;
};

/* The run that a WARN belongs to. */
static struct host *warned_host;

/* FAULT_NO_DATA_CRC works here: the linker sends core's calls of ressd_crc() to us. */
static bool no_data_crc;

u32 __wrap_ressd_crc(const void *data, size_t bytes)
{
	return no_data_crc ? 0 : __real_ressd_crc(data, bytes);
}

static void fail_on_warn(const char *condition, const char *file, int line)
{
	violation(warned_host, "WARN_ON(%s) at %s:%d", condition, file, line);
}

static bool never_busy(void *context, u32 slot)
{
	(void)context;
	(void)slot;
	return false;
}

/* Compares every sector of the recovered device with the oracle. */
static void check_survivors(struct run *run)
{
	struct host *host = &run->host;
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	char allowed[600];
	u32 lbn, i, j;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		box_read(&run->after, &run->image, lbn, data);
		for (i = 0; i < BLOCK_SECTORS; i++) {
			const u64 *words = &data[i * SECTOR_BYTES / sizeof(u64)];
			u32 sector = lbn * BLOCK_SECTORS + i;

			for (j = 1; j < SECTOR_BYTES / sizeof(u64); j++)
				if (words[j] != words[0])
					violation(host, "after a crash sector %u of block %u is none that was written",
						  sector, lbn);
			if (oracle_may_survive(&host->oracle, sector, words[0]))
				continue;
			oracle_explain(&host->oracle, sector, allowed, sizeof(allowed));
			violation(host, "after a crash sector %u of block %u, %s, is %llx; versions:%s",
				  sector, lbn,
				  ressd_map_find(&run->after.log.map, lbn) ? "in the log" : "at home",
				  (unsigned long long)words[0], allowed);
		}
	}
}

static void recover_image(struct run *run)
{
	struct host *host = &run->host;

	if (box_recover(&run->after, &run->image, host->activation + 1))
		violation(host, "after a crash recovery refuses: %s", run->after.error);
	run->states++;
}

/* Tries @nr of the states that a power cut now may leave. */
static void cut_power(struct run *run, u32 nr)
{
	while (nr--) {
		disk_cut(&run->host.disk, &run->host.random, &run->image);
		recover_image(run);
		check_survivors(run);
	}
}

/* The last state tried becomes the one that the run goes on from. */
static void power_fails(struct run *run)
{
	host_trace(&run->host, "the power fails");
	cut_power(run, run->states_per_cut);
	disk_adopt(&run->host.disk, &run->image);
	host_restart(&run->host);
}

/* The host stops and starts again while the disk keeps its power. */
static void host_fails(struct run *run)
{
	struct host *host = &run->host;

	host_trace(host, "the host stops, the disk keeps its power");
	disk_host_stops(&host->disk, &host->random);
	cut_power(run, run->states_per_cut);
	image_copy(&run->image, &host->disk.view);
	recover_image(run);
	check_survivors(run);
	host_restart(host);
}

/* A clean stop, as by a table reload: nothing at all may change. */
static void reload(struct run *run)
{
	struct host *host = &run->host;

	host_sync(host);
	host_check_reads(host);
	cut_power(run, run->states_per_cut);
	host_restart(host);
	host_settle(host);
	host_check_reads(host);
}

/* After a drain no crash may bring a mapping back. */
static void drain_and_cut(struct run *run)
{
	u32 i;

	host_drain(&run->host);
	for (i = 0; i < run->states_per_cut; i++) {
		cut_power(run, 1);
		if (run->after.log.map.nr_mapped)
			violation(&run->host, "a crash after a drain leaves %u blocks mapped",
				  run->after.log.map.nr_mapped);
	}
}

static void one_step(struct run *run)
{
	struct host *host = &run->host;
	struct random *random = &host->random;

	host_step(host, true);
	host_check_log(host);
	if (random_once_in(random, 6) || (host->opening && random_once_in(random, 2)))
		cut_power(run, run->states_per_cut);
	/* Writes at the same time: only a read tells which of them has won. */
	if (random_once_in(random, host->overlap ? 8 : 60) && !host->opening)
		host_check_reads(host);
	if (random_once_in(random, run->steps_per_crash))
		power_fails(run);
	else if (random_once_in(random, 3 * run->steps_per_crash))
		host_fails(run);
	else if (random_once_in(random, 1500))
		reload(run);
	else if (random_once_in(random, 1500))
		drain_and_cut(run);
}

/* Everything that is not an event follows from the seed here. */
static void configure(struct host *host, u64 seed)
{
	static const u32 alignments[] = { 1, 1, 2, 4, 8 };
	struct random random = { .state = ~seed };
	struct layout *layout = &host->layout;
	u32 segment = 16 + 8 * random_below(&random, 2);
	u32 blocks = segment * (4 + random_below(&random, 4)) + random_below(&random, segment);
	char error[RESSD_ERROR_SIZE];

	if (ressd_geom_init(&layout->geom, blocks * BLOCK_SECTORS, segment * BLOCK_SECTORS, error,
			    sizeof(error)))
		violation(host, "%s", error);
	layout->normal_blocks = 12 + random_below(&random, 36);
	layout->align_blocks = alignments[random_below(&random, ARRAY_SIZE(alignments))];
	host->hot_blocks = 6 + random_below(&random, 6);
	host->writethrough = random_once_in(&random, 4);
	host->wait_if_full = random_once_in(&random, 2);
	host->overlap = random_once_in(&random, 2);
}

/* Plays one seed to its end: true if it found nothing, else the reason is in host.why. */
static bool play(struct run *run, u32 ops, u64 seed)
{
	struct host *host = &run->host;

	if (setjmp(host->failed))
		return false;
	configure(host, seed);
	run->steps_per_crash = 25 << seed % 6;
	box_init(&run->after, &host->layout, never_busy, NULL);
	image_init(&run->image, layout_sectors(&host->layout));
	host_init(host, seed);
	while (run->step++ < ops)
		one_step(run);
	host_settle(host);
	host_check_reads(host);
	return true;
}

/* True if the run found nothing.  Adds the states it tried to *@states. */
static bool run_seed(const struct options *options, enum fault fault, u64 seed, u64 *states)
{
	struct run *run = calloc(1, sizeof(*run));
	bool good;

	if (!run)
		abort();
	warned_host = &run->host;
	no_data_crc = fault == FAULT_NO_DATA_CRC;
	run->host.fault = fault;
	run->host.trace = options->trace;
	run->states_per_cut = options->states;
	good = play(run, options->ops, seed);
	*states += run->states;
	if (!good && (!fault || options->verbose))
		fprintf(stderr, "seed %llu, step %llu: %s\n  replay: model --seed %llu --ops %u --states %u --fault %s\n",
			(unsigned long long)seed, (unsigned long long)run->step, run->host.why,
			(unsigned long long)seed, options->ops, options->states,
			fault_name(fault));
	host_free(&run->host);
	box_free(&run->after);
	image_free(&run->image);
	free(run);
	return good;
}

/* Runs the seeds; the first that finds something ends it and is returned, 0: none. */
static u64 run_seeds(const struct options *options, enum fault fault, u64 nr, u64 *states)
{
	u64 seed;

	for (seed = options->seed; seed < options->seed + nr; seed++)
		if (!run_seed(options, fault, seed, states))
			return seed;
	return 0;
}

static bool check_protocol(const struct options *options)
{
	u64 states = 0, seed = run_seeds(options, options->fault, options->seeds, &states);

	printf("%s - model: %llu crash states of seeds %llu..%llu, %s%s\n", seed ? "not ok" : "ok",
	       (unsigned long long)states, (unsigned long long)options->seed,
	       (unsigned long long)(seed ? seed : options->seed + options->seeds - 1),
	       options->fault ? fault_name(options->fault) : "no fault",
	       seed ? ": the contract is violated" : "");
	return !seed;
}

/* The simulator must find each deliberate bug. */
static bool check_faults(const struct options *options)
{
	enum fault fault;
	bool good = true;

	for (fault = FAULT_NONE + 1; fault < NR_FAULTS; fault++) {
		u64 states = 0, seed = run_seeds(options, fault, 200, &states);

		printf("%s - model: finds %s", seed ? "ok" : "not ok", fault_name(fault));
		if (seed)
			printf(" after %llu crash states\n", (unsigned long long)states);
		else
			printf(": not found in %llu crash states\n", (unsigned long long)states);
		fflush(stdout);
		good &= seed != 0;
	}
	return good;
}

static void usage(void)
{
	enum fault fault;

	printf("model [--seed N] [--seeds COUNT] [--ops STEPS] [--states PER-CUT] [--fault NAME] [--faults] [--verbose] [--trace]\n"
	       "  --faults  also prove that every deliberate bug is found.  The bugs:");
	for (fault = 0; fault < NR_FAULTS; fault++)
		printf(" %s", fault_name(fault));
	printf("\n");
}

static enum fault parse_fault(const char *name)
{
	enum fault fault;

	for (fault = 0; fault < NR_FAULTS; fault++)
		if (!strcmp(name, fault_name(fault)))
			return fault;
	fprintf(stderr, "model: '%s' is no fault; --help lists them\n", name);
	exit(2);
}

static struct options parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seeds", required_argument, NULL, 'n' },
		{ "ops", required_argument, NULL, 'o' },
		{ "states", required_argument, NULL, 'k' },
		{ "fault", required_argument, NULL, 'f' },
		{ "faults", no_argument, NULL, 'c' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "trace", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct options result = { .seed = 1, .seeds = 1, .ops = 4000, .states = 4 };
	int key;

	while ((key = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (key) {
		case 's':
			result.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			result.seeds = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			result.ops = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			result.states = strtoul(optarg, NULL, 0);
			break;
		case 'f':
			result.fault = parse_fault(optarg);
			break;
		case 'c':
			result.check = true;
			break;
		case 't':
			result.trace = true;
			break;
		case 'v':
			result.verbose = true;
			break;
		default:
			usage();
			exit(key == 'h' ? 0 : 2);
		}
	}
	return result;
}

int main(int argc, char **argv)
{
	struct options options = parse_options(argc, argv);
	bool good;

	if (!options.seed || !options.states) {
		fprintf(stderr, "model: --seed and --states must be at least 1\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	shim_warn_hook = fail_on_warn;
	good = check_protocol(&options);
	if (options.check)
		good &= check_faults(&options);
	return !good;
}
