// SPDX-License-Identifier: GPL-2.0-only
/*
 * P8, the pseudo-SLC area: a part of the NAND that is written fast, one bit a cell, and folded into
 * the rest later.  While the region is filled in order, the speed drops for good where that
 * area is used up.  The times are those of the filling, so it costs nothing.
 */
#include "find/survey.h"
#include "judge/judge.h"

void find_fast_area(struct survey *survey, const double *chunk_ns, unsigned int count,
		    u64 chunk_bytes)
{
	struct finding *finding = &survey->finding[PARAMETER_FAST_AREA];
	unsigned int fast, i;
	double ns = 0;

	finding->method = "speed while the region is written in order";
	finding->samples = count;
	for (i = 0; i < count; i++)
		ns += chunk_ns[i];
	finding->usual_ns = count ? ns / count * (1 << 20) / chunk_bytes : 0;
	fast = judge_slowdown(chunk_ns, count, &finding->effect);
	if (!fast) {
		survey_conclude(survey, PARAMETER_FAST_AREA, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"no lasting slowdown while %llu MiB were written: there is none, or it was used up before, or it is larger",
				count * chunk_bytes >> 20);
		return;
	}
	finding->value = fast * chunk_bytes;
	finding->low = (fast - 1) * chunk_bytes;
	/* Earlier writes may have taken a part of it. */
	finding->high = ~0ULL;
	survey_conclude(survey, PARAMETER_FAST_AREA, STATUS_BOUNDED, CONFIDENCE_LOW,
			"after %llu MiB writes in order take %.1f times as long, and stay so: pseudo-SLC, or free blocks used up",
			finding->value >> 20, finding->effect);
}
