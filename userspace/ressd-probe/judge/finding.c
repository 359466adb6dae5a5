// SPDX-License-Identifier: GPL-2.0-only
/* Names of parameters and of what is known of them; see finding.h. */
#include "judge/finding.h"

static const struct {
	const char *name;
	const char *title;
	const char *unit;
} parameters[NR_PARAMETERS] = {
	[PARAMETER_FLUSH] = { "flush-honoured", "flush honoured", "" },
	[PARAMETER_PAGE] = { "clustered-page", "clustered page", "B" },
	[PARAMETER_BLOCK] = { "clustered-block", "clustered block", "B" },
	[PARAMETER_MODES] = { "nand-modes", "NAND write modes", "" },
	[PARAMETER_READ_BUFFER] = { "read-buffer", "read buffer", "B" },
	[PARAMETER_WRITE_BUFFER] = { "write-buffer", "write buffer", "B" },
	[PARAMETER_PREFETCH] = { "prefetch", "prefetch", "B" },
	[PARAMETER_POLICY] = { "buffer-policy", "write buffer policy", "" },
	[PARAMETER_OPEN_UNITS] = { "open-units", "open blocks", "" },
	[PARAMETER_FAST_AREA] = { "pseudo-slc", "pseudo-SLC area", "B" },
	[PARAMETER_FLUSH_COST] = { "flush-cost", "cost of a flush", "ns" },
	[PARAMETER_REWRITE] = { "page-rewrite", "gain by whole pages", "ns" },
	[PARAMETER_CUT] = { "cut-writes", "long writes gain if cut to", "B" },
	[PARAMETER_DISPATCH] = { "bundled-writes", "reads gain before bundles of", "B" },
};

const char *parameter_name(enum parameter parameter)
{
	return parameters[parameter].name;
}

const char *parameter_title(enum parameter parameter)
{
	return parameters[parameter].title;
}

const char *parameter_unit(enum parameter parameter)
{
	return parameters[parameter].unit;
}

const char *status_name(enum status status)
{
	static const char *const names[] = {
		[STATUS_UNKNOWN] = "not-examined",
		[STATUS_MEASURED] = "measured",
		[STATUS_BOUNDED] = "bounded",
		[STATUS_NOT_DETECTABLE] = "not-detectable",
		[STATUS_INCONCLUSIVE] = "inconclusive",
		[STATUS_HINT] = "hint-only",
	};

	return names[status];
}

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = { "low", "medium", "high" };

	return names[confidence];
}

const char *policy_name(u64 policy)
{
	static const char *const names[] = { "none", "buffer", "cache" };

	return policy < 3 ? names[policy] : "unknown";
}
