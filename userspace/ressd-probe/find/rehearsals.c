// SPDX-License-Identifier: GPL-2.0-only
/* Rehearsals: of which sizes, where and for how long; see session-parts.h, measure/rehearse.h. */
#include <math.h>
#include <stdio.h>
#include "dm/plan.h"
#include "find/session-parts.h"

/* The drive's log takes a page for each write: so many times more bytes are written for that. */
static u32 transfers_of_page(const struct session *session, u32 bytes)
{
	const struct finding *page = &session->survey.finding[PARAMETER_PAGE];
	const u32 most = page->status == STATUS_MEASURED ? page->value : BLOCK;

	return (bytes < most ? bytes : most) / BLOCK;
}

/* Random writes of one size, from the cell if there is one. */
static int measure_direct(struct session *session, unsigned int index, struct result *direct,
			  struct failure *failure)
{
	if (session->pauses) {
		*direct = session->measurements.random_write[SIZE_4K];
		direct->bandwidth *= transfers_of_page(session, REHEARSAL_BYTES(index));
		return 0;
	}
	if (index < NR_SIZES && session->measurements.random_write[index].done) {
		*direct = session->measurements.random_write[index];
		return 0;
	}
	return measure_cell(session->measure, ACCESS_RANDOM_WRITE, REHEARSAL_BYTES(index), 0,
			    direct, failure);
}

/*
 * What random writes cost depends on how much of the drive they go to, unless each place has a
 * block of its own.  The region is all that can be seen, so what is said is said of that: the log,
 * which is for the whole device, holds more of it, and is overwritten before the mover comes.
 * A round of the mover begins when half of the log is full; at its end all of it is.
 */
#define LOGGED		0.75	/* of the log, which a round of the mover finds on average */

static void keep_to_region(const struct session *session, struct rehearsal_plan *plan)
{
	const u64 reach = measure_reach(session->measure), pieces = reach / plan->size;
	const u64 logged = LOGGED * 100 / PLAN_HALF_LOG * session->normal_bytes / plan->stride;
	double share;

	if (session->normal_bytes <= reach)
		return;
	share = 1 - exp(-(double)logged / pieces);
	plan->working_set = reach;
	plan->overwritten_percent = 100 * share;
	plan->stride = reach / (logged * (1 - share));
	plan->stride = (plan->stride + BLOCK / 2) / BLOCK * BLOCK;
}

/* A call, on average.  All reads count, for pauses are few. */
static u64 pause_of_reads(const struct measurements *measurements)
{
	u64 ops = 0, ns = 0;
	int i;

	for (i = 0; i < NR_SIZES; i++) {
		const struct result *read = &measurements->random_read[i];

		ops += read->ops;
		ns += read->ops * read->pause_ns;
	}
	return ops ? ns / ops : 0;
}

/*
 * Garbage collection copies a block at a time.  What takes longer is the merges of all the blocks
 * that a shared log block has pages of; and a drive that maps pages has no blocks with places.
 */
static bool shares_log_blocks(const struct session *session)
{
	return session->pauses &&
	       (session_has_open_blocks(session) ||
		session->longest_ns > analyse_rewrite_ns(&session->measurements, LARGEST_BLOCK));
}

/*
 * So many the mover makes without a record between them: see ressd_visits_close_log().  Where one
 * block is open each visit closes the log's, whatever is written before.
 */
static u32 visits_of_record(const struct session *session)
{
	const struct finding *units = &session->survey.finding[PARAMETER_OPEN_UNITS];
	const u64 nr = units->status == STATUS_MEASURED ? units->value :
		       units->status == STATUS_BOUNDED ? units->low : 0;

	return nr ? (nr > 1 ? nr - 1 : 1) : ~0U;
}

static int rehearse_size(struct session *session, unsigned int index, struct failure *failure)
{
	struct measure *measure = session->measure;
	const struct finding *page = &session->survey.finding[PARAMETER_PAGE];
	const bool paged = page->status == STATUS_MEASURED && page->value % 4096 == 0;
	struct rehearsal *rehearsal = &session->measurements.rehearsal[index];
	struct rehearsal_plan plan = {
		.size = REHEARSAL_BYTES(index),
		.stride = session->mover_stride[SIZE_4K] * (REHEARSAL_BYTES(index) / 4096),
		.flush_ignored = session_flush_ignored(session),
		.pause_ns = pause_of_reads(&session->measurements),
		.most_bytes = session_budget(session)->rehearsed,
		.long_ns = session->long_ns,
		.shares_log = shares_log_blocks(session),
	};
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	struct result direct = { 0 };
	int code;

	if (session_has_open_blocks(session) && !session->pauses) {
		plan.visit_pieces = block->value / plan.stride;
		plan.block = block->value;
		plan.block_phase = block->phase;
		plan.visits = visits_of_record(session);
	} else {
		keep_to_region(session, &plan);
	}
	rehearsal_place(measure, paged ? page->value : 4096, paged ? page->phase : 0,
			&plan);
	code = measure_direct(session, index, &direct, failure);
	if (!index)
		measure->effort.round_ns *= VERDICT_ROUNDS;
	if (!code)
		code = rehearse(measure, &plan, &direct, rehearsal, failure);
	if (!index)
		measure->effort.round_ns /= VERDICT_ROUNDS;
	code = session_take_limit(code);
	if (!code)
		session_end_step(session);
	return code;
}

#define BUFFERED	(2ULL << 20)	/* bytes that a drive may hold back, if it is not known */

/*
 * Where flushes are ignored, the first append or read may have to wait for all the random writes
 * that the drive has buffered, half a second each on some, in a single call: seen for 92 s.  Is
 * there so much time?  Nor is there any use in it if random writes were not measured.
 */
static bool buffer_fits(const struct session *session)
{
	const struct result *random = &session->measurements.random_write[SIZE_4K];
	const struct finding *buffer = &session->survey.finding[PARAMETER_WRITE_BUFFER];
	const u64 bytes = buffer->status == STATUS_MEASURED ? buffer->value : BUFFERED;
	const u64 now = session_now(session);

	return random->done && session->end > now &&
	       (double)random->bandwidth * (session->end - now) / SECOND >= bytes;
}

/* Would a call end in time that takes as long as the longest random write? */
static bool longest_call_fits(const struct session *session)
{
	const u64 worst_ns = session->measurements.random_write[SIZE_4K].worst_ns;

	return session_now(session) + (session->longest_ns > worst_ns ? session->longest_ns :
				       worst_ns) < session->end;
}

/*
 * In place of a rehearsal that would not end in time where log blocks are shared: what was measured
 * bounds it, for the log is written in order and a move costs at most what a random write does.
 */
static void bound_rehearsal(struct session *session)
{
	const struct result *random = &session->measurements.random_write[SIZE_4K];
	struct rehearsal_plan plan = { .size = BLOCK, .stride = session->mover_stride[SIZE_4K] };
	struct rehearsal *rehearsal = &session->measurements.rehearsal[0];

	if (!random->done || !session->measurements.sequential_write.done ||
	    !shares_log_blocks(session))
		return;
	keep_to_region(session, &plan);
	*rehearsal = (struct rehearsal){
		.done = true,
		.pauses = true,
		.shares_log = true,
		.size = BLOCK,
		.direct_ns = BLOCK * SECOND / random->bandwidth,
		.log_ns = analyse_transfers_ns(&session->measurements.sequential_write, BLOCK, 0),
		.move_ns = BLOCK * SECOND / random->bandwidth,
		.working_set = plan.working_set,
		.overwritten_percent = plan.overwritten_percent,
		.spread_percent = random->spread_percent,
		.direct_spread_percent = random->spread_percent,
	};
	rehearsal->gain_percent = rehearsal->direct_ns * 100 /
		(rehearsal->log_ns +
		 rehearsal->move_ns * (100 - rehearsal->overwritten_percent) / 100);
}

#define CALM_READS	16U	/* that take at most so many times as long as usual: */
#define CALM_TIMES	4U
#define CALM_NS		10000000ULL	/* between them: a drive that is idle writes, too */

/*
 * Where flushes are ignored, random writes are still on their way for up to a minute, and each read
 * waits for one of them: a rehearsal would be of that.
 */
static int wait_for_buffer(struct session *session, struct failure *failure)
{
	const struct result *usual = &session->measurements.random_read[SIZE_4K];
	const struct budget *budget = session_budget(session);
	struct measure *measure = session->measure;
	unsigned int calm = 0;
	int code = 0;
	u64 ns = 0;

	measure->deadline = session_end_of_part(session, budget->cycles,
						budget->rehearsal + budget->sweep);
	while (!code && usual->done && calm < CALM_READS && !measure_is_late(measure)) {
		measure->disk->ops->pause(measure->disk, CALM_NS);
		code = measure_read(measure, measure_random(measure, measure->bytes / BLOCK) *
				    BLOCK, BLOCK, &ns, failure);
		calm = ns > CALM_TIMES * usual->median_ns ? 0 : calm + 1;
	}
	return code;
}

int rehearsals_run(struct session *session, struct failure *failure)
{
	const struct budget *budget = session_budget(session);
	struct measure *measure = session->measure;
	const u64 from = measure->written;
	u64 before = 0, start = session_now(session);
	unsigned int index;
	char name[48];
	int code = 0;

	if (!longest_call_fits(session)) {
		bound_rehearsal(session);
		/* Nor does such a call tell what others take: there is no mean. */
		session->measurements.random_write[SIZE_4K] = (struct result){ 0 };
		return 0;
	}
	if (session_flush_ignored(session) && !buffer_fits(session))
		return 0;
	if (session_flush_ignored(session))
		code = wait_for_buffer(session, failure);
	measure->deadline = session_end_of_part(session, budget->rehearsal, budget->sweep);
	for (index = 0; !code && index < NR_REHEARSALS; index++) {
		struct rehearsal *rehearsal = &session->measurements.rehearsal[index];

		/* A larger one takes longer than the one before. */
		if (index && (start + 2 * (start - before) > measure->deadline ||
			      measure->written - from > budget->rehearsed))
			break;
		if (!rehearsal->done && !session_may_write_more(session))
			break;
		snprintf(name, sizeof(name), "rehearsal %u KiB", REHEARSAL_BYTES(index) >> 10);
		session_show_step(session, name);
		measure->phase = "rehearsal";
		if (!rehearsal->done)
			code = rehearse_size(session, index, failure);
		before = start;
		start = session_now(session);
		if (!code && !index && !rehearsal->done)
			bound_rehearsal(session);
		if (!rehearsal->done || rehearsal->gain_percent < ANALYSE_MARGIN)
			break;
	}
	return code;
}
