/* SPDX-License-Identifier: GPL-2.0-only */
/* What model-threads.c, its mover and the writers of a replay (model-replay.c) share. */
#ifndef MODEL_THREADS_H
#define MODEL_THREADS_H

#include "model-host.h"
#include "mover-model.h"
#include "ressd-pattern.h"

/* What route adaptive knows of a write, or of a flush, until it has ended. */
struct routed {
	bool small, timed;		/* it is counted, its time is */
};

/* The small writes in flight, and for how long any direct one was. */
struct route_meter {
	u32 small;
	u32 in_flight, blocks;		/* those that are timed */
	u64 since, ns;
};

struct threads {
	struct model *model;
	struct model_host *host;
	bool end;

	/* The writer. */
	u64 blocks;			/* of the load that are left */
	u64 *waits;			/* of each write, ns */
	u32 lbn;			/* of the block to be accepted */
	int reason;			/* why it is not; 0: it is */
	bool direct;			/* it goes past the log after all */
	u64 ticket;			/* what a flush waits for */
	u64 record;			/* what a write waits for, with commit writethrough */
	u32 direct_ios;
	bool drains;			/* all is to be written back */

	/* The router. */
	struct ressd_pattern pattern;
	struct route_meter meter;

	/* The log. */
	struct ressd_io io;
	u32 log_ios;
	bool timer;			/* runs */
	bool held;			/* during a visit */
	u64 timer_end;

	/* The mover. */
	u32 move_ios, max_ios;
	u64 move_ticket, settled_record;
	bool sweep_follows;
	u32 batch;
	struct ressd_visits visits;
	u64 records;			/* written when its last I/O began */
	u32 keep_block;			/* the log block that is being kept */
	int keep_result;
	bool keeping;			/* writers wait */
};

static inline struct ressd_log *log_of(struct threads *threads)
{
	return &threads->model->log;
}

static inline u64 now_of(const struct threads *threads)
{
	return model_host_now(threads->host);
}

/* model-threads.c */
/* Does the pace hold a writer now? */
bool model_holds_writer(struct threads *threads);
/* As ressd_finish_logged(): blocks were accepted, which the timer sends on. */
void model_finish_logged(struct threads *threads);
/* The threads of a model, made when they are first asked for; none but the log's and the mover. */
struct threads *model_threads_start(struct model *model, void (*writer)(void *context));

/* model-route.c: with route adaptive what it measures and wants; without it no write is timed. */
void model_route_init(struct threads *threads);
/* Does a write that comes now go to the log?  If not it is timed until model_route_ended(). */
bool model_route_to_log(struct threads *threads, struct routed *routed, u64 sector, u32 sectors);
void model_route_time(struct threads *threads, struct routed *routed);
void model_route_ended(struct threads *threads, const struct routed *routed, u32 blocks);
bool model_route_is_direct(const struct threads *threads);
void model_route_flush(struct threads *threads);
/* Must writers wait for a record that is timed, for all to be written back? */
bool model_route_holds_log(struct threads *threads);
bool model_route_tries_direct(const struct threads *threads);
bool model_route_asks_move(const struct threads *threads);
void model_route_logged(struct threads *threads, u64 ns, u32 blocks);
void model_route_moved(struct threads *threads, u64 ns, u32 blocks);

/* model-move.c */
/* The mover's thread. */
void model_mover(void *context);
bool model_room_is_wanted(struct threads *threads);

#endif
