// SPDX-License-Identifier: GPL-2.0-only
/* A list of findings; see findings.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "log/findings.h"

static struct finding *new_finding(struct findings *findings)
{
	if (findings->nr == FINDINGS_KEPT)
		return NULL;
	if (findings->nr == findings->allocated) {
		size_t allocated = findings->allocated ? findings->allocated * 2 : 16;
		struct finding *list = realloc(findings->list, allocated * sizeof(*list));

		if (!list)
			return NULL;
		findings->list = list;
		findings->allocated = allocated;
	}
	return &findings->list[findings->nr++];
}

void findings_add(struct findings *findings, enum finding_level level, const char *kind,
		  struct finding_place place, const char *remedy, const char *format, ...)
{
	struct finding *finding = new_finding(findings);
	va_list arguments;

	findings->counts[level]++;
	if (!finding)
		return;
	*finding = (struct finding) {
		.level = level, .kind = kind, .remedy = remedy,
		.segment = place.segment, .record = place.record,
		.log_block = place.log_block, .normal_block = place.normal_block,
	};
	va_start(arguments, format);
	vsnprintf(finding->text, sizeof(finding->text), format, arguments);
	va_end(arguments);
}

void findings_free(struct findings *findings)
{
	free(findings->list);
	*findings = (struct findings) { .list = NULL };
}

const char *finding_level_word(enum finding_level level)
{
	static const char *const words[] = {
		[FINDING_NOTE] = "note",
		[FINDING_WARNING] = "warning",
		[FINDING_DAMAGE] = "damage",
		[FINDING_REFUSED] = "refused",
	};

	return words[level];
}
