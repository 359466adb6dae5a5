// SPDX-License-Identifier: GPL-2.0-only
/* Places and times of a replay; see shape.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "shape.h"

static u64 round_to(u64 value, u64 unit)
{
	return (value + unit - 1) / unit * unit;
}

static void drop_writes(struct trace *trace, struct shaped *shaped)
{
	u64 i, kept = 0;

	for (i = 0; i < trace->nr; i++)
		if (trace->list[i].op == TRACE_READ)
			trace->list[kept++] = trace->list[i];
	shaped->left_out = trace->nr - kept;
	trace->nr = kept;
}

static void align(struct trace *trace, u32 block, struct shaped *shaped)
{
	u64 i;

	for (i = 0; i < trace->nr; i++) {
		struct request *request = &trace->list[i];
		const u64 end = round_to(request->offset + request->bytes, block);
		const u64 start = request->offset / block * block;

		if (!request->bytes)
			continue;
		shaped->rounded += start != request->offset || end - start != request->bytes;
		request->offset = start;
		request->bytes = end - start;
	}
}

/* Each disk of the trace gets a place of its own, one behind the other. */
static void lay_out(struct trace *trace, struct shaped *shaped)
{
	u64 ends[TRACE_MAX_SOURCES] = { 0 }, starts[TRACE_MAX_SOURCES], at = 0, i;

	for (i = 0; i < trace->nr; i++) {
		const struct request *request = &trace->list[i];
		const u64 end = request->offset + request->bytes;

		if (end > ends[request->source])
			ends[request->source] = end;
	}
	for (i = 0; i < trace->nr_sources; i++) {
		starts[i] = at;
		if (ends[i])
			shaped->span = at + ends[i];
		at += round_to(ends[i], SHAPE_PACK_BYTES);
	}
	for (i = 0; i < trace->nr; i++)
		if (trace->list[i].bytes)
			trace->list[i].offset += starts[trace->list[i].source];
}

static int compare_places(const void *a, const void *b)
{
	const u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return (one > other) - (one < other);
}

/* The MiBs that requests touch, ascending, each once.  Returns how many; *@places may be NULL. */
static u64 touched(const struct trace *trace, u64 **places)
{
	const u64 most = TRACE_MAX_REQUEST / SHAPE_PACK_BYTES + 2;
	u64 nr = 0, unique = 0, allocated = 0, i, at;
	u64 *list = NULL;

	*places = NULL;
	for (i = 0; i < trace->nr; i++) {
		const struct request *request = &trace->list[i];
		const u64 last = (request->offset + request->bytes - 1) / SHAPE_PACK_BYTES;

		if (!request->bytes)
			continue;
		if (nr + most > allocated) {
			u64 *longer;

			allocated = (nr + most) * 2;
			longer = reallocarray(list, allocated, sizeof(*list));
			if (!longer) {
				free(list);
				return 0;
			}
			list = longer;
		}
		for (at = request->offset / SHAPE_PACK_BYTES; at <= last; at++)
			list[nr++] = at;
	}
	qsort(list, nr, sizeof(*list), compare_places);
	for (i = 0; i < nr; i++)
		if (!i || list[i] != list[i - 1])
			list[unique++] = list[i];
	*places = list;
	return unique;
}

/* Keeps order and neighbourhood: a request over two MiBs finds both side by side again. */
static int leave_gaps_out(struct trace *trace, struct failure *failure)
{
	u64 *places;
	const u64 nr = touched(trace, &places);
	u64 i;

	if (!places)
		return fail(failure, -ENOMEM, "not enough memory to pack the trace; use --fit fold");
	for (i = 0; i < trace->nr; i++) {
		struct request *request = &trace->list[i];
		const u64 place = request->offset / SHAPE_PACK_BYTES;
		const u64 *found;

		if (!request->bytes)
			continue;
		found = bsearch(&place, places, nr, sizeof(place), compare_places);
		request->offset = (found - places) * SHAPE_PACK_BYTES +
				  request->offset % SHAPE_PACK_BYTES;
	}
	free(places);
	return 0;
}

static int place(struct request *request, const char *path, const struct shape *shape,
		 struct shaped *shaped, struct failure *failure)
{
	const u64 room = shape->region_bytes;

	if (request->bytes > room)
		return fail(failure, -EINVAL,
			    "%s:%u: the request of %u bytes is larger than the region of %llu bytes",
			    path, request->line, request->bytes, room);
	if (request->offset > room - request->bytes) {
		if (shape->fit == FIT_REFUSE)
			return fail(failure, -EINVAL,
				    "%s:%u: the request ends at byte %llu, but the region has only %llu bytes; give --fit fold or --fit pack",
				    path, request->line, request->offset + request->bytes, room);
		shaped->folded++;
		request->offset %= room;
		/* What would cross the end goes up to it. */
		if (request->offset > room - request->bytes)
			request->offset = room - request->bytes;
	}
	request->offset += shape->region_start;
	return 0;
}

/* A repeatable random number from 1 to @most (xorshift). */
static u32 draw(u64 *state, u32 most)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return 1 + (*state >> 33) % most;
}

/*
 * SC: writes arrive N at once, N drawn from 1 to @burst, and the next ones N mean intervals later.
 * Reads and flushes stay where they are.
 */
static void gather_writes(struct trace *trace, u32 burst, u64 seed)
{
	u64 first = ~0ULL, last = 0, state = seed * 2 + 0x9e3779b97f4a7c15ULL, i, at = 0;
	u32 left = 0, size = 0;
	double interval;

	if (trace->count[TRACE_WRITE] < 2)
		return;
	for (i = 0; i < trace->nr; i++) {
		if (trace->list[i].op != TRACE_WRITE)
			continue;
		if (first == ~0ULL)
			first = trace->list[i].arrival;
		last = trace->list[i].arrival;
	}
	interval = (double)(last - first) / (trace->count[TRACE_WRITE] - 1);
	for (i = 0; i < trace->nr; i++) {
		if (trace->list[i].op != TRACE_WRITE)
			continue;
		if (!left) {
			at += size;
			size = draw(&state, burst);
			left = size;
		}
		trace->list[i].arrival = first + (u64)(at * interval);
		left--;
	}
	trace_sort(trace);
}

/* Divides first, or a year would overflow; what that loses is less than a microsecond. */
static u64 scale_time(u64 ns, u32 speed)
{
	return speed ? ns / speed * 1000 + ns % speed * 1000 / speed : 0;
}

int shape_trace(struct trace *trace, const char *path, const struct shape *shape,
		struct shaped *shaped, struct failure *failure)
{
	u64 i;
	int code = 0;

	memset(shaped, 0, sizeof(*shaped));
	if (shape->reads_only)
		drop_writes(trace, shaped);
	if (!trace->nr)
		return fail(failure, -EINVAL, "%s has no reads; leave --reads-only out", path);
	align(trace, shape->block, shaped);
	lay_out(trace, shaped);
	if (shape->fit == FIT_PACK)
		code = leave_gaps_out(trace, failure);
	for (i = 0; !code && i < trace->nr; i++)
		if (trace->list[i].bytes)
			code = place(&trace->list[i], path, shape, shaped, failure);
	if (code)
		return code;
	trace_count(trace);
	if (shape->burst)
		gather_writes(trace, shape->burst, shape->seed);
	if (shape->speed != SHAPE_USUAL_SPEED)
		for (i = 0; i < trace->nr; i++)
			trace->list[i].arrival = scale_time(trace->list[i].arrival, shape->speed);
	return 0;
}
