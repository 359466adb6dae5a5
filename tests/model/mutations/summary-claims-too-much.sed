# SPDX-License-Identifier: GPL-2.0-only
# what: a summary that is written without PREFLUSH claims that its records are durable
# file: ressd-commit.c
# breaks: 6
s/u64 durable_seq = min(log->durable_seq, last_seq);$/u64 durable_seq = last_seq;/
