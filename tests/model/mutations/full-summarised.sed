# SPDX-License-Identifier: GPL-2.0-only
# what: a summary is written while a full record of its segment waits
# file: ressd-commit.c
# breaks: 6
s/segment_seq < ressd_log_next_record(log)->segment_seq \&\&/segment_seq < log->head_seq \&\&/
