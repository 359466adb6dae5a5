// SPDX-License-Identifier: GPL-2.0-only
/* See model-host.h. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <linux/kernel.h>

#include "model-host.h"

#define MAX_THREADS	8U
#define MAX_COMMANDS	4096U
#define MAX_MERGED	64U
#define MAX_SECTORS	1024U	/* of merged writes */
#define STACK_BYTES	(256 * 1024)

struct thread {
	ucontext_t context;
	void (*run)(void *context);
	bool (*condition)(void *context);	/* waits for it; NULL: for a time */
	u64 wake;
	void *stack;
};

struct command {
	enum model_command what;
	u64 sector;
	u32 sectors;
	u32 *in_flight[MAX_MERGED];
	u32 nr;
};

struct model_host {
	struct model_drive *drive;
	void *context;
	u64 now;
	ucontext_t scheduler;
	struct thread threads[MAX_THREADS];
	u32 nr_threads;
	struct thread *current;
	struct command commands[MAX_COMMANDS];	/* a ring; the first one is under way */
	u32 first, nr;
	bool busy;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct model_host *model_host_create(struct model_drive *drive, void *context)
{
	struct model_host *host = must(calloc(1, sizeof(*host)));

	model_drive_depth(drive, 1);
	host->drive = drive;
	host->context = context;
	host->now = model_drive_now(drive);
	return host;
}

/* makecontext() passes no pointers. */
static struct model_host *starting;

static void start_thread(void)
{
	struct model_host *host = starting;

	host->current->run(host->context);
	abort();	/* none ever ends */
}

void model_host_thread(struct model_host *host, void (*run)(void *context))
{
	struct thread *thread = &host->threads[host->nr_threads++];

	if (host->nr_threads > MAX_THREADS || getcontext(&thread->context))
		abort();
	thread->run = run;
	thread->stack = must(malloc(STACK_BYTES));
	thread->context.uc_stack.ss_sp = thread->stack;
	thread->context.uc_stack.ss_size = STACK_BYTES;
	thread->wake = host->now;
	makecontext(&thread->context, start_thread, 0);
}

u64 model_host_now(const struct model_host *host)
{
	return host->now;
}

static void stop_thread(struct model_host *host)
{
	if (swapcontext(&host->current->context, &host->scheduler))
		abort();
}

void model_host_wait(struct model_host *host, bool (*condition)(void *context))
{
	if (condition(host->context))
		return;
	host->current->condition = condition;
	stop_thread(host);
	host->current->condition = NULL;
}

void model_host_sleep(struct model_host *host, u64 until)
{
	host->current->wake = until;
	if (until > host->now)
		stop_thread(host);
}

/* Joins the last command that waits, as the block layer's plug does. */
static bool merges(struct model_host *host, u64 sector, u32 sectors, u32 *in_flight)
{
	struct command *last = &host->commands[(host->first + host->nr - 1) % MAX_COMMANDS];

	if (host->nr <= host->busy || last->what != MODEL_WRITE || last->nr == MAX_MERGED ||
	    last->sector + last->sectors != sector || last->sectors + sectors > MAX_SECTORS)
		return false;
	last->sectors += sectors;
	last->in_flight[last->nr++] = in_flight;
	return true;
}

void model_host_send(struct model_host *host, enum model_command what, u64 sector, u32 sectors,
		     u32 *in_flight)
{
	++*in_flight;
	if (what == MODEL_WRITE && merges(host, sector, sectors, in_flight))
		return;
	if (host->nr == MAX_COMMANDS)
		abort();
	host->commands[(host->first + host->nr++) % MAX_COMMANDS] = (struct command) {
		.what = what, .sector = sector, .sectors = sectors, .in_flight = { in_flight },
		.nr = 1,
	};
}

static bool can_run(struct model_host *host, const struct thread *thread)
{
	return thread->condition ? thread->condition(host->context) : thread->wake <= host->now;
}

static void run_threads(struct model_host *host, const bool *end)
{
	bool ran = true;
	u32 i;

	while (ran && !*end) {
		ran = false;
		for (i = 0; i < host->nr_threads && !*end; i++) {
			if (!can_run(host, &host->threads[i]))
				continue;
			ran = true;
			host->current = &host->threads[i];
			starting = host;
			if (swapcontext(&host->scheduler, &host->current->context))
				abort();
		}
	}
}

static void serve(struct model_host *host)
{
	const struct command *command = &host->commands[host->first];

	if (host->busy || !host->nr)
		return;
	host->busy = true;
	model_drive_wait(host->drive, host->now);
	switch (command->what) {
	case MODEL_READ:
		model_drive_read(host->drive, command->sector, command->sectors);
		break;
	case MODEL_WRITE:
		model_drive_write(host->drive, command->sector, command->sectors);
		break;
	case MODEL_FLUSH:
		model_drive_flush(host->drive);
		break;
	}
}

/* On to the next event. */
static void go_on(struct model_host *host)
{
	u64 next = host->busy ? model_drive_now(host->drive) : ~0ULL;
	u32 i;

	for (i = 0; i < host->nr_threads; i++)
		if (!host->threads[i].condition)
			next = min(next, host->threads[i].wake);
	if (next == ~0ULL) {
		fprintf(stderr, "mover-model: all threads wait for ever\n");
		abort();
	}
	host->now = next;
	if (host->busy && model_drive_now(host->drive) <= next) {
		const struct command *command = &host->commands[host->first];

		for (i = 0; i < command->nr; i++)
			--*command->in_flight[i];
		host->first = (host->first + 1) % MAX_COMMANDS;
		host->nr--;
		host->busy = false;
	}
}

void model_host_run(struct model_host *host, const bool *end)
{
	for (;;) {
		run_threads(host, end);
		if (*end)
			break;
		serve(host);
		go_on(host);
	}
}
