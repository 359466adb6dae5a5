/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The charts of the papers for this drive (--report): what ME and PA let a person read off, next to
 * what the searches have decided.  ME = parameter extraction, PA = parameter-aware I/O.
 */
#ifndef PROBE_CHARTS_H
#define PROBE_CHARTS_H

#include "find/survey.h"

#define CHART_POINTS	512U

/* Device time for all charts of --report. */
#define CHART_SECONDS	60U

/* What all charts of --report write together, besides what was measured before. */
#define CHARTS_BYTES	(512ULL << 20)

struct series {
	const char *name;	/* in the legend */
	unsigned int count;
	double x[CHART_POINTS];
	double y[CHART_POINTS];
};

struct charts {
	struct series page;		/* ME Fig. 5: KiB of a flushed write, ms */
	struct series sequential;	/* ME Fig. 6: KiB of a request, MB/s */
	struct series random;
	struct series modes;		/* ME Fig. 7: number of a write of a page, ms */
	struct series read_first;	/* ME Fig. 8: KiB, ms; not read before, ... */
	struct series read_again;	/* ... and a second time */
	struct series write_full;	/* ME Fig. 9: KiB, ms; the write buffer is full, ... */
	struct series write_empty;	/* ... or empty */
};

/*
 * Measures all of them, those of writes only if survey->may_write, in at most @seconds of device
 * time, and with @bytes at most.  These, a limit of bytes or a small region shorten them.
 * 0, or a negative errno with a sentence.
 */
int charts_measure(struct charts *charts, struct survey *survey, unsigned int seconds, u64 bytes,
		   struct failure *failure);

/*
 * A series by its number, with a word for programs and what x and y are; NULL behind the last one.
 * It has no points if it was not measured.
 */
struct series_key {
	const char *name;
	const char *x;
	const char *y;
};

const struct series *charts_series(const struct charts *charts, unsigned int number,
				   const struct series_key **key);

#endif
