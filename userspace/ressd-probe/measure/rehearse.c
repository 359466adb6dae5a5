// SPDX-License-Identifier: GPL-2.0-only
/* What ressd would do to the drive, played with real I/O; see rehearse.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "measure/rehearse.h"

#define BLOCK		4096U
#define LOG_SHARE	8U		/* the log has an eighth of the region */
/* Pieces of a batch where the clustered block is not known, however slow; a record has as many. */
#define LEAST_MOVES	7U

/* Where log and mover have come to. */
struct stage {
	const struct rehearsal_plan *plan;
	u64 append;		/* next record, bytes of the region */
	u64 home;		/* where the last piece went, likewise */
	bool found;		/* home is where the next one goes */
	u64 buffered_ns;	/* what a piece may still cost that a flush did not pay for */
	u32 batch;		/* pieces at most that are moved before a flush */
};

/* One step of a small write's way: how many pieces have taken it, and their time with flushes. */
struct step {
	u64 pieces;
	u64 calls;
	u64 ns;
	u64 pauses;		/* of these calls ... */
	u64 paused_ns;		/* ... and what they took */
};

/* What one round has cost.  A slow drive is spared some steps, so each has its own count. */
struct act {
	struct step log;
	struct step read;
	struct step home;
};

/* A call has taken @ns. */
static void note_call(struct step *step, const struct rehearsal_plan *plan, u64 ns)
{
	step->calls++;
	step->ns += ns;
	if (!plan->long_ns || ns < plan->long_ns)
		return;
	step->pauses++;
	step->paused_ns += ns;
}

void rehearsal_place(const struct measure *measure, u32 align, u64 phase,
		     struct rehearsal_plan *plan)
{
	const u64 start = measure->bytes - measure->bytes / LOG_SHARE;
	const u64 beyond = (measure->offset + start + align - phase % align) % align;

	plan->align = align;
	plan->log_start = start - beyond;
	plan->log_bytes = measure->bytes - plan->log_start;
}

static u32 pieces_of_record(const struct rehearsal_plan *plan)
{
	const u32 most = MEASURE_MAX_BYTES / plan->align * plan->align;

	return (most - BLOCK) / plan->size;
}

/* A header and as many pieces as a record takes, padded; then a flush, as for an fsync. */
static int append_record(struct measure *measure, struct stage *stage, struct act *act,
			 struct failure *failure)
{
	const struct rehearsal_plan *plan = stage->plan;
	u32 pieces = pieces_of_record(plan), bytes;
	u64 ns = 0;
	int code;

	/* One that pays for the batch before must not share that out among more pieces. */
	if (stage->buffered_ns && pieces > stage->batch)
		pieces = stage->batch;
	bytes = BLOCK + pieces * plan->size;
	bytes = (bytes + plan->align - 1) / plan->align * plan->align;
	if (stage->append + bytes > plan->log_start + plan->log_bytes)
		stage->append = plan->log_start;
	code = measure_write(measure, stage->append, bytes, &ns, failure);
	stage->append += bytes;
	note_call(&act->log, plan, ns);
	if (!code)
		code = measure_flush(measure, &ns, failure);
	note_call(&act->log, plan, ns);
	act->log.pieces += pieces;
	return code;
}

/* The mover reads in the order of the homes, which is none in the log. */
static int read_piece(struct measure *measure, const struct rehearsal_plan *plan, struct act *act,
		      struct failure *failure)
{
	const u64 places = plan->log_bytes / plan->size;
	u64 ns = 0;
	const int code = measure_read(measure, plan->log_start +
				      measure_random(measure, places) * plan->size,
				      plan->size, &ns, failure);

	note_call(&act->read, plan, ns);
	act->read.pieces++;
	return code;
}

/*
 * The next home: ascending, by the stride on average.  Live blocks of a random load lie as chance
 * has it, so some share a clustered page and are programmed with it: even steps cost up to half as
 * much again.
 */
static void find_next_home(struct measure *measure, struct stage *stage)
{
	const struct rehearsal_plan *plan = stage->plan;
	const u64 places = plan->stride / plan->size;

	do
		stage->home += plan->size;
	while (measure_random(measure, places > 1 ? places : 1));
	if (stage->home + plan->size > plan->log_start)
		stage->home = measure_random(measure, 16) * plan->size;
}

static int write_home(struct measure *measure, const struct stage *stage, struct act *act,
		      struct failure *failure)
{
	u64 ns = 0;
	const int code = measure_write(measure, stage->home, stage->plan->size, &ns, failure);

	note_call(&act->home, stage->plan, ns);
	act->home.pieces++;
	return code;
}

/*
 * The next pieces, counted in @pieces.  Before more clustered blocks are visited than may be
 * between two records the log gets one.
 */
static int visit_homes(struct measure *measure, struct stage *stage, struct act *act, u32 *pieces,
		       struct failure *failure)
{
	const struct rehearsal_plan *plan = stage->plan;
	const u64 end = plan->block ? plan->block - plan->block_phase : 0;
	u64 block = 0, before = 0;
	u32 visits = 0;
	int code = 0;

	for (*pieces = 0; !code && *pieces < stage->batch &&
	     !(*pieces && measure_is_late(measure)); (*pieces)++) {
		if (!stage->found)
			find_next_home(measure, stage);
		stage->found = true;
		if (plan->block)
			block = (measure->offset + stage->home + end) / plan->block;
		if (plan->block && (!*pieces || block != before) && ++visits > plan->visits)
			break;
		before = block;
		stage->found = false;
		code = write_home(measure, stage, act, failure);
	}
	return code;
}

/*
 * However slow the drive, a batch brings home what goes to one clustered block: the mover does not
 * leave it before, so the drive need not close it for less.
 */
static u32 least_moves(const struct rehearsal_plan *plan)
{
	const u32 most = pieces_of_record(plan);

	return plan->visit_pieces < LEAST_MOVES ? LEAST_MOVES :
	       plan->visit_pieces < most ? plan->visit_pieces : most;
}

/*
 * Where flushes are ignored the next record pays for what the drive has buffered, in a single call:
 * half a second for each piece on some, if it costs as much as a random write.
 */
static u64 affordable(const struct measure *measure, const struct stage *stage)
{
	const u64 now = measure->disk->ops->now(measure->disk);

	if (!stage->buffered_ns || !measure->deadline)
		return ~0ULL;
	return measure->deadline > now ? (measure->deadline - now) / stage->buffered_ns : 0;
}

/* Moves what a record holds in one batch; less where reading or writing takes too long. */
static int move_batch(struct measure *measure, struct stage *stage, struct act *act,
		      struct failure *failure)
{
	const u32 pieces = pieces_of_record(stage->plan), least = least_moves(stage->plan);
	const u64 limit = measure->effort.round_ns;
	const u64 read_from = act->read.ns, home_from = act->home.ns;
	u64 ns = 0, most;
	u32 i;
	int code = 0;

	for (i = 0; !code && i < pieces && act->read.ns - read_from < limit &&
	     !(i && measure_is_late(measure)); i++)
		code = read_piece(measure, stage->plan, act, failure);
	if (!code)
		code = visit_homes(measure, stage, act, &i, failure);
	if (!code)
		code = measure_flush(measure, &ns, failure);
	note_call(&act->home, stage->plan, ns);
	/* The flush pays for what the drive has buffered, so only now is it known what fits. */
	most = limit * i / (act->home.ns - home_from + 1);
	if (most > affordable(measure, stage))
		most = affordable(measure, stage);
	stage->batch = most < least ? least : most > pieces ? pieces : most;
	return code;
}

static u64 piece_ns(const struct step *step)
{
	return step->pieces ? step->ns / step->pieces : 0;
}

/*
 * Home writes of one size.  Each visit opens a clustered block, which costs what a random write
 * does: on a drive of many log blocks a rehearsal ends before the first one that it has opened is
 * merged.
 */
static u64 home_ns(const struct step *home, const struct rehearsal *rehearsal, u32 blocks)
{
	const u64 opened = rehearsal->visit_pieces ?
			   rehearsal->direct_ns * blocks / rehearsal->visit_pieces : 0;

	return piece_ns(home) > opened ? piece_ns(home) : opened;
}

/*
 * Appends of one size.  Each clustered block of the log is opened once, which one round pays for
 * and others do not: so it is added to the cheapest, where that is less than what all have cost.
 */
static u64 log_ns(const struct act *acts, unsigned int count, const struct act *sum,
		  const struct rehearsal_plan *plan, u64 opened_ns)
{
	const u64 pieces = plan->visit_pieces * plan->stride / plan->size;
	u64 least = piece_ns(&sum->log), ns;
	unsigned int i;

	for (i = 0; pieces && i < count; i++) {
		ns = piece_ns(&acts[i].log) + opened_ns / pieces;
		least = ns < least ? ns : least;
	}
	return least;
}

static int play_round(struct measure *measure, struct stage *stage, struct act *act,
		      struct failure *failure)
{
	const u64 from = measure->written, most = stage->plan->most_bytes / ROUNDS_MIN;
	int code;

	memset(act, 0, sizeof(*act));
	do {
		code = append_record(measure, stage, act, failure);
		if (!code)
			code = move_batch(measure, stage, act, failure);
	} while (!code && !measure_is_late(measure) &&
		 act->log.ns + act->read.ns + act->home.ns < measure->effort.round_ns &&
		 (!most || measure->written - from < most));
	return code;
}

/* A round as others know it: each piece that came home with the way that it has taken. */
static struct round round_of(const struct act *act, u32 size)
{
	const u64 ns = piece_ns(&act->log) + piece_ns(&act->read) + piece_ns(&act->home);

	return (struct round){
		.ops = act->home.pieces,
		.bytes = act->home.pieces * size,
		.ns = act->home.pieces * ns,
	};
}

static void add_step(struct step *sum, const struct step *step)
{
	sum->pieces += step->pieces;
	sum->calls += step->calls;
	sum->ns += step->ns;
	sum->pauses += step->pauses;
	sum->paused_ns += step->paused_ns;
}

static void take_off_pauses(struct step *step, u64 pause_ns)
{
	step->ns = rounds_without_pauses(step->ns, step->calls, pause_ns);
}

#define PAUSES_SPREAD	200	/* percent of one pause, as in cycles.c; of several less ... */
#define MOST_SPREAD	190	/* ... and never so much that nothing is left */

/* Of the time of all steps. */
static double share_of_pauses(const struct act *sum)
{
	const u64 paused = sum->log.paused_ns + sum->read.paused_ns + sum->home.paused_ns;
	const u64 all = sum->log.ns + sum->read.ns + sum->home.ns;

	return all ? (double)paused / all : 0;
}

/* Few pauses tell as little as few cycles of them do. */
static u32 spread_of_pauses(const struct act *sum)
{
	const u64 pauses = sum->log.pauses + sum->read.pauses + sum->home.pauses;
	const double spread = pauses ? PAUSES_SPREAD / sqrt(pauses) * share_of_pauses(sum) : 0;

	return spread < MOST_SPREAD ? spread : MOST_SPREAD;
}

/* The last @kept rounds count. */
static void sum_up(const struct act *acts, const struct round *rounds, unsigned int count,
		   unsigned int kept, const struct result *direct,
		   const struct rehearsal_plan *plan, struct rehearsal *rehearsal)
{
	u64 pause_ns = plan->pause_ns;
	const u32 blocks = rehearsal->size / BLOCK;
	struct act sum = { 0 };
	unsigned int i;
	bool late;
	u64 both;

	for (i = count - kept; i < count; i++) {
		add_step(&sum.log, &acts[i].log);
		add_step(&sum.read, &acts[i].read);
		add_step(&sum.home, &acts[i].home);
	}
	rehearsal->spread_percent = count > kept ? rounds_uncertainty(rounds, count) : 100;
	if (rehearsal->spread_percent < spread_of_pauses(&sum))
		rehearsal->spread_percent = spread_of_pauses(&sum);
	rehearsal->direct_spread_percent = direct->spread_percent;
	rehearsal->direct_is_least = direct->gets_slower;
	rehearsal->pauses = plan->long_ns;
	rehearsal->shares_log = plan->shares_log;
	rehearsal->steady = count >= ROUNDS_MIN && rehearsal->spread_percent <= ROUNDS_SPREAD &&
			    direct->steady;
	late = share_of_pauses(&sum) > 0.5;
	take_off_pauses(&sum.log, pause_ns);
	take_off_pauses(&sum.read, pause_ns);
	take_off_pauses(&sum.home, pause_ns);
	/* No more than it has itself: reads that were few may have met more. */
	if (direct->pause_ns < pause_ns)
		pause_ns = direct->pause_ns;
	rehearsal->direct_ns = direct->bandwidth ?
			       rounds_without_pauses(BLOCK * 1000000000ULL / direct->bandwidth,
						     1, pause_ns / blocks) : 0;
	rehearsal->log_ns = log_ns(acts + count - kept, kept, &sum, plan,
				   rehearsal->direct_ns * blocks) / blocks;
	rehearsal->move_ns = (piece_ns(&sum.read) + home_ns(&sum.home, rehearsal, blocks)) /
			     blocks;
	/* Its pauses are merges of what random writes before it have left. */
	if (plan->shares_log && late && rehearsal->move_ns > rehearsal->direct_ns)
		rehearsal->move_ns = rehearsal->direct_ns;
	both = rehearsal->log_ns +
	       rehearsal->move_ns * (100 - rehearsal->overwritten_percent) / 100;
	rehearsal->gain_percent = both ? rehearsal->direct_ns * 100 / both : 0;
	rehearsal->pieces = sum.home.pieces;
	rehearsal->done = rehearsal->pieces && rehearsal->direct_ns;
}

/* As everywhere; but a first round that pays for others never counts. */
static unsigned int rounds_to_keep(const struct rehearsal_plan *plan, const struct round *rounds,
				   unsigned int count)
{
	const unsigned int kept = rounds_kept(rounds, count);

	return (plan->flush_ignored || plan->long_ns) && kept == count ? count - 1 : kept;
}

int rehearse(struct measure *measure, const struct rehearsal_plan *plan,
	     const struct result *direct, struct rehearsal *rehearsal, struct failure *failure)
{
	struct stage stage = { .plan = plan, .append = plan->log_start };
	const u64 written = measure->written;
	struct round rounds[ROUNDS_MAX];
	struct act acts[ROUNDS_MAX];
	unsigned int count = 0;
	int code = measure_flush(measure, NULL, failure);

	memset(rehearsal, 0, sizeof(*rehearsal));
	rehearsal->size = plan->size;
	rehearsal->visit_pieces = plan->visit_pieces;
	rehearsal->working_set = plan->working_set;
	rehearsal->overwritten_percent = plan->overwritten_percent;
	stage.batch = least_moves(plan);
	if (plan->flush_ignored && direct->bandwidth)
		stage.buffered_ns = plan->size * 1000000000ULL / direct->bandwidth;
	/* Not always over the same places, which log blocks of the drive may still hold. */
	stage.home = measure_random(measure, plan->log_start / plan->size / 2) * plan->size;
	while (!code && rounds_want_more(rounds, count) &&
	       !(count >= ROUNDS_MIN && plan->most_bytes &&
		 measure->written - written > plan->most_bytes) &&
	       !(count && measure_is_late(measure))) {
		code = play_round(measure, &stage, &acts[count], failure);
		/* The limit of bytes leaves the rounds before. */
		if (code == -EDQUOT && count >= ROUNDS_MIN - 1) {
			code = 0;
			break;
		}
		rounds[count] = round_of(&acts[count], plan->size);
		rehearsal->ns += acts[count].log.ns + acts[count].read.ns + acts[count].home.ns;
		count++;
	}
	rehearsal->written = measure->written - written;
	if (!code)
		sum_up(acts, rounds, count, rounds_to_keep(plan, rounds, count), direct, plan,
		       rehearsal);
	return code;
}
