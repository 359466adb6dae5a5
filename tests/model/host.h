/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel does around the log protocol, one event at a time: bios (host-bio.c, with
 * host-read.c and host-flush.c), the log worker (host-log.c), the mover (host-mover.c), covers
 * (host-cover.c), discards of segments (host-trim.c), the order of what goes to the normal area
 * (host-dispatch.c), and the message recover (host-recover.c). Everything that takes time has a
 * beginning and an end with other events in between.
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <setjmp.h>
#include "box.h"
#include "event.h"
#include "fault.h"
#include "oracle.h"
#include "ressd-cover.h"
#include "ressd-queue.h"
#include "ressd-repair.h"
#include "ressd-sweep.h"

#define MAX_OPS			10
#define MAX_OP_SECTORS		(4 * BLOCK_SECTORS)
#define MAX_MOVES		8
#define MAX_SLOTS		64

enum op_state {
	OP_FREE,
	OP_SPACE,		/* waits for room in the log */
	OP_MOVES,		/* direct: waits for the mover's batch */
	OP_HELD,		/* to the normal area: held by a policy, or behind what is */
	OP_DEVICE,		/* direct: the disk's write is in flight */
	OP_RECORD,		/* in the log, waits until its record is written */
	OP_SYNC,		/* waits for a ticket */
	OP_READING,		/* the disk's read is in flight */
	OP_MERGING,		/* a piece: the log's copy is read, anew at each try */
	OP_FLUSHING,		/* the disk's flush is in flight */
	OP_PREFLUSHED,		/* the flush has ended, well or not: its data is to be sent */
};

struct op {
	enum event_kind kind;
	enum op_state state;
	bool small, fua, slow, repeat;
	bool has_data;			/* a flush: dm sends this when it has ended */
	u32 first, nr;			/* sectors */
	u64 ids[MAX_OP_SECTORS];	/* contents to write */
	u64 started;			/* oracle's time; a write: of its submission */
	u64 sent;			/* direct: host's time since which it counts as in flight */
	struct ressd_request request;
	bool counted;			/* in host->in_flight */
	u32 accepted;			/* blocks in the log so far */
	u64 record;			/* that holds the last of them */
	u64 ticket;
	bool tracked;			/* direct: covers dirty blocks */
	bool unmaps_pending;		/* direct: when it was sent */
	bool from_log;
	bool proven;			/* from the log: what no failed flush can take */
	u64 flush_errors;		/* of the host, when the read or flush was sent */
	u32 refused_flushes;		/* likewise, of a flush */
	u64 preflushed;			/* oracle's time: of the flush before this data; 0: none */
	u32 block;			/* log block read from */
	u64 mark;			/* of a flush */
	struct disk_write *write;
};

enum io_stage { IO_IDLE, IO_FLUSHING, IO_WRITING, IO_READING };

enum mover_state {
	MOVER_IDLE,
	MOVER_KEEP,			/* the log is about to keep the oldest segment's blocks */
	MOVER_KEPT,			/* one of them is read, and not yet accepted */
	MOVER_WAIT,
	MOVER_PICK,
	MOVER_READ,
	MOVER_WRITE,
	MOVER_RECLAIM,
	MOVER_COVER,		/* see host-cover.c */
};

enum cover_stage {
	COVER_WAITS,		/* for direct writes and a sync, before it begins */
	COVER_DECIDES,
	COVER_ACTS,		/* an action of the run is under way */
};

enum restore { RESTORE_DUE, RESTORE_DRAINS };

struct cover {
	enum cover_stage stage;
	enum ressd_cover_goal goal;
	struct ressd_cover_run run;
	struct ressd_cover_action action;
	struct disk_write *write;
	u64 ticket;			/* 0: none was drawn */
	bool busy;			/* writes of covered blocks wait */
	bool starved;			/* the last run has found no room */
	bool unsafe;			/* a cover could not be written: it need not stand */
	u32 bad_block;			/* log block of the run's bad copy; 0: there is none */
	u64 *bare;			/* what another computer has written; one for each sector */
};

struct mover {
	enum mover_state state;
	struct ressd_sweep sweep;
	u64 record;			/* must be written before the first move */
	u64 started;			/* host's time: direct writes before must have landed */
	u64 visit_from;			/* where the next round begins */
	bool whole;			/* sweeps the segment in use, too */
	bool drains;			/* this sweep was begun by a drain */
	u64 ticket;
	u32 keep_slot, keep_block;	/* whose block the log keeps next */
	u64 keep_segment;		/* that is in the slot */
	u32 kept_lbn;			/* of the block that is read */
	u64 kept[RESSD_BLOCK_SIZE / sizeof(u64)];
	struct ressd_move moves[MAX_MOVES];
	struct disk_write *writes[MAX_MOVES];
	u32 nr, left;
	bool failed[MAX_MOVES];		/* the write of that block has */
	bool sweep_failed;		/* a read or a write of this sweep has */
	u32 order[MAX_MOVES];		/* of the moves whose writes are in flight */
};

/* The message recover. */
enum recover_step {
	RECOVER_NONE,
	RECOVER_REPAIRS,
	RECOVER_SYNCS,
	RECOVER_FLUSHES,
};

struct recover {
	enum recover_step step;
	u64 ticket;
	u64 mark;			/* of its flush */
	u32 refused_flushes;		/* of the host, when the sync began */
};

struct host {
	/* Set by the caller. */
	struct config config;
	enum fault fault;
	bool trace;			/* print every event */
	/* Called between the steps of an event that has many. */
	void (*moment)(void *context);
	void *context;

	struct layout layout;
	struct disk disk;
	struct oracle oracle;
	struct box box;
	struct replica replica;		/* of what a cut leaves, and what recovery reads */
	u32 *readers;			/* per slot */
	struct op ops[MAX_OPS];
	struct ressd_queue queue;
	u32 in_flight;			/* what the queue has sent */
	struct ressd_io io;
	enum io_stage io_stage;
	u32 io_disk;			/* that is being flushed */
	u64 io_mark;
	struct disk_write *io_write;
	struct mover mover;
	struct cover cover;
	struct recover recover;
	void *repair_buffer;
	bool trimming;			/* the discard of a segment is in flight */
	u32 trim_slot;
	struct disk_write *trim;
	bool draining;
	u64 opening_ticket;
	bool opening;			/* recovered, but not yet sealed: serves nothing */
	enum restore restore;		/* if the log was not covered */
	u64 time;
	u64 finished;			/* writes that have completed */
	u64 flushed;			/* flushes that have */
	u64 flush_errors;
	u32 refused_flushes, answered_flushes;	/* as errors of struct ressd */
	u64 last_id;
	u64 activation;

	jmp_buf failed;			/* where a violation goes */
	char why[1024];
};

void host_init(struct host *host);
void host_free(struct host *host);

__attribute__((noreturn, format(printf, 2, 3)))
void violation(struct host *host, const char *format, ...);

/* Prints what happens if host->trace. */
__attribute__((format(printf, 2, 3)))
void host_trace(const struct host *host, const char *format, ...);

/* Carries out one event, all but CRASH, STOP, RELOAD and CUT. */
void host_apply(struct host *host, const struct event *event);

/* Lets everything that is under way end; a violation if it does not. */
void host_settle(struct host *host);

/* Settles, and writes and flushes what is only in RAM. */
void host_sync(struct host *host);

/*
 * Forgets all that was under way and starts again from what the disk holds.  Recovery's read number
 * @bad_read fails, then it is tried again; 0: none fails.
 */
void host_restart(struct host *host, u32 bad_read);

/* host-check.c */

/* A sector with contents @words was read by a read that began at @since. */
void host_check_sector(struct host *host, u32 sector, const u64 *words, u64 since,
		       const char *what);

/* Reads the whole device as it is now and compares. */
void host_check_reads(struct host *host);

/* After a drain: the normal area alone is the whole device. */
void host_check_home(struct host *host);

/* Checks core's own books. */
void host_check_log(struct host *host);

/* Is the log in service? */
static inline bool host_log_works(const struct host *host)
{
	return host->box.log.mode == RESSD_MODE_RW;
}

/* Does the map not yet show what a failed flush may have taken? */
static inline bool host_is_doubtful(const struct host *host)
{
	return ressd_log_is_doubtful(&host->box.log) && host->fault != FAULT_DOUBT_IGNORED;
}

/* A flush has failed, and the driver knows: nothing that only it made durable is promised. */
static inline void host_flush_failed(struct host *host)
{
	host->flush_errors++;
	oracle_distrust(&host->oracle);
}

/* host-bio.c */
u32 op_first_block(const struct op *op);
u32 op_nr_blocks(const struct op *op);
bool host_is_dirty(const struct host *host, u32 lbn);

/* Is it a direct write or discard that counts as in flight? */
static inline bool op_is_direct(const struct op *op)
{
	return op->state == OP_DEVICE || (op->state == OP_HELD && op->kind != EVENT_READ);
}

/* Is it a read on its way? */
static inline bool op_is_read(const struct op *op)
{
	return op->state == OP_READING || (op->state == OP_HELD && op->kind == EVENT_READ);
}

/* Gives a read or a direct write to the disk. */
void host_send(struct host *host, struct op *op);
void host_start_op(struct host *host, const struct event *event);
void host_end_op(struct host *host, struct op *op, bool error, u64 number);

/* Those that waited try again, from the beginning. */
void host_retry(struct host *host);

/* Completes those who wait for a record or a ticket; @wrote: a record is written. */
void host_complete_waiters(struct host *host, bool wrote);

/* host-read.c */
void host_start_read(struct host *host, struct op *op);
void host_end_read(struct host *host, struct op *op, bool error);

/* host-flush.c */
/* Begins a flush in the first op, if that is free. */
void host_flush(struct host *host);
void host_start_flush(struct host *host, struct op *op);

/* The disk's flush has ended. */
void host_end_flush(struct host *host, struct op *op, bool error, u64 number);

/* The flush is answered. */
void host_finish_flush(struct host *host, struct op *op, bool failed);

/* Is the log out of service, and owes something that it cannot write? */
bool host_flushes_fail(const struct host *host);

/* A flush that the log has not asked for fails. */
void host_flush_fails(struct host *host, u64 number);

/* A flush has succeeded that began when @refused had failed. */
void host_answer_flushes(struct host *host, u32 refused);

/* host-dispatch.c */
void host_dispatch_init(struct host *host);

/* The options are those of host->config now; what was held under others is sent first. */
void host_dispatch_tune(struct host *host);

/* Sends a read or a direct write to the normal area, now or later. */
void host_dispatch(struct host *host, struct op *op);

/* Sends the next of what is held, if any may be; @number chooses whether time passes first. */
void host_dispatch_step(struct host *host, u64 number);

/* What the queue has sent is done. */
void host_dispatch_ended(struct host *host, struct op *op);

/* host-log.c */

void host_log_step(struct host *host, bool error, u64 number);
void host_tidy(struct host *host);

/* host-recover.c */
/* Brings the log back into service, if it is out of it; or ends the flush that follows. */
void host_recover(struct host *host, bool error, u64 number);

/* The log worker has done something that it may wait for. */
void host_recover_step(struct host *host);

/* host-mover.c */
/* Begins a sweep; @whole: also of the segment in use, as by a drain or in idle time. */
void host_mover_start(struct host *host, bool whole);

/* Takes a step of priming the log, as in idle time when all is home. */
void host_mover_prime(struct host *host);
void host_mover_step(struct host *host, bool error, u64 number);
bool host_mover_overlaps(const struct host *host, const struct op *op);

/* host-cover.c */
void host_cover_start(struct host *host, enum ressd_cover_goal goal);
void host_cover_step(struct host *host, bool error, u64 number);

/* Would a write of covered block @lbn mend a copy that could not be carried? */
bool host_cover_mends(const struct host *host, u32 lbn);

/* Does @op touch blocks that may be covered? */
static inline bool host_touches_cover(const struct host *host, const struct op *op)
{
	return op_first_block(op) < host->config.cover_blocks;
}

/* host-trim.c */
/* Begins the discard of a segment, or ends the one in flight; @number: what is there then. */
void host_trim_step(struct host *host, bool error, u64 number);

#endif
