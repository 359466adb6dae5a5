// SPDX-License-Identifier: GPL-2.0-only
/* Many seeds, several processes; see fleet.h. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "fleet.h"

#define MAX_JOBS	64
#define POLL_US		50000
#define TELL_SECONDS	60	/* between lines where nobody sees a progress line move */

/* In memory that all processes share. */
struct fleet {
	_Atomic u64 next_seed;
	_Atomic u64 states, contents, moments, runs;
	_Atomic u64 bad_seed;
	_Atomic u64 at[MAX_JOBS];	/* the seed that each of them plays */
};

static atomic_bool interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static bool goes_on(const struct fleet_options *options, const struct fleet *fleet)
{
	return !interrupted && !fleet->bad_seed &&
	       (!options->states || fleet->states < options->states);
}

/* One process: plays one seed after the other. */
static void work(const struct fleet_options *options, struct fleet *fleet, u32 job)
{
	struct verdict verdict;
	u64 seed;

	while (goes_on(options, fleet)) {
		seed = atomic_fetch_add(&fleet->next_seed, 1);
		fleet->at[job] = seed;
		if (seed >= options->first_seed + options->seeds)
			break;
		run_seed(&options->run, seed, options->events, NULL, &verdict);
		fleet->states += verdict.states;
		fleet->contents += verdict.contents;
		fleet->moments += verdict.moments;
		fleet->runs++;
		if (!verdict.good) {
			fleet->bad_seed = seed;
			break;
		}
		fleet->at[job] = ~0ULL;
		verdict_free(&verdict);
	}
}

/* All seeds before this one are done. */
static u64 next_seed(const struct fleet_options *options, const struct fleet *fleet)
{
	u64 next = fleet->next_seed;
	u32 i;

	for (i = 0; i < options->jobs; i++)
		if (fleet->at[i] < next)
			next = fleet->at[i];
	return next;
}

static void write_progress(const struct fleet_options *options, const struct fleet *fleet)
{
	char new[4096];
	FILE *file;

	if (!options->progress)
		return;
	snprintf(new, sizeof(new), "%s.new", options->progress);
	file = fopen(new, "w");
	if (!file)
		return;
	fprintf(file, "seed %llu states %llu contents %llu moments %llu runs %llu\n",
		(unsigned long long)next_seed(options, fleet), (unsigned long long)fleet->states,
		(unsigned long long)fleet->contents, (unsigned long long)fleet->moments,
		(unsigned long long)fleet->runs);
	if (!fclose(file))
		rename(new, options->progress);
}

static void read_progress(const struct fleet_options *options, struct fleet *fleet)
{
	unsigned long long seed, states, contents, moments, runs;
	FILE *file = options->progress ? fopen(options->progress, "r") : NULL;

	if (!file)
		return;
	if (fscanf(file, "seed %llu states %llu contents %llu moments %llu runs %llu", &seed,
		   &states, &contents, &moments, &runs) == 5) {
		fleet->next_seed = seed;
		fleet->states = states;
		fleet->contents = contents;
		fleet->moments = moments;
		fleet->runs = runs;
	}
	fclose(file);
}

static void tell(const struct fleet_options *options, const struct fleet *fleet, u64 before,
		 time_t gone)
{
	double done = fleet->states - before, left = options->states - fleet->states;
	u64 seconds = done > 0 && left > 0 ? gone * left / done : 0;
	bool moves = isatty(STDERR_FILENO);

	fprintf(stderr, "%smodel: %.1f of %.1f million states, seed %llu, %llu:%02llu gone, about %llu:%02llu left%s",
		moves ? "\r" : "", fleet->states / 1e6, options->states / 1e6,
		(unsigned long long)fleet->next_seed, (unsigned long long)gone / 60,
		(unsigned long long)gone % 60, (unsigned long long)seconds / 60,
		(unsigned long long)seconds % 60, moves ? "\033[K" : "\n");
}

/* Waits until all processes have ended. */
static void watch(const struct fleet_options *options, const struct fleet *fleet, pid_t *jobs)
{
	time_t start = time(NULL), told = start, now;
	u64 before = fleet->states;
	u32 left = options->jobs, i;
	int status;

	while (left) {
		usleep(POLL_US);
		now = time(NULL);
		if (options->states && now - told >= (isatty(STDERR_FILENO) ? 1 : TELL_SECONDS)) {
			tell(options, fleet, before, now - start);
			write_progress(options, fleet);
			told = now;
		}
		for (i = 0; i < options->jobs; i++) {
			if (jobs[i] && interrupted)
				kill(jobs[i], SIGTERM);
			if (!jobs[i] || waitpid(jobs[i], &status, WNOHANG) != jobs[i])
				continue;
			jobs[i] = 0;
			left--;
			if (!WIFEXITED(status) || WEXITSTATUS(status)) {
				fprintf(stderr, "model: the process that played seed %llu died\n",
					(unsigned long long)fleet->at[i]);
				exit(3);
			}
		}
	}
	write_progress(options, fleet);
}

static void start_jobs(const struct fleet_options *options, struct fleet *fleet, pid_t *jobs)
{
	u32 i;

	for (i = 0; i < options->jobs; i++) {
		jobs[i] = fork();
		if (jobs[i] < 0)
			abort();
		if (!jobs[i]) {
			work(options, fleet, i);
			fflush(NULL);
			_exit(0);
		}
	}
}

void fleet_run(const struct fleet_options *given, struct fleet_result *result)
{
	struct fleet_options options = *given;
	pid_t jobs[MAX_JOBS];
	struct fleet *fleet;
	u32 i;

	if (options.jobs > MAX_JOBS)
		options.jobs = MAX_JOBS;
	fleet = mmap(NULL, sizeof(*fleet), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (fleet == MAP_FAILED)
		abort();
	fleet->next_seed = options.first_seed;
	for (i = 0; i < MAX_JOBS; i++)
		fleet->at[i] = ~0ULL;
	read_progress(&options, fleet);
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	fflush(NULL);
	start_jobs(&options, fleet, jobs);
	watch(&options, fleet, jobs);
	*result = (struct fleet_result) {
		.states = fleet->states, .contents = fleet->contents, .moments = fleet->moments,
		.runs = fleet->runs, .bad_seed = fleet->bad_seed,
		.next_seed = next_seed(&options, fleet), .interrupted = interrupted,
	};
	munmap(fleet, sizeof(*fleet));
}
