# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed flush the home of a block that was logged again since it was moved still counts
# file: ressd-repair.c
# breaks: 4
s/kill_seq = last;/kill_seq = 0 * last;/
