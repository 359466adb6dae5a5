/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the block-device contract allows each sector of the device to hold.
 *
 * A sector has versions: each write of it is one, with the times of its submission and completion.
 * Of two versions the later one replaces the earlier if it was submitted after the earlier was
 * completed; otherwise they were written at the same time and either may win.
 *
 *	read		any version that no completed one replaces
 *	after a crash	any version that no durable one replaces
 *
 * A write that has failed may have taken effect or not: it replaces nothing until a read has told.
 *
 * A version is durable once a flush has completed that was submitted after it was completed, or at
 * its completion if it had FUA.
 */
#ifndef MODEL_ORACLE_H
#define MODEL_ORACLE_H

#include <linux/types.h>

#define MAX_VERSIONS	24
#define NEVER		(~0ULL)

struct version {
	u64 id;			/* of the contents; 0: zeroes */
	u64 submitted;
	u64 completed;		/* NEVER: in flight */
	bool durable;
	bool failed;
	u64 distrusted;		/* only a failed flush has made it so, then; 0: not */
};

struct cell {
	struct version versions[MAX_VERSIONS];
	u32 nr;
	u32 pins;		/* reads under way: no version may be forgotten */
	u64 lost;		/* contents that the last crash took; 0: none */
};

struct oracle {
	struct cell *cells;
	u32 nr;			/* sectors */
	u64 now;
	u64 narrowed;		/* grows when less may survive a crash than before */
};

void oracle_init(struct oracle *oracle, u32 nr_sectors);
void oracle_free(struct oracle *oracle);

/* True if all these sectors can take one more version. */
bool oracle_has_room(const struct oracle *oracle, u32 first, u32 nr);

/* A write of contents ids[i] to sector first + i begins; returns its time. */
u64 oracle_submit(struct oracle *oracle, u32 first, u32 nr, const u64 *ids);

/* The write that was submitted at @submitted ends. */
void oracle_complete(struct oracle *oracle, u32 first, u32 nr, u64 submitted, bool fua);

/* It ends with an error. */
void oracle_fail(struct oracle *oracle, u32 first, u32 nr, u64 submitted);

/* A flush has failed: what only it would have made durable may be there from now on, or not. */
void oracle_distrust(struct oracle *oracle);

/* A flush that was submitted at @submitted has completed. */
void oracle_flushed(struct oracle *oracle, u64 submitted);

void oracle_pin(struct oracle *oracle, u32 first, u32 nr, bool pin);

/* May a read that was submitted at @since return @id? */
bool oracle_may_read(const struct oracle *oracle, u32 sector, u64 id, u64 since);

/*
 * A read that was submitted at @since has returned @id.  If no write was under way meanwhile that
 * settles which version it is from now on: of several written at the same time, and whether one
 * that has failed has taken effect, though the latter not beyond a loss of power before a flush.
 */
void oracle_settle(struct oracle *oracle, u32 sector, u64 id, u64 since);

/* May @id be there after a crash now? */
bool oracle_may_survive(const struct oracle *oracle, u32 sector, u64 id);

/* There was a crash, and @id is there. */
void oracle_crashed(struct oracle *oracle, u32 sector, u64 id);

/* Writes what the sector may hold into @text. */
void oracle_explain(const struct oracle *oracle, u32 sector, char *text, size_t size);

#endif
