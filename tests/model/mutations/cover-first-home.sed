# SPDX-License-Identifier: GPL-2.0-only
# what: block 0 comes home before the other covered blocks are
# file: ressd-cover-run.c
# breaks: 8
0,/^\tcase UNCOVER_OTHERS_HOME:$/s//\tcase UNCOVER_OTHERS_HOME: if (run->step == UNCOVER_OTHERS_HOME) { run->step++; return false; }/
