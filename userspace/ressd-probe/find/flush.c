// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a flush do what it says?  After a write it must take longer than after nothing, and write
 * and flush together longer than a read of the NAND, for programming takes longer than reading.
 * Without that the searches that rely on flushes would see the buffer only.
 */
#include "find/survey.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define TRIES		32U
#define IDLE_NS		20000000ULL	/* between tries: the drive has nothing left to do */
#define MEMBER		4096U
#define ALIGN		1048576U

struct flush_samples {
	double idle[TRIES];	/* flush with nothing to flush */
	double flush[TRIES];	/* flush after a write */
	double both[TRIES];	/* that write and flush */
	double read[TRIES];	/* random read of the same size */
};

static int take_samples(struct survey *survey, struct flush_samples *samples,
			struct failure *failure)
{
	struct measure *measure = survey->measure;
	/* Always the same place: elsewhere the drive might have to reorganise itself first. */
	const u64 place = survey_place(survey, MEMBER, ALIGN);
	unsigned int i;
	int code = measure_flush(measure, NULL, failure);

	for (i = 0; !code && i < TRIES; i++) {
		u64 ns[4] = { 0, 0, 0, 0 };

		measure->disk->ops->pause(measure->disk, IDLE_NS);
		code = measure_flush(measure, &ns[0], failure);
		if (!code)
			code = measure_write(measure, place, MEMBER, &ns[1], failure);
		if (!code)
			code = measure_flush(measure, &ns[2], failure);
		measure->disk->ops->pause(measure->disk, IDLE_NS);
		if (!code)
			code = measure_read(measure, survey_place(survey, MEMBER, MEMBER), MEMBER,
					    &ns[3], failure);
		samples->idle[i] = ns[0] + 1;
		samples->flush[i] = ns[2] + 1;
		samples->both[i] = ns[1] + ns[2] + 1;
		samples->read[i] = ns[3] + 1;
	}
	return code;
}

/* What each fsync costs beside the write itself. */
static void judge_cost(struct survey *survey, struct flush_samples *samples)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	struct finding *finding = &survey->finding[PARAMETER_FLUSH_COST];

	finding->method = "flush after a write of 4 KiB and after nothing";
	finding->samples = 2 * TRIES;
	if (flush->status != STATUS_MEASURED || !flush->value) {
		survey_conclude(survey, PARAMETER_FLUSH_COST, STATUS_NOT_DETECTABLE,
				CONFIDENCE_LOW, "flushes are ignored, or that is not known");
		return;
	}
	finding->value = stat_median(samples->flush, TRIES);
	finding->low = stat_median(samples->idle, TRIES);
	finding->high = finding->value;
	finding->effect = finding->value / (finding->low + 1.0);
	survey_conclude(survey, PARAMETER_FLUSH_COST, STATUS_MEASURED, CONFIDENCE_MEDIUM,
			"median after a write; after nothing %.3f ms, write and flush %.3f ms",
			finding->low / 1e6, stat_median(samples->both, TRIES) / 1e6);
}

static void judge_flush(struct survey *survey, struct flush_samples *samples)
{
	struct finding *finding = &survey->finding[PARAMETER_FLUSH];
	const double clear = stat_rank_sum(samples->flush, TRIES, samples->idle, TRIES);
	const double longer = stat_ratio(samples->flush, TRIES, samples->idle, TRIES);
	const double work = stat_ratio(samples->both, TRIES, samples->read, TRIES);
	const bool flushes = clear >= JUDGE_CLEAR && longer >= 1.5;

	finding->method = "flush after a write and after nothing; write and flush beside a read";
	finding->samples = 4 * TRIES;
	finding->effect = work;
	finding->value = flushes || work >= 0.7;
	if (flushes)
		survey_conclude(survey, PARAMETER_FLUSH, STATUS_MEASURED,
				work >= 0.7 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
				"a flush after a write takes %.1f times as long as one after nothing",
				longer);
	else if (work >= 0.7 && work < 1.3)
		survey_conclude(survey, PARAMETER_FLUSH, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"a flush takes no time, and write and flush about as long as a read (%.1f)",
				work);
	else if (work >= 0.7)
		survey_conclude(survey, PARAMETER_FLUSH, STATUS_MEASURED, CONFIDENCE_MEDIUM,
				"a flush has nothing to do: writes complete only when they are programmed (%.1f times a read)",
				work);
	else
		survey_conclude(survey, PARAMETER_FLUSH, STATUS_MEASURED, CONFIDENCE_MEDIUM,
				"write and flush take only %.2f of a read: flushes are ignored, or the buffer survives a loss of power",
				work);
}

int find_flush(struct survey *survey, struct failure *failure)
{
	struct flush_samples samples;
	const int code = take_samples(survey, &samples, failure);

	if (code)
		return code;
	judge_flush(survey, &samples);
	judge_cost(survey, &samples);
	return 0;
}
