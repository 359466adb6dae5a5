# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed flush moved blocks still count as moved
# file: ressd-repair.c
# breaks: 2
s/if (!distrust_moves(log))/if ((void)distrust_moves, 0)/
