/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of dm-log-writes (drivers/md/dm-log-writes.c): a superblock, then entries one after the
 * other.  Each is one block that describes a request, followed by its data; a mark has its text in
 * the block itself.  A write stands in the log when it has completed and been covered by a flush,
 * or when it is FUA: so what comes before a flush is exactly what that flush made durable.
 */
#ifndef WRITES_LOG_H
#define WRITES_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WRITES_LOG_MAX_BLOCK	4096U

enum { ENTRY_FLUSH = 1, ENTRY_FUA = 2, ENTRY_DISCARD = 4, ENTRY_MARK = 8 };

struct writes_log {
	int fd;
	uint32_t block;			/* bytes: unit of all numbers in the log */
	uint64_t entries;
	off_t next;			/* where the next entry begins */
};

struct entry {
	uint64_t sector, sectors;	/* in blocks of the log */
	uint64_t flags;
	off_t data;			/* where its data stand in the log */
	char mark[WRITES_LOG_MAX_BLOCK];	/* text of a mark */
};

/* Each ends the program at an error. */

void writes_log_open(struct writes_log *log, const char *path);
void writes_log_close(struct writes_log *log);

/* The next entry; there must be one. */
void writes_log_next(struct writes_log *log, struct entry *entry);

enum replay_way {
	REPLAY_ALL,		/* what was discarded becomes zeros */
	REPLAY_TORN,		/* the same, but of @last only the first half of its blocks */
	REPLAY_DISCARDS,	/* what was discarded is discarded there, too */
	REPLAY_SUBSET,		/* of what was not FUA only some sectors; there is no flush */
};

/* Writes the entries @first to @last to the device, of a log just opened; @seed: of the subset. */
void writes_log_apply(struct writes_log *log, const char *device, uint64_t first, uint64_t last,
		      enum replay_way way, uint64_t seed);

#endif
