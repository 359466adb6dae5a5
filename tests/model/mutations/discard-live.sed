# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is forgotten and discarded as soon as nothing in it is live
# file: ressd-space.c
# breaks: 4
s/log->forgotten_seq < log->reuse_seq + log->geom.nr_segments/log->forgotten_seq < ressd_log_scan_tail(log, ~0ULL) + log->geom.nr_segments/
