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
#include <math.h>
#include <stdlib.h>
#include "find/beside.h"
#include "find/session-parts.h"
#include "measure/statistics.h"

/*
 * The target's default.  With 2 reads wait for a quarter less, but on the eMMC, whose writes are
 * as fast as they come, these lose 4 % instead of 2 % (docs/notebook/normal-path.md).
 */
#define DEPTH		4U

/* Where the drive shows no clustered block: writes of such a drive gain nothing by any size. */
#define USUAL_BUNDLE	(4ULL << 20)

#define CYCLE		4U		/* turns: ABBA */
#define MAX_CYCLES	4U
#define MAX_PAIRS	(MAX_CYCLES * CYCLE / NR_WAYS)
#define LEAST_PAIRS	6U		/* that can tell a difference */
#define DIFFERENT	2.2		/* normal deviate: seven of eight, or six of six */
#define CYCLE_NS	(10 * SECOND)	/* in which they are, where writes are not too slow for it */
#define SOME_WRITES	BESIDE_WRITERS	/* of a turn, even if they are */
#define LEAST_WRITES	8U		/* likewise, where time is short */
#define MOST_WRITES	64U
#define NR_READS	4U		/* at least, before bundles */

#define MOST_TIMES	2U		/* of its budget, if others have left the time */
#define LAST_CALL	(2 * SECOND)	/* that a write and a flush may take */

/*
 * The bar that docs/normal-path.md sets for the policy; and a loss of writes that is not noticed,
 * for which reads that wait for half as long are no gain at all where nobody waits for them.
 */
#define LONG_WAIT	0.99	/* of the reads wait for less */
#define MOST_WAIT	0.5
#define LEAST_SPEED	0.95

#define CLEAR		1.3	/* times as long or as fast */
#define CLEAR_SPEED	0.99

enum way { AS_THEY_COME, BUNDLED, NR_WAYS };

struct rehearsed {
	struct beside ways[NR_WAYS];
	u64 read_ns;			/* what a read of the idle drive takes */
	unsigned int writes;		/* of a turn */
	unsigned int turns;
	double turn_ns[NR_WAYS][MAX_PAIRS];	/* what its writes took */
};

/*
 * What a way's writes have taken of @ns.  For what a read waits the drive is busy with writes
 * before it: that is their time.
 */
static double ns_of_writes(const struct rehearsed *rehearsed, u64 ns, u64 reads)
{
	return (double)ns - (double)reads * rehearsed->read_ns;
}

static double ns_of_write(const struct rehearsed *rehearsed, enum way way)
{
	const struct beside *beside = &rehearsed->ways[way];

	return ns_of_writes(rehearsed, beside->ns, beside->reads) / beside->writes;
}

/* What reads take from each write. */
static double ns_of_reads(const struct rehearsed *rehearsed, enum way way)
{
	const struct beside *beside = &rehearsed->ways[way];

	return (double)beside->reads * rehearsed->read_ns / beside->writes;
}

/* Do writes themselves take longer in one way than in the other? */
static double difference(const struct rehearsed *rehearsed)
{
	double differences[MAX_PAIRS];
	unsigned int pair;

	for (pair = 0; pair < rehearsed->turns / NR_WAYS; pair++)
		differences[pair] = rehearsed->turn_ns[AS_THEY_COME][pair] -
				    rehearsed->turn_ns[BUNDLED][pair];
	return fabs(stat_signed_rank(differences, pair));
}

/*
 * So many times as fast writes are in bundles.  If they themselves do not differ, what differs is
 * the time that reads take from them: so garbage collection, which comes now in this turn and now
 * in that, is no difference.  As long as too few turns were taken to see that, the worse counts.
 */
static double speed_of(const struct rehearsed *rehearsed)
{
	const double alone = ns_of_write(rehearsed, AS_THEY_COME);
	const double bundled = ns_of_write(rehearsed, BUNDLED);
	const double reads = ns_of_reads(rehearsed, AS_THEY_COME);
	const double more = ns_of_reads(rehearsed, BUNDLED), mean = (alone + bundled) / 2;
	const double seen = (alone + reads) / (bundled + more);
	const double even = (mean + reads) / (mean + more);

	if (rehearsed->turns < LEAST_PAIRS * NR_WAYS)
		return seen < even ? seen : even;
	return difference(rehearsed) >= DIFFERENT ? seen : even;
}

/* This share of the reads waits for less. */
static double wait_of(struct beside *beside, double share)
{
	stat_sort(beside->waits, beside->nr_waits);
	return stat_quantile(beside->waits, beside->nr_waits, share);
}

/* So many times as long reads wait before bundles, and so many times as fast writes are. */
struct gain {
	double before, after;	/* ns */
	double speed;
};

static struct gain gain_of(struct rehearsed *rehearsed)
{
	struct beside *ways = rehearsed->ways;
	const double reads = ways[AS_THEY_COME].nr_waits;
	/* The longest of few waits is no longer than that of as many. */
	const double share = reads / (reads + 1) < LONG_WAIT ? reads / (reads + 1) : LONG_WAIT;

	return (struct gain){
		.before = wait_of(&ways[AS_THEY_COME], share),
		.after = wait_of(&ways[BUNDLED], share),
		.speed = speed_of(rehearsed),
	};
}

/* Is what was measured far from what would decide otherwise? */
static bool is_clear(struct gain gain)
{
	return (gain.after < MOST_WAIT * gain.before / CLEAR && gain.speed > CLEAR_SPEED) ||
	       gain.speed < LEAST_SPEED / CLEAR;
}

static bool is_enough(const struct rehearsed *rehearsed)
{
	return rehearsed->turns >= CYCLE && rehearsed->ways[AS_THEY_COME].nr_waits &&
	       rehearsed->ways[BUNDLED].nr_waits >= NR_READS;
}

/* Whole cycles only.  Where one takes long, no more than are needed to see it. */
static bool wants_more(struct rehearsed *rehearsed)
{
	if (rehearsed->turns % CYCLE || !is_enough(rehearsed))
		return rehearsed->turns < MAX_CYCLES * CYCLE;
	if (rehearsed->turns == MAX_CYCLES * CYCLE)
		return false;
	return rehearsed->ways[AS_THEY_COME].ns < CYCLE_NS / 2 || !is_clear(gain_of(rehearsed));
}

static void conclude(struct survey *survey, struct rehearsed *rehearsed, u64 bundle)
{
	struct finding *finding = &survey->finding[PARAMETER_DISPATCH];
	struct gain gain;

	finding->samples = rehearsed->ways[AS_THEY_COME].nr_waits +
			   rehearsed->ways[BUNDLED].nr_waits;
	if (!is_enough(rehearsed)) {
		survey_conclude(survey, PARAMETER_DISPATCH, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				measure_is_spent(survey->measure) ?
				"the limit of bytes to write (--max-write) was reached first" :
				"no time was left for it");
		return;
	}
	gain = gain_of(rehearsed);
	finding->effect = gain.before / gain.after;
	finding->value = gain.after <= MOST_WAIT * gain.before && gain.speed >= LEAST_SPEED ?
			 bundle : 0;
	survey_conclude(survey, PARAMETER_DISPATCH, STATUS_MEASURED, CONFIDENCE_MEDIUM,
			"reads beside %u writers wait for up to %.1f ms, before bundles of %llu KiB for %.1f ms; writes are %.2f times as fast",
			BESIDE_WRITERS, gain.before / 1e6, bundle >> 10, gain.after / 1e6,
			gain.speed);
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
	const double cycle = CYCLE * expected_write(&session->measurements);
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
		ns_of_writes(rehearsed, beside->ns - ns, beside->reads - reads);
	rehearsed->turns++;
	return 0;
}

static int run_cycles(struct survey *survey, struct rehearsed *rehearsed, struct failure *failure)
{
	bool whole = true;
	int code = 0;

	while (!code && whole && wants_more(rehearsed)) {
		const unsigned int turn = rehearsed->turns % CYCLE;
		const enum way way = turn == 1 || turn == 2 ? BUNDLED : AS_THEY_COME;

		code = take_turn(survey, rehearsed, way, &whole, failure);
	}
	return code;
}

static int compare_ways(struct session *session, struct failure *failure)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	const u64 bundle = block->status == STATUS_MEASURED ? block->value : USUAL_BUNDLE;
	struct survey *survey = &session->survey;
	struct rehearsed *rehearsed = calloc(1, sizeof(*rehearsed));
	int code = 0;

	if (!rehearsed)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	rehearsed->read_ns = session->measurements.random_read[SIZE_4K].median_ns;
	rehearsed->writes = writes_of_turn(session);
	beside_begin(&rehearsed->ways[AS_THEY_COME], survey, BESIDE_REQUESTS, bundle);
	beside_begin(&rehearsed->ways[BUNDLED], survey, DEPTH, bundle);
	if (rehearsed->writes)
		code = run_cycles(survey, rehearsed, failure);
	code = session_take_limit(code);
	if (!code)
		conclude(survey, rehearsed, bundle);
	free(rehearsed);
	return code;
}

int dispatch_run(struct session *session, struct failure *failure)
{
	struct survey *survey = &session->survey;
	struct finding *finding = &survey->finding[PARAMETER_DISPATCH];
	const u64 start = session_now(session), written = session->measure->written;
	int code;

	if (finding->status != STATUS_UNKNOWN)
		return 0;
	finding->method = "reads beside writers as they come, and before bundles of writes";
	if (!session->one_at_a_time) {
		survey_conclude(survey, PARAMETER_DISPATCH, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"the drive takes several commands at once, in an order of its own");
		return 0;
	}
	session_show_step(session, parameter_title(PARAMETER_DISPATCH));
	session->measure->phase = parameter_name(PARAMETER_DISPATCH);
	survey->deadline = start;
	if (start + LAST_CALL < session->end)
		survey->deadline = session->end - LAST_CALL;
	survey->search_deadline = start + MOST_TIMES * session_budget(session)->dispatch * SECOND;
	survey->search_written = 0;
	code = compare_ways(session, failure);
	if (code)
		return code;
	finding->ns = session_now(session) - start;
	finding->written = session->measure->written - written;
	session_end_step(session);
	return 0;
}
