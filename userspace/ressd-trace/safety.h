/* SPDX-License-Identifier: GPL-2.0-only */
/* May a trace with writes be replayed on this device?  The rules are those of ressd-probe. */
#ifndef TRACE_SAFETY_H
#define TRACE_SAFETY_H

#include "arguments.h"
#include "dm/blkdev.h"

/* 0; -EPERM or -EEXIST with a sentence if not; or another negative errno. */
int safety_check(const struct blkdev *dev, const struct trace *trace,
		 const struct arguments *arguments, struct failure *failure);

/* The same, and asks the user. */
int safety_allow_write(const struct blkdev *dev, const struct trace *trace,
		       const struct arguments *arguments, struct failure *failure);

#endif
