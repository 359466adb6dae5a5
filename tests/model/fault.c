// SPDX-License-Identifier: GPL-2.0-only
/* Names of the deliberate bugs; see fault.h. */
#include <string.h>
#include "fault.h"

static const struct fault_info infos[NR_FAULTS] = {
	[FAULT_NONE] = { "none", 0, false, "no bug" },
	[FAULT_NO_PREFLUSH] = { "no-preflush", 3, false,
		"a record's PREFLUSH is not sent down" },
	[FAULT_NO_FUA] = { "no-fua", 2, false, "a record's FUA is not sent down" },
	[FAULT_NO_FLUSH] = { "no-flush", 2, false, "the flush of a sync is not sent down" },
	[FAULT_ONE_FLUSH] = { "one-flush", 2, false,
		"of two disks only the log's is flushed" },
	[FAULT_NOT_BUSY] = { "not-busy", 4, false, "segments are reused under readers" },
	[FAULT_NO_KILL] = { "no-kill", 1, false,
		"a direct write does not kill what it supersedes" },
	[FAULT_EARLY_KILL] = { "early-kill", 1, false,
		"a direct write kills before it has reached the device" },
	[FAULT_EARLY_SYNC] = { "early-sync", 2, false,
		"a flush completes when the record is written, before the device is flushed" },
	[FAULT_EARLY_MOVED] = { "early-moved", 4, false,
		"the mover calls a block clean before its write is done" },
	[FAULT_FUA_BESIDE_LOG] = { "fua-beside-log", 3, false,
		"a direct FUA write does not wait for its UNMAP" },
	[FAULT_FUA_ASKS_EARLY] = { "fua-asks-early", 3, false,
		"whether a direct FUA write waits for UNMAPs is decided before it is sent" },
	[FAULT_FUA_NOT_SENT] = { "fua-not-sent", 2, false,
		"a direct write loses its FUA" },
	[FAULT_FLUSH_BESIDE_LOG] = { "flush-beside-log", 2, false,
		"a flush is sent straight down although the log holds something volatile" },
	[FAULT_NO_RECOVERY_FLUSH] = { "no-recovery-flush", 6, false,
		"what recovery has read is served without a flush" },
	[FAULT_NO_OPENING] = { "no-opening", 6, false,
		"no opening record after recovery" },
	[FAULT_SWEEP_IGNORES_DIRECT] = { "sweep-ignores-direct", 3, false,
		"a sweep does not wait for older direct writes" },
	[FAULT_DIRECT_IGNORES_MOVES] = { "direct-ignores-moves", 5, false,
		"a direct write does not wait for the mover's batch" },
	[FAULT_FILL_IGNORES_DIRECT] = { "fill-ignores-direct", 5, false,
		"holes are read before older direct writes have landed" },
	[FAULT_IDLE_IGNORES_DIRECT] = { "idle-ignores-direct", 5, false,
		"a sweep of the segment in use does not wait for direct writes before each batch" },
	[FAULT_DROP_UNMAPS] = { "drop-unmaps", 3, false, "records leave without their UNMAPs" },
	[FAULT_FLUSH_ERROR_DROPPED] = { "flush-error-dropped", 2, true,
		"the error of a flush is not told to the log" },
	[FAULT_WRITE_ERROR_DROPPED] = { "write-error-dropped", 2, true,
		"the error of a record's write is not told to the log" },
	[FAULT_MOVE_ERROR_DROPPED] = { "move-error-dropped", 4, true,
		"the mover calls a block clean although its write has failed" },
	[FAULT_FAILED_WRITE_KILLS] = { "failed-write-kills", 1, true,
		"a direct write that has failed kills what it was to supersede" },
	[FAULT_READS_UNPROVEN] = { "reads-unproven", 2, true,
		"after a failed flush records are read that may be gone" },
	[FAULT_PREFLUSH_BELIEVED] = { "preflush-believed", 3, true,
		"a record is written although a flush beside its PREFLUSH has failed" },
	[FAULT_READS_BESIDE_FLUSH] = { "reads-beside-flush", 2, true,
		"a read of the normal area completes although a flush has failed meanwhile" },
	[FAULT_DOUBT_IGNORED] = { "doubt-ignored", 2, true,
		"a read believes the map before a failed flush shows in it" },
	[FAULT_TRIM_NOT_BUSY] = { "trim-not-busy", 4, false,
		"a segment is entered while its discard is in flight" },
	[FAULT_KEEP_STALE] = { "keep-stale", 1, false,
		"the log keeps a block that was overwritten while it was read" },
	[FAULT_KEEP_NOT_BUSY] = { "keep-not-busy", 4, false,
		"a segment is used anew while the log reads what it keeps of it" },
	[FAULT_HELD_UNSEEN] = { "held-unseen", 5, false,
		"the mover does not wait for a direct write that a policy holds" },
	[FAULT_HELD_IS_DONE] = { "held-is-done", 2, false,
		"a direct write completes when a policy holds it, not when it is written" },
	[FAULT_HELD_STAYS] = { "held-stays", 4, false,
		"what a policy has sent counts as in flight for ever" },
	[FAULT_COVER_NOT_BUSY] = { "cover-not-busy", 8, false,
		"writes to covered blocks go on while covers are written or taken away" },
	[FAULT_COVER_IGNORES_DIRECT] = { "cover-ignores-direct", 8, false,
		"covering does not wait for older direct writes" },
	[FAULT_COVER_IGNORES_READS] = { "cover-ignores-reads", 8, false,
		"covers are written under reads in flight" },
	[FAULT_COVER_DISCARDED] = { "cover-discarded", 8, false,
		"a discard goes to the place of a covered block" },
	[FAULT_COVER_WAITERS_FORGOTTEN] = { "cover-waiters-forgotten", 8, false,
		"a drain that was interrupted forgets who waits for covers by then" },
	[FAULT_DIRECT_BESIDE_FLUSH] = { "direct-beside-flush", 3, true,
		"a direct write completes although a flush has failed while it was in flight" },
	[FAULT_FLUSH_BESIDE_FLUSH] = { "flush-beside-flush", 2, true,
		"a flush completes although another one has failed while it was in flight" },
	[FAULT_REPAIR_IGNORES_DIRECT] = { "repair-ignores-direct", 3, true,
		"a repair does not wait for direct writes from before the failed flush" },
	[FAULT_FUA_OF_A_FAILED_FLUSH] = { "fua-of-a-failed-flush", 2, true,
		"the data of a write is taken though its PREFLUSH has failed" },
	[FAULT_FUA_BELIEVES_RECOVER] = { "fua-believes-recover", 2, true,
		"data whose flush has failed is taken once the log is in service again" },
	[FAULT_RECOVER_ANSWERS_NOTHING] = { "recover-answers-nothing", 2, true,
		"after recover no write with FUA is taken before somebody flushes" },
};

const struct fault_info *fault_info(enum fault fault)
{
	return &infos[fault];
}

enum fault fault_parse(const char *name)
{
	enum fault fault;

	for (fault = 0; fault < NR_FAULTS; fault++)
		if (!strcmp(name, infos[fault].name))
			break;
	return fault;
}
