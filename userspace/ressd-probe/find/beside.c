// SPDX-License-Identifier: GPL-2.0-only
/* Reads beside writers; see beside.h. */
#include <string.h>
#include "find/beside.h"

#define SECTOR	512U

static bool is_reader(const struct beside *beside, const struct ressd_request *request)
{
	return request == &beside->requests[BESIDE_WRITERS];
}

/* Its next request, at a random place; it comes now. */
static void come(struct beside *beside, struct survey *survey, struct ressd_request *request)
{
	const bool reads = is_reader(beside, request);
	const u32 bytes = reads ? BESIDE_READ_BYTES : BESIDE_WRITE_BYTES;

	*request = (struct ressd_request){
		.sector = survey_place(survey, bytes, bytes) / SECTOR,
		.sectors = bytes / SECTOR,
		.direction = reads ? RESSD_READ : RESSD_WRITE,
		/* Neighbours by chance stay apart: each writer waits for its own. */
		.segments = RESSD_MAX_SEGMENTS + 1,
	};
	beside->came[request - beside->requests] = beside->ns;
	ressd_queue_add(&beside->queue, request, beside->ns, false);
}

/* As many as the depth allows. */
static void send(struct beside *beside)
{
	struct ressd_request *next;

	while ((next = ressd_queue_next(&beside->queue, beside->ns, beside->nr_sent)))
		beside->sent[beside->nr_sent++] = next;
}

void beside_begin(struct beside *beside, struct survey *survey, u32 depth, u64 bundle)
{
	const struct ressd_queue_options options = {
		.dispatch = RESSD_DISPATCH_BUNDLE_RP,
		.split.start = (survey->measure->offset + survey->disk_offset) / SECTOR,
		.bundle_sectors = bundle / SECTOR,
		.depth = depth,
	};
	unsigned int i;

	memset(beside, 0, sizeof(*beside));
	ressd_queue_init(&beside->queue, &options);
	for (i = 0; i < BESIDE_REQUESTS; i++) {
		come(beside, survey, &beside->requests[i]);
		send(beside);
	}
}

static void note_read(struct beside *beside)
{
	beside->reads++;
	if (beside->nr_waits < BESIDE_MAX_WAITS)
		beside->waits[beside->nr_waits++] = beside->ns - beside->came[BESIDE_WRITERS];
}

/* The drive does what it has had for longest, and whose request that was comes with another. */
static int do_next(struct beside *beside, struct survey *survey, struct failure *failure)
{
	struct ressd_request *request = beside->sent[0];
	const u64 at = request->sector * SECTOR;
	const u32 bytes = request->sectors * SECTOR;
	const bool reads = is_reader(beside, request);
	u64 ns = 0;
	int code = reads ? measure_read(survey->measure, at, bytes, &ns, failure) :
			   measure_write(survey->measure, at, bytes, &ns, failure);

	if (code)
		return code;
	beside->nr_sent--;
	memmove(&beside->sent[0], &beside->sent[1], beside->nr_sent * sizeof(beside->sent[0]));
	beside->ns += ns;
	if (reads)
		note_read(beside);
	beside->writes += !reads;
	come(beside, survey, request);
	send(beside);
	return 0;
}

int beside_take_turn(struct beside *beside, struct survey *survey, unsigned int writes, bool *whole,
		     struct failure *failure)
{
	const u64 end = beside->writes + writes;
	u64 ns = 0;
	int code = 0;

	while (!code && beside->writes < end && !survey_late(survey))
		code = do_next(beside, survey, failure);
	if (!code)
		code = measure_flush(survey->measure, &ns, failure);
	beside->ns += ns;
	*whole = !code && beside->writes == end;
	return code;
}
