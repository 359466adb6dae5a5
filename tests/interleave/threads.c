// SPDX-License-Identifier: GPL-2.0-only
/* All interleavings of a few threads; see threads.h. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <linux/minmax.h>
#include "threads.h"

#define STACK_BYTES	65536
#define MAX_STORES	8
#define MAX_LOADS	4	/* of copies, that are not done yet */
#define MAX_DEPTH	400
#define MAX_PLACES	24	/* that one thread looks at */
#define TABLE_BITS	24	/* of the states that are known */

struct store {
	void *address;
	size_t size;
	u64 value;
	bool release;
};

/* A load of a copy. */
struct load {
	const void *from;
	void *to;
};

/* A store that has arrived, as number place + 1; what was there before. */
struct arrived {
	const void *address;
	u64 before;
};

/* A place that a thread has seen as it was after so many stores had arrived. */
struct seen_place {
	const void *address;
	u32 at;
};

enum wait {
	WAIT_NONE,
	WAIT_LOAD,		/* for the choice of a value */
	WAIT_LOCK,
	WAIT_NOBODY,
	WAIT_FLAG,
	WAIT_LOADED,		/* until the loads of its copies are done */
	WAIT_EMPTY,		/* ... and its stores have all arrived */
};

struct thread {
	ucontext_t context;	/* of its stack */
	jmp_buf start;		/* where it begins, once it has its stack */
	jmp_buf here;		/* where it goes on, once it has begun */
	bool has_stack, begun;
	char stack[STACK_BYTES];
	thread_function *run;
	struct store stores[MAX_STORES];
	u32 nr_stores;
	struct load loads[MAX_LOADS];
	u32 nr_loads;
	u64 seen;		/* hash of what it has loaded, and of how far it is */
	enum wait wait;
	const void *waits_for;
	size_t load_size;
	u64 loaded;
	u32 loaded_at;
	struct seen_place places[MAX_PLACES];
	u32 nr_places;
	u32 at;			/* it sees nothing older than after so many stores */
	bool done;
};

/* A choice: a thread goes on, one of its stores arrives, or a load of a copy is done. */
struct choice {
	int thread;
	int store, load;	/* both -1: it goes on */
	u32 value;		/* which one it loads, the latest first */
};

static struct thread threads[NR_THREADS];
static int nr_threads, current;
static jmp_buf scheduler;
static const char *failure;
static unsigned char *shared;
static size_t shared_size;
static struct arrived history[MAX_DEPTH];
static u32 nr_arrived;
static u32 max_stale, nr_stale;	/* loads of what is not the latest value */

static u64 *known;		/* hashes; 0: free */
static u32 nr_known;

static u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static u64 value_at(const void *address, size_t size)
{
	u64 value = 0;

	memcpy(&value, address, size);
	return value;
}

/* --- the past --------------------------------------------------------------------------------- */

/* What @thread has seen of the place. */
static struct seen_place *place_of(struct thread *thread, const void *address)
{
	u32 i;

	for (i = 0; i < thread->nr_places; i++)
		if (thread->places[i].address == address)
			return &thread->places[i];
	if (i == MAX_PLACES) {
		fprintf(stderr, "interleave: a thread looks at too many places\n");
		exit(2);
	}
	thread->nr_places++;
	thread->places[i] = (struct seen_place) { .address = address };
	return &thread->places[i];
}

/* So many stores had arrived when the place was changed last; of the first @nr ones. */
static u32 last_change(const void *address, u32 nr)
{
	while (nr && history[nr - 1].address != address)
		nr--;
	return nr;
}

/*
 * The value number @nr, the latest first, that a load of the thread may find at @address, and since
 * when it has been there; false if there are fewer.
 */
static bool find_value(struct thread *thread, const void *address, size_t size, u32 nr, u64 *value,
		       u32 *since)
{
	u32 oldest = place_of(thread, address)->at, i;

	if (thread->at > oldest)
		oldest = thread->at;
	for (i = thread->nr_stores; i > 0; i--)
		if (thread->stores[i - 1].address == address) {
			*value = thread->stores[i - 1].value;
			*since = oldest;
			return !nr;
		}
	*value = value_at(address, size);
	*since = last_change(address, nr_arrived);
	for (; nr && *since > oldest; nr--) {
		*value = history[*since - 1].before;
		*since = last_change(address, *since - 1);
	}
	return !nr;
}

static void arrive(struct thread *thread, void *address, size_t size, u64 value)
{
	history[nr_arrived++] = (struct arrived) { address, value_at(address, size) };
	memcpy(address, &value, size);
	place_of(thread, address)->at = nr_arrived;
}

static void see(struct thread *thread, u32 at)
{
	if (thread->at < at)
		thread->at = at;
}

/* What has been there since then, it has seen; an older one it will not find there. */
static void see_place(struct thread *thread, const void *address, u32 at)
{
	struct seen_place *place = place_of(thread, address);

	if (place->at < at)
		place->at = at;
}

/* --- what threads do ------------------------------------------------------------------------ */

static struct thread *yield(enum wait wait, const void *waits_for)
{
	struct thread *thread = &threads[current];

	thread->wait = wait;
	thread->waits_for = waits_for;
	if (!_setjmp(thread->here))
		_longjmp(scheduler, 1);
	return &threads[current];
}

static void push(struct thread *thread, void *address, size_t size, u64 value, bool release)
{
	if (thread->nr_stores == MAX_STORES) {
		fprintf(stderr, "interleave: too many stores on their way\n");
		exit(2);
	}
	thread->stores[thread->nr_stores++] = (struct store) { address, size, value, release };
}

u64 thread_load(const void *address, size_t size, bool acquire)
{
	struct thread *thread = &threads[current];

	thread->load_size = size;
	yield(WAIT_LOAD, address);
	thread->seen = mix(thread->seen, thread->loaded + 2);
	see_place(thread, address, thread->loaded_at);
	if (acquire)
		see(thread, thread->loaded_at);
	return thread->loaded;
}

void thread_store(void *address, size_t size, u64 value, bool release)
{
	push(yield(release ? WAIT_LOADED : WAIT_NONE, NULL), address, size, value, release);
}

static bool is_shared(const void *address)
{
	return (uintptr_t)address - (uintptr_t)shared < shared_size;
}

void *thread_copy(void *to, const void *from, size_t bytes)
{
	struct thread *thread;
	size_t at;

	for (at = 0; at < bytes; at += sizeof(u64)) {
		if (!is_shared(from)) {
			thread_store((char *)to + at, sizeof(u64),
				     value_at((const char *)from + at, sizeof(u64)), false);
			continue;
		}
		thread = yield(WAIT_NONE, NULL);
		if (thread->nr_loads == MAX_LOADS || !is_shared(to)) {
			fprintf(stderr, "interleave: too many loads not done, or to the wrong place\n");
			exit(2);
		}
		thread->loads[thread->nr_loads++] =
			(struct load) { (const char *)from + at, (char *)to + at };
	}
	return to;
}

void thread_add(int *address, int value, bool release)
{
	struct thread *thread = yield(release ? WAIT_EMPTY : WAIT_NONE, NULL);

	arrive(thread, address, sizeof(*address), (u32)(*address + value));
	thread->seen = mix(thread->seen, *address + 2);
}

int thread_add_fully(int *address, int value)
{
	struct thread *thread = yield(WAIT_EMPTY, NULL);
	int sum = *address + value;

	arrive(thread, address, sizeof(*address), (u32)sum);
	see(thread, nr_arrived);
	thread->seen = mix(thread->seen, sum + 2);
	return sum;
}

int thread_exchange(int *address, int value)
{
	struct thread *thread = yield(WAIT_EMPTY, NULL);
	int before = *address;

	arrive(thread, address, sizeof(*address), (u32)value);
	see(thread, nr_arrived);
	thread->seen = mix(thread->seen, before + 2);
	return before;
}

int thread_replace(int *address, int from, int value)
{
	struct thread *thread = yield(WAIT_EMPTY, NULL);
	int before = *address;

	if (before == from) {
		arrive(thread, address, sizeof(*address), (u32)value);
		see(thread, nr_arrived);
	}
	thread->seen = mix(thread->seen, before + 2);
	return before;
}

void thread_barrier(void)
{
	struct thread *thread = yield(WAIT_EMPTY, NULL);

	see(thread, nr_arrived);
}

int thread_number(void)
{
	return current;
}

int thread_count(void)
{
	return nr_threads;
}

void thread_lock(u32 *lock)
{
	struct thread *thread = yield(WAIT_LOCK, lock);

	see(thread, last_change(lock, nr_arrived));
	*lock = 1;
}

void thread_unlock(u32 *lock)
{
	push(yield(WAIT_LOADED, NULL), lock, sizeof(*lock), 0, true);
}

void thread_wait(const u32 *flag)
{
	struct thread *thread = yield(WAIT_FLAG, flag);

	see(thread, last_change(flag, nr_arrived));
}

void thread_wait_for_none(const u32 *count, bool acquire)
{
	struct thread *thread = yield(WAIT_NOBODY, count);

	if (acquire)
		see(thread, last_change(count, nr_arrived));
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
	case WAIT_LOAD:
		break;
	case WAIT_LOCK:
	case WAIT_NOBODY:
		return !*(const u32 *)thread->waits_for;
	case WAIT_FLAG:
		return *(const u32 *)thread->waits_for;
	case WAIT_LOADED:
		return !thread->nr_loads;
	case WAIT_EMPTY:
		return !thread->nr_loads && !thread->nr_stores;
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

/*
 * What a load finds is one of several values: true if choice *@nr is one of them; else *@nr counts
 * those that are left.
 */
static bool choose_value(struct thread *thread, const void *address, size_t size, u32 *nr,
			 u32 *value)
{
	u64 found;
	u32 since;

	*value = 0;
	do {
		if (!*nr)
			return true;
		--*nr;
		++*value;
	} while (address && nr_stale < max_stale &&
		 find_value(thread, address, size, *value, &found, &since));
	return false;
}

/* Likewise for the ways to go on. */
static bool find_way(struct thread *thread, u32 *nr, u32 *value)
{
	return can_go_on(thread) &&
	       choose_value(thread, thread->wait == WAIT_LOAD ? thread->waits_for : NULL,
			    thread->load_size, nr, value);
}

/* The choice number @nr, or false if there are fewer. */
static bool find_choice(u32 nr, struct choice *choice)
{
	u32 i;

	for (choice->thread = 0; choice->thread < nr_threads; choice->thread++) {
		struct thread *thread = &threads[choice->thread];

		choice->store = -1;
		choice->load = -1;
		if (find_way(thread, &nr, &choice->value))
			return true;
		for (i = 0; i < thread->nr_stores; i++) {
			choice->store = i;
			if (can_arrive(thread, i) && !nr--)
				return true;
		}
		choice->store = -1;
		for (i = 0; i < thread->nr_loads; i++) {
			choice->load = i;
			if (choose_value(thread, thread->loads[i].from, sizeof(u64), &nr,
					 &choice->value))
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

/* On the stack of a thread, again and again. */
static void enter(void)
{
	if (!_setjmp(threads[current].start))
		_longjmp(scheduler, 1);
	threads[current].run();
	threads[current].done = true;
	_longjmp(scheduler, 1);
}

/* Until it can begin; this makes system calls, and so is done once. */
static void give_stack(struct thread *thread)
{
	thread->has_stack = true;
	getcontext(&thread->context);
	thread->context.uc_stack.ss_sp = thread->stack;
	thread->context.uc_stack.ss_size = STACK_BYTES;
	thread->context.uc_link = NULL;
	makecontext(&thread->context, enter, 0);
	if (!_setjmp(scheduler))
		setcontext(&thread->context);
}

/* Until it yields. */
static void switch_to(struct thread *thread)
{
	if (!thread->has_stack)
		give_stack(thread);
	if (_setjmp(scheduler))
		return;
	if (thread->begun)
		_longjmp(thread->here, 1);
	thread->begun = true;
	_longjmp(thread->start, 1);
}

static void do_load(struct thread *thread, u32 nr, u32 value)
{
	const struct load load = thread->loads[nr];
	u64 loaded = 0;
	u32 since = 0;

	find_value(thread, load.from, sizeof(loaded), value, &loaded, &since);
	see_place(thread, load.from, since);
	memcpy(load.to, &loaded, sizeof(loaded));
	thread->nr_loads--;
	memmove(&thread->loads[nr], &thread->loads[nr + 1],
		(thread->nr_loads - nr) * sizeof(load));
}

static void take_choice(const struct choice *choice)
{
	struct thread *thread = &threads[choice->thread];
	struct store store;

	if (choice->load >= 0) {
		nr_stale += choice->value > 0;
		do_load(thread, choice->load, choice->value);
		return;
	}
	if (choice->store < 0) {
		current = choice->thread;
		thread->seen = mix(thread->seen, 1);
		if (thread->wait == WAIT_LOAD)
			find_value(thread, thread->waits_for, thread->load_size, choice->value,
				   &thread->loaded, &thread->loaded_at);
		nr_stale += choice->value > 0;
		switch_to(thread);
		return;
	}
	store = thread->stores[choice->store];
	thread->nr_stores--;
	memmove(&thread->stores[choice->store], &thread->stores[choice->store + 1],
		(thread->nr_stores - choice->store) * sizeof(store));
	arrive(thread, store.address, store.size, store.value);
}

/* --- the search ----------------------------------------------------------------------------- */

/* May a load of the thread still find what was there before that store? */
static bool may_find(const struct thread *thread, const struct arrived *store)
{
	u32 i, place = store - history;

	if ((thread->done && !thread->nr_loads) || thread->at > place)
		return false;
	for (i = 0; i < thread->nr_places; i++)
		if (thread->places[i].address == store->address && thread->places[i].at > place)
			return false;
	return true;
}

/* What of the past loads may still find, and which of the threads what of it. */
static u64 hash_past(u64 hash)
{
	u32 at, mask;
	int i;

	for (at = 0; at < nr_arrived; at++) {
		mask = 0;
		for (i = 0; i < nr_threads; i++)
			mask |= may_find(&threads[i], &history[at]) << i;
		if (mask)
			hash = mix(mix(hash, (uintptr_t)history[at].address + mask),
				   history[at].before);
	}
	return hash;
}

static u64 hash_state(void)
{
	u64 hash = 1 + nr_stale;
	size_t at;
	int i;
	u32 j;

	for (at = 0; at < shared_size; at += sizeof(u64))
		hash = mix(hash, value_at(shared + at, min(sizeof(u64), shared_size - at)));
	for (i = 0; i < nr_threads; i++) {
		const struct thread *thread = &threads[i];

		hash = mix(mix(hash, thread->seen), thread->done);
		for (j = 0; j < thread->nr_stores; j++)
			hash = mix(mix(hash, (uintptr_t)thread->stores[j].address),
				   thread->stores[j].value);
		hash = mix(hash, j);
		for (j = 0; j < thread->nr_loads; j++)
			hash = mix(mix(hash, (uintptr_t)thread->loads[j].from),
				   (uintptr_t)thread->loads[j].to);
		hash = mix(hash, j);
	}
	if (nr_stale < max_stale)
		hash = hash_past(hash);
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

static void start_threads(thread_function *const *run, thread_function *start)
{
	int i;

	memset(shared, 0, shared_size);
	nr_arrived = 0;
	nr_stale = 0;
	start();
	for (i = 0; i < nr_threads; i++) {
		struct thread *thread = &threads[i];

		thread->run = run[i];
		thread->begun = false;
		thread->nr_stores = 0;
		thread->nr_loads = 0;
		thread->seen = 0;
		thread->nr_places = 0;
		thread->at = 0;
		thread->wait = WAIT_NONE;
		thread->done = false;
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
			    thread_function *start, thread_function *end, u32 stale, u32 *states)
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
	max_stale = stale;
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
