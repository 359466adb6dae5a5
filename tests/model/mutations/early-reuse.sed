# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is reused when its death is written, before that is durable
# file: ressd-commit.c
# breaks: 4
s/log->written_tail = record->tail_seq;/log->reuse_seq = log->written_tail = record->tail_seq;/
