// SPDX-License-Identifier: GPL-2.0-only
/* The request pattern identifier; see ressd-rpi.h. */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-rpi.h"

/* A batch may pass by one unit without a write to it, a long one by seven. */
#define BATCH_STEP_UNITS	2
#define LONG_STEP_UNITS		8

/*
 * A journal commits in fewer writes.  Without a limit Postmark on an SD card
 * takes 15 % longer.
 */
#define FLUSH_WRITES		8

/* A database, with what is written back beside it, flushes more often. */
#define COMMIT_WRITES		32

static struct ressd_stream **bucket_of(struct ressd_rpi *rpi, u64 sector)
{
	return &rpi->bucket[hash_32((u32)sector, RESSD_RPI_BUCKET_BITS)];
}

static struct ressd_stream *find_end(struct ressd_rpi *rpi, u64 sector)
{
	struct ressd_stream *stream = *bucket_of(rpi, sector);

	while (stream && stream->next != sector)
		stream = stream->same;
	return stream;
}

static void take_out(struct ressd_rpi *rpi, struct ressd_stream *stream)
{
	struct ressd_stream **at = bucket_of(rpi, stream->next);

	if (!stream->used)
		return;
	while (*at != stream)
		at = &(*at)->same;
	*at = stream->same;
}

static void put_in(struct ressd_rpi *rpi, struct ressd_stream *stream)
{
	struct ressd_stream **bucket = bucket_of(rpi, stream->next);

	stream->same = *bucket;
	*bucket = stream;
	if (rpi->ages.next != &stream->age)
		list_move(&stream->age, &rpi->ages);
}

void ressd_rpi_init(struct ressd_rpi *rpi)
{
	u32 i;

	memset(rpi, 0, sizeof(*rpi));
	INIT_LIST_HEAD(&rpi->ages);
	for (i = 0; i < RESSD_RPI_MAX_STREAMS; i++)
		INIT_LIST_HEAD(&rpi->stream[i].age);
}

void ressd_rpi_set(struct ressd_rpi *rpi,
		   const struct ressd_rpi_options *options)
{
	u32 i;

	rpi->options = *options;
	rpi->options.streams =
		clamp_t(u32, options->streams, 1, RESSD_RPI_MAX_STREAMS);
	rpi->options.open_units = options->unit_sectors ?
		min_t(u32, options->open_units, RESSD_UNITS_MAX) : 0;
	for (i = 0; i < RESSD_RPI_MAX_STREAMS; i++) {
		struct ressd_stream *stream = &rpi->stream[i];

		if (i >= rpi->options.streams) {
			take_out(rpi, stream);
			stream->used = 0;
			list_del_init(&stream->age);
		} else if (list_empty(&stream->age)) {
			list_add_tail(&stream->age, &rpi->ages);
		}
	}
	ressd_units_init(&rpi->units);
}

/* --- streams and batches -------------------------------------------------- */

static bool has_many_units(const struct ressd_rpi *rpi)
{
	return rpi->options.open_units > RESSD_RPI_FEW_UNITS;
}

/* Does the write continue an ascending batch? */
static bool ascends(const struct ressd_rpi *rpi,
		    const struct ressd_stream *stream, u64 sector)
{
	const bool is_long = stream->direct_from && !has_many_units(rpi);
	const u64 step = is_long ? LONG_STEP_UNITS : BATCH_STEP_UNITS;

	if (!rpi->options.open_units || sector < stream->next ||
	    sector - stream->next >= step * rpi->options.unit_sectors)
		return false;
	return stream->flushes == rpi->flushes ||
	       (is_long && rpi->clock - stream->used <= FLUSH_WRITES);
}

/* Of those that ascend to @sector, the one that ends last; NULL: none does. */
static struct ressd_stream *find_batch(struct ressd_rpi *rpi, u64 sector)
{
	struct ressd_stream *found = NULL, *stream;

	if (!rpi->options.open_units)
		return NULL;
	list_for_each_entry(stream, &rpi->ages, age)
		if (stream->used && ascends(rpi, stream, sector) &&
		    (!found || stream->next > found->next))
			found = stream;
	return found;
}

/*
 * The stream that the write belongs to, or else the one to be forgotten: the
 * least recently used.  *@continues: it starts where that stream ended;
 * *@batch: it ascends from there.
 */
static struct ressd_stream *find_stream(struct ressd_rpi *rpi, u64 sector,
					u32 sectors, bool *continues,
					bool *batch)
{
	struct ressd_stream *stream = find_end(rpi, sector);

	if (stream) {
		*continues = true;
		*batch = ascends(rpi, stream, sector);
		return stream;
	}
	stream = find_end(rpi, sector + sectors);
	if (stream)
		return stream;
	stream = find_batch(rpi, sector);
	*batch = stream;
	if (stream)
		return stream;
	return list_last_entry(&rpi->ages, struct ressd_stream, age);
}

/* Sectors of a batch that are logged, until it is known for one. */
static u64 first_part(const struct ressd_rpi *rpi)
{
	if (has_many_units(rpi))
		return RESSD_RPI_MANY_UNITS_PART;
	return div_u64(rpi->options.log_sectors, RESSD_RPI_BATCH_PART);
}

static u64 unit_of(const struct ressd_rpi *rpi, u64 sector)
{
	return div_u64(sector + rpi->options.unit_phase,
		       rpi->options.unit_sectors);
}

/* Where a batch whose first part ends with sector @last goes on directly. */
static u64 direct_part(const struct ressd_rpi *rpi, u64 last)
{
	const struct ressd_rpi_options *options = &rpi->options;

	if (has_many_units(rpi) ||
	    options->unit_sectors > options->log_sectors / 4)
		return last + 1;
	return (unit_of(rpi, last) + 1) * options->unit_sectors -
	       options->unit_phase;
}

static void note_write(struct ressd_rpi *rpi, struct ressd_stream *stream,
		       u64 sector, u32 sectors, bool batch)
{
	const u64 last = batch ? stream->next - 1 : sector;

	if (!batch) {
		stream->start = sector;
		stream->sectors = 0;
		stream->direct_from = 0;
	}
	stream->sectors += sectors;
	stream->next = sector + sectors;
	stream->used = rpi->clock;
	stream->flushes = rpi->flushes;
	if (!rpi->options.open_units || stream->sectors <= first_part(rpi))
		return;
	if (!stream->direct_from) {
		stream->direct_from = direct_part(rpi, last);
		rpi->batch_before = rpi->batch;
		rpi->batch = *stream;
	} else if (rpi->batch.start == stream->start) {
		rpi->batch = *stream;
	}
}

/*
 * Is the batch one of several over the same range, of which the log can hold
 * two?  Of two at once the first one counts as its own repetition when the
 * second goes direct, and rightly so: they would close each other's units.
 */
static bool is_repeated(const struct ressd_rpi *rpi,
			const struct ressd_stream *stream)
{
	const struct ressd_stream *before = &rpi->batch_before;
	u64 half = rpi->options.log_sectors / 2;

	return before->sectors && before->start < stream->next &&
	       stream->start < before->next && before->sectors <= half &&
	       stream->sectors <= half;
}

/* --- open units ----------------------------------------------------------- */

/*
 * Units that are left to direct writes, and to the mover's visits where units
 * are many.
 */
static u32 units_left(const struct ressd_rpi *rpi, bool moving)
{
	u32 taken = 1 + (moving && !has_many_units(rpi));

	if (rpi->options.open_units <= taken)
		return 0;
	return rpi->options.open_units - taken;
}

/* Does the write belong to the direct part of a batch? */
static bool is_direct_part(const struct ressd_rpi *rpi,
			   const struct ressd_stream *stream, u64 sector)
{
	return stream->direct_from && sector >= stream->direct_from &&
	       !is_repeated(rpi, stream);
}

/*
 * Do flushes follow few writes each?  Then a record holds little, and the log
 * costs as much as direct writes.  Without flushes it takes a burst at the
 * speed of sequential writes, as long as nothing is moved: so one commit is no
 * sign yet, and what is longer than the last two is a burst.
 */
static bool is_committing(const struct ressd_rpi *rpi)
{
	return rpi->commit && rpi->commit_before &&
	       rpi->clock - rpi->flushed <=
	       max(rpi->commit, rpi->commit_before);
}

/*
 * Is the unit of a small write open, or should it be?  Where there are many,
 * one that a stream runs into should: it fills it in order, which spares the
 * merge.
 */
static bool is_cheap(struct ressd_rpi *rpi, u64 sector, bool continues,
		     u32 left, bool moving)
{
	u64 unit = unit_of(rpi, sector);

	if (!has_many_units(rpi))
		return continues && ressd_units_is_open(&rpi->units, unit);
	if (continues && unit_of(rpi, sector - 1) != unit)
		return true;
	return ressd_units_is_open(&rpi->units, unit) ||
	       ressd_units_pays(&rpi->units, unit, left,
				moving || is_committing(rpi));
}

/* --- a write -------------------------------------------------------------- */

bool ressd_rpi_write(struct ressd_rpi *rpi, u64 sector, u32 sectors,
		     bool moving)
{
	bool small = sectors <= rpi->options.small_sectors;
	bool continues = false, batch = false;
	struct ressd_stream *stream;
	u64 unit;
	u32 left;

	rpi->clock++;
	rpi->ordered = false;
	stream = find_stream(rpi, sector, sectors, &continues, &batch);
	take_out(rpi, stream);
	note_write(rpi, stream, sector, sectors, batch);
	put_in(rpi, stream);
	if (!rpi->options.open_units)
		return small && !continues;

	unit = unit_of(rpi, sector);
	left = units_left(rpi, moving);
	ressd_units_limit(&rpi->units, left);
	rpi->ordered = small && is_direct_part(rpi, stream, sector);
	if (small && !rpi->ordered &&
	    !is_cheap(rpi, sector, continues, left, moving))
		return true;
	ressd_units_use(&rpi->units, unit, left, small);
	return false;
}

void ressd_rpi_flush(struct ressd_rpi *rpi)
{
	const u64 writes = rpi->clock - rpi->flushed;

	rpi->flushes++;
	rpi->flushed = rpi->clock;
	if (!writes)
		return;
	rpi->commit_before = rpi->commit;
	rpi->commit = writes <= COMMIT_WRITES ? writes : 0;
}

void ressd_rpi_drained(struct ressd_rpi *rpi)
{
	/* Or a burst would begin with a merge each. */
	rpi->commit = 0;
	if (has_many_units(rpi))
		ressd_units_init(&rpi->units);
}

void ressd_rpi_visit(struct ressd_rpi *rpi, u64 sector)
{
	if (has_many_units(rpi))
		ressd_units_use(&rpi->units, unit_of(rpi, sector),
				units_left(rpi, true), RESSD_UNITS_WRITES);
}
