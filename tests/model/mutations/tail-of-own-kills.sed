# SPDX-License-Identifier: GPL-2.0-only
# what: a record announces the tail that its own deaths make
# file: ressd-commit.c
# breaks: 4
s/log->tail_seq = ressd_log_scan_tail(log, open->seq - 1);/log->tail_seq = ressd_log_scan_tail(log, ~0ULL);/
