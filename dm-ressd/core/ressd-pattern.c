// SPDX-License-Identifier: GPL-2.0-only
/* The request pattern identifier; see ressd-pattern.h. */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-pattern.h"

/* A batch may pass by one unit without a write to it, a long one by seven. */
#define BATCH_STEP_UNITS	2
#define LONG_STEP_UNITS		8

/*
 * A journal commits in fewer writes.  Without a limit Postmark on an SD card
 * takes 15 % longer.
 */
#define FLUSH_WRITES		8

/* A run that opens a unit is a quarter of one. */
#define RUN_PART		4

/*
 * A run is alone if less than an eighth of it was written beside it.  If it is
 * not, one in eight of its pages may be written again after a flush: that takes
 * the order from a unit, and so the gain.
 */
#define RUN_TIMES		8

/* The unit that the log writes to: none has this number. */
#define LOG_UNIT		U64_MAX

/* A database, with what is written back beside it, flushes more often. */
#define COMMIT_WRITES		32

/* A write, and what it is to the stream that it belongs to. */
struct written {
	u64 sector;
	u32 sectors;
	bool small;
	bool continues;	/* it starts where the stream ended */
	bool again;	/* it ends there */
	bool batch;	/* it ascends from there */
};

static struct ressd_stream **bucket_of(struct ressd_pattern *pattern,
				       u64 sector)
{
	return &pattern->bucket[hash_32((u32)sector,
					RESSD_PATTERN_BUCKET_BITS)];
}

static struct ressd_stream *find_end(struct ressd_pattern *pattern, u64 sector)
{
	struct ressd_stream *stream = *bucket_of(pattern, sector);

	while (stream && stream->next != sector)
		stream = stream->same;
	return stream;
}

static void take_out(struct ressd_pattern *pattern, struct ressd_stream *stream)
{
	struct ressd_stream **at = bucket_of(pattern, stream->next);

	if (!stream->used)
		return;
	while (*at != stream)
		at = &(*at)->same;
	*at = stream->same;
}

static void put_in(struct ressd_pattern *pattern, struct ressd_stream *stream)
{
	struct ressd_stream **bucket = bucket_of(pattern, stream->next);

	stream->same = *bucket;
	*bucket = stream;
	/* The oldest, which a random write takes, is in its place already. */
	if (pattern->newest != &stream->age &&
	    pattern->newest->prev != &stream->age)
		list_move_tail(&stream->age, pattern->newest);
	pattern->newest = &stream->age;
}

void ressd_pattern_init(struct ressd_pattern *pattern)
{
	u32 i;

	memset(pattern, 0, sizeof(*pattern));
	pattern->newest = &pattern->stream[0].age;
	for (i = 0; i < RESSD_PATTERN_MAX_STREAMS; i++)
		INIT_LIST_HEAD(&pattern->stream[i].age);
}

void ressd_pattern_set(struct ressd_pattern *pattern,
		       const struct ressd_pattern_options *options)
{
	u32 i;

	pattern->options = *options;
	pattern->options.streams =
		clamp_t(u32, options->streams, 1, RESSD_PATTERN_MAX_STREAMS);
	pattern->options.open_units = options->unit_sectors ?
		min_t(u32, options->open_units, RESSD_UNITS_MAX) : 0;
	for (i = 0; i < RESSD_PATTERN_MAX_STREAMS; i++) {
		struct ressd_stream *stream = &pattern->stream[i];

		if (i >= pattern->options.streams) {
			take_out(pattern, stream);
			stream->used = 0;
			if (pattern->newest == &stream->age)
				pattern->newest = stream->age.next;
			list_del_init(&stream->age);
		} else if (i && list_empty(&stream->age)) {
			list_add_tail(&stream->age, pattern->newest);
		}
	}
	ressd_units_init(&pattern->units);
}

/* --- streams and batches -------------------------------------------------- */

static bool has_many_units(const struct ressd_pattern *pattern)
{
	return pattern->options.open_units > RESSD_PATTERN_FEW_UNITS;
}

static u64 unit_of(const struct ressd_pattern *pattern, u64 sector)
{
	return div_u64(sector + pattern->options.unit_phase,
		       pattern->options.unit_sectors);
}

/*
 * Units that are left to direct writes, and to the mover's visits where units
 * are many.
 */
static u32 units_left(const struct ressd_pattern *pattern, bool moving)
{
	u32 taken = 1 + (moving && !has_many_units(pattern));

	if (pattern->options.open_units <= taken)
		return 0;
	return pattern->options.open_units - taken;
}

/*
 * Does the write go back into the direct part of a batch, to a unit that is
 * open yet?  Where the log and the mover take all units, one record in between
 * would close it: what is written anew behind the batch costs a merge each.
 */
static bool goes_back(const struct ressd_pattern *pattern,
		      const struct ressd_stream *stream, u64 sector)
{
	return stream->direct_from && sector >= stream->direct_from &&
	       sector < stream->next && !units_left(pattern, true) &&
	       ressd_units_is_open(&pattern->units, unit_of(pattern, sector));
}

/* Sectors of a batch that are logged, until it is known for one. */
static u64 first_part(const struct ressd_pattern *pattern)
{
	if (has_many_units(pattern))
		return RESSD_PATTERN_MANY_UNITS_PART;
	return div_u64(pattern->options.log_sectors, RESSD_PATTERN_BATCH_PART);
}

/*
 * Does the batch, in its direct part, go on over a flush?  A journal's commit
 * continues a stream.  If all writes since did, however many, one that is a
 * unit longer than its first part goes on: another first part would cost more.
 */
static bool outlives_flush(const struct ressd_pattern *pattern,
			   const struct ressd_stream *stream)
{
	return pattern->clock - stream->used <= FLUSH_WRITES ||
	       (pattern->places == stream->places &&
		stream->sectors >= first_part(pattern) +
				   pattern->options.unit_sectors);
}

/* Does the write continue an ascending batch? */
static bool ascends(const struct ressd_pattern *pattern,
		    const struct ressd_stream *stream, u64 sector)
{
	const bool is_long = stream->direct_from && !has_many_units(pattern);
	const u64 step = is_long ? LONG_STEP_UNITS : BATCH_STEP_UNITS;

	if (!pattern->options.open_units)
		return false;
	if (!goes_back(pattern, stream, sector) &&
	    (sector < stream->next ||
	     sector - stream->next >= step * pattern->options.unit_sectors))
		return false;
	return stream->flushes == pattern->flushes ||
	       (is_long && outlives_flush(pattern, stream));
}

/* Of those that ascend to @sector, the one that ends last; NULL: none does. */
static struct ressd_stream *find_batch(struct ressd_pattern *pattern,
				       u64 sector)
{
	struct ressd_stream *found = NULL, *stream;
	struct list_head *age = pattern->newest;

	if (!pattern->options.open_units)
		return NULL;
	do {
		stream = list_entry(age, struct ressd_stream, age);
		if (stream->used && ascends(pattern, stream, sector) &&
		    (!found || stream->next > found->next))
			found = stream;
		age = age->next;
	} while (age != pattern->newest);
	return found;
}

/*
 * The stream that the write belongs to, or else the one to be forgotten: the
 * least recently used.  Fills in which.
 */
static struct ressd_stream *find_stream(struct ressd_pattern *pattern,
					struct written *write)
{
	const u64 sector = write->sector;
	struct ressd_stream *stream = find_end(pattern, sector);

	if (stream) {
		write->continues = true;
		write->batch = ascends(pattern, stream, sector);
		return stream;
	}
	stream = find_end(pattern, sector + write->sectors);
	write->again = stream;
	if (stream)
		return stream;
	stream = find_batch(pattern, sector);
	write->batch = stream;
	if (stream)
		return stream;
	return list_entry(pattern->newest->prev, struct ressd_stream, age);
}

/* Where a batch whose first part ends with sector @last goes on directly. */
static u64 direct_part(const struct ressd_pattern *pattern, u64 last)
{
	const struct ressd_pattern_options *options = &pattern->options;

	if (has_many_units(pattern) ||
	    options->unit_sectors > options->log_sectors / 4)
		return last + 1;
	return (unit_of(pattern, last) + 1) * options->unit_sectors -
	       options->unit_phase;
}

static void note_write(struct ressd_pattern *pattern,
		       struct ressd_stream *stream, const struct written *write)
{
	const u64 last = write->batch ? stream->next - 1 : write->sector;
	const u64 end = write->sector + write->sectors;

	if (!write->batch) {
		stream->start = write->sector;
		stream->sectors = 0;
		stream->direct_from = 0;
	}
	stream->sectors += write->sectors;
	stream->next = write->batch ? max(stream->next, end) : end;
	stream->used = pattern->clock;
	stream->flushes = pattern->flushes;
	stream->places = pattern->places;
	if (!pattern->options.open_units ||
	    stream->sectors <= first_part(pattern))
		return;
	if (!stream->direct_from) {
		stream->direct_from = direct_part(pattern, last);
		pattern->batch_before = pattern->batch;
		pattern->batch = *stream;
	} else if (pattern->batch.start == stream->start) {
		pattern->batch = *stream;
	}
}

/*
 * Is the batch one of several over the same range, of which the log can hold
 * two?  Of two at once the first one counts as its own repetition when the
 * second goes direct, and rightly so: they would close each other's units.
 */
static bool is_repeated(const struct ressd_pattern *pattern,
			const struct ressd_stream *stream)
{
	const struct ressd_stream *before = &pattern->batch_before;
	u64 half = pattern->options.log_sectors / 2;

	return before->sectors && before->start < stream->next &&
	       stream->start < before->next && before->sectors <= half &&
	       stream->sectors <= half;
}

/* --- runs ----------------------------------------------------------------- */

/* Does the write go on with a run, or write its end again where that counts? */
static bool is_of_run(const struct ressd_pattern *pattern,
		      const struct written *write)
{
	return write->continues ||
	       (write->again && !units_left(pattern, true));
}

static bool is_in_page(const struct ressd_pattern *pattern, u64 sector)
{
	u32 rest = 0;

	if (pattern->options.page_sectors)
		div_u64_rem(sector + pattern->options.unit_phase,
			    pattern->options.page_sectors, &rest);
	return rest;
}

/* @goes_on: the write is of the run, whose unit is open still. */
static void note_run(struct ressd_pattern *pattern, struct ressd_stream *stream,
		     const struct written *write, bool goes_on)
{
	if (!goes_on) {
		stream->run = 0;
		stream->run_start = pattern->sectors;
		stream->run_flushes = 0;
		stream->torn = 0;
	} else if (stream->flushes != pattern->flushes) {
		stream->run_flushes++;
		stream->torn += write->again ||
				is_in_page(pattern, write->sector);
	}
	stream->run += write->sectors;
	pattern->sectors += write->sectors;
}

/*
 * Pages that flushes cost the run.  Alone it is one each, for the log writes
 * whole ones, too.  Beside others the log's flush is paid for, and what a flush
 * tears takes the order from a unit, and so the gain.
 */
static u64 pages_lost(const struct ressd_pattern *pattern,
		      const struct ressd_stream *stream)
{
	const u64 beside = pattern->sectors - stream->run_start - stream->run;

	return beside <= stream->run / RUN_TIMES ? stream->run_flushes :
						   RUN_TIMES * stream->torn;
}

/*
 * Does the run fill units in order, with more than what flushes cost?  A run
 * begins anew when its unit is closed: for a quarter of one none was.
 */
static bool run_fills(const struct ressd_pattern *pattern,
		      const struct ressd_stream *stream)
{
	const struct ressd_pattern_options *options = &pattern->options;

	return options->page_sectors &&
	       stream->run >= options->unit_sectors / RUN_PART &&
	       stream->run >= pages_lost(pattern, stream) *
			      options->page_sectors;
}

/* --- open units ----------------------------------------------------------- */

/* Does the write belong to the direct part of a batch? */
static bool is_direct_part(const struct ressd_pattern *pattern,
			   const struct ressd_stream *stream, u64 sector)
{
	return stream->direct_from && sector >= stream->direct_from &&
	       !is_repeated(pattern, stream);
}

/* Did few writes come before each of the last two flushes? */
static bool flushes_follow_few(const struct ressd_pattern *pattern)
{
	return pattern->commit && pattern->commit_before;
}

/*
 * Do flushes follow few writes each?  Then a record holds little, and the log
 * costs as much as direct writes.  Without flushes it takes a burst at the
 * speed of sequential writes, as long as nothing is moved: so one commit is no
 * sign yet, and what is longer than the last two is a burst.
 */
static bool is_committing(const struct ressd_pattern *pattern)
{
	return flushes_follow_few(pattern) &&
	       pattern->clock - pattern->flushed <=
	       max(pattern->commit, pattern->commit_before);
}

/* Is a flush likely to follow soon, also behind a longer commit than those? */
static bool may_commit(const struct ressd_pattern *pattern)
{
	return flushes_follow_few(pattern) &&
	       pattern->clock - pattern->flushed <= COMMIT_WRITES;
}

/*
 * Units of which the device keeps open those used last.  Where they are few
 * these are all: the log's is one while it is written to, and so is that of a
 * visit.
 */
static u32 units_used(const struct ressd_pattern *pattern, bool moving)
{
	return has_many_units(pattern) ? units_left(pattern, moving) :
					 pattern->options.open_units;
}

/* Is the unit of the stream open since its last write? */
static bool stays_open(const struct ressd_pattern *pattern,
		       const struct ressd_stream *stream, u64 sector, u32 room)
{
	return has_many_units(pattern) ||
	       ressd_units_since(&pattern->units, stream->units_clock,
				 unit_of(pattern, sector)) < room;
}

/*
 * Where units are few: is the write's unit one of @left that the log leaves to
 * direct writes, or that of a run which stays open beside all others?  While
 * the load commits only the latter: a flush costs the unit its order.
 */
static bool is_of_few(const struct ressd_pattern *pattern,
		      const struct ressd_stream *stream,
		      const struct written *write, u32 left, bool moving)
{
	const u64 unit = unit_of(pattern, write->sector);

	if (write->continues && !may_commit(pattern) &&
	    ressd_units_is_held(&pattern->units, unit, left))
		return true;
	return (left || !moving) && is_of_run(pattern, write) &&
	       run_fills(pattern, stream) &&
	       (ressd_units_is_open(&pattern->units, unit) ||
		unit_of(pattern, write->sector - 1) !=
		unit_of(pattern, stream->next - 1));
}

/*
 * Is the unit of a small write open, or should it be?  Where there are many,
 * one that a stream runs into should: it fills it in order, which spares the
 * merge.
 */
static bool is_cheap(struct ressd_pattern *pattern,
		     const struct ressd_stream *stream,
		     const struct written *write, u32 left, bool moving)
{
	u64 unit = unit_of(pattern, write->sector);

	if (!has_many_units(pattern))
		return is_of_few(pattern, stream, write, left, moving);
	if (write->continues && unit_of(pattern, write->sector - 1) != unit)
		return true;
	return ressd_units_is_open(&pattern->units, unit) ||
	       ressd_units_pays(&pattern->units, unit, left,
				moving || is_committing(pattern));
}

/* --- a write -------------------------------------------------------------- */

/*
 * What the write goes to is the unit used last.  A small one of a run that goes
 * on in the next unit, where units are few, needs the one before no more.
 */
static void note_unit(struct ressd_pattern *pattern,
		      struct ressd_stream *stream, const struct written *write,
		      bool logged, u32 room)
{
	const bool many = has_many_units(pattern);
	const bool leaves = !many && write->small && !pattern->ordered;
	const u64 first = unit_of(pattern, write->sector);
	const u64 last = unit_of(pattern, write->sector + write->sectors - 1);
	const u32 writes = !many || write->small;
	struct ressd_units *units = &pattern->units;

	if (!logged) {
		if (first != last && !leaves)
			ressd_units_use(units, first, room, writes);
		ressd_units_use(units, last, room, writes);
	} else if (!many) {
		ressd_units_use(units, LOG_UNIT, room, 0);
	}
	stream->units_clock = units->clock;
}

bool ressd_pattern_write(struct ressd_pattern *pattern, u64 sector, u32 sectors,
			 bool moving)
{
	struct written write = {
		.sector = sector,
		.sectors = sectors,
		.small = sectors <= pattern->options.small_sectors,
	};
	struct ressd_stream *stream;
	bool logged;
	u32 left, room;

	pattern->clock++;
	pattern->ordered = false;
	stream = find_stream(pattern, &write);
	pattern->places += !write.continues && !write.batch;
	take_out(pattern, stream);
	left = units_left(pattern, moving);
	room = units_used(pattern, moving);
	if (pattern->options.open_units)
		note_run(pattern, stream, &write,
			 is_of_run(pattern, &write) &&
			 stays_open(pattern, stream, sector, room));
	note_write(pattern, stream, &write);
	put_in(pattern, stream);
	if (!pattern->options.open_units)
		return write.small && !write.continues;
	ressd_units_limit(&pattern->units, room);
	pattern->ordered =
		write.small && is_direct_part(pattern, stream, sector);
	logged = write.small && !pattern->ordered &&
		 !is_cheap(pattern, stream, &write, left, moving);
	note_unit(pattern, stream, &write, logged, room);
	return logged;
}

void ressd_pattern_flush(struct ressd_pattern *pattern)
{
	const u64 writes = pattern->clock - pattern->flushed;

	pattern->flushes++;
	pattern->flushed = pattern->clock;
	if (!writes)
		return;
	pattern->commit_before = pattern->commit;
	pattern->commit = writes <= COMMIT_WRITES ? writes : 0;
}

void ressd_pattern_record(struct ressd_pattern *pattern)
{
	if (!has_many_units(pattern))
		ressd_units_use(&pattern->units, LOG_UNIT,
				pattern->options.open_units, 0);
}

void ressd_pattern_drained(struct ressd_pattern *pattern)
{
	/* Or a burst would begin with a merge each. */
	pattern->commit = 0;
	if (has_many_units(pattern))
		ressd_units_init(&pattern->units);
}

void ressd_pattern_visit(struct ressd_pattern *pattern, u64 sector)
{
	if (pattern->options.open_units)
		ressd_units_use(&pattern->units, unit_of(pattern, sector),
				units_used(pattern, true),
				has_many_units(pattern) ? RESSD_UNITS_WRITES :
							  0);
}
