/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Crash states.  After each step that has changed the disk or what must survive, the power is cut
 * in many ways: what the disk then holds is recovered as after a boot, and every sector compared
 * with the oracle.
 *
 * A state is counted if it was recovered and compared, and if it is new: within a run no two have
 * the same contents of the disk and the same promise of the oracle.  (If the promise only grew
 * weaker in between, that is the same one: the state has been held to more already.)
 */
#ifndef MODEL_EXPLORE_H
#define MODEL_EXPLORE_H

#include "host.h"

/*
 * What recovery makes of a reserved area, which does not depend on the normal area.  States differ
 * often in the normal area only, and a torn record is the same in many of them.  A build with
 * MODEL_VERIFY recovers each time and compares.
 */
#define KNOWN_RECOVERIES	1024U	/* a power of two */

struct recovered {
	u64 log_hash;
	bool known;
	u32 nr_mapped;
	bool covered;
	u32 *blocks;		/* log block of each normal block, or RESSD_NO_BLOCK */
};

/* A set of 64-bit hashes. */
struct hash_set {
	u64 *keys;		/* 0: free */
	u32 size, nr;
};

struct explorer {
	struct host *host;
	struct box after;		/* what a boot after the cut makes of it */
	struct recovered *known;	/* KNOWN_RECOVERIES, by hash */
	u32 *scratch;			/* MODEL_VERIFY: one for each normal block */
	u8 *covers;			/* what the places of covered blocks are to hold */
	const struct sector **passed;	/* contents of a sector that the oracle allows now */
	struct random random;
	u32 per_moment;			/* states to try at least; 0: none */
	bool drained;			/* none of them may leave a block mapped */
	struct hash_set tried;		/* contents and promise */
	struct hash_set contents;
	u64 states;
	u64 nr_contents;		/* different contents among them */
	u64 moments;
	u64 changes, promise;		/* of the last moment */
	bool checking;			/* a violation is one of the state that the replica holds */
};

void explorer_init(struct explorer *explorer, struct host *host, u64 seed, u32 per_moment);
void explorer_free(struct explorer *explorer);

/* Tries states if something has changed since the last call. */
void explore(struct explorer *explorer);

/* Tries one state; the host's replica then holds it. */
void explore_cut(struct explorer *explorer, const struct cut *cut);

/* Is what the replica holds a plain disk, which another computer may write to? */
bool explore_is_plain(struct explorer *explorer);

/* What a start without a loss of power would find. */
void explore_view(struct explorer *explorer);

#endif
