// SPDX-License-Identifier: GPL-2.0-only
/*
 * What applications gain by the suggested table line; see loads.h.  The figures behind the
 * constants are in docs/notebook/probe-score.md.
 */
#include "judge/analyse.h"
#include "ressd-geom.h"
#include "ressd-pattern.h"
#include "ressd-route.h"

/* What the drive's state does to a load, even one that passes by the log: nine drives of ten. */
#define MARGIN		0.10
/* By what the terms of a commit's cost are wrong, besides. */
#define COMMIT_MARGIN	0.20
/* A range that is wider, high over low, says nothing. */
#define WIDEST		5.0
/* A flushed write that takes so many times as long as a flush has met something else. */
#define CONTRADICTS	10
/* No erase block of flash has fewer pages. */
#define LEAST_PAGES	64U
/* What the trials of route adaptive leave of commits, on nine drives of ten. */
#define TRIALS_LEAVE	0.8
/* The gain from which on route adaptive takes the log. */
#define TAKEN_FROM	(100.0 / (100 - RESSD_ROUTE_TAKE_PERCENT))

/* A part of an installation by dpkg, until the journal is written back, as a trace has it. */
#define INSTALL_BYTES	18e6		/* files and journal, both in order */
#define INSTALL_COMMITS	100U		/* of the journal, of two flushes each */
#define METADATA_WRITES	48U		/* at the end, spread over ... */
#define METADATA_BYTES	(24U << 20)

/* Of a time in ns, or of a gain; high 0: not known. */
struct range {
	double low, high;
};

/* Where a load is judged. */
struct loads_desk {
	const struct measurements *measurements;
	const struct finding *findings;
	const struct ressd_options *options;
	const struct rehearsal *rehearsal;
	double move_ns;		/* of a block, as often as random writes move one */
	double append_ns;	/* of a flushed write that opens no clustered block; 0: not known */
};

static const struct {
	const char *name, *title;
} loads[NR_LOADS] = {
	[LOAD_COMMIT] = { "database-commit", "database commit" },
	[LOAD_INSTALL] = { "package-installation", "package installation" },
	[LOAD_COPY] = { "large-copy", "large copy" },
};

const char *load_name(enum load load)
{
	return loads[load].name;
}

const char *load_title(enum load load)
{
	return loads[load].title;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

static bool is_known(struct range range)
{
	return range.high > 0;
}

static struct range widened(double low, double high, double margin)
{
	return (struct range){ low / (1 + margin), high * (1 + margin) };
}

/* The same on both sides. */
static struct range unchanged(void)
{
	return widened(1, 1, MARGIN);
}

/* Figures are wrong by half their spread at most. */
static double commit_margin(const struct loads_desk *desk)
{
	return most(COMMIT_MARGIN, most(desk->rehearsal->spread_percent,
					desk->rehearsal->direct_spread_percent) / 200);
}

/*
 * A flushed write that closes a block is what a commit at a random place is.  Where none was seen a
 * commit costs as much as a random write, or as a flush, if that takes longer.
 */
static struct range bare_commit_ns(const struct loads_desk *desk)
{
	const struct finding *units = &desk->findings[PARAMETER_OPEN_UNITS];
	const double direct = desk->rehearsal->direct_ns, closing = units->effect * units->usual_ns;
	const double flush = desk->findings[PARAMETER_FLUSH_COST].value;

	if (closing && units->status != STATUS_INCONCLUSIVE)
		return (struct range){ closing, closing };
	return (struct range){ direct, most(direct, most(flush, desk->append_ns)) };
}

/* Clustered pages of a clustered block; 0: not known. */
static double pages_of_block(const struct loads_desk *desk)
{
	const struct finding *page = &desk->findings[PARAMETER_PAGE];

	if (!desk->options->move_block_sectors || page->status != STATUS_MEASURED || !page->value)
		return 0;
	return desk->findings[PARAMETER_BLOCK].value / (double)page->value;
}

/*
 * Writes into the log are flushed one by one, so each takes a clustered page, and when all pages
 * of a clustered block are taken the next one opens another, and closes one: @closing.
 */
static struct range opening_ns(const struct loads_desk *desk, double closing)
{
	const double pages = pages_of_block(desk);

	if (pages)
		return (struct range){ closing / pages, closing / pages };
	/* Where log blocks are shared they are taken from all, each as a random write takes one. */
	return (struct range){ 0, desk->rehearsal->pauses ? closing : closing / LEAST_PAGES };
}

/*
 * Each commit is a record of two blocks, header and data, or of a whole page.  So the log holds
 * half as many blocks as of random writes, or far fewer, and a visit finds as many less.  To write
 * one back costs as much as one of theirs, or as much more, at most what a random write does.
 */
static struct range moving_ns(const struct loads_desk *desk)
{
	const double live = 1 - desk->rehearsal->overwritten_percent / 100.0;
	const double alone = desk->options->log_align_sectors / RESSD_BLOCK_SECTORS * desk->move_ns;

	return (struct range){ live * desk->move_ns,
			       most(2 * desk->move_ns, least(alone, desk->rehearsal->direct_ns)) };
}

static struct range commit_gain(const struct loads_desk *desk)
{
	const struct range bare = bare_commit_ns(desk), opening = opening_ns(desk, bare.low);
	const struct range moving = moving_ns(desk);
	const double append = desk->append_ns;

	if (!append)
		return (struct range){ 0 };
	return widened(bare.low / (append + opening.high + moving.high),
		       bare.high / (append + opening.low + moving.low), commit_margin(desk));
}

/*
 * Where few blocks are open the log takes what goes to others: at worst all is written twice, at
 * best it spares what metadata open, and the pages that flushes leave partly written: one of files
 * and two of the journal for each commit.  Where there are many all goes to open blocks.
 */
static struct range install_in_blocks(const struct loads_desk *desk)
{
	const u64 bandwidth = desk->measurements->sequential_write.bandwidth;
	const u64 block = desk->findings[PARAMETER_BLOCK].value;
	const u32 units = desk->options->open_units;
	const double in_order = INSTALL_BYTES * 1e9 / bandwidth;
	const double all = in_order + 2 * INSTALL_COMMITS * desk->append_ns;
	const double pages = pages_of_block(desk);
	double opened = least(METADATA_WRITES, METADATA_BYTES / (double)block) +
			3 * INSTALL_COMMITS / (pages ? pages : LEAST_PAGES);

	if (units > RESSD_PATTERN_FEW_UNITS)
		return unchanged();
	/* Files and journal take turns in a single one. */
	if (units == 1)
		opened += 2 * INSTALL_COMMITS;
	return widened(all / (all + (units ? in_order : 0)),
		       1 + opened * desk->rehearsal->direct_ns / all, MARGIN);
}

/* @commit: what a database gains, and the commits of a journal at most. */
static struct range install_gain(const struct loads_desk *desk, struct range commit)
{
	if (!is_known(commit) || !desk->measurements->sequential_write.bandwidth)
		return (struct range){ 0 };
	if (desk->rehearsal->working_set)
		return (struct range){ unchanged().low, most(unchanged().high, commit.high) };
	if (!desk->options->move_block_sectors)
		return (struct range){ 0 };
	return install_in_blocks(desk);
}

/*
 * Route adaptive takes the log only where that gains, but it may err: where random writes have
 * filled the log, the trial that a load begins with pays for these.
 */
static struct range routed(const struct loads_desk *desk, const struct analysis *analysis,
			   struct range log, double trials_leave)
{
	if (desk->options->route != RESSD_ROUTE_ADAPTIVE)
		return log;
	if (!analysis->adaptive_takes)
		return (struct range){ trials_leave, unchanged().high };
	if (!is_known(log) || log.low >= TAKEN_FROM)
		return log;
	/* The trials come on top of what is lost in the log. */
	return (struct range){ least(log.low, 1) * trials_leave,
			       log.high < TAKEN_FROM ? unchanged().high : log.high };
}

static struct load_gain in_percent(struct range gain)
{
	if (!is_known(gain) || gain.high > WIDEST * gain.low)
		return (struct load_gain){ 0 };
	return (struct load_gain){ gain.low * 100, gain.high * 100 + 0.5 };
}

/*
 * Where blocks are not known random writes leave garbage, or blocks to be merged, which writes in
 * order pay for: the longer they take behind random writes than before any.
 */
static double copy_pays(const struct loads_desk *desk)
{
	const double ns = analyse_transfers_ns(&desk->measurements->sequential_write, 1 << 20, 0);
	const u64 before_ns = desk->findings[PARAMETER_FAST_AREA].usual_ns;

	return desk->rehearsal->working_set && before_ns ? most(ns / before_ns, 1) : 1;
}

/*
 * The target passes these by, or cuts them.  What random writes have left may wait for the copy on
 * one side, and not on the other.
 */
static struct range copy_gain(const struct loads_desk *desk)
{
	const double cut = desk->findings[PARAMETER_CUT].effect, paid = copy_pays(desk);

	return widened(1 / paid, paid * (desk->options->split_write_sectors ? most(cut, 1) : 1),
		       MARGIN);
}

/*
 * Where blocks are not known the writes may have opened some: not known where it contradicts what a
 * flush costs.
 */
static double append_ns(const struct finding *findings, const struct ressd_options *options)
{
	const double usual = findings[PARAMETER_OPEN_UNITS].usual_ns;
	const double flush = findings[PARAMETER_FLUSH_COST].value;

	if (!options->move_block_sectors && flush && usual > CONTRADICTS * flush)
		return 0;
	return usual;
}

void loads_judge(const struct measurements *measurements, const struct finding *findings,
		 const struct analysis *analysis, const struct ressd_options *options,
		 struct load_gain gains[NR_LOADS])
{
	const struct rehearsal *rehearsal = &measurements->rehearsal[0];
	const struct loads_desk desk = {
		measurements, findings, options, rehearsal,
		.append_ns = rehearsal->done ? append_ns(findings, options) : 0,
		.move_ns = (double)analysis->by_size[0].through_ns - rehearsal->log_ns,
	};
	const struct range commit = commit_gain(&desk);
	const struct range install = install_gain(&desk, commit);

	gains[LOAD_COMMIT] = in_percent(routed(&desk, analysis, commit, TRIALS_LEAVE));
	gains[LOAD_INSTALL] = in_percent(routed(&desk, analysis, install, unchanged().low));
	gains[LOAD_COPY] = in_percent(copy_gain(&desk));
}
