/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads whose accesses to shared memory are interleaved in all ways, and whose stores reach that
 * memory late and in any order that release and barriers allow.  A load finds any value that the
 * place has had since the last acquire or barrier of its thread, and since that thread has seen the
 * place: as if it had been done so much earlier than what comes before it.  The loads of a copy may
 * also be done later than what comes after them, but for a release or a barrier: their values are
 * not needed until then.
 *
 * All that the threads share, and all that the checks note down, is in one object; a state is that
 * object, the stores that have not reached it yet, what loads may still find of the past, and what
 * each thread has loaded so far.  Each state is gone on from once.
 */
#ifndef INTERLEAVE_THREADS_H
#define INTERLEAVE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define NR_THREADS	4

u64 thread_load(const void *address, size_t size, bool acquire);
void thread_store(void *address, size_t size, u64 value, bool release);
/* Added at once for all; @release: after all stores before it. */
void thread_add(int *address, int value, bool release);
/* The same between two barriers; returns the sum. */
int thread_add_fully(int *address, int value);
/* Sets it, likewise; returns what was there before. */
int thread_exchange(int *address, int value);
/* The same if it is @from, else it is as a load; returns what was there before. */
int thread_replace(int *address, int from, int value);
/*
 * As memcpy(), in words of 8 bytes.  If @from is shared each word is loaded when nothing needs it
 * yet, so @to is in the shared object and only looked at when all has ended; else they are stored.
 */
void *thread_copy(void *to, const void *from, size_t bytes);
void thread_barrier(void);
int thread_number(void);
int thread_count(void);

/* A lock: taking it is an acquire, and giving it up a release. */
void thread_lock(u32 *lock);
void thread_unlock(u32 *lock);
/* Waits until *@flag, which is set by a release, is not 0. */
void thread_wait(const u32 *flag);
/* ... until *@count is 0. */
void thread_wait_for_none(const u32 *count, bool acquire);

/* Notes down in the shared object what has happened, here and now. */
#define thread_note(field, value)	((field) = (value))
/* Ends the search: this must not happen. */
void thread_fail(const char *what);

typedef void thread_function(void);

/*
 * Runs @threads in all ways, each beginning with @shared as @start leaves it; @end looks at it when
 * nothing more can happen.  So many loads, @stale, of a run may find what is not the latest value.
 * Returns what is wrong, or NULL; *@states: so many there were.
 */
const char *threads_explore(thread_function *const *threads, int nr, void *shared, size_t size,
			    thread_function *start, thread_function *end, u32 stale, u32 *states);

#endif
