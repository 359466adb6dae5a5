# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is discarded as soon as nothing in it is live
# file: ressd-log.c
# breaks: 4
s/seq >= log->reuse_seq + log->geom.nr_segments/seq >= ressd_log_scan_tail(log, ~0ULL) + log->geom.nr_segments/
