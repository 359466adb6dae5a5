/* SPDX-License-Identifier: GPL-2.0-only */
/* What ressd-probe --json has written, for those who judge it. */
#ifndef PROBE_RESULT_FILE_H
#define PROBE_RESULT_FILE_H

#include "cli/failure.h"
#include "judge/finding.h"
#include <linux/types.h>

struct result_file {
	struct finding finding[NR_PARAMETERS];
	u64 region;		/* bytes that were measured in */
	u64 written;		/* bytes, by the whole measurement */
	char verdict[32];
};

/* 0, or -EINVAL with a sentence. */
int result_file_read(const char *path, struct result_file *result, struct failure *failure);

#endif
