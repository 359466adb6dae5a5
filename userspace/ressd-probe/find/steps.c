// SPDX-License-Identifier: GPL-2.0-only
/* What the searches have in common; see survey.h. */
#include <stdarg.h>
#include <stdio.h>
#include "find/survey.h"

#define EMPTYING_NS	150000000ULL	/* more than any firmware waits for its host to be idle */

bool survey_late(const struct survey *survey)
{
	struct disk *disk = survey->measure->disk;
	const u64 now = disk->ops->now(disk);

	return (survey->deadline && now >= survey->deadline) ||
	       (survey->search_deadline && now >= survey->search_deadline) ||
	       (survey->search_written && survey->measure->written >= survey->search_written);
}

bool survey_overdue(const struct survey *survey)
{
	struct disk *disk = survey->measure->disk;
	const u64 now = disk->ops->now(disk);

	return (survey->deadline && now >= survey->deadline) ||
	       (survey->search_deadline && now >= survey->search_deadline + survey->search_ns);
}

int survey_write_flush(struct survey *survey, u64 at, u32 bytes, u64 *ns, struct failure *failure)
{
	u64 flush = 0;
	int code = measure_write(survey->measure, at, bytes, ns, failure);

	if (!code)
		code = measure_flush(survey->measure, &flush, failure);
	*ns += flush;
	return code;
}

static int transfer_range(struct survey *survey, bool write, u64 at, u64 bytes, u64 *ns,
			  struct failure *failure)
{
	int code = 0;

	*ns = 0;
	while (!code && bytes) {
		const u32 piece = bytes < MEASURE_MAX_BYTES ? bytes : MEASURE_MAX_BYTES;
		u64 took = 0;

		code = write ? measure_write(survey->measure, at, piece, &took, failure) :
			       measure_read(survey->measure, at, piece, &took, failure);
		*ns += took;
		at += piece;
		bytes -= piece;
	}
	return code;
}

int survey_write_range(struct survey *survey, u64 at, u64 bytes, u64 *ns, struct failure *failure)
{
	return transfer_range(survey, true, at, bytes, ns, failure);
}

int survey_read_range(struct survey *survey, u64 at, u64 bytes, u64 *ns, struct failure *failure)
{
	return transfer_range(survey, false, at, bytes, ns, failure);
}

int survey_empty_buffer(struct survey *survey, struct failure *failure)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	struct disk *disk = survey->measure->disk;
	const int code = measure_flush(survey->measure, NULL, failure);

	if (!code && flush->status == STATUS_MEASURED && !flush->value)
		disk->ops->pause(disk, EMPTYING_NS);
	return code;
}

u64 survey_place(struct survey *survey, u64 bytes, u64 align)
{
	struct measure *measure = survey->measure;
	const u64 start = measure->offset + survey->disk_offset;
	const u64 first = (align - start % align) % align;
	const u64 places = measure->bytes < first + bytes ? 0 :
			   (measure->bytes - first - bytes) / align + 1;

	return places ? first + measure_random(measure, places) * align : 0;
}

void survey_conclude(struct survey *survey, enum parameter parameter, enum status status,
		     enum confidence confidence, const char *format, ...)
{
	struct finding *finding = &survey->finding[parameter];
	va_list arguments;

	finding->status = status;
	finding->confidence = confidence;
	va_start(arguments, format);
	vsnprintf(finding->why, sizeof(finding->why), format, arguments);
	va_end(arguments);
}
