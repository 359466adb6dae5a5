# SPDX-License-Identifier: GPL-2.0-only
# what: a tail is announced by a full record that stands before it
# file: ressd-commit.c
# breaks: 4
s/^			      ressd_log_next_record(log)->segment_seq);/			      log->head_seq);/
