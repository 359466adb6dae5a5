/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel does around the log protocol, one event at a time: bios, the log worker and the
 * mover.  Everything that takes time has a beginning and an end with other events in between, in
 * an order that the seed chooses.
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <setjmp.h>
#include "box.h"
#include "oracle.h"
#include "ressd-sweep.h"

#define MAX_OPS			10
#define MAX_OP_SECTORS		(4 * BLOCK_SECTORS)
#define MAX_MOVES		8
#define MAX_SLOTS		64

/* Deliberate bugs, to prove that the simulator finds what it looks for. */
enum fault {
	FAULT_NONE,
	FAULT_NO_PREFLUSH,		/* the record's PREFLUSH is not sent down */
	FAULT_NO_FUA,			/* its FUA is not */
	FAULT_NO_FLUSH,			/* a sync's flush is not */
	FAULT_NOT_BUSY,			/* segments are reused under readers */
	FAULT_NO_KILL,			/* a direct write does not kill what it supersedes */
	FAULT_EARLY_KILL,		/* it kills before it has reached the device */
	FAULT_EARLY_SYNC,		/* a flush completes when the record is written */
	FAULT_EARLY_MOVED,		/* the mover calls a block clean before its write is done */
	FAULT_FUA_BESIDE_LOG,		/* a direct FUA write does not wait for its UNMAP */
	FAULT_NO_RECOVERY_FLUSH,	/* nor is what recovery has read flushed */
	FAULT_NO_OPENING,		/* no sync after recovery, before bios are taken */
	FAULT_SWEEP_IGNORES_DIRECT,	/* a sweep does not wait for older direct writes */
	FAULT_DIRECT_IGNORES_MOVES,	/* a direct write does not wait for the mover's batch */
	FAULT_DROP_UNMAPS,		/* records leave without their UNMAPs */
	FAULT_NO_DATA_CRC,		/* torn data passes */
	NR_FAULTS
};

const char *fault_name(enum fault fault);

enum op_kind { OP_WRITE, OP_DISCARD, OP_READ, OP_FLUSH };

enum op_state {
	OP_FREE,
	OP_SPACE,		/* waits for room in the log */
	OP_MOVES,		/* direct: waits for the mover's batch */
	OP_DEVICE,		/* direct: the disk's write is in flight */
	OP_RECORD,		/* in the log, waits until its record is written */
	OP_SYNC,		/* waits for a ticket */
	OP_READING,		/* the disk's read is in flight */
};

struct op {
	enum op_kind kind;
	enum op_state state;
	bool small, fua;
	u32 first, nr;			/* sectors */
	u64 ids[MAX_OP_SECTORS];	/* contents to write */
	u64 started;			/* oracle's time; a write: of its submission */
	u64 sent;			/* host's time of disk_submit() */
	u32 accepted;			/* blocks in the log so far */
	u64 record;			/* that holds the last of them */
	u64 ticket;
	u32 patience;			/* times that the disk serves others first */
	bool tracked;			/* direct: covers dirty blocks */
	bool from_log;
	u32 block;			/* log block read from */
	struct disk_write *write;
};

enum io_stage { IO_IDLE, IO_FLUSHING, IO_WRITING };

enum mover_state { MOVER_IDLE, MOVER_WAIT, MOVER_PICK, MOVER_READ, MOVER_WRITE, MOVER_RECLAIM };

struct mover {
	enum mover_state state;
	struct ressd_sweep sweep;
	u64 record;			/* must be written before the first move */
	u64 started;			/* host's time */
	u64 ticket;
	struct ressd_move moves[MAX_MOVES];
	struct disk_write *writes[MAX_MOVES];
	u32 nr, left;
	u32 patience;			/* steps that it sleeps between batches */
};

struct host {
	/* Set by the caller. */
	struct layout layout;
	enum fault fault;
	bool writethrough;
	bool wait_if_full;		/* on_full wait */
	bool trace;			/* print every event */
	bool overlap;			/* writes of one block at the same time */
	u32 hot_blocks;			/* of the normal area; most writes go there */

	struct random random;
	struct disk disk;
	struct oracle oracle;
	struct box box;
	u32 *readers;			/* per slot */
	struct op ops[MAX_OPS];
	struct ressd_io io;
	enum io_stage io_stage;
	u64 io_mark;
	struct disk_write *io_write;
	struct mover mover;
	bool draining;
	bool fsync;			/* the next bio is a flush */
	bool opening;			/* recovered, but not yet sealed: serves nothing */
	u64 time;
	u64 last_id;
	u64 activation;

	jmp_buf failed;			/* where a violation goes */
	char why[1024];
};

void host_init(struct host *host, u64 seed);
void host_free(struct host *host);

__attribute__((noreturn, format(printf, 2, 3)))
void violation(struct host *host, const char *format, ...);

/* Prints an event if host->trace. */
__attribute__((format(printf, 2, 3)))
void host_trace(const struct host *host, const char *format, ...);

/* One event; @new_ops: it may be a new bio. */
void host_step(struct host *host, bool new_ops);

/* Lets everything that is under way end; a violation if it does not. */
void host_settle(struct host *host);

/* Reads the whole device as it is now and compares. */
void host_check_reads(struct host *host);

/* Checks core's own books. */
void host_check_log(struct host *host);

/* Settles, and writes and flushes what is only in RAM. */
void host_sync(struct host *host);

/* Brings everything home, and checks that the normal area alone is the whole device. */
void host_drain(struct host *host);

/* Forgets all that was under way and starts again from what the disk holds. */
void host_restart(struct host *host);

#endif
