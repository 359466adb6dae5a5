// SPDX-License-Identifier: GPL-2.0-only
/* All interleavings of a few threads; see threads.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "threads.h"

#define STACK_BYTES	65536
#define MAX_STORES	8
#define MAX_DEPTH	400
#define TABLE_BITS	24	/* of the states that are known */

struct store {
	void *address;
	size_t size;
	u64 value;
	bool release;
};

enum wait {
	WAIT_NONE,
	WAIT_LOCK,
	WAIT_NOBODY,
	WAIT_FLAG,
	WAIT_EMPTY,		/* until its stores have all arrived */
};

struct thread {
	ucontext_t context;
	char stack[STACK_BYTES];
	thread_function *run;
	struct store stores[MAX_STORES];
	u32 nr_stores;
	u64 seen;		/* hash of what it has loaded, and of how far it is */
	enum wait wait;
	const u32 *waits_for;
	bool done;
};

/* A choice: a thread goes on, or one of its stores arrives. */
struct choice {
	int thread;
	int store;		/* -1: it goes on */
};

static struct thread threads[NR_THREADS];
static int nr_threads, current;
static ucontext_t scheduler;
static const char *failure;
static unsigned char *shared;
static size_t shared_size;

static u64 *known;		/* hashes; 0: free */
static u32 nr_known;

static u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* --- what threads do ------------------------------------------------------------------------ */

static u64 value_at(const void *address, size_t size)
{
	u64 value = 0;

	memcpy(&value, address, size);
	return value;
}

static struct thread *yield(enum wait wait, const u32 *waits_for)
{
	struct thread *thread = &threads[current];

	thread->wait = wait;
	thread->waits_for = waits_for;
	swapcontext(&thread->context, &scheduler);
	return thread;
}

static void push(struct thread *thread, void *address, size_t size, u64 value, bool release)
{
	if (thread->nr_stores == MAX_STORES) {
		fprintf(stderr, "interleave: too many stores on their way\n");
		exit(2);
	}
	thread->stores[thread->nr_stores++] = (struct store) { address, size, value, release };
}

/* What the thread sees there: its own stores first. */
static u64 look(struct thread *thread, const void *address, size_t size)
{
	u64 value = value_at(address, size);
	u32 i;

	for (i = 0; i < thread->nr_stores; i++)
		if (thread->stores[i].address == address)
			value = thread->stores[i].value;
	thread->seen = mix(thread->seen, value + 2);
	return value;
}

u64 thread_load(const void *address, size_t size)
{
	return look(yield(WAIT_NONE, NULL), address, size);
}

void thread_store(void *address, size_t size, u64 value, bool release)
{
	push(yield(WAIT_NONE, NULL), address, size, value, release);
}

void thread_increment(void *address, size_t size)
{
	struct thread *thread = yield(WAIT_NONE, NULL);

	push(thread, address, size, look(thread, address, size) + 1, false);
}

void thread_add(int *address, int value, bool release)
{
	struct thread *thread = yield(release ? WAIT_EMPTY : WAIT_NONE, NULL);

	*address += value;
	thread->seen = mix(thread->seen, *address + 2);
}

void thread_barrier(void)
{
	yield(WAIT_EMPTY, NULL);
}

int thread_number(void)
{
	return current;
}

void thread_lock(u32 *lock)
{
	yield(WAIT_LOCK, lock);
	*lock = 1;
}

void thread_unlock(u32 *lock)
{
	push(yield(WAIT_NONE, NULL), lock, sizeof(*lock), 0, true);
}

void thread_wait(const u32 *flag)
{
	yield(WAIT_FLAG, flag);
}

void thread_wait_for_none(const u32 *count)
{
	yield(WAIT_NOBODY, count);
}

void thread_fail(const char *what)
{
	failure = what;
}

/* --- the choices ---------------------------------------------------------------------------- */

static bool can_go_on(const struct thread *thread)
{
	if (thread->done)
		return false;
	switch (thread->wait) {
	case WAIT_NONE:
		break;
	case WAIT_LOCK:
	case WAIT_NOBODY:
		return !*thread->waits_for;
	case WAIT_FLAG:
		return *thread->waits_for;
	case WAIT_EMPTY:
		return !thread->nr_stores;
	}
	return true;
}

/* Stores to one place stay in order, and a release comes after all before it. */
static bool can_arrive(const struct thread *thread, u32 i)
{
	u32 before;

	if (thread->stores[i].release)
		return !i;
	for (before = 0; before < i; before++)
		if (thread->stores[before].address == thread->stores[i].address)
			return false;
	return true;
}

/* The choice number @nr, or false if there are fewer. */
static bool find_choice(u32 nr, struct choice *choice)
{
	u32 i;

	for (choice->thread = 0; choice->thread < nr_threads; choice->thread++) {
		const struct thread *thread = &threads[choice->thread];

		choice->store = -1;
		if (can_go_on(thread) && !nr--)
			return true;
		for (i = 0; i < thread->nr_stores; i++) {
			choice->store = i;
			if (can_arrive(thread, i) && !nr--)
				return true;
		}
	}
	return false;
}

static u32 count_choices(void)
{
	struct choice choice;
	u32 nr = 0;

	while (find_choice(nr, &choice))
		nr++;
	return nr;
}

static void take_choice(const struct choice *choice)
{
	struct thread *thread = &threads[choice->thread];
	struct store store;

	if (choice->store < 0) {
		current = choice->thread;
		thread->seen = mix(thread->seen, 1);
		swapcontext(&scheduler, &thread->context);
		return;
	}
	store = thread->stores[choice->store];
	thread->nr_stores--;
	memmove(&thread->stores[choice->store], &thread->stores[choice->store + 1],
		(thread->nr_stores - choice->store) * sizeof(store));
	memcpy(store.address, &store.value, store.size);
}

/* --- the search ----------------------------------------------------------------------------- */

static u64 hash_state(void)
{
	u64 hash = 1;
	size_t byte;
	int i;
	u32 j;

	for (byte = 0; byte < shared_size; byte++)
		hash = mix(hash, shared[byte]);
	for (i = 0; i < nr_threads; i++) {
		const struct thread *thread = &threads[i];

		hash = mix(mix(hash, thread->seen), thread->done);
		for (j = 0; j < thread->nr_stores; j++)
			hash = mix(mix(hash, (uintptr_t)thread->stores[j].address),
				   thread->stores[j].value);
		hash = mix(hash, j);
	}
	return hash ? hash : 1;
}

/* True if the state was known already. */
static bool note_state(u64 hash)
{
	u32 at = hash >> (64 - TABLE_BITS);

	while (known[at] && known[at] != hash)
		at = (at + 1) & ((1U << TABLE_BITS) - 1);
	if (known[at])
		return true;
	known[at] = hash;
	if (++nr_known > 1U << (TABLE_BITS - 1)) {
		fprintf(stderr, "interleave: too many states\n");
		exit(2);
	}
	return false;
}

static void enter(void)
{
	struct thread *thread = &threads[current];

	thread->run();
	thread->done = true;
	swapcontext(&thread->context, &scheduler);
}

static void start_threads(thread_function *const *run, thread_function *start)
{
	int i;

	memset(shared, 0, shared_size);
	start();
	for (i = 0; i < nr_threads; i++) {
		struct thread *thread = &threads[i];

		thread->run = run[i];
		thread->nr_stores = 0;
		thread->seen = 0;
		thread->wait = WAIT_NONE;
		thread->done = false;
		getcontext(&thread->context);
		thread->context.uc_stack.ss_sp = thread->stack;
		thread->context.uc_stack.ss_size = STACK_BYTES;
		thread->context.uc_link = NULL;
		makecontext(&thread->context, enter, 0);
	}
}

/*
 * Repeats the first @depth choices, then takes the first one each time: returns how deep it came.
 * *@nr_choices: so many there were each time.
 */
static u32 run_once(u32 *path, u32 *nr_choices, u32 depth)
{
	struct choice choice;
	u32 at = 0;

	while (!failure && find_choice(at < depth ? path[at] : 0, &choice)) {
		if (at == MAX_DEPTH) {
			fprintf(stderr, "interleave: the threads do not end\n");
			exit(2);
		}
		if (at >= depth) {
			path[at] = 0;
			nr_choices[at] = count_choices();
		}
		take_choice(&choice);
		if (++at >= depth && note_state(hash_state()))
			break;
	}
	return at;
}

const char *threads_explore(thread_function *const *run, int nr, void *object, size_t size,
			    thread_function *start, thread_function *end, u32 *states)
{
	u32 path[MAX_DEPTH], nr_choices[MAX_DEPTH], depth = 0;
	struct choice choice;

	known = calloc(1U << TABLE_BITS, sizeof(*known));
	if (!known)
		abort();
	nr_known = 0;
	nr_threads = nr;
	shared = object;
	shared_size = size;
	failure = NULL;
	for (;;) {
		start_threads(run, start);
		depth = run_once(path, nr_choices, depth);
		if (!failure && !find_choice(0, &choice))
			end();
		/* Back to the last choice that there is another one for. */
		while (depth && path[depth - 1] + 1 == nr_choices[depth - 1])
			depth--;
		if (failure || !depth)
			break;
		path[depth - 1]++;
	}
	free(known);
	*states = nr_known;
	return failure;
}
