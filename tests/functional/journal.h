/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The oracle's memory of what a device must hold, on another disk or in a file, so that it survives
 * the machine.
 *
 * Time is cut into epochs.  An epoch begins with the whole truth: the version of every sector, read
 * back from the device or known exactly (the base).  During the epoch it is extended by notes: a
 * write that the device has acknowledged as durable, and a discard that is about to be sent.  Each
 * note is on the journal's disk when the call that makes it returns.
 *
 * A version is the epoch that wrote it, then a count; so a later version is a larger number, and
 * no version of an epoch that was cut off is ever used again.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#define VERSION_COUNT_BITS	40
#define VERSION_UNDEFINED	UINT64_MAX	/* discarded: anything may be there */

static inline uint64_t version_epoch(uint64_t version)
{
	return version >> VERSION_COUNT_BITS;
}

/* A journal, or only what is known in memory when it has no file. */
struct journal {
	int fd;				/* -1: none */
	uint64_t seed;
	uint64_t sectors;		/* of the span that is tested */
	uint64_t epoch;			/* 0: none yet, everything is zero */
	unsigned int threads;
	uint64_t *base;			/* version of each sector when the epoch began */
};

/* One note of an epoch. */
struct note {
	uint64_t version;
	uint32_t sector;
	uint32_t sectors;
	uint32_t discard;		/* 1: about to be discarded; 0: write acknowledged */
	uint32_t unused;
};

#define NOTES_A_BLOCK	168U		/* notes that journal_write_notes() takes at once */

/*
 * Opens @path (NULL: no file) for a device of @sectors sectors.  If it holds a journal, seed, epoch
 * and base are taken from it and must fit; else it starts with epoch 0.  Ends the program on
 * failure.
 */
void journal_open(struct journal *journal, const char *path, uint64_t seed, uint64_t sectors,
		  unsigned int threads);

/* Calls @take for every note of the present epoch. */
void journal_read_notes(struct journal *journal,
			void (*take)(void *context, const struct note *note), void *context);

/* Begins the next epoch: journal->base, changed by the caller, is what is true from now on. */
void journal_begin_epoch(struct journal *journal);

/* Makes notes durable.  False if the thread's place for notes is full. */
bool journal_write_notes(struct journal *journal, unsigned int thread, const struct note *notes,
			 unsigned int count);

#endif
