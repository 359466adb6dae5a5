/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of ressd-oracle share: the settings of a run. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "journal.h"

struct settings {
	const char *device;		/* block device or file; for files: a folder */
	const char *journal;		/* NULL: none */
	uint64_t seed;
	uint64_t offset;		/* sectors: where the tested span starts on the device */
	uint64_t span;			/* sectors; 0: to the end of the device */
	unsigned int threads;
	double seconds;			/* of load; 0: no limit */
	uint64_t operations;		/* of each thread; 0: no limit */
	unsigned int discard_percent;
	unsigned int flush_percent;
	bool small;			/* nearly all writes are single 4 KiB blocks */
	bool no_fua;			/* writes are made durable by a flush after them */
	bool may_fail;			/* the device is going to fail: not a trouble */
};

/* The device under test, open for direct I/O, and what is known of it. */
struct subject {
	const struct settings *settings;
	struct journal journal;
	uint64_t *latest;		/* version each sector must have now */
	int fd;
	bool discards;			/* it is a device that can discard */
	uint32_t unit;			/* sectors of its logical block: what can be written */
};

/* Opens device and journal.  Ends the program on failure. */
void subject_open(struct subject *subject, const struct settings *settings);

/*
 * Reads the whole span and compares it with the journal.  What it finds is the truth from now on
 * (subject->latest, and a new epoch).  Returns the number of sectors that differ.
 */
uint64_t verify_all(struct subject *subject);

/* Flushes the device.  Ends the program on failure, foretold or not. */
void flush_device(const struct subject *subject);

/*
 * Says what is wrong with a sector whose contents are @data: @expected says in words what was
 * promised.  After some such lines it stays silent.
 */
void report_difference(const struct subject *subject, uint64_t sector, const void *data,
		       const char *expected);

/*
 * Reads @bytes at @place: fewer are returned only where the file ends.  When any part cannot be
 * read it is -1 and errno; the system call would return the part before, as of a shorter file.
 */
ssize_t read_whole(int fd, void *buffer, size_t bytes, off_t place);

/* Runs the load; returns an exit code. */
int load_run(struct subject *subject);

/* The file system variant: files in the folder settings->device.  Returns an exit code. */
int files_check(const struct settings *settings);
int files_run(const struct settings *settings);

#endif
