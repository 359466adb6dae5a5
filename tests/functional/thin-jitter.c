// SPDX-License-Identifier: GPL-2.0-only
/* Flushes that pass each other; see thin-jitter.h. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include "dm.h"
#include "fsx.h"
#include "output.h"
#include "thin-jitter.h"

#define HELD_MS		300	/* a flush on the slow path */
#define LONGEST_US	60000U	/* on one path */

static pthread_t thread;
static bool stopping;
static struct fsx times;

static void *switch_paths(void *unused)
{
	bool slow = false;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		slow = !slow;
		dm_message("jitter", slow ? "switch_group 2" : "switch_group 1");
		usleep(1000 + fsx_random(&times, LONGEST_US));
	}
	return unused;
}

void jitter_start(const char *below, uint64_t sectors, uint64_t seed)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "/dev/mapper/%s 0 0 /dev/mapper/%s 0 0 /dev/mapper/%s 0 %d", below, below, below,
		 HELD_MS);
	dm_create("slow", sectors, "delay", line);
	snprintf(line, sizeof(line),
		 "2 queue_mode bio 0 2 1 round-robin 0 1 1 /dev/mapper/%s 1 round-robin 0 1 1 /dev/mapper/slow 1",
		 below);
	dm_create("jitter", sectors, "multipath", line);
	times.random = seed * 2 + 1;
	stopping = false;
	if (pthread_create(&thread, NULL, switch_paths, NULL))
		die(0, "no thread can be started");
}

void jitter_stop(void)
{
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	dm_remove("jitter");
	dm_remove("slow");
}
