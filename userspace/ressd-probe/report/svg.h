/* SPDX-License-Identifier: GPL-2.0-only */
/* Charts as SVG: points, lines and bars with axes.  Pure, but for the file that it writes to. */
#ifndef PROBE_SVG_H
#define PROBE_SVG_H

#include <stdbool.h>
#include <stdio.h>
#include "find/charts.h"

struct svg_chart {
	const char *title;
	const char *x_title;
	const char *y_title;
	bool log_x;		/* powers of two */
	bool log_y;		/* powers of ten */
	bool points;		/* not joined by lines */
	double mark_x;		/* a line to compare with, at this x; 0: none */
	const char *mark_name;
	const struct series *series[2];
	unsigned int nr_series;
};

/* Points that are not positive cannot be on a logarithmic axis, and are left out. */
void svg_chart(FILE *file, const struct svg_chart *chart);

#define SVG_BARS	12U

/* Bars from left to right on a logarithmic axis; bars that are not positive are left out. */
struct svg_bars {
	const char *title;
	const char *y_title;
	unsigned int count;
	struct {
		const char *name;
		double value;
	} bar[SVG_BARS];
};

void svg_bars(FILE *file, const struct svg_bars *bars);

/* Text with &, < and > made harmless, for SVG and HTML. */
void svg_text(FILE *file, const char *text);

#endif
