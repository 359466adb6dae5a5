# SPDX-License-Identifier: GPL-2.0-only
# what: the other covers are written before that of block 0 is durable
# file: ressd-cover-run.c
# breaks: 8
0,/^\tcase COVER_FIRST_STANDS:$/s//\tcase COVER_FIRST_STANDS: if (run->step == COVER_FIRST_STANDS) { run->step++; return false; }/
