/* SPDX-License-Identifier: GPL-2.0-only */
/* What ressdctl check has found, in the order found. */
#ifndef RESSD_FINDINGS_H
#define RESSD_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

enum finding_level {
	FINDING_NOTE,		/* nothing is wrong; says what a power cut has left */
	FINDING_WARNING,	/* something is damaged that is there twice, or is not needed */
	FINDING_DAMAGE,		/* data that was acknowledged is lost, but the device can be used */
	FINDING_REFUSED,	/* the kernel refuses to activate the device */
};

#define FINDING_NOWHERE	(~0ULL)

struct finding {
	enum finding_level level;
	const char *kind;	/* one word for scripts, such as "data-checksum" */
	u64 segment, record;	/* sequence numbers; FINDING_NOWHERE where none is concerned */
	u64 log_block, normal_block;
	char text[384];		/* a sentence */
	const char *remedy;	/* a sentence, or NULL */
};

/* Found where: what is not concerned is FINDING_NOWHERE. */
struct finding_place {
	u64 segment, record, log_block, normal_block;
};

#define FINDING_PLACE_NONE \
	((struct finding_place) { FINDING_NOWHERE, FINDING_NOWHERE, FINDING_NOWHERE, \
				  FINDING_NOWHERE })

#define FINDINGS_KEPT	1000	/* more are counted only */

struct findings {
	struct finding *list;
	size_t nr, allocated;
	u64 counts[FINDING_REFUSED + 1];	/* by level, those not kept included */
};

/* Adds one; when memory runs out it is only counted. */
void findings_add(struct findings *findings, enum finding_level level, const char *kind,
		  struct finding_place place, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

void findings_free(struct findings *findings);

/* "note", "warning", "damage", "refused" */
const char *finding_level_word(enum finding_level level);

#endif
