// SPDX-License-Identifier: GPL-2.0-only
/*
 * IR, IRBW-FIFO-RP: what reads gain that go before bundles of ascending writes, and what that costs
 * the writes.
 *
 * Reads are made beside heavy writes as they come and as `dispatch bundle_rp` sends them, some of
 * each in turn (ABBA), so that both meet the same garbage collection.  Only a drive that takes one
 * command after the other can be seen that way: another one chooses itself which it does first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "find/beside.h"
#include "find/session-parts.h"
#include "judge/order.h"

/*
 * Requests in flight.  Where a write opens a block, a merge takes so long that the time between two
 * commands is nothing: with 2 reads wait for two thirds of the time, and writes are 3 to 8 %
 * faster, since more of them share a merge.  Others lose by 2 twice as much as by the target's
 * default, 4 (docs/notebook/normal-path.md).
 */
#define MERGING_DEPTH	2U
#define USUAL_DEPTH	4U

/* Where the drive shows no clustered block: writes of such a drive gain nothing by any size. */
#define USUAL_BUNDLE	(4ULL << 20)

#define CYCLE_NS	(10 * SECOND)	/* that a cycle takes, where writes are not too slow */
#define SOME_WRITES	BESIDE_WRITERS	/* of a turn, even if they are */
#define LEAST_WRITES	8U		/* likewise, where time is short */
#define MOST_WRITES	64U

#define MOST_TIMES	2U		/* of its budget, if others have left the time */
#define LAST_CALL	SECOND		/* besides, for a write and a flush: see last_call() */

#define OPTIONS_SIZE	128

enum way { AS_THEY_COME, BUNDLED, NR_WAYS };

struct rehearsed {
	struct beside ways[NR_WAYS];
	u64 bundle;			/* bytes */
	u32 depth;
	u64 read_ns;			/* what a read of the idle drive takes */
	unsigned int writes;		/* of a turn */
	unsigned int turns;
	double turn_ns[NR_WAYS][ORDER_TURNS];
};

static void times_of(struct rehearsed *rehearsed, enum way way, struct order_times *times)
{
	struct beside *beside = &rehearsed->ways[way];

	*times = (struct order_times){
		.ns = beside->ns, .reads = beside->reads, .writes = beside->writes,
		.waits = beside->waits, .nr_waits = beside->nr_waits,
	};
	memcpy(times->turn_ns, rehearsed->turn_ns[way], sizeof(times->turn_ns));
}

static struct order_judgement judge(struct rehearsed *rehearsed)
{
	struct order_times times[NR_WAYS];
	struct order_judgement judgement;

	times_of(rehearsed, AS_THEY_COME, &times[AS_THEY_COME]);
	times_of(rehearsed, BUNDLED, &times[BUNDLED]);
	judge_order(&times[AS_THEY_COME], &times[BUNDLED], rehearsed->turns, rehearsed->read_ns,
		    &judgement);
	return judgement;
}

/* Whole cycles only.  Where one takes long, no more than are needed to see it. */
static bool wants_more(struct rehearsed *rehearsed)
{
	if (rehearsed->turns == ORDER_CYCLES * ORDER_CYCLE)
		return false;
	return rehearsed->turns % ORDER_CYCLE ||
	       rehearsed->ways[AS_THEY_COME].ns < CYCLE_NS / 2 || !judge(rehearsed).clear;
}

/*
 * The options, for who wants them: they are not advised, since Postmark loses a fifth of its speed
 * by them where reads beside writers gain (docs/normal-path.md).
 */
static void name_options(const struct finding *finding, char text[OPTIONS_SIZE])
{
	text[0] = 0;
	if (finding->value)
		snprintf(text, OPTIONS_SIZE,
			 "; it takes dispatch bundle_rp bundle_sectors %llu dispatch_depth %llu",
			 finding->value / 512, finding->low);
}

static void conclude(struct survey *survey, struct rehearsed *rehearsed)
{
	struct finding *finding = &survey->finding[PARAMETER_DISPATCH];
	const struct order_judgement judgement = judge(rehearsed);
	char options[OPTIONS_SIZE];

	finding->samples = rehearsed->ways[AS_THEY_COME].nr_waits +
			   rehearsed->ways[BUNDLED].nr_waits;
	if (!judgement.enough) {
		survey_conclude(survey, PARAMETER_DISPATCH, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				measure_is_spent(survey->measure) ?
				"the limit of bytes to write (--max-write) was reached first" :
				"no time was left for it");
		return;
	}
	finding->effect = judgement.before / judgement.after;
	finding->value = judgement.pays ? rehearsed->bundle : 0;
	finding->low = rehearsed->depth;
	name_options(finding, options);
	survey_conclude(survey, PARAMETER_DISPATCH, STATUS_MEASURED, CONFIDENCE_MEDIUM,
			"reads beside %u writers wait for up to %.1f ms, before bundles of %llu KiB for %.1f ms; writes keep %.1f %% of their speed%s",
			BESIDE_WRITERS, judgement.before / 1e6, rehearsed->bundle >> 10,
			judgement.after / 1e6, 100 * judgement.speed, options);
}

/* ns, as far as it is known. */
static double expected_write(const struct measurements *measurements)
{
	const struct result *random = &measurements->random_write[SIZE_4K];
	const struct result *order = &measurements->sequential_write;
	double ns = 1;

	if (random->done)
		ns += 1e9 * BLOCK / random->bandwidth;
	if (order->done)
		ns += 1e9 * BESIDE_WRITE_BYTES / order->bandwidth;
	return ns;
}

/* Of a turn, so that there is time for a cycle of them; 0: there is none. */
static unsigned int writes_of_turn(const struct session *session)
{
	const struct survey *survey = &session->survey;
	const u64 end = survey->deadline < survey->search_deadline ? survey->deadline :
			survey->search_deadline;
	const double left = (double)end - session_now(session);
	const double cycle = ORDER_CYCLE * expected_write(&session->measurements);
	double writes = CYCLE_NS / cycle;

	if (writes < SOME_WRITES)
		writes = SOME_WRITES;
	if (writes > left / cycle)
		writes = left / cycle;
	return writes > MOST_WRITES ? MOST_WRITES : writes < LEAST_WRITES ? 0 : writes;
}

static int take_turn(struct survey *survey, struct rehearsed *rehearsed, enum way way,
		     bool *whole, struct failure *failure)
{
	struct beside *beside = &rehearsed->ways[way];
	const u64 ns = beside->ns, reads = beside->reads;
	const int code = beside_take_turn(beside, survey, rehearsed->writes, whole, failure);

	if (code || !*whole)
		return code;
	rehearsed->turn_ns[way][rehearsed->turns / NR_WAYS] =
		order_of_writes(beside->ns - ns, beside->reads - reads, rehearsed->read_ns);
	rehearsed->turns++;
	return 0;
}

static int run_cycles(struct survey *survey, struct rehearsed *rehearsed, struct failure *failure)
{
	bool whole = true;
	int code = 0;

	while (!code && whole && wants_more(rehearsed)) {
		const unsigned int turn = rehearsed->turns % ORDER_CYCLE;
		const enum way way = turn == 1 || turn == 2 ? BUNDLED : AS_THEY_COME;

		code = take_turn(survey, rehearsed, way, &whole, failure);
	}
	return code;
}

static void choose(const struct session *session, struct rehearsed *rehearsed)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	const bool known = block->status == STATUS_MEASURED &&
			   block->confidence >= CONFIDENCE_MEDIUM && block->value % BLOCK == 0;

	rehearsed->bundle = known && block->value ? block->value : USUAL_BUNDLE;
	rehearsed->depth = session_has_open_blocks(session) ? MERGING_DEPTH : USUAL_DEPTH;
	rehearsed->read_ns = session->measurements.random_read[SIZE_4K].median_ns;
	rehearsed->writes = writes_of_turn(session);
}

static int compare_ways(struct session *session, struct failure *failure)
{
	struct survey *survey = &session->survey;
	struct rehearsed *rehearsed = calloc(1, sizeof(*rehearsed));
	int code = 0;

	if (!rehearsed)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	choose(session, rehearsed);
	beside_begin(&rehearsed->ways[AS_THEY_COME], survey, BESIDE_REQUESTS, rehearsed->bundle);
	beside_begin(&rehearsed->ways[BUNDLED], survey, rehearsed->depth, rehearsed->bundle);
	if (rehearsed->writes)
		code = run_cycles(survey, rehearsed, failure);
	code = session_take_limit(code);
	if (!code)
		conclude(survey, rehearsed);
	free(rehearsed);
	return code;
}

/*
 * A drive that shares its log blocks may take half a minute for one write, to make room.  A quick
 * run, which has not seen that by then, took 92 s for drawn drive 3 of seed 1, and leaves it out.
 */
static u64 last_call(const struct measurements *measurements)
{
	u64 longest = 0;
	int i;

	for (i = 0; i < NR_SIZES; i++)
		if (longest < measurements->random_write[i].worst_ns)
			longest = measurements->random_write[i].worst_ns;
	return LAST_CALL + longest;
}

int dispatch_run(struct session *session, struct failure *failure)
{
	struct survey *survey = &session->survey;
	struct finding *finding = &survey->finding[PARAMETER_DISPATCH];
	const u64 start = session_now(session), written = session->measure->written;
	const u64 budget = session_budget(session)->dispatch * SECOND;
	const u64 last = last_call(&session->measurements);
	int code;

	if (finding->status != STATUS_UNKNOWN || !budget)
		return 0;
	finding->method = "reads beside writers as they come, and before bundles of writes";
	if (!session->one_at_a_time) {
		survey_conclude(survey, PARAMETER_DISPATCH, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"a drive that may take several commands at once has an order of its own");
		return 0;
	}
	session_show_step(session, parameter_title(PARAMETER_DISPATCH));
	session->measure->phase = parameter_name(PARAMETER_DISPATCH);
	survey->deadline = start;
	/* Where others took half of its time, single writes take long. */
	if (start + last < session->end && start + budget / 2 < session->end)
		survey->deadline = session->end - last;
	survey->search_deadline = start + MOST_TIMES * budget;
	survey->search_written = 0;
	code = compare_ways(session, failure);
	if (code)
		return code;
	finding->ns = session_now(session) - start;
	finding->written = session->measure->written - written;
	session_end_step(session);
	return 0;
}
