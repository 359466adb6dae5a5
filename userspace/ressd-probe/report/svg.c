// SPDX-License-Identifier: GPL-2.0-only
/* Charts as SVG; see svg.h. */
#include <math.h>
#include "report/svg.h"

#define WIDTH		720.0
#define HEIGHT		400.0
#define LEFT		80.0
#define RIGHT		20.0
#define TOP		40.0
#define BOTTOM		60.0
#define TICKS		6

static const char *const colours[] = { "#1f5fa8", "#c4501b" };

/* From values to places on the paper. */
struct axis {
	double low, high;	/* values, logarithms on a logarithmic axis */
	double from, to;	/* places */
	double base;		/* of the logarithm; 0: a linear axis */
	bool used;		/* low and high are set */
};

void svg_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		default:
			fputc(*text, file);
		}
	}
}

static double scaled(const struct axis *axis, double value)
{
	return axis->base > 0 ? log(value) / log(axis->base) : value;
}

static double place(const struct axis *axis, double value)
{
	const double range = axis->high > axis->low ? axis->high - axis->low : 1;

	return axis->from + (scaled(axis, value) - axis->low) / range * (axis->to - axis->from);
}

static bool can_show(const struct axis *x, const struct axis *y, double a, double b)
{
	return (x->base <= 0 || a > 0) && (y->base <= 0 || b > 0);
}

static void begin(FILE *file, const char *title)
{
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	fprintf(file, "<text x=\"%.0f\" y=\"22\" font-size=\"15\" font-weight=\"bold\">", LEFT);
	svg_text(file, title);
	fputs("</text>\n", file);
}

static void label(FILE *file, double x, double y, const char *anchor, const char *text)
{
	fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	svg_text(file, text);
	fputs("</text>\n", file);
}

static void draw_segment(FILE *file, double x1, double y1, double x2, double y2, const char *colour)
{
	fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1,
		y1, x2, y2, colour);
}

/* "4k" instead of 4096 where the axis is one of powers of two. */
static void number(double value, bool binary, char text[32])
{
	if (binary && value >= 1024 && value < 1e7)
		snprintf(text, 32, "%.4gk", value / 1024);
	else if (fabs(value) >= 1000 && fabs(value) < 1e7)
		snprintf(text, 32, "%.0f", value);
	else
		snprintf(text, 32, "%.4g", value);
}

/* The distance of ticks on a linear axis: 1, 2 or 5 times a power of ten. */
static double tick_step(double range)
{
	const double rough = range / TICKS, power = pow(10, floor(log10(rough > 0 ? rough : 1)));

	if (rough <= power)
		return power;
	if (rough <= 2 * power)
		return 2 * power;
	return rough <= 5 * power ? 5 * power : 10 * power;
}

static double first_tick(const struct axis *axis, double step)
{
	/* Never minus zero, which would be printed so. */
	return ceil(axis->low / step - 0.000001) * step + 0.0;
}

static double step_of(const struct axis *axis)
{
	if (axis->base <= 0)
		return tick_step(axis->high - axis->low);
	return axis->high - axis->low > 2 * TICKS ? 2 : 1;
}

static double value_of(const struct axis *axis, double tick)
{
	return axis->base > 0 ? pow(axis->base, tick) : tick;
}

static void draw_x_axis(FILE *file, const struct axis *x, const char *title)
{
	const double step = step_of(x);
	double tick;
	char text[32];

	for (tick = first_tick(x, step); tick <= x->high + step / 1e6; tick += step) {
		const double at = place(x, value_of(x, tick));

		number(value_of(x, tick), x->base == 2, text);
		draw_segment(file, at, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 5, "black");
		label(file, at, HEIGHT - BOTTOM + 20, "middle", text);
	}
	draw_segment(file, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "black");
	label(file, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "middle", title);
}

static void draw_y_axis(FILE *file, const struct axis *y, const char *title)
{
	const double step = step_of(y);
	double tick;
	char text[32];

	for (tick = first_tick(y, step); tick <= y->high + step / 1e6; tick += step) {
		const double at = place(y, value_of(y, tick));

		number(value_of(y, tick), false, text);
		draw_segment(file, LEFT, at, WIDTH - RIGHT, at, "#dddddd");
		label(file, LEFT - 6, at + 4, "end", text);
	}
	draw_segment(file, LEFT, TOP, LEFT, HEIGHT - BOTTOM, "black");
	fprintf(file,
		"<text transform=\"translate(18 %.0f) rotate(-90)\" text-anchor=\"middle\">",
		(TOP + HEIGHT - BOTTOM) / 2);
	svg_text(file, title);
	fputs("</text>\n", file);
}

/* The range of values that the first call begins, and the others widen. */
static void widen(struct axis *axis, double value)
{
	const double at = scaled(axis, value);

	axis->low = axis->used ? fmin(axis->low, at) : at;
	axis->high = axis->used ? fmax(axis->high, at) : at;
	axis->used = true;
}

/* Room for all that can be shown; a linear axis begins at zero. */
static void find_range(const struct svg_chart *chart, struct axis *x, struct axis *y)
{
	unsigned int s, i;

	for (s = 0; s < chart->nr_series; s++) {
		for (i = 0; i < chart->series[s]->count; i++) {
			const double a = chart->series[s]->x[i], b = chart->series[s]->y[i];

			if (!can_show(x, y, a, b))
				continue;
			widen(x, a);
			widen(y, b);
		}
	}
	if (y->base > 0) {
		y->low = floor(y->low);
		y->high = fmax(ceil(y->high), y->low + 1);
	} else {
		y->low = 0;
		y->high = y->high > 0 ? y->high * 1.05 : 1;
	}
}

static void draw_line(FILE *file, const struct series *series, const struct axis *x,
		      const struct axis *y, const char *colour)
{
	unsigned int i;

	fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"",
		colour);
	for (i = 0; i < series->count; i++)
		if (can_show(x, y, series->x[i], series->y[i]))
			fprintf(file, "%.1f,%.1f ", place(x, series->x[i]),
				place(y, series->y[i]));
	fputs("\"/>\n", file);
}

static void draw_points(FILE *file, const struct series *series, const struct axis *x,
			const struct axis *y, const char *colour)
{
	unsigned int i;

	for (i = 0; i < series->count; i++)
		if (can_show(x, y, series->x[i], series->y[i]))
			fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\"/>\n",
				place(x, series->x[i]), place(y, series->y[i]), colour);
}

static void draw_mark(FILE *file, const struct svg_chart *chart, const struct axis *x)
{
	const double at = chart->mark_x > 0 ? place(x, chart->mark_x) : 0;

	if (at < LEFT || at > WIDTH - RIGHT)
		return;
	fprintf(file,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#2a7d3f\" stroke-dasharray=\"6 4\"/>\n",
		at, TOP, at, HEIGHT - BOTTOM);
	fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#2a7d3f\">",
		at + (at > WIDTH / 2 ? -5 : 5), HEIGHT - BOTTOM - 8,
		at > WIDTH / 2 ? "end" : "start");
	svg_text(file, chart->mark_name);
	fputs("</text>\n", file);
}

static void draw_legend(FILE *file, const struct svg_chart *chart)
{
	unsigned int s;

	for (s = 0; s < chart->nr_series; s++) {
		const double y = TOP + 14 + 18 * s;

		fprintf(file,
			"<rect x=\"%.0f\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n",
			LEFT + 12, y - 6, colours[s]);
		label(file, LEFT + 32, y, "start", chart->series[s]->name);
	}
}

void svg_chart(FILE *file, const struct svg_chart *chart)
{
	struct axis x = { .from = LEFT, .to = WIDTH - RIGHT, .base = chart->log_x ? 2 : 0 };
	struct axis y = { .from = HEIGHT - BOTTOM, .to = TOP, .base = chart->log_y ? 10 : 0 };
	unsigned int s;

	find_range(chart, &x, &y);
	begin(file, chart->title);
	draw_y_axis(file, &y, chart->y_title);
	draw_x_axis(file, &x, chart->x_title);
	for (s = 0; s < chart->nr_series; s++) {
		if (chart->points)
			draw_points(file, chart->series[s], &x, &y, colours[s]);
		else
			draw_line(file, chart->series[s], &x, &y, colours[s]);
	}
	draw_mark(file, chart, &x);
	draw_legend(file, chart);
	fputs("</svg>\n", file);
}

static void draw_bar(FILE *file, const struct svg_bars *bars, unsigned int i, const struct axis *y)
{
	const double room = (WIDTH - LEFT - RIGHT) / bars->count, x = LEFT + i * room;
	const double top = place(y, bars->bar[i].value);
	char text[32];

	fprintf(file,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
		x + room * 0.15, top, room * 0.7, HEIGHT - BOTTOM - top, colours[0]);
	number(bars->bar[i].value, false, text);
	label(file, x + room / 2, top - 5, "middle", text);
	label(file, x + room / 2, HEIGHT - BOTTOM + (i % 2 ? 36 : 18), "middle", bars->bar[i].name);
}

void svg_bars(FILE *file, const struct svg_bars *bars)
{
	struct axis y = { .from = HEIGHT - BOTTOM, .to = TOP, .base = 10 };
	unsigned int i;

	for (i = 0; i < bars->count; i++)
		if (bars->bar[i].value > 0)
			widen(&y, bars->bar[i].value);
	/* The least bar must be one, too. */
	y.low = floor(y.low - 0.3);
	y.high = ceil(y.high + 0.1);
	begin(file, bars->title);
	draw_y_axis(file, &y, bars->y_title);
	draw_segment(file, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "black");
	for (i = 0; i < bars->count; i++)
		if (bars->bar[i].value > 0)
			draw_bar(file, bars, i, &y);
	fputs("</svg>\n", file);
}
