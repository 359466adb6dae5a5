/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run consists of: a configuration and a list of events.  A run that is drawn from a seed
 * and one that is replayed from a script are carried out by the same code, and an event that is not
 * possible where it stands does nothing; so any event can be left out of a list.
 */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include "cut.h"

struct config {
	u32 segment_blocks;
	u32 reserved_blocks;
	u32 normal_blocks;
	u32 align_blocks;
	u32 hot_blocks;		/* most writes go there */
	u32 visit_blocks;	/* clustered block by which the mover goes; 0: unknown */
	u32 visit_phase;
	u32 fill_blocks;	/* so many logged blocks have it rewritten whole; 0: never */
	u32 page_blocks;	/* clustered page that records fill; 0: unknown */
	u32 page_phase;		/* log block 0 is this far into a clustered block */
	u32 rewrite;		/* commits go out with all of their page */
	u32 move_threshold;	/* the mover begins when less than so many percent are free */
	u32 keeps;		/* the log keeps what lives of segments that have died by half */
	u32 tunes;		/* options are set anew at times */
	u32 writethrough;	/* commit writethrough */
	u32 wait;		/* on_full wait */
	u32 overlap;		/* writes of one block at the same time */
	u32 two_disks;		/* the reserved area is on a disk of its own */
	u32 errors;		/* I/O fails: 1 rarely, 2 often, 3 beside the log mostly; 0: not */
	u32 discards;		/* segments that may be reused are discarded */
	u32 dispatch;		/* enum ressd_dispatch: who orders what goes to the normal area */
	u32 dispatch_depth;	/* so many of these requests are in flight */
	u32 cover_blocks;	/* see core's ressd-cover.h; 0: none */
	u32 crash_every;	/* steps between crashes, on average */
	u32 idle_every;		/* ... between idle times; 0: there are none */
	u32 step_nodes;		/* that core looks at in one call; 0: as many as in the kernel */
	u32 record_unmaps;	/* that a record has at most; 0: as many as in the kernel */
};

enum event_kind {
	EVENT_WRITE,		/* a bio */
	EVENT_DISCARD,
	EVENT_READ,
	EVENT_FLUSH,
	EVENT_END,		/* the I/O of bio @slot at the disk ends */
	EVENT_DISPATCH,		/* the next request that a policy holds is sent; @number chooses */
	EVENT_LOG,		/* the log worker's next step */
	EVENT_SWEEP,		/* the mover begins a sweep; @number: also of the segment in use */
	EVENT_PRIME,		/* idle time: the mover takes a step of priming */
	EVENT_MOVER,		/* the mover's next step; @number chooses */
	EVENT_TRIM,		/* the discard of a segment begins, or ends; @number chooses */
	EVENT_KICK,		/* the commit interval is over */
	EVENT_ROTATE,		/* the head moves on to a new segment */
	EVENT_TUNE,		/* the message set: another page, alignment, commit, on_full, ... */
	EVENT_REPAIR,		/* the message recover, or the end of its flush */
	EVENT_CHECK,		/* every block is read and compared */
	EVENT_SUSPEND,		/* suspend and resume */
	EVENT_RELOAD,		/* a clean stop and a new start */
	EVENT_DRAIN,
	EVENT_DRAINING,		/* a drain begins under load, or is interrupted */
	EVENT_CRASH,		/* the power fails; @cut says what survives */
	EVENT_STOP,		/* the host stops, the disk keeps its power; @number chooses */
	EVENT_CUT,		/* tries one crash, and goes on as if it had not been */
	NR_EVENT_KINDS
};

struct event {
	enum event_kind kind;
	u32 slot;		/* of a bio; so that each keeps its own when others are left out */
	u32 first, nr;		/* sectors */
	bool small;		/* the router calls it small and random */
	bool fua;
	bool preflush;		/* of a write with FUA: dm sends a flush before it */
	bool repeat;		/* with the contents that the last crash has taken */
	bool slow;		/* the disk serves others first */
	bool error;		/* the I/O that ends, or recovery's read @nr, fails */
	u64 number;
	struct cut cut;
};

/* Every configuration follows from its seed. */
void config_draw(struct config *config, u64 seed);

/* Draws anew what may change while the host runs; all of it follows from @choice. */
void config_tune(struct config *config, u64 choice);

struct host;

/* Where the events of a run come from. */
struct source {
	struct random random;
	u32 idle;		/* events for which nobody writes; 0: the host is busy */
};

/* Draws the next event of a run. */
void event_draw(struct event *event, const struct host *host, struct source *source);

#endif
