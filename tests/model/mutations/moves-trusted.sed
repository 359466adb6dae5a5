# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed flush moved blocks still count as moved
# file: ressd-repair.c
# breaks: 2
s/done = distrust_moves(log);/(void)distrust_moves, done = true;/
