# SPDX-License-Identifier: GPL-2.0-only
# what: a sync does not write full records that waited before it
# file: ressd-commit.c
# breaks: 2
s/^	if (log->nr_full \&\& !(log->cycle_sealed.*$/	if (0)/
