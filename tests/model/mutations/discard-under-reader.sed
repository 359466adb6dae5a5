# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is discarded under a read in flight
# file: ressd-space.c
# breaks: 4
s/return log->segment_busy(log->context, slot) ? 0 : seq/return seq/
