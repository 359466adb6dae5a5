// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what is known of a drive to the options of the target, each with its reason; see analyse.h.
 * An option that this version of the target does not know is left out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "judge/analyse.h"
#include "ressd-geom.h"
#include "ressd-pattern.h"

#define BLOCK		4096U
#define WAIT_FROM	2		/* moving is so many times as fast as a random write */

/* Where an option is decided. */
struct advice_desk {
	const struct measurements *measurements;
	const struct finding *findings;
	struct analysis *analysis;
	struct ressd_options *options;
};

/* The segment size is an option of formatting; it cannot be set on a device. */
static bool set_option(struct ressd_options *options, const char *key, const char *value)
{
	char error[RESSD_ERROR_SIZE], key_copy[32], value_copy[24];
	char *words[] = { key_copy, value_copy };

	snprintf(key_copy, sizeof(key_copy), "%s", key);
	snprintf(value_copy, sizeof(value_copy), "%s", value);
	return !ressd_options_parse(options, 2, words, error, sizeof(error));
}

static void put(struct advice_desk *desk, const char *key, const char *value, const char *format,
		...) __attribute__((format(printf, 4, 5)));

/* Sets an option and writes down why. */
static void put(struct advice_desk *desk, const char *key, const char *value, const char *format,
		...)
{
	const struct ressd_options before = *desk->options;
	struct analysis *analysis = desk->analysis;
	struct advice *advice = &analysis->advice[analysis->nr_advice];
	va_list arguments;

	if (analysis->nr_advice == MAX_ADVICE || !set_option(desk->options, key, value))
		return;
	analysis->nr_advice++;
	advice->key = key;
	advice->is_default = !memcmp(&before, desk->options, sizeof(before));
	snprintf(advice->value, sizeof(advice->value), "%s", value);
	va_start(arguments, format);
	vsnprintf(advice->reason, sizeof(advice->reason), format, arguments);
	va_end(arguments);
}

static const char *number(u64 value, char text[24])
{
	snprintf(text, 24, "%llu", value);
	return text;
}

static bool is_known(const struct finding *finding)
{
	return finding->status == STATUS_MEASURED && finding->confidence >= CONFIDENCE_MEDIUM;
}

static bool is_usable(const struct advice_desk *desk)
{
	return analyse_can_rewrite(desk->measurements, &desk->findings[PARAMETER_BLOCK]);
}

static bool open_units_are_seen(const struct advice_desk *desk)
{
	const struct finding *units = &desk->findings[PARAMETER_OPEN_UNITS];

	return (units->status == STATUS_MEASURED || units->status == STATUS_BOUNDED) &&
	       units->confidence >= CONFIDENCE_MEDIUM;
}

/* Is a write to an open block cheap enough to go there, not to the log? */
static bool open_units_are_cheap(const struct advice_desk *desk)
{
	const struct rehearsal *rehearsal = &desk->measurements->rehearsal[0];
	const struct finding *units = &desk->findings[PARAMETER_OPEN_UNITS];

	return rehearsal->done && units->usual_ns &&
	       units->usual_ns <= rehearsal->log_ns + rehearsal->move_ns;
}

/*
 * Open blocks, if their number tells the target what to do: they are so few that a journal, a
 * database's log and the target's own log would take turns in them; or so many that what an
 * application writes to for a while may all stay open, and a write to such a block costs little.
 * Of many, fewer than there are do no harm, but a drive that shares its log blocks opens none.
 * Else 0.
 */
static u64 useful_open_units(const struct advice_desk *desk)
{
	const struct finding *units = &desk->findings[PARAMETER_OPEN_UNITS];

	if (!open_units_are_seen(desk) || !is_usable(desk) ||
	    !(desk->analysis->verdict == VERDICT_WORTH || desk->analysis->adaptive_takes))
		return 0;
	if (units->low <= RESSD_PATTERN_FEW_UNITS)
		return units->high == ~0ULL ? 0 : units->low;
	if (units->high == ~0ULL && desk->analysis->working_set)
		return 0;
	return open_units_are_cheap(desk) ? units->low : 0;
}

static bool has_few_open_units(const struct advice_desk *desk)
{
	const u64 units = useful_open_units(desk);

	return units && units <= RESSD_PATTERN_FEW_UNITS;
}

/* Ever larger writes, as long as each gains in the rehearsal. */
static void advise_rehearsed_size(struct advice_desk *desk)
{
	const struct size_verdict *sizes = desk->analysis->by_size;
	const struct size_verdict *largest = &sizes[0], *next;
	char text[24];
	int i;

	for (i = 1; i < NR_REHEARSALS && sizes[i].known &&
	     sizes[i].gain_percent >= ANALYSE_MARGIN; i++)
		largest = &sizes[i];
	next = i < NR_REHEARSALS && sizes[i].known ? &sizes[i] : NULL;
	if (desk->analysis->verdict == VERDICT_LOCALITY && !desk->analysis->adaptive_takes)
		put(desk, "small_write_sectors", number(largest->size / 512, text),
		    "the smallest, because even they gain only by being overwritten");
	else if (next)
		put(desk, "small_write_sectors", number(largest->size / 512, text),
		    "writes of %u KiB are %u.%02u times as fast through the log, of %u KiB %u.%02u times (at least %u.%02u needed)",
		    largest->size >> 10, largest->gain_percent / 100, largest->gain_percent % 100,
		    next->size >> 10, next->gain_percent / 100, next->gain_percent % 100,
		    ANALYSE_MARGIN / 100, ANALYSE_MARGIN % 100);
	else
		put(desk, "small_write_sectors", number(largest->size / 512, text),
		    "writes of %u KiB are %u.%02u times as fast through the log; larger ones were not tried",
		    largest->size >> 10, largest->gain_percent / 100, largest->gain_percent % 100);
}

static void advise_small_write(struct advice_desk *desk)
{
	const struct cost *cost = &desk->analysis->cost[SIZE_8K];
	const bool gains = desk->analysis->has_cost[SIZE_8K] &&
			   cost->gain_percent >= ANALYSE_MARGIN;

	if (has_few_open_units(desk))
		put(desk, "small_write_sectors", "256",
		    "a direct write opens one of the few blocks that the drive keeps open, and closes another");
	else if (desk->analysis->by_size[0].known)
		advise_rehearsed_size(desk);
	else
		put(desk, "small_write_sectors", gains ? "16" : "8",
		    "the model: 8 KiB writes through the log are %u.%02u times as fast (at least %u.%02u needed)",
		    cost->gain_percent / 100, cost->gain_percent % 100, ANALYSE_MARGIN / 100,
		    ANALYSE_MARGIN % 100);
}

/* How many times as fast as a random write is one that the mover makes; percent, 0: not known. */
static u64 move_percent(const struct advice_desk *desk)
{
	const struct rehearsal *rehearsal = &desk->measurements->rehearsal[0];
	const u64 random = desk->measurements->random_write[SIZE_4K].bandwidth;
	const u64 ordered = desk->measurements->ordered_write[SIZE_4K].bandwidth;

	if (rehearsal->done && rehearsal->move_ns)
		return rehearsal->direct_ns * 100 / rehearsal->move_ns;
	return random ? ordered * 100 / random : 0;
}

/* Does every small random write gain, wherever it goes, whatever was written before? */
static bool gains_always(const struct advice_desk *desk)
{
	return desk->analysis->verdict == VERDICT_WORTH;
}

/* Costs that the target could not find by its trials: see ressd-route.h. */
static void advise_adaptive(struct advice_desk *desk)
{
	char text[24];

	put(desk, "route", "adaptive",
	    "what a random write costs depends on how much of the drive they go to: the target sees it");
	put(desk, "log_cost_us", number(desk->analysis->by_size[0].through_ns / 1000, text),
	    "the rehearsal has taken so long for a block logged and written back");
}

static void advise_route(struct advice_desk *desk)
{
	put(desk, "streams", "16",
	    "no parameter of the drive matters for it; each stream costs the comparison of a number");
	if (gains_always(desk))
		put(desk, "route", "always",
		    "small random writes gain even if nothing is overwritten in the log");
	else if (desk->analysis->adaptive_takes)
		advise_adaptive(desk);
	else if (advise_gains_by_always(desk->analysis))
		put(desk, "route", "adaptive",
		    "it loses nothing where writes go to more of the drive; what is overwritten in the log does not count for it");
	else
		put(desk, "route", "adaptive",
		    "it pays only while at least %u %% of the logged blocks are overwritten in time",
		    desk->analysis->alpha_percent);
}

/*
 * Where small writes mostly go past the log it is mostly empty, and a drive that maps pages copies
 * what it held until it is told so.
 */
static void advise_discard(struct advice_desk *desk)
{
	const bool takes = desk->measurements->takes_discards;
	const bool always = gains_always(desk);

	put(desk, "log_discard", takes && !always ? "on" : "off",
	    !takes ? "without effect, for the device takes no discards" :
	    always ? "the default: that it gains where all goes through the log nobody has seen" :
		    "where the log is empty the drive need not copy what it held");
}

/* A commit that is written with all of its page spares the drive reading the rest of it. */
static void advise_rewrite(struct advice_desk *desk)
{
	const struct finding *rewrite = &desk->findings[PARAMETER_REWRITE];

	if (rewrite->status != STATUS_MEASURED || !rewrite->value)
		put(desk, "log_rewrite", "off", "not seen to make commits shorter");
	else
		put(desk, "log_rewrite", "on",
		    "a commit written with all of its page takes %.2f ms less",
		    rewrite->value / 1e6);
}

/*
 * Appends that end on a page border spare the drive reading the rest of the page, but then each
 * commit of a few blocks takes a whole page of the log.  Where the block is known, to fill its
 * first page does the most of it for less.
 */
static void advise_page(struct advice_desk *desk)
{
	const struct finding *page = &desk->findings[PARAMETER_PAGE];
	char text[24];

	if (!is_known(page) || page->value <= BLOCK || page->value > 512 << 10) {
		put(desk, "log_align_sectors", "0",
		    "no clustered page above 4 KiB was found with certainty");
		return;
	}
	if (!is_usable(desk)) {
		put(desk, "log_align_sectors", number(page->value / 512, text),
		    "the clustered page has %llu KiB: appends that end on its borders are not read first",
		    page->value >> 10);
		return;
	}
	put(desk, "log_align_sectors", "0",
	    "a commit of one block would take a clustered page of %llu KiB", page->value >> 10);
	put(desk, "log_page_sectors", number(page->value / 512, text),
	    "a record fills the first page of a clustered block, %llu KiB, at once",
	    page->value >> 10);
	advise_rewrite(desk);
}

/*
 * A batch that fills whole pages; the default is kept when it does already.  Where only one block
 * is open, log and mover take turns in it, and each turn costs a merge: then a batch is a block.
 */
static void advise_batch(struct advice_desk *desk)
{
	const struct finding *page = &desk->findings[PARAMETER_PAGE];
	const u64 block = desk->findings[PARAMETER_BLOCK].value / 512;
	const u32 batch = desk->options->move_batch_sectors, sectors = page->value / 512;
	char text[24];

	if (useful_open_units(desk) == 1)
		put(desk, "move_batch_sectors",
		    number(block < RESSD_MAX_MOVE_BATCH_SECTORS ?
			   block : RESSD_MAX_MOVE_BATCH_SECTORS, text),
		    "log and mover take turns in the one block that the drive keeps open");
	else if (!is_known(page) || !sectors || sectors > batch)
		put(desk, "move_batch_sectors", number(batch, text),
		    "the default: no clustered page is known that it should be a multiple of");
	else
		put(desk, "move_batch_sectors", number(batch - batch % sectors, text),
		    "a whole number of clustered pages of %llu KiB", page->value >> 10);
}

/* A segment that is a block is erased as a whole when it is used again. */
static void advise_segment(struct advice_desk *desk)
{
	const struct finding *block = &desk->findings[PARAMETER_BLOCK];
	const u64 sectors = block->value / 512;
	char text[24];

	if (!is_known(block) || !block->has_phase || sectors % RESSD_BLOCK_SECTORS ||
	    sectors < RESSD_MIN_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS ||
	    sectors > RESSD_MAX_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS)
		return;
	put(desk, "segment_sectors", number(sectors, text),
	    "the clustered block has %llu KiB: a segment that is used again is erased whole",
	    block->value >> 10);
}

/*
 * The mover can bring blocks home one by one, or read a whole clustered block and write it anew,
 * which costs the drive no merge.
 */
static void advise_fill(struct advice_desk *desk)
{
	const struct finding *block = &desk->findings[PARAMETER_BLOCK];
	const double whole = analyse_rewrite_ns(desk->measurements, block->value);
	u64 fill;
	char text[24];

	if (!is_usable(desk))
		return;
	fill = analyse_fill_from(desk->measurements, block->value);
	put(desk, "move_block_sectors", number(block->value / 512, text),
	    "the clustered block has %llu KiB and begins with the disk", block->value >> 10);
	if (!desk->measurements->sequential_read.done ||
	    !(fill || analyse_knows_distances(desk->measurements)))
		return;
	put(desk, "move_fill_blocks", number(fill, text),
	    "reading and writing a whole clustered block takes %.1f ms; ordered writes of that many blocks take longer (0: never)",
	    whole / 1e6);
}

/* To be decided when move_block_sectors is. */
static void advise_units(struct advice_desk *desk)
{
	const u64 units = useful_open_units(desk);
	char text[24];

	if (units)
		put(desk, "open_units", number(units, text),
		    "so many blocks can be written in turn; the log and the mover take one each");
}

/*
 * Some firmware empties its buffer for a write that is longer, and programs the pages in which two
 * such writes meet twice.
 */
static void advise_cut(struct advice_desk *desk)
{
	const struct finding *cut = &desk->findings[PARAMETER_CUT];
	const struct finding *page = &desk->findings[PARAMETER_PAGE];
	char text[24];

	/* The target's boundaries count from the start of the disk, also on a partition. */
	if (cut->status != STATUS_MEASURED || !cut->value || !is_known(page) ||
	    (desk->measurements->disk_offset + page->phase) % page->value)
		return;
	put(desk, "split_write_sectors", number(cut->value / 512, text),
	    "writes longer than the buffer, cut to %llu KiB, are %.2f times as fast",
	    cut->value >> 10, cut->effect);
	put(desk, "align_sectors", number(page->value / 512, text),
	    "the pieces begin at clustered pages of %llu KiB", page->value >> 10);
}

/*
 * With a full log, a small write can wait for the mover or go to the normal area.  There it costs a
 * random write and disturbs the mover's order; waiting costs one ordered write.
 */
static void advise_full(struct advice_desk *desk)
{
	const u64 ratio = move_percent(desk);
	/* What passes a full log would be timed with a trial of route adaptive. */
	const bool in_trial = desk->analysis->adaptive_takes;
	const bool wait = in_trial || (gains_always(desk) && ratio >= WAIT_FROM * 100);

	if (in_trial)
		put(desk, "on_full", "wait",
		    "a write that passes a full log would disturb what route adaptive measures");
	else
		put(desk, "on_full", wait ? "wait" : "bypass",
		    "writing a block back takes 1/%llu.%02llu of the time of a random write (wait from 1/%u on)",
		    ratio / 100, ratio % 100, WAIT_FROM);
	put(desk, "pace", "even", wait ?
	    "as writers wait for the mover when the log is full, they do so evenly" :
	    "without effect, for on_full is bypass");
	if (is_usable(desk))
		put(desk, "move_threshold", "20",
		    "the fuller the log, the more each visit to a block of the drive writes back");
	else
		put(desk, "move_threshold", "50",
		    "RE 3.4: half of the log is moved at a time, which keeps the sweep dense");
}

bool advise_gains_by_always(const struct analysis *analysis)
{
	return analysis->verdict == VERDICT_LOCALITY && !analysis->adaptive_takes &&
	       analysis->alpha_percent <= analysis->overwritten_percent;
}

void advise(const struct measurements *measurements, const struct finding *findings,
	    struct analysis *analysis, struct ressd_options *options)
{
	struct advice_desk desk = { measurements, findings, analysis, options };

	advise_small_write(&desk);
	advise_route(&desk);
	advise_discard(&desk);
	advise_full(&desk);
	advise_page(&desk);
	advise_segment(&desk);
	advise_batch(&desk);
	advise_fill(&desk);
	advise_units(&desk);
	advise_cut(&desk);
}
