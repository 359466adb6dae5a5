# SPDX-License-Identifier: GPL-2.0-only
# what: a new tail is announced without PREFLUSH, before what was moved is durable
# file: ressd-commit.c
# breaks: 4
s/io->preflush |= nr_unmaps || announces || uncovers || log->opening;/io->preflush |= nr_unmaps || uncovers || log->opening;/
