/* SPDX-License-Identifier: GPL-2.0-only */
/* A pattern identifier that knows the units of a device: for the tests of ressd-pattern. */
#ifndef PATTERNBOX_H
#define PATTERNBOX_H

#include "harness.h"
#include "ressd-pattern.h"

#define UNIT	8192ULL		/* sectors */
#define LOG	32768ULL
#define PAGE	32
#define FIRST	(LOG / RESSD_PATTERN_BATCH_PART)

static struct ressd_pattern seen;

/* A device with so many open units; a small write has at most 128 KiB. */
static inline void init_units(u32 open_units)
{
	const struct ressd_pattern_options options = {
		.streams = 16, .small_sectors = 256, .open_units = open_units,
		.unit_sectors = UNIT, .unit_phase = 0, .log_sectors = LOG,
	};

	ressd_pattern_init(&seen);
	ressd_pattern_set(&seen, &options);
}

/* A device that writes so many sectors at once. */
static inline void init_pages(u32 open_units)
{
	struct ressd_pattern_options options;

	init_units(open_units);
	options = seen.options;
	options.page_sectors = PAGE;
	ressd_pattern_set(&seen, &options);
}

/* A small write that a flush follows. */
static inline bool committed(u64 sector, u32 sectors, bool moving)
{
	bool log = ressd_pattern_write(&seen, sector, sectors, moving);

	ressd_pattern_flush(&seen);
	return log;
}

/* The mover has visited as many units as the device can have open, far away. */
static inline void visit_all(void)
{
	u32 i;

	for (i = 0; i < seen.options.open_units; i++)
		ressd_pattern_visit(&seen, (5000 + i) * UNIT);
}

#endif
