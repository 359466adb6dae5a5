# SPDX-License-Identifier: GPL-2.0-only
# what: the segment that is being written is discarded
# file: ressd-space.c
# breaks: 4
s/log->discard_seq, log->head_seq + 2/log->discard_seq, log->head_seq/
