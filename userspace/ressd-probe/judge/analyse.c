// SPDX-License-Identifier: GPL-2.0-only
/* From bandwidths to verdict and options; see analyse.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "judge/analyse.h"
#include "ressd-route.h"

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_WORTH] = "worth-it",
		[VERDICT_LOCALITY] = "worth-it-with-locality",
		[VERDICT_NOT_WORTH] = "not-worth-it",
		[VERDICT_UNKNOWN] = "unknown",
	};

	return names[verdict];
}

bool verdict_pays(enum verdict verdict)
{
	return verdict == VERDICT_WORTH || verdict == VERDICT_LOCALITY;
}

static bool bandwidths_of(const struct measurements *measurements, int size,
			  struct bandwidths *bandwidths)
{
	bandwidths->sequential_write = measurements->sequential_write.bandwidth;
	bandwidths->random_read = measurements->random_read[size].bandwidth;
	bandwidths->random_write = measurements->random_write[size].bandwidth;
	bandwidths->ordered_write = measurements->ordered_write[size].bandwidth;
	return bandwidths->sequential_write && bandwidths->random_read &&
	       bandwidths->random_write && bandwidths->ordered_write;
}

/*
 * The smallest share of blocks, in percent, that must be overwritten in the log before they are
 * moved, so that the gain reaches ANALYSE_MARGIN: 0 if it does anyway, 101 if no share is enough.
 * Times of the same amount of data in any unit.
 */
static u32 share_needed(u64 direct, u64 log, u64 move)
{
	u32 alpha;

	for (alpha = 0; alpha <= 100; alpha++)
		if (direct * 100 >= (log + move * (100 - alpha) / 100) * ANALYSE_MARGIN)
			return alpha;
	return alpha;
}

/* @overwritten: percent of the blocks that the load itself overwrites in the log. */
static enum verdict verdict_of(u32 alpha, u32 overwritten)
{
	if (alpha <= overwritten)
		return VERDICT_WORTH;
	return alpha <= ANALYSE_MOST_OVERWRITTEN ? VERDICT_LOCALITY : VERDICT_NOT_WORTH;
}

static u32 needed_share(const struct bandwidths *bandwidths)
{
	struct cost cost;

	model_evaluate(bandwidths, 0, &cost);
	return share_needed(cost.direct_ns, cost.log_ns, cost.move_ns);
}

static u64 scaled(u64 value, int percent)
{
	value = value / 100 * (percent > 1 ? percent : 1);
	return value ? value : 1;
}

/*
 * The verdict if every figure were wrong by half its spread, in favour of the log (@sign 1) or of
 * the bare device (@sign -1).
 */
static enum verdict verdict_at_bound(const struct measurements *measurements,
				     const struct bandwidths *bandwidths, int sign)
{
	const struct result *sw = &measurements->sequential_write;
	const struct result *rr = &measurements->random_read[SIZE_4K];
	const struct result *rw = &measurements->random_write[SIZE_4K];
	const struct result *ow = &measurements->ordered_write[SIZE_4K];
	struct bandwidths bound;

	bound.sequential_write = scaled(bandwidths->sequential_write,
					100 + sign * (int)(sw->spread_percent / 2));
	bound.random_read = scaled(bandwidths->random_read,
				   100 + sign * (int)(rr->spread_percent / 2));
	bound.ordered_write = scaled(bandwidths->ordered_write,
				     100 + sign * (int)(ow->spread_percent / 2));
	bound.random_write = scaled(bandwidths->random_write,
				    100 - sign * (int)(rw->spread_percent / 2));
	return verdict_of(needed_share(&bound), 0);
}

/* Do moves cost so little beside random writes that the log gains wherever these go? */
static bool moves_are_cheap(u64 direct_ns, u64 move_ns)
{
	return direct_ns >= 2 * move_ns;
}

/*
 * That of a rehearsal, if random writes take @direct percent of what they took, and log and moves
 * @both percent.  Of a drive of which only a part was seen worth it is what gains wherever writes
 * go: on others that depends on the load, and the target sees it.
 */
static enum verdict rehearsed(const struct rehearsal *rehearsal, int direct, int both)
{
	const u64 direct_ns = scaled(rehearsal->direct_ns, direct);
	const u64 log_ns = scaled(rehearsal->log_ns, both);
	const u64 move_ns = scaled(rehearsal->move_ns, both);
	const enum verdict verdict =
		verdict_of(share_needed(direct_ns, log_ns, move_ns),
			   rehearsal->overwritten_percent);

	if (verdict == VERDICT_WORTH && rehearsal->working_set &&
	    !(moves_are_cheap(direct_ns, move_ns) &&
	      ressd_route_saves(direct_ns, log_ns + move_ns, RESSD_ROUTE_TAKE_PERCENT)))
		return VERDICT_LOCALITY;
	return verdict;
}

/*
 * Would it be the same verdict if every figure were wrong by half its spread?  Of a drive of which
 * only a part was seen the target finds out which loads gain, so "some" is said if it may be all
 * or none, and "all" if it may be some.
 */
static bool is_decided(const struct rehearsal *rehearsal)
{
	const int direct = rehearsal->direct_spread_percent / 2;
	const int both = rehearsal->spread_percent / 2;
	const enum verdict low = rehearsed(rehearsal, 100 - direct, 100 + both);
	const enum verdict said = rehearsed(rehearsal, 100, 100);

	return low == rehearsed(rehearsal, 100 + direct, 100 - both) ||
	       (rehearsal->working_set &&
		(said == VERDICT_LOCALITY ||
		 (said == VERDICT_WORTH && low == VERDICT_LOCALITY)));
}

#define CLOSE	15	/* percent by which two runs differ on one drive of ten */

/* May another run say otherwise, or a quick one, however steady this one was? */
static bool is_close(const struct rehearsal *rehearsal)
{
	return rehearsed(rehearsal, 100 - CLOSE, 100) != rehearsed(rehearsal, 100 + CLOSE, 100);
}

static bool all_steady(const struct measurements *measurements)
{
	return measurements->sequential_write.steady &&
	       measurements->random_read[SIZE_4K].steady &&
	       measurements->random_write[SIZE_4K].steady &&
	       measurements->ordered_write[SIZE_4K].steady;
}

static void explain(struct analysis *analysis, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void explain(struct analysis *analysis, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(analysis->reason, sizeof(analysis->reason), format, arguments);
	va_end(arguments);
}

/* A gain in percent as "8.50". */
#define GAIN(percent)	(percent) / 100, (percent) % 100

/* What every block gains that is never moved. */
static u32 best_gain(u64 direct, u64 log)
{
	return direct * 100 / (log ? log : 1);
}

/*
 * The gain in percent from which on bursts are worth a word.  It is a word and no advice: whether
 * there is idle time, in which moving is free, the load decides, and nothing here has seen that.
 */
#define BURST_GAIN	200
#define BURSTS		\
	"; or where writes come in bursts with idle time between them, with 'route always pace idle'"

static void explain_close(struct analysis *analysis)
{
	const size_t used = strlen(analysis->reason);

	snprintf(analysis->reason + used, sizeof(analysis->reason) - used,
		 "; it is close: %u %% more or less would change the verdict", CLOSE);
}

/* How much of what is needed random writes have, where that is known. */
static void explain_overwritten(struct analysis *analysis)
{
	const size_t used = strlen(analysis->reason);

	if (analysis->working_set)
		snprintf(analysis->reason + used, sizeof(analysis->reason) - used,
			 "; random writes to %llu MiB of the drive overwrite %u %%",
			 analysis->working_set >> 20, analysis->overwritten_percent);
}

/*
 * By what is overwritten a fifth is gained, but not by the route that is advised, for that depends
 * on how much of the drive is written to.
 */
static void explain_always(struct analysis *analysis, const char *source, u32 gain)
{
	const struct size_verdict *verdict = &analysis->by_size[0];

	explain(analysis,
		"%s expects random writes to %llu MiB of the drive to be %u.%02u times as fast with 'route always', for they overwrite %u %% of the blocks in the log, but writes to more of it may lose; 'route adaptive' takes the log only if it is more than %u.%02u times as fast with none overwritten (%u.%02u)",
		source, analysis->working_set >> 20, GAIN(verdict->gain_percent),
		analysis->overwritten_percent, GAIN(10000 / (100 - RESSD_ROUTE_TAKE_PERCENT)),
		GAIN(gain));
}

/* What random writes to the part of the drive gain that was seen. */
static void explain_part(struct analysis *analysis, const char *source)
{
	explain(analysis,
		"%s expects small random writes to %llu MiB of the drive to be %u.%02u times as fast: the log overwrites %u %% of them%s",
		source, analysis->working_set >> 20, GAIN(analysis->by_size[0].gain_percent),
		analysis->overwritten_percent, analysis->adaptive_takes ?
		"; whether writes to more of it gain 'route adaptive' finds out" : "");
}

static void explain_verdict(struct analysis *analysis, const char *source, u32 gain, u32 best)
{
	switch (analysis->verdict) {
	case VERDICT_WORTH:
		if (analysis->working_set)
			explain_part(analysis, source);
		else
			explain(analysis,
				"%s expects small random writes to be %u.%02u times as fast, even if no block is written twice",
				source, GAIN(gain));
		break;
	case VERDICT_LOCALITY:
		if (analysis->adaptive_takes) {
			explain_part(analysis, source);
			break;
		}
		if (advise_gains_by_always(analysis)) {
			explain_always(analysis, source, gain);
			break;
		}
		explain(analysis,
			"small random writes gain only if at least %u %% of the blocks in the log are overwritten there before they are moved (%s: %u.%02u times as fast with none, %u.%02u with all)%s",
			analysis->alpha_percent, source, GAIN(gain), GAIN(best),
			best >= BURST_GAIN ? BURSTS : "");
		explain_overwritten(analysis);
		break;
	default:
		if (best >= ANALYSE_MARGIN) {
			explain(analysis,
				"small random writes would gain only if more than %u %% of the blocks in the log were overwritten there before they are moved (%s: %u.%02u times as fast with none), as hardly any load does%s",
				ANALYSE_MOST_OVERWRITTEN, source, GAIN(gain),
				best >= BURST_GAIN ? BURSTS : "");
			break;
		}
		explain(analysis,
			"random writes are nearly as fast as sequential ones here, so a log has nothing to gain");
	}
}

static void explain_unsteady(struct analysis *analysis)
{
	explain(analysis,
		"the device is too unsteady for a verdict; try again without --quick, on a larger --region, or after a pause");
}

/* The terms of the model, measured one after the other. */
static void judge_model(const struct measurements *measurements, struct analysis *analysis)
{
	const struct cost *cost = &analysis->cost[SIZE_4K];
	struct bandwidths bandwidths;

	if (!bandwidths_of(measurements, SIZE_4K, &bandwidths)) {
		if (measurements->sequential_write.done)
			explain_unsteady(analysis);
		else
			explain(analysis,
				"only writing can tell: run ressd-probe --write on a device without valuable data");
		return;
	}
	if (!all_steady(measurements) &&
	    verdict_at_bound(measurements, &bandwidths, 1) !=
	    verdict_at_bound(measurements, &bandwidths, -1)) {
		explain_unsteady(analysis);
		return;
	}
	analysis->alpha_percent = needed_share(&bandwidths);
	analysis->verdict = verdict_of(analysis->alpha_percent, 0);
	explain_verdict(analysis, "the model", cost->gain_percent,
			best_gain(cost->direct_ns, cost->log_ns));
}

/*
 * Random writes to blocks that the drive has a log block for, still.  Later each opens one, and
 * those that go home to one block open it together, and cost as much as an append besides.
 */
static void later(struct rehearsal *rehearsal, const struct finding *block)
{
	const u64 opened = rehearsal->direct_ns > block->opening_ns ? rehearsal->direct_ns :
								      block->opening_ns;
	const u64 move = rehearsal->log_ns +
			 (rehearsal->visit_pieces ? opened / rehearsal->visit_pieces : opened);

	rehearsal->direct_ns = opened;
	rehearsal->direct_spread_percent = 100;
	if (rehearsal->move_ns > move)
		rehearsal->move_ns = move;
}

static void judge_rehearsal(const struct measurements *measurements,
			    const struct rehearsal *played, const struct finding *block,
			    struct size_verdict *verdict)
{
	struct rehearsal with_move = *played, *rehearsal = &with_move;
	bool paid;

	verdict->known = rehearsal->done;
	if (!rehearsal->done)
		return;
	rehearsal->move_ns = analyse_move_ns(measurements, played, block);
	if (rehearsal->direct_is_least)
		later(rehearsal, block);
	verdict->size = rehearsal->size;
	verdict->gain_percent = rehearsal->gain_percent;
	if (rehearsal->move_ns < played->move_ns || rehearsal->direct_ns > played->direct_ns)
		verdict->gain_percent = rehearsal->direct_ns * 100 /
					(rehearsal->log_ns + rehearsal->move_ns *
					 (100 - rehearsal->overwritten_percent) / 100);
	verdict->through_ns = rehearsal->log_ns + rehearsal->move_ns;
	verdict->least_percent = best_gain(rehearsal->direct_ns, verdict->through_ns);
	verdict->alpha_percent = share_needed(rehearsal->direct_ns, rehearsal->log_ns,
					      rehearsal->move_ns);
	verdict->verdict = rehearsed(rehearsal, 100, 100);
	/* A log in order fills no shared log blocks: it has paid for random writes. */
	paid = rehearsal->shares_log && verdict->verdict == VERDICT_NOT_WORTH;
	if (!rehearsal->steady && (paid || !is_decided(rehearsal)))
		verdict->verdict = VERDICT_UNKNOWN;
	verdict->close = is_close(rehearsal);
	if (rehearsal->direct_is_least && verdict->verdict != VERDICT_WORTH)
		verdict->verdict = VERDICT_UNKNOWN;
}

/* The verdict on a drive is that on its smallest writes. */
static void judge(const struct measurements *measurements, const struct finding *findings,
		  struct analysis *analysis)
{
	const struct rehearsal *rehearsal = &measurements->rehearsal[0];
	const struct size_verdict *verdict = &analysis->by_size[0];
	int i;

	analysis->verdict = VERDICT_UNKNOWN;
	for (i = 0; i < NR_REHEARSALS; i++)
		judge_rehearsal(measurements, &measurements->rehearsal[i],
				&findings[PARAMETER_BLOCK], &analysis->by_size[i]);
	if (measurements->is_memory) {
		analysis->verdict = VERDICT_NOT_WORTH;
		explain(analysis,
			"this is memory of the computer (a RAM disk or zram), not flash: name the drive itself");
		return;
	}
	if (!rehearsal->done) {
		judge_model(measurements, analysis);
		return;
	}
	analysis->verdict = verdict->verdict;
	analysis->alpha_percent = verdict->alpha_percent;
	analysis->working_set = rehearsal->working_set;
	analysis->adaptive_takes =
		verdict->verdict == VERDICT_LOCALITY && rehearsal->working_set &&
		verdict->alpha_percent <= rehearsal->overwritten_percent &&
		ressd_route_saves(rehearsal->direct_ns, verdict->through_ns,
				  RESSD_ROUTE_TAKE_PERCENT);
	analysis->overwritten_percent = rehearsal->overwritten_percent;
	if (verdict->verdict == VERDICT_UNKNOWN) {
		explain_unsteady(analysis);
		return;
	}
	explain_verdict(analysis, rehearsal->pieces ? "the rehearsal" : "the model",
			verdict->verdict == VERDICT_WORTH ? verdict->gain_percent :
							    verdict->least_percent,
			best_gain(rehearsal->direct_ns, rehearsal->log_ns));
	if (verdict->close)
		explain_close(analysis);
}

void analyse(const struct measurements *measurements, const struct finding *findings,
	     struct analysis *analysis, struct ressd_options *options)
{
	struct bandwidths bandwidths;
	int size;

	memset(analysis, 0, sizeof(*analysis));
	for (size = 0; size < NR_SIZES; size++) {
		analysis->has_cost[size] = bandwidths_of(measurements, size, &bandwidths);
		if (analysis->has_cost[size])
			model_evaluate(&bandwidths, 0, &analysis->cost[size]);
	}
	judge(measurements, findings, analysis);
	if (!verdict_pays(analysis->verdict))
		return;
	advise(measurements, findings, analysis, options);
	loads_judge(measurements, findings, analysis, options, analysis->load);
}
