# SPDX-License-Identifier: GPL-2.0-only
# what: the mover brings covered blocks home before a drain
# file: ressd-sweep.c
# breaks: 8
s/return node->lbn >= log->cover_blocks &&$/return node->lbn != RESSD_NO_BLOCK \&\&/
