/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Deliberate bugs on the driver's side of the log protocol, to prove that the simulator finds what
 * it looks for.  Those inside of core are in mutations/.
 */
#ifndef MODEL_FAULT_H
#define MODEL_FAULT_H

#include <linux/types.h>

enum fault {
	FAULT_NONE,
	FAULT_NO_PREFLUSH,
	FAULT_NO_FUA,
	FAULT_NO_FLUSH,
	FAULT_ONE_FLUSH,
	FAULT_NOT_BUSY,
	FAULT_NO_KILL,
	FAULT_EARLY_KILL,
	FAULT_EARLY_SYNC,
	FAULT_EARLY_MOVED,
	FAULT_FUA_BESIDE_LOG,
	FAULT_FUA_ASKS_EARLY,
	FAULT_FUA_NOT_SENT,
	FAULT_FLUSH_BESIDE_LOG,
	FAULT_NO_RECOVERY_FLUSH,
	FAULT_NO_OPENING,
	FAULT_SWEEP_IGNORES_DIRECT,
	FAULT_DIRECT_IGNORES_MOVES,
	FAULT_FILL_IGNORES_DIRECT,
	FAULT_IDLE_IGNORES_DIRECT,
	FAULT_DROP_UNMAPS,
	FAULT_FLUSH_ERROR_DROPPED,
	FAULT_WRITE_ERROR_DROPPED,
	FAULT_MOVE_ERROR_DROPPED,
	FAULT_FAILED_WRITE_KILLS,
	FAULT_READS_UNPROVEN,
	FAULT_PREFLUSH_BELIEVED,
	FAULT_READS_BESIDE_FLUSH,
	FAULT_DOUBT_IGNORED,
	FAULT_TRIM_NOT_BUSY,
	FAULT_KEEP_STALE,
	FAULT_KEEP_NOT_BUSY,
	FAULT_HELD_UNSEEN,
	FAULT_HELD_IS_DONE,
	FAULT_HELD_STAYS,
	FAULT_COVER_NOT_BUSY,
	FAULT_COVER_IGNORES_DIRECT,
	FAULT_COVER_IGNORES_READS,
	FAULT_COVER_DISCARDED,
	FAULT_COVER_WAITERS_FORGOTTEN,
	FAULT_DIRECT_BESIDE_FLUSH,
	FAULT_FLUSH_BESIDE_FLUSH,
	FAULT_REPAIR_IGNORES_DIRECT,
	NR_FAULTS
};

struct fault_info {
	const char *name;
	u32 invariant;			/* that it breaks, as docs/crash-safety.md numbers them */
	bool errors;			/* it shows only where I/O fails */
	const char *what;
};

const struct fault_info *fault_info(enum fault fault);

/* The fault of that name, or NR_FAULTS. */
enum fault fault_parse(const char *name);

#endif
