// SPDX-License-Identifier: GPL-2.0-only
/* A flush that is passed; see thin-passing.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "dm.h"
#include "fsx.h"
#include "output.h"
#include "thin-passing.h"

#define BYTES		(4 * FSX_UNIT)
#define HELD_MS		30000	/* at most: it may be the flush of the file itself */
#define ROUNDS		4

void passing_start(const char *below, uint64_t sectors)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "/dev/mapper/%s 0 0 /dev/mapper/%s 0 0 /dev/mapper/%s 0 %d", below, below, below,
		 HELD_MS);
	dm_create("slow", sectors, "delay", line);
	snprintf(line, sizeof(line),
		 "2 queue_mode bio 0 2 1 round-robin 0 1 1 /dev/mapper/%s 1 round-robin 0 1 1 /dev/mapper/slow 1",
		 below);
	dm_create("paths", sectors, "multipath", line);
}

void passing_stop(void)
{
	dm_remove("paths");
	dm_remove("slow");
}

static unsigned int held_flushes(void)
{
	unsigned int reads, writes, flushes;
	char text[128];

	dm_status("slow", text, sizeof(text));
	if (sscanf(text, "%u %u %u", &reads, &writes, &flushes) != 3)
		die(0, "dm-delay has an unknown status: '%s'", text);
	return flushes;
}

/* Suspending it lets what is held go. */
static void release_flushes(void)
{
	dm_suspend("slow");
	dm_resume("slow");
}

static void *flush_recorder(void *unused)
{
	int fd = open("/dev/mapper/recorder", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) || close(fd))
		die(errno, "the recorder cannot be flushed");
	return unused;
}

/* A new version of the file, which reaches the device but is not flushed. */
static void overwrite(int fd, uint8_t *data, uint32_t version)
{
	fsx_fill(data, version, 0, BYTES);
	if (pwrite(fd, data, BYTES, 0) != BYTES ||
	    sync_file_range(fd, 0, BYTES, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
					  SYNC_FILE_RANGE_WAIT_AFTER))
		die(errno, "f0 cannot be written");
}

static void sync_file(int fd, const char *saved, const uint8_t *data, uint32_t version)
{
	char path[4096];
	int copy;

	if (fsync(fd))
		die(errno, "f0: fsync failed");
	snprintf(path, sizeof(path), "mark f0.%u", version);
	dm_message("recorder", path);
	snprintf(path, sizeof(path), "%s/f0.%u", saved, version);
	copy = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (copy < 0 || write(copy, data, BYTES) != BYTES || close(copy))
		die(errno, "'%s' cannot be written", path);
}

/*
 * On a slow machine a flush of the file system itself may come in between and cover the new
 * version, or be the one that is held; then nothing is passed.
 */
static void pass_a_flush(int fd, const char *saved, uint8_t *data, uint32_t version)
{
	pthread_t thread;

	overwrite(fd, data, version);
	dm_message("paths", "switch_group 2");
	if (pthread_create(&thread, NULL, flush_recorder, NULL))
		die(0, "no thread can be started");
	while (!held_flushes())
		usleep(1000);
	dm_message("paths", "switch_group 1");
	sync_file(fd, saved, data, version);
	release_flushes();
	pthread_join(thread, NULL);
}

void passing_run(const char *folder, const char *saved)
{
	uint8_t data[BYTES];
	uint32_t version = 0;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/f0", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		die(errno, "'%s' cannot be made", path);
	overwrite(fd, data, version);
	sync_file(fd, saved, data, version);
	if (syncfs(fd))
		die(errno, "the file system cannot be synced");
	while (version < ROUNDS)
		pass_a_flush(fd, saved, data, ++version);
	close(fd);
}
