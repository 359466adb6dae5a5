/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One whole measurement of a disk: what is done, in which order, with how much effort.  It knows
 * the disk through disk.h only, so that the tests measure emulated drives in just the same way.
 */
#ifndef PROBE_SESSION_H
#define PROBE_SESSION_H

#include "find/survey.h"
#include "judge/analyse.h"

/* For those who show or save what happens; every member may be NULL. */
struct watcher {
	/* A step begins; all that is left takes at most @seconds, 0: unknown. */
	void (*step)(void *context, const char *name, unsigned int seconds);
	/* The region is being filled. */
	void (*filled)(void *context, unsigned int percent);
	void (*result)(void *context, const char *name, const struct result *result);
	/* A step has ended, and its result is in the session. */
	void (*ended)(void *context);
};

#define FILL_CHUNKS	512U

struct session {
	/* The caller's: */
	struct measure *measure;	/* prepared with session_effort() and measure_init() */
	bool may_write;
	bool verify;			/* the disk keeps what is written: compare some of it */
	enum thoroughness thoroughness;
	u64 disk_offset;		/* where the device begins on its disk, bytes */
	bool takes_discards;		/* as the kernel says */
	bool one_at_a_time;		/* likewise: commands */
	bool is_memory;			/* by its name, hints.h */
	u64 mover_stride[NR_SIZES];	/* of the planned device, bytes */
	u64 normal_bytes, log_bytes;	/* likewise; 0: not known */
	/* The block has been looked for: plan the device anew.  May be NULL. */
	void (*plan_again)(void *context);
	const struct watcher *watcher;
	void *context;			/* for @plan_again and @watcher */

	/*
	 * Results.  What an earlier run has found may stand here already, and is not measured
	 * again.
	 */
	bool filled;
	struct survey survey;
	struct measurements measurements;
	bool limited;			/* the limit of bytes ended the writing */

	/* session.c's: */
	double chunk_ns[FILL_CHUNKS];	/* times of equal parts of the filling */
	u64 chunk_bytes;
	unsigned int nr_chunks;
	unsigned int shown;		/* percent */
	u64 end;			/* on the disk's clock */
	bool pauses;			/* random writes were measured over whole cycles of them */
	u64 long_ns;			/* that a call takes in which there is a pause, then */
	u64 longest_ns;			/* the longest of them */
	bool buffer_full;		/* of random writes, on a drive that ignores flushes */
};

/* Sets the members of @measure that say how much effort is made. */
void session_effort(struct measure *measure, enum thoroughness thoroughness);

/* Bytes of a region of @bytes that are written once, in order, at most. */
u64 session_fill_bytes(enum thoroughness thoroughness, u64 bytes);

/* Bytes that may be written to a region of @bytes in all, unless the user says otherwise. */
u64 session_write_limit(enum thoroughness thoroughness, u64 bytes);

/* All that the mode allows.  0, -ECANCELED when interrupted, or another negative errno. */
int session_run(struct session *session, struct failure *failure);

/* Most seconds of device time that a mode takes for all. */
unsigned int session_seconds(enum thoroughness thoroughness);

/* Name and number of the cells, for --dry-run and for files: "random write 4 KiB". */
unsigned int session_nr_cells(void);
const char *session_cell_name(unsigned int cell);
bool session_cell_writes(unsigned int cell);
struct result *session_cell_result(struct measurements *measurements, unsigned int cell);

#endif
