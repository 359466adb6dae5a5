/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of ressd-fsx share: one file under test, what it must hold, and what was done to
 * it so far.
 */
#ifndef FSX_H
#define FSX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define FSX_FILE_MAX	(256U * 1024U)		/* bytes of the file */
#define FSX_LENGTH_MAX	(64U * 1024U)		/* bytes of an operation */
#define FSX_UNIT	4096U			/* alignment that ranges of blocks need */
#define FSX_MAX_OPERATIONS	0xffffffU	/* that the words in the file can name */

struct fsx {
	const char *name;		/* of the file, without its folder */
	int fd;
	uint64_t random;		/* state of the generator */
	uint32_t operation;		/* number of the current one, from 1 */
	uint32_t size;			/* the file's */
	uint8_t *good;			/* what it must hold; zeros beyond its size */
	uint8_t *scratch;		/* FSX_FILE_MAX bytes */
	bool share;			/* with reflinks, where the file system has them */
	FILE *log;			/* one line for each operation */
};

/* A number below @limit, which is not 0. */
uint32_t fsx_random(struct fsx *fsx, uint32_t limit);

/* One operation drawn at random, in the file and in memory.  True if the file is to be synced. */
bool fsx_operate(struct fsx *fsx);

/* Fills @data, @bytes for @place of a file, with words that name the operation. */
void fsx_fill(uint8_t *data, uint32_t operation, uint32_t place, uint32_t bytes);

/*
 * Compares @found with @wanted, @bytes at @place of the file @name.  If they differ it says where
 * and which operation wrote what, and returns false.
 */
bool fsx_same(const char *name, const uint8_t *wanted, const uint8_t *found, uint32_t place,
	      uint32_t bytes);

/* Compares the file with what it must hold; ends the program if it differs. */
void fsx_verify(struct fsx *fsx, uint32_t place, uint32_t bytes);

struct fsx_settings {
	uint64_t seed, operations, processes;
	const char *recorder;		/* dm-log-writes device; NULL: none */
	bool share;
	const char *folder;		/* of the files */
	const char *saved;		/* where their contents go at each fsync */
};

/* The load; returns the worst exit code of its processes. */
int fsx_run(const struct fsx_settings *settings);

/* Compares the file with what was saved; returns an exit code. */
int fsx_check(const char *saved, const char *file);

#endif
