# SPDX-License-Identifier: GPL-2.0-only
# what: a repair goes on though a flush has failed between two of its I/Os
# file: ressd-commit.c
# breaks: 2
s/^		if (log->repair.step != RESSD_REPAIR_NONE)$/		if (0)/
