// SPDX-License-Identifier: GPL-2.0-only
/* Raw I/O of the probe; see measure.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dm/blkdev.h"
#include "measure/measure.h"

atomic_bool measure_interrupted;

/* Position of the next transfer of a cell. */
struct cursor {
	enum access access;
	u32 size;
	u64 stride;
	u64 next;		/* bytes from the start of the region */
	u64 phase;		/* where the present pass of an ordered cell began */
};

/* splitmix64: any seed is good, the period is 2^64. */
static u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static bool is_write(enum access access)
{
	return access != ACCESS_SEQUENTIAL_READ && access != ACCESS_RANDOM_READ;
}

int measure_init(struct measure *measure, struct failure *failure)
{
	const u64 samples = ROUNDS_MAX * measure->effort.max_ops;
	u64 *word;
	size_t i;

	measure->random = 712;	/* fixed: two runs of the probe do the same */
	if (posix_memalign((void **)&measure->data, BLKDEV_ALIGN, MEASURE_MAX_BYTES))
		measure->data = NULL;
	measure->samples = calloc(samples, sizeof(*measure->samples));
	if (!measure->data || !measure->samples) {
		measure_release(measure);
		return fail(failure, -ENOMEM, "not enough memory for the measurement");
	}
	word = (u64 *)measure->data;
	for (i = 0; i < MEASURE_MAX_BYTES / sizeof(*word); i++)
		word[i] = next_random(&measure->random);
	return 0;
}

void measure_release(struct measure *measure)
{
	free(measure->data);
	free(measure->samples);
	measure->data = NULL;
	measure->samples = NULL;
}

/* Drives that find equal blocks, or compress, must not gain by it. */
static void make_unique(struct measure *measure, u32 size)
{
	u32 at;

	for (at = 0; at < size; at += BLKDEV_ALIGN) {
		u64 *word = (u64 *)(measure->data + at);

		word[0] = ++measure->stamp;
		word[1] = next_random(&measure->random);
	}
}

u64 measure_reach(const struct measure *measure)
{
	return measure->planned > measure->bytes ? measure->planned : measure->bytes;
}

/* A new order of the units. */
static void shuffle(struct measure *measure, unsigned int count)
{
	u16 *order = measure->apart_order;
	unsigned int i, other;

	for (i = 0; i < count; i++) {
		other = next_random(&measure->random) % (i + 1);
		order[i] = order[other];
		order[other] = i;
	}
}

u64 measure_random_place(struct measure *measure, u32 size)
{
	const u64 reach = measure_reach(measure), bytes = reach - measure->apart_phase;
	const u64 whole = measure->apart ? (bytes / measure->apart + MEASURE_UNITS - 1) /
			  MEASURE_UNITS * measure->apart : 0;
	const unsigned int count = whole > 2 * size ? bytes / whole : 0;
	u64 at;

	if (count < 2)
		return next_random(&measure->random) % (reach / size) * size;
	if (!(measure->apart_turn % count))
		shuffle(measure, count);
	at = measure->apart_phase + measure->apart_order[measure->apart_turn++ % count] * whole +
	     next_random(&measure->random) % (whole - 2 * size);
	return (at + size - 1) / size * size;
}

static u64 take_position(struct measure *measure, struct cursor *cursor)
{
	u64 at = cursor->next;

	switch (cursor->access) {
	case ACCESS_RANDOM_WRITE:
		at = measure_random_place(measure, cursor->size);
		break;
	case ACCESS_RANDOM_READ:
		at = next_random(&measure->random) % (measure->bytes / cursor->size) *
		     cursor->size;
		break;
	case ACCESS_ORDERED_WRITE:
		cursor->next += cursor->stride;
		if (cursor->next + cursor->size > measure->bytes) {
			/* The next pass takes other blocks, or a cache would merge them. */
			cursor->phase = (cursor->phase + cursor->size) % cursor->stride;
			if (cursor->phase + cursor->size > measure->bytes)
				cursor->phase = 0;
			cursor->next = cursor->phase;
		}
		break;
	default:
		cursor->next += cursor->size;
		if (cursor->next + cursor->size > measure->bytes)
			cursor->next = 0;
	}
	return at;
}

static bool all_zero(const u8 *data, u32 size)
{
	return !data[0] && !memcmp(data, data + 1, size - 1);
}

static int interrupted(const struct measure *measure, struct failure *failure)
{
	return fail(failure, -ECANCELED, "stopped; %llu bytes of %s were written by then",
		    measure->written, measure->disk->path);
}

/* May this transfer be made?  The last guard against writing outside of the region. */
static int check_call(const struct measure *measure, u64 at, u32 bytes, struct failure *failure)
{
	if (measure_interrupted)
		return interrupted(measure, failure);
	if (at > measure_reach(measure) || bytes > measure_reach(measure) - at ||
	    bytes > MEASURE_MAX_BYTES)
		return fail(failure, -ERANGE,
			    "a transfer of %u bytes at byte %llu leaves the region of %llu bytes; this is a bug",
			    bytes, at, measure_reach(measure));
	return 0;
}

static void record(struct measure *measure, char kind, u64 at, u32 bytes, u64 ns)
{
	const struct sample sample = {
		.phase = measure->phase ? measure->phase : "",
		.kind = kind,
		.offset = measure->offset + at,
		.bytes = bytes,
		.ns = ns,
	};

	if (measure->record)
		measure->record(measure->record_context, &sample);
}

bool measure_is_late(const struct measure *measure)
{
	return measure->deadline && measure->disk->ops->now(measure->disk) >= measure->deadline;
}

u64 measure_random(struct measure *measure, u64 below)
{
	return next_random(&measure->random) % below;
}

int measure_read(struct measure *measure, u64 at, u32 bytes, u64 *ns, struct failure *failure)
{
	int code = check_call(measure, at, bytes, failure);
	u64 took = 0;

	if (code)
		return code;
	code = measure->disk->ops->read(measure->disk, measure->offset + at, measure->data, bytes,
					&took, failure);
	record(measure, 'r', at, bytes, took);
	measure->read += bytes;
	measure->zero_reads += !code && all_zero(measure->data, bytes);
	if (ns)
		*ns = took;
	return code;
}

bool measure_is_spent(const struct measure *measure)
{
	return measure->write_limit && measure->spent_limit >= measure->write_limit;
}

int measure_write(struct measure *measure, u64 at, u32 bytes, u64 *ns, struct failure *failure)
{
	int code = check_call(measure, at, bytes, failure);
	u64 took = 0;

	if (code)
		return code;
	if (measure->write_limit && measure->written + bytes > measure->write_limit)
		measure->spent_limit = measure->write_limit;
	if (measure_is_spent(measure))
		return fail(failure, -EDQUOT, "the limit of %llu bytes to write is reached",
			    measure->write_limit);
	make_unique(measure, bytes);
	code = measure->disk->ops->write(measure->disk, measure->offset + at, measure->data, bytes,
					 &took, failure);
	record(measure, 'w', at, bytes, took);
	measure->written += bytes;
	if (ns)
		*ns = took;
	return code;
}

int measure_flush(struct measure *measure, u64 *ns, struct failure *failure)
{
	u64 took = 0;
	int code;

	code = measure->disk->ops->flush(measure->disk, &took, failure);
	record(measure, 'f', 0, 0, took);
	if (ns)
		*ns = took;
	return code;
}

/* One timed transfer.  @ns gets its latency. */
static int transfer(struct measure *measure, struct cursor *cursor, u64 *ns,
		    struct failure *failure)
{
	const u64 at = take_position(measure, cursor);

	if (is_write(cursor->access))
		return measure_write(measure, at, cursor->size, ns, failure);
	return measure_read(measure, at, cursor->size, ns, failure);
}

#define MAX_GROWTH	4	/* of the transfers from round to round */

/* How many transfers a round has: a multiple of @unit. */
struct quota {
	u64 least;
	u64 most;
	u64 unit;
};

/*
 * That of the next round, from the @last one (NULL: there is none).  Its time would not tell alone:
 * a large write buffer takes thousands in no time, and the flush pays for them.
 */
static struct quota next_quota(const struct effort *effort, const struct round *last)
{
	const double speed = last ? last->ops / (last->ns + 1.0) : 0;
	double least = effort->min_ops, most = effort->round_ns * speed;

	if (effort->slow_ns && least > effort->slow_ns * speed)
		least = effort->slow_ns * speed;
	if (least < MEASURE_LATE_OPS && effort->min_ops > MEASURE_LATE_OPS)
		least = MEASURE_LATE_OPS;
	/* The last one may have been fast by luck. */
	if (effort->slow_ns && last && most > MAX_GROWTH * last->ops)
		most = MAX_GROWTH * last->ops;
	if (most > effort->max_ops)
		most = effort->max_ops;
	return (struct quota){ .least = least, .most = most < least ? least : most, .unit = 1 };
}

/*
 * A drive pays for a clustered block at once, with a merge: part of one would tell too little or
 * far too much.
 */
static void make_whole(const struct measure *measure, const struct cursor *cursor,
		       struct quota *quota)
{
	const u64 max_ops = measure->effort.max_ops;
	const u64 unit = cursor->access == ACCESS_ORDERED_WRITE ?
			 measure->whole_bytes / cursor->stride : 0;

	if (!unit || unit > max_ops)
		return;
	quota->unit = unit;
	if (quota->most > max_ops / unit * unit)
		quota->most = max_ops / unit * unit;
}

/*
 * Time of a round is the sum of its transfers and its flush: what the probe itself does between
 * them is not the device's.
 */
static int measure_round(struct measure *measure, struct cursor *cursor,
			 const struct quota *quota, struct round *round, u64 *samples,
			 struct failure *failure)
{
	const struct effort *effort = &measure->effort;
	u64 ns = 0;
	int code;

	memset(round, 0, sizeof(*round));
	while (round->ops < quota->least || round->ops % quota->unit ||
	       (round->ops < quota->most && round->ns < effort->round_ns)) {
		code = transfer(measure, cursor, &samples[round->ops], failure);
		if (code)
			return code;
		round->ns += samples[round->ops];
		round->bytes += cursor->size;
		round->ops++;
		if (round->ops >= MEASURE_LATE_OPS && !(round->ops % quota->unit) &&
		    measure_is_late(measure))
			break;
	}
	if (!is_write(cursor->access))
		return 0;
	code = measure_flush(measure, &ns, failure);
	round->ns += ns;
	return code;
}

/* Has a cell that writes all that it may, and enough rounds to tell something? */
static bool has_written(const struct measure *measure, enum access access, u64 bytes,
			unsigned int count)
{
	return is_write(access) && measure->effort.most_bytes && count >= ROUNDS_MIN &&
	       bytes >= measure->effort.most_bytes;
}

/* Would another round like the @last one end in time?  A flush may pay for all of its writes. */
static bool has_time(const struct measure *measure, const struct round *last)
{
	struct disk *disk = measure->disk;

	return !measure->deadline || disk->ops->now(disk) + last->ns < measure->deadline;
}

int measure_cell(struct measure *measure, enum access access, u32 size, u64 stride,
		 struct result *result, struct failure *failure)
{
	struct cursor cursor = { .access = access, .size = size, .stride = stride };
	struct round rounds[ROUNDS_MAX];
	unsigned int count = 0;
	u64 ops = 0;
	int code = 0;

	if (access == ACCESS_SEQUENTIAL_WRITE || access == ACCESS_SEQUENTIAL_READ)
		cursor.size = measure->sequential_bytes;
	if (is_write(access))
		code = measure_flush(measure, NULL, failure);
	while (!code && rounds_want_more(rounds, count) &&
	       !has_written(measure, access, ops * cursor.size, count) &&
	       (!count || has_time(measure, &rounds[count - 1]))) {
		const struct round *last = count ? &rounds[count - 1] : NULL;
		struct quota quota = next_quota(&measure->effort, last);

		make_whole(measure, &cursor, &quota);
		if (access == ACCESS_SEQUENTIAL_WRITE && measure->sequential_ops &&
		    quota.most > measure->sequential_ops)
			quota.most = measure->sequential_ops;
		code = measure_round(measure, &cursor, &quota, &rounds[count],
				     measure->samples + ops, failure);
		ops += rounds[count].ops;
		count++;
	}
	if (!code)
		rounds_result(rounds, count, measure->samples, result);
	return code;
}

int measure_fill(struct measure *measure, struct failure *failure)
{
	struct disk *disk = measure->disk;
	const u64 begin = disk->ops->now(disk);
	u64 at, ns = 0;
	int code = 0;

	measure->planned = measure->bytes;
	for (at = 0; !code && at < measure->bytes; ) {
		u64 left = measure->bytes - at;
		u32 size = left < measure->sequential_bytes ? left : measure->sequential_bytes;

		code = measure_write(measure, at, size, &ns, failure);
		at += size;
		if ((measure->fill_ns && at >= measure->least_fill &&
		     disk->ops->now(disk) - begin > measure->fill_ns) ||
		    (measure->most_fill && at >= measure->most_fill))
			measure->bytes = at;
		if (!code && measure->filled)
			measure->filled(measure->filled_context, at, ns);
	}
	return code ? code : measure_flush(measure, NULL, failure);
}
