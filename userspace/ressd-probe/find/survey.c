// SPDX-License-Identifier: GPL-2.0-only
/* Finding the parameters of a drive; see survey.h. */
#include <errno.h>
#include "find/survey.h"

static const struct {
	enum parameter parameter;
	bool writes;
	enum thoroughness from;
	unsigned int seconds;	/* that it may take by default */
	unsigned int behind;	/* that it leaves to those behind it, even if it needs more */
	unsigned int mb;	/* that it may write, but in a thorough run */
	int (*find)(struct survey *survey, struct failure *failure);
} searches[] = {
	{ PARAMETER_FLUSH, true, SURVEY_QUICK, 15, 0, 20, find_flush },
	{ PARAMETER_PAGE, true, SURVEY_QUICK, 30, 0, 80, find_page },
	{ PARAMETER_WRITE_BUFFER, true, SURVEY_DEFAULT, 20, 0, 40, find_write_buffer },
	{ PARAMETER_POLICY, true, SURVEY_DEFAULT, 25, 0, 40, find_policy },
	{ PARAMETER_PREFETCH, false, SURVEY_DEFAULT, 10, 0, 0, find_prefetch },
	{ PARAMETER_READ_BUFFER, false, SURVEY_DEFAULT, 30, 0, 0, find_read_buffer },
	{ PARAMETER_MODES, true, SURVEY_DEFAULT, 20, 0, 60, find_modes },
	{ PARAMETER_BLOCK, true, SURVEY_QUICK, 75, 15, 200, find_block },
	{ PARAMETER_OPEN_UNITS, true, SURVEY_DEFAULT, 20, 0, 40, find_open_units },
	{ PARAMETER_REWRITE, true, SURVEY_DEFAULT, 10, 0, 20, find_rewrite },
	{ PARAMETER_CUT, true, SURVEY_DEFAULT, 10, 0, 70, find_cut },
};

static u64 scaled_ns(const struct survey *survey, unsigned int seconds)
{
	const u64 ns = seconds * 1000000000ULL;

	switch (survey->thoroughness) {
	case SURVEY_QUICK:
		return ns / 3;
	case SURVEY_THOROUGH:
		return ns * 5;
	default:
		return ns;
	}
}

/* Device time of a search that begins at @start. */
static u64 search_ns(const struct survey *survey, size_t index, u64 start)
{
	const bool last = searches[index].from == SURVEY_QUICK &&
			  survey->thoroughness == SURVEY_QUICK;
	const u64 whole = scaled_ns(survey, searches[index].seconds);
	const u64 behind = last ? 0 : scaled_ns(survey, searches[index].behind);

	if (!survey->deadline || start + whole + behind <= survey->deadline)
		return whole;
	return survey->deadline > start + behind ? survey->deadline - start - behind : 1;
}

/* A limit of bytes to write, or a small region, ends a search, not the survey. */
static int run_search(struct survey *survey, size_t index, struct failure *failure)
{
	const enum parameter parameter = searches[index].parameter;
	struct finding *finding = &survey->finding[parameter];
	struct disk *disk = survey->measure->disk;
	const u64 start = disk->ops->now(disk), written = survey->measure->written;
	int code;

	survey->search_ns = search_ns(survey, index, start);
	survey->search_deadline = start + survey->search_ns;
	survey->search_written = survey->thoroughness == SURVEY_THOROUGH || !searches[index].mb ?
				 0 : written + searches[index].mb * 1000000ULL;
	survey->measure->phase = parameter_name(parameter);
	if (survey->progress)
		survey->progress(survey->progress_context, parameter);
	code = searches[index].find(survey, failure);
	if (code && code != -ERANGE && code != -EDQUOT) {
		/* Interrupted: nothing was decided. */
		finding->status = STATUS_UNKNOWN;
		return code;
	}
	finding->ns = disk->ops->now(disk) - start;
	finding->written = survey->measure->written - written;
	/* measure.c has refused to leave the region. */
	if (code == -ERANGE)
		survey_conclude(survey, parameter, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"the region is too small for it");
	else if (code == -EDQUOT)
		survey_conclude(survey, parameter, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"the limit of bytes to write (--max-write) was reached first");
	if (survey->ended)
		survey->ended(survey->progress_context);
	return 0;
}

int survey_run(struct survey *survey, struct failure *failure)
{
	size_t i;
	int code = 0;

	for (i = 0; !code && i < sizeof(searches) / sizeof(searches[0]); i++) {
		if (searches[i].writes && !survey->may_write)
			continue;
		if (searches[i].from > survey->thoroughness ||
		    survey->finding[searches[i].parameter].status != STATUS_UNKNOWN)
			continue;
		survey->search_deadline = 0;
		survey->search_written = 0;
		if (survey_late(survey)) {
			survey_conclude(survey, searches[i].parameter, STATUS_INCONCLUSIVE,
					CONFIDENCE_LOW, "no time was left for it");
			continue;
		}
		code = run_search(survey, i, failure);
	}
	return code;
}
