// SPDX-License-Identifier: GPL-2.0-only
/*
 * The crash simulator of the log protocol.
 *
 * Random events happen to a host whose disks have volatile caches.  After each of them the power
 * may be cut: many of the states that the disks may be left in are recovered as after a boot, and
 * every sector is compared with what the block-device contract allows.  At times one of them
 * becomes the truth, and the run goes on from there.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fleet.h"
#include "shrink.h"

#define SHRINK_SECONDS	20

struct options {
	struct fleet_options fleet;
	const char *replay;
	const char *folder;		/* where scripts of failures go */
	const char *bug;		/* a violation is wanted: the name of the deliberate bug */
};

static void usage(void)
{
	printf("model [OPTION...]: the crash simulator; docs/crash-safety.md\n"
	       "  --seed N          first seed (1)\n"
	       "  --seeds N         how many at most (1, or no limit with --states)\n"
	       "  --states N        as many seeds as it takes to try so many crash states\n"
	       "  --events N        length of each run (2000)\n"
	       "  --per-moment N    crash states to try at each moment, if there are as many (8)\n"
	       "  --jobs N          processes (1)\n"
	       "  --progress FILE   note there how far it is, and go on from there\n"
	       "  --fault NAME      with a deliberate bug of the driver; --faults lists them\n"
	       "  --must-fail NAME  succeed only if a violation is found, and call the bug NAME\n"
	       "  --store FOLDER    write the script of a failure there\n"
	       "  --replay FILE     play such a script\n"
	       "  --trace           print all that happens\n");
}

static void list_faults(void)
{
	enum fault fault;

	for (fault = FAULT_NONE + 1; fault < NR_FAULTS; fault++)
		printf("%s %u %s\n", fault_info(fault)->name, fault_info(fault)->invariant,
		       fault_info(fault)->what);
}

static u64 parse_number(const char *name, const char *word)
{
	char *end;
	u64 value = strtoull(word, &end, 0);

	if (*word < '0' || *word > '9' || *end || !value) {
		fprintf(stderr, "model: --%s is '%s', but must be a number from 1 on\n", name,
			word);
		exit(2);
	}
	return value;
}

static enum fault parse_fault(const char *word)
{
	enum fault fault = fault_parse(word);

	if (fault == NR_FAULTS) {
		fprintf(stderr, "model: --fault is '%s', which is no bug of the driver; --faults lists them\n",
			word);
		exit(2);
	}
	return fault;
}

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "seeds", required_argument, NULL, 'n' },
	{ "states", required_argument, NULL, 'k' },
	{ "events", required_argument, NULL, 'e' },
	{ "per-moment", required_argument, NULL, 'm' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "progress", required_argument, NULL, 'p' },
	{ "fault", required_argument, NULL, 'f' },
	{ "must-fail", required_argument, NULL, 'b' },
	{ "store", required_argument, NULL, 'd' },
	{ "replay", required_argument, NULL, 'r' },
	{ "trace", no_argument, NULL, 't' },
	{ "faults", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void parse_option(struct options *options, int key, const char *name)
{
	struct fleet_options *fleet = &options->fleet;

	switch (key) {
	case 's':
		fleet->first_seed = parse_number(name, optarg);
		break;
	case 'n':
		fleet->seeds = parse_number(name, optarg);
		break;
	case 'k':
		fleet->states = parse_number(name, optarg);
		break;
	case 'e':
		fleet->events = parse_number(name, optarg);
		break;
	case 'm':
		fleet->run.per_moment = parse_number(name, optarg);
		break;
	case 'j':
		fleet->jobs = parse_number(name, optarg);
		break;
	case 'p':
		fleet->progress = optarg;
		break;
	case 'f':
		fleet->run.fault = parse_fault(optarg);
		break;
	case 'b':
		options->bug = optarg;
		break;
	case 'd':
		options->folder = optarg;
		break;
	case 'r':
		options->replay = optarg;
		break;
	case 't':
		fleet->run.trace = true;
		break;
	case 'l':
		list_faults();
		exit(0);
	default:
		usage();
		exit(key == 'h' ? 0 : 2);
	}
}

static struct options parse_options(int argc, char **argv)
{
	struct options result = {
		.fleet = { .first_seed = 1, .events = 2000, .jobs = 1, .run.per_moment = 8 },
	};
	int key, index = 0;

	while ((key = getopt_long(argc, argv, "", long_options, &index)) != -1)
		parse_option(&result, key, key == '?' ? "" : long_options[index].name);
	if (optind < argc) {
		usage();
		exit(2);
	}
	if (!result.fleet.seeds)
		result.fleet.seeds = result.fleet.states ? ~0ULL >> 1 : 1;
	return result;
}

/* Prints the script, and stores it if a folder was named. */
static void show_script(const struct options *options, const struct script *script,
			const struct verdict *verdict, u64 seed)
{
	char path[4096];
	FILE *file;

	printf("# shrunk to %u events: %s\n", script->events.nr, verdict->why);
	script_write(stdout, script);
	if (!options->folder)
		return;
	snprintf(path, sizeof(path), "%s/seed-%llu.script", options->folder,
		 (unsigned long long)seed);
	file = fopen(path, "w");
	if (!file) {
		fprintf(stderr, "model: %s cannot be written\n", path);
		return;
	}
	fprintf(file, "# %s\n", verdict->why);
	script_write(file, script);
	fclose(file);
	printf("# stored; play it with: model --replay %s\n", path);
}

/* Finds the shortest script that fails like @seed. */
static void explain(const struct options *options, u64 seed)
{
	const struct fleet_options *fleet = &options->fleet;
	struct script script = { .options = fleet->run, .seed = seed };
	struct verdict verdict;

	config_draw(&script.config, seed);
	run_seed(&fleet->run, seed, fleet->events, &script.events, &verdict);
	printf("# seed %llu, event %u: %s\n# again: model --seed %llu --events %u --per-moment %u --fault %s\n",
	       (unsigned long long)seed, verdict.events, verdict.why, (unsigned long long)seed,
	       fleet->events, fleet->run.per_moment, fault_info(fleet->run.fault)->name);
	fflush(stdout);
	if (!fleet->run.trace && !verdict.good) {
		shrink(&script, &verdict, SHRINK_SECONDS);
		show_script(options, &script, &verdict, seed);
	}
	verdict_free(&verdict);
	script_free(&script);
}

static bool replay(const struct options *options)
{
	struct script script;
	struct verdict verdict;
	bool good;

	script_read(options->replay, &script);
	script.options.trace = options->fleet.run.trace;
	if (options->fleet.run.fault)
		script.options.fault = options->fleet.run.fault;
	run_events(&script.options, &script.config, &script.events, script.seed, &verdict);
	good = verdict.good;
	if (good)
		printf("ok - model: %s, %u events, %llu crash states\n", options->replay,
		       verdict.events, (unsigned long long)verdict.states);
	else
		printf("not ok - model: %s, event %u: %s\n", options->replay, verdict.events,
		       verdict.why);
	verdict_free(&verdict);
	script_free(&script);
	return good;
}

static bool search(const struct options *options)
{
	const struct fleet_options *fleet = &options->fleet;
	struct fleet_result result;
	bool good;

	fleet_run(fleet, &result);
	good = !result.bad_seed == !options->bug && !result.interrupted;
	printf("%s - model: ", good ? "ok" : "not ok");
	if (options->bug)
		printf("finds %s after", options->bug);
	printf("%s%llu crash states (%llu different contents), %llu moments, seeds %llu to %llu\n",
	       options->bug ? " " : "", (unsigned long long)result.states,
	       (unsigned long long)result.contents, (unsigned long long)result.moments,
	       (unsigned long long)fleet->first_seed, (unsigned long long)result.next_seed - 1);
	if (result.interrupted)
		printf("# interrupted; go on with --seed %llu\n",
		       (unsigned long long)result.next_seed);
	fflush(stdout);
	if (result.bad_seed && (!options->bug || options->folder))
		explain(options, result.bad_seed);
	if (!options->bug && !fleet->run.fault)
		printf("# states %llu violations %u\n", (unsigned long long)result.states,
		       result.bad_seed != 0);
	return good;
}

int main(int argc, char **argv)
{
	struct options options = parse_options(argc, argv);

	setvbuf(stdout, NULL, _IOLBF, 0);
	return options.replay ? !replay(&options) : !search(&options);
}
