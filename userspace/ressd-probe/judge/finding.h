/* SPDX-License-Identifier: GPL-2.0-only */
/* A parameter of the drive, how it was found, and how sure that is. */
#ifndef PROBE_FINDING_H
#define PROBE_FINDING_H

#include <stdbool.h>
#include <linux/types.h>

enum parameter {
	PARAMETER_FLUSH,		/* value 1: a flush does work, 0: it is ignored */
	PARAMETER_PAGE,			/* bytes; phase: the first border on the device */
	PARAMETER_BLOCK,		/* bytes; phase likewise */
	PARAMETER_MODES,		/* number of write latency modes */
	PARAMETER_READ_BUFFER,		/* bytes */
	PARAMETER_WRITE_BUFFER,		/* bytes */
	PARAMETER_PREFETCH,		/* bytes read ahead; 0: none */
	PARAMETER_POLICY,		/* enum policy */
	PARAMETER_OPEN_UNITS,		/* streams that can be written at a time */
	PARAMETER_FAST_AREA,		/* bytes written before the drive slows down (pseudo-SLC) */
	PARAMETER_FLUSH_COST,		/* ns: a flush after a small write; low: after nothing */
	PARAMETER_REWRITE,		/* ns that a commit gains by all of its page; 0: none */
	PARAMETER_CUT,			/* bytes: long writes gain if cut to that; 0: they do not */
	/* Bytes of a bundle before which reads gain, 0: they do not; low: in flight then. */
	PARAMETER_DISPATCH,
	NR_PARAMETERS,
};

enum policy { POLICY_NONE, POLICY_BUFFER, POLICY_CACHE };

enum status {
	STATUS_UNKNOWN,			/* not looked for */
	STATUS_MEASURED,
	STATUS_BOUNDED,			/* between low and high */
	STATUS_NOT_DETECTABLE,		/* looked for, nothing shows */
	STATUS_INCONCLUSIVE,		/* too noisy, or time or bytes used up */
	STATUS_HINT,			/* only the device says so */
};

enum confidence {
	CONFIDENCE_LOW,			/* a hint, or methods that differ */
	CONFIDENCE_MEDIUM,		/* one method */
	CONFIDENCE_HIGH,		/* two independent methods agree */
};

struct finding {
	enum status status;
	enum confidence confidence;
	u64 value;
	u64 low;			/* the range that the samples allow */
	u64 high;
	bool has_phase;
	u64 phase;
	const char *method;		/* short, for people */
	char why[256];			/* a sentence: what was seen */
	double effect;			/* size of what was seen, as a quotient; 0: none */
	/*
	 * Of open blocks a flushed write that closes none; of pseudo-SLC a MiB in order before all
	 * other writes.
	 */
	u64 usual_ns;
	u64 opening_ns;			/* clustered block: one that opens it, at least */
	u32 samples;
	u64 ns;				/* device time */
	u64 written;			/* bytes */
};

const char *parameter_name(enum parameter parameter);	/* as in JSON: "clustered-page" */
const char *parameter_title(enum parameter parameter);	/* for people: "clustered page" */
const char *parameter_unit(enum parameter parameter);	/* "B", "ns" or "" */
const char *status_name(enum status status);
const char *confidence_name(enum confidence confidence);
const char *policy_name(u64 policy);

#endif
