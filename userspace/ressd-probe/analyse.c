// SPDX-License-Identifier: GPL-2.0-only
/* From bandwidths to verdict and options; see analyse.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "analyse.h"
#include "ressd-geom.h"

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

static bool bandwidths_of(const struct measurements *measurements, int size,
			  struct ressd_bandwidths *bandwidths)
{
	bandwidths->sequential_write = measurements->sequential_write.bandwidth;
	bandwidths->random_read = measurements->random_read[size].bandwidth;
	bandwidths->random_write = measurements->random_write[size].bandwidth;
	bandwidths->ordered_write = measurements->ordered_write[size].bandwidth;
	return bandwidths->sequential_write && bandwidths->random_read &&
	       bandwidths->random_write && bandwidths->ordered_write;
}

/*
 * Smallest share of blocks, in percent, that must be overwritten in the log so that the gain
 * reaches ANALYSE_MARGIN: 0 when it does anyway, 101 when no share is enough.
 */
static u32 needed_share(const struct ressd_bandwidths *bandwidths)
{
	struct ressd_cost cost;
	u32 alpha;

	for (alpha = 0; alpha <= 100; alpha++) {
		ressd_cost_evaluate(bandwidths, alpha, &cost);
		if (cost.gain_percent >= ANALYSE_MARGIN)
			return alpha;
	}
	return alpha;
}

static enum verdict verdict_of(u32 alpha)
{
	if (!alpha)
		return VERDICT_WORTH;
	return alpha <= 100 ? VERDICT_LOCALITY : VERDICT_NOT_WORTH;
}

static u64 scaled(u64 bandwidth, int percent)
{
	u64 value = bandwidth / 100 * (percent > 1 ? percent : 1);

	return value ? value : 1;
}

/*
 * The verdict if every figure were wrong by its spread, in favour of the log (@sign 1) or of the
 * bare device (@sign -1).
 */
static enum verdict verdict_at_bound(const struct measurements *measurements,
				     const struct ressd_bandwidths *bandwidths, int sign)
{
	const struct result *sw = &measurements->sequential_write;
	const struct result *rr = &measurements->random_read[SIZE_4K];
	const struct result *rw = &measurements->random_write[SIZE_4K];
	const struct result *ow = &measurements->ordered_write[SIZE_4K];
	struct ressd_bandwidths bound;

	bound.sequential_write = scaled(bandwidths->sequential_write,
					100 + sign * (int)(sw->spread_percent / 2));
	bound.random_read = scaled(bandwidths->random_read,
				   100 + sign * (int)(rr->spread_percent / 2));
	bound.ordered_write = scaled(bandwidths->ordered_write,
				     100 + sign * (int)(ow->spread_percent / 2));
	bound.random_write = scaled(bandwidths->random_write,
				    100 - sign * (int)(rw->spread_percent / 2));
	return verdict_of(needed_share(&bound));
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

static void explain_verdict(struct analysis *analysis)
{
	const struct ressd_cost *cost = &analysis->cost[SIZE_4K];
	const u32 gain = cost->gain_percent;

	switch (analysis->verdict) {
	case VERDICT_WORTH:
		explain(analysis,
			"the model expects small random writes to be %u.%02u times as fast, even if no block is written twice",
			gain / 100, gain % 100);
		break;
	case VERDICT_LOCALITY:
		explain(analysis,
			"small random writes gain only if at least %u %% of the blocks in the log are overwritten there before they are moved (the model: %u.%02u times as fast with none, %u.%02u with all)",
			analysis->alpha_percent, gain / 100, gain % 100,
			(u32)(cost->direct_ns * 100 / (cost->log_ns ? cost->log_ns : 1)) / 100,
			(u32)(cost->direct_ns * 100 / (cost->log_ns ? cost->log_ns : 1)) % 100);
		break;
	default:
		explain(analysis,
			"random writes are nearly as fast as sequential ones here, so a log has nothing to gain");
	}
}

static void judge(const struct measurements *measurements, struct analysis *analysis)
{
	struct ressd_bandwidths bandwidths;

	analysis->verdict = VERDICT_UNKNOWN;
	if (!bandwidths_of(measurements, SIZE_4K, &bandwidths)) {
		explain(analysis,
			"only writing can tell: run ressd-probe --write on a device without valuable data");
		return;
	}
	if (!all_steady(measurements) &&
	    verdict_at_bound(measurements, &bandwidths, 1) !=
	    verdict_at_bound(measurements, &bandwidths, -1)) {
		explain(analysis,
			"the device is too unsteady for a verdict; try again without --quick, on a larger --region, or after a pause");
		return;
	}
	analysis->alpha_percent = needed_share(&bandwidths);
	analysis->verdict = verdict_of(analysis->alpha_percent);
	explain_verdict(analysis);
}

static struct advice *advise(struct analysis *analysis, const char *key, const char *value)
{
	struct advice *advice = &analysis->advice[analysis->nr_advice++];

	advice->key = key;
	snprintf(advice->value, sizeof(advice->value), "%s", value);
	return advice;
}

static void advise_small_write(struct analysis *analysis, struct ressd_options *options)
{
	const struct ressd_cost *cost = &analysis->cost[SIZE_8K];
	const bool gains = analysis->has_cost[SIZE_8K] && cost->gain_percent >= ANALYSE_MARGIN;
	struct advice *advice;

	options->small_write_sectors = gains ? 16 : 8;
	advice = advise(analysis, "small_write_sectors", gains ? "16" : "8");
	snprintf(advice->reason, sizeof(advice->reason),
		 "8 KiB writes through the log: %u.%02u times as fast (at least %u.%02u needed)",
		 cost->gain_percent / 100, cost->gain_percent % 100, ANALYSE_MARGIN / 100,
		 ANALYSE_MARGIN % 100);
}

/*
 * With a full log, a small write can wait for the mover or go to the normal area.  There it costs a
 * random write and disturbs the mover's order; waiting costs one ordered write.
 */
static void advise_full(const struct measurements *measurements, struct analysis *analysis,
			struct ressd_options *options)
{
	const u64 random = measurements->random_write[SIZE_4K].bandwidth;
	const u64 ordered = measurements->ordered_write[SIZE_4K].bandwidth;
	const bool wait = ordered >= 2 * random;
	const u64 ratio = ordered * 100 / random;
	struct advice *advice;

	options->on_full = wait ? RESSD_FULL_WAIT : RESSD_FULL_BYPASS;
	advice = advise(analysis, "on_full", wait ? "wait" : "bypass");
	snprintf(advice->reason, sizeof(advice->reason),
		 "an ordered write is %llu.%02llu times as fast as a random one (wait from 2 on)",
		 ratio / 100, ratio % 100);
}

static bool is_known(const struct finding *finding)
{
	return finding->status == STATUS_MEASURED && finding->confidence >= CONFIDENCE_MEDIUM;
}

/* Appends that end on a page border spare the drive reading the rest of the page. */
static void advise_align(const struct finding *page, struct analysis *analysis,
			 struct ressd_options *options)
{
	struct advice *advice;
	char value[16];

	if (!is_known(page) || page->value <= 4096 || page->value > 512 << 10)
		return;
	options->log_align_sectors = page->value / 512;
	snprintf(value, sizeof(value), "%u", options->log_align_sectors);
	advice = advise(analysis, "log_align_sectors", value);
	snprintf(advice->reason, sizeof(advice->reason),
		 "the clustered page has %llu KiB: appends that end on its borders are not read first",
		 page->value >> 10);
}

/* A batch that fills whole pages; the default is kept when it does already. */
static void advise_batch(const struct finding *page, struct analysis *analysis,
			 struct ressd_options *options)
{
	const u32 sectors = page->value / 512;
	struct advice *advice;
	char value[16];

	if (!is_known(page) || !sectors || options->move_batch_sectors % sectors == 0)
		return;
	options->move_batch_sectors -= options->move_batch_sectors % sectors;
	snprintf(value, sizeof(value), "%u", options->move_batch_sectors);
	advice = advise(analysis, "move_batch_sectors", value);
	snprintf(advice->reason, sizeof(advice->reason),
		 "a whole number of clustered pages of %llu KiB", page->value >> 10);
}

/* A segment that is a block is erased as a whole when it is used again. */
static void advise_segment(const struct finding *block, struct analysis *analysis,
			   struct ressd_options *options)
{
	const u64 sectors = block->value / 512;
	struct advice *advice;
	char value[16];

	if (!is_known(block) || sectors % RESSD_BLOCK_SECTORS ||
	    sectors < RESSD_MIN_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS ||
	    sectors > RESSD_MAX_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS)
		return;
	options->segment_sectors = sectors;
	snprintf(value, sizeof(value), "%llu", sectors);
	advice = advise(analysis, "segment_sectors", value);
	snprintf(advice->reason, sizeof(advice->reason),
		 "the clustered block has %llu KiB: a segment that is used again is erased whole",
		 block->value >> 10);
}

void analyse(const struct measurements *measurements, const struct finding *findings,
	     struct analysis *analysis, struct ressd_options *options)
{
	struct ressd_bandwidths bandwidths;
	int size;

	memset(analysis, 0, sizeof(*analysis));
	for (size = 0; size < NR_SIZES; size++) {
		analysis->has_cost[size] = bandwidths_of(measurements, size, &bandwidths);
		if (analysis->has_cost[size])
			ressd_cost_evaluate(&bandwidths, 0, &analysis->cost[size]);
	}
	judge(measurements, analysis);
	if (analysis->verdict != VERDICT_WORTH && analysis->verdict != VERDICT_LOCALITY)
		return;
	advise_small_write(analysis, options);
	advise_align(&findings[PARAMETER_PAGE], analysis, options);
	advise_batch(&findings[PARAMETER_PAGE], analysis, options);
	advise_segment(&findings[PARAMETER_BLOCK], analysis, options);
	if (analysis->verdict == VERDICT_WORTH)
		advise_full(measurements, analysis, options);
}
