/* SPDX-License-Identifier: GPL-2.0-only */
/* What mover-model's two hosts share: model-simple.c and model-threads.c. */
#ifndef MOVER_MODEL_H
#define MOVER_MODEL_H

#include "model-drive.h"
#include "ressd-log.h"
#include "ressd-route.h"
#include "ressd-step.h"
#include "ressd-sweep.h"

#define MAX_MOVES	1024U
#define INSTALL_MB	128U	/* the least that an installation is spread over */

/* Sizes are in 4 KiB blocks. */
struct settings {
	unsigned int span_mb, warm_mb, total_mb, write_kb, fsync;
	unsigned int depth;		/* direct writes in flight */
	unsigned int mover_depth;	/* I/Os of the mover in flight */
	unsigned int seed;
	unsigned int threshold, batch, visit, fill, segment, align, page, bare, adaptive, log_cost_us, drain;
	unsigned int burst_kb;		/* random writes without fsync after all that and the drain */
	unsigned int through;		/* commit writethrough in the burst */
	unsigned int prime;		/* the log, before that */
	unsigned int whole_rounds;	/* a sweep goes all the way round, reclaims only then */
	unsigned int fullest;		/* visits the clustered block with most to move first */
	unsigned int parts;		/* without visits: a sweep freezes one part in so many */
	unsigned int hot;		/* percent of the writes that go to a fifth of the span */
	unsigned int zipf;		/* a hundred times their exponent; 0: all places alike */
	unsigned int flows;		/* they ascend, in so many flows by turns; 0: anywhere */
	unsigned int install;		/* as dpkg writes: files, journal, metadata */
	unsigned int log_discard;	/* log_discard on */
	unsigned int rewrite;		/* log_rewrite on */
	unsigned int records;		/* in RAM before the first is written: 1 or 2 */
	unsigned int threads;		/* writer, log and mover beside one another */
	unsigned int rate;		/* of these writes, KB/s; 0: as fast as they can */
	unsigned int even;		/* pace even, or burst */
	unsigned int bypass;		/* with threads: on_full bypass */
	unsigned int commit_ms;		/* commit_interval_ms */
	unsigned int trace;		/* with threads: tells of long waits */
	unsigned int keep;		/* with threads: the log keeps what is live of few */
	unsigned int reserved_mb;	/* 0: an eighth of the span */
	unsigned int reserved_kb;	/* besides */
	unsigned int offset, host_ns;	/* see model_drive_host() */
	unsigned int writethrough;	/* with threads: commit writethrough */
	unsigned int apart;		/* with it: the map is written to a place of its own, as in RE */
	unsigned int small_kb, open_units;	/* small_write_sectors, open_units; with threads */
};

struct model {
	struct settings set;
	struct model_drive *drive;
	struct ressd_log log;
	struct ressd_io io;		/* while log.busy: handed out, not yet begun */
	u64 reserved_start;		/* sector */
	u64 map_start, map_next;	/* apart: first sector of that place; block of it */
	struct ressd_sweep sweep;
	struct ressd_move moves[MAX_MOVES];
	bool sweeping;
	bool through;			/* each write is a record of its own */
	bool waited;			/* the last write had to, and the others behind it */
	bool all;			/* the sweep is to bring home all there is */
	struct ressd_route route;
	u64 direct;			/* blocks that adaptive routing sent past the log */
	struct ressd_step step;
	u64 from;			/* where the next round of visits begins */
	u64 moved, holes, kept, sweeps;
	u64 longest;			/* ns of a write */
	u64 random;
	u64 turn;			/* of the flows, or of an installation */
	u64 files, journal;		/* blocks of these that an installation has written */
	struct threads *threads;	/* with threads=1, or a replay */
	const char *replay;		/* path of a trace */
};

/* One write of the load, blocks. */
struct model_write {
	u64 lbn;
	u32 nr;
	bool flush;			/* follows it */
};

struct model_write model_next_write(struct model *model);
void model_start_sweep(struct model *model);

/* Where a block of the log is. */
static inline u64 model_log_sector(const struct model *model, u32 block)
{
	return model->reserved_start + (u64)(model->set.apart ? block / 2 : block) *
		RESSD_BLOCK_SECTORS;
}

/* As ressd_log_next(), after what the worker tidies up in idle time: nobody waits for a lock here. */
bool model_next_io(struct ressd_log *log, struct ressd_io *io);

/* Until this sync is done. */
void model_settle(struct model *model, u64 ticket);

/* A load of so many blocks, one request at a time; a sync follows. */
void model_simple_write(struct model *model, u64 blocks);

/* Writes everything back, or as much as a trial of the route asks for. */
void model_simple_drain(struct model *model, bool trial);

/* The same load, by threads beside one another. */
void model_threads_write(struct model *model, u64 blocks);

/* Runs until everything is written back. */
void model_threads_drain(struct model *model);

/* All bios of a trace (tools/bench.sh --record-traces), its phases one after the other. */
void model_replay(struct model *model, const char *path);

#endif
