/* SPDX-License-Identifier: GPL-2.0-only */
/* Made-up drives, and what is found of them: what the tests of verdicts and of advice share. */
#ifndef DRIVES_H
#define DRIVES_H

#include "harness.h"
#include "judge/analyse.h"

static inline struct result steady(double megabytes)
{
	return (struct result){ .done = true, .steady = true, .bandwidth = megabytes * 1e6,
				.ops = 100 };
}

/* The same figures for 4 and 8 KiB. */
static inline struct measurements drive(double sw, double rr, double rw, double ow)
{
	struct measurements m = { .sequential_write = steady(sw) };
	int size;

	for (size = 0; size < NR_SIZES; size++) {
		m.random_read[size] = steady(rr);
		m.random_write[size] = steady(rw);
		m.ordered_write[size] = steady(ow);
	}
	return m;
}

static inline struct analysis analysis_with(const struct measurements *m,
					    const struct finding *findings,
					    struct ressd_options *options)
{
	struct analysis analysis;

	ressd_options_default(options);
	analyse(m, findings, &analysis, options);
	return analysis;
}

static inline struct analysis analysis_of(const struct measurements *m,
					  struct ressd_options *options)
{
	const struct finding findings[NR_PARAMETERS] = { 0 };

	return analysis_with(m, findings, options);
}

static inline struct finding known(u64 value)
{
	return (struct finding){ .status = STATUS_MEASURED, .confidence = CONFIDENCE_HIGH,
				 .value = value };
}

/* A block that begins with the disk. */
static inline struct finding known_block(u64 value)
{
	struct finding finding = known(value);

	finding.has_phase = true;
	return finding;
}

static inline struct rehearsal rehearsed(u32 size, u64 direct, u64 log, u64 move)
{
	return (struct rehearsal){ .done = true, .steady = true, .size = size, .pieces = 100,
				   .direct_ns = direct, .log_ns = log, .move_ns = move,
				   .gain_percent = direct * 100 / (log + move) };
}

#endif
