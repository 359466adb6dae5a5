// SPDX-License-Identifier: GPL-2.0-only
/* Ranges that threads hold; see ranges.h. */
#include <pthread.h>
#include <stdbool.h>
#include "ranges.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
	uint64_t start, end;		/* equal: nothing is held */
} held[MAX_THREADS];

static bool is_free(uint64_t start, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < MAX_THREADS; i++)
		if (start < held[i].end && held[i].start < end)
			return false;
	return true;
}

void range_lock(unsigned int thread, uint64_t start, uint64_t sectors)
{
	pthread_mutex_lock(&mutex);
	while (!is_free(start, start + sectors))
		pthread_cond_wait(&changed, &mutex);
	held[thread].start = start;
	held[thread].end = start + sectors;
	pthread_mutex_unlock(&mutex);
}

void range_unlock(unsigned int thread)
{
	pthread_mutex_lock(&mutex);
	held[thread].start = 0;
	held[thread].end = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}
