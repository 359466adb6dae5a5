# SPDX-License-Identifier: GPL-2.0-only
# what: UNMAPs leave in a record without PREFLUSH, before what they stand for is durable
# file: ressd-commit.c
# breaks: 3
s/io->preflush |= nr_unmaps || announces || uncovers || log->opening;/io->preflush |= announces || uncovers || log->opening;/
