# SPDX-License-Identifier: GPL-2.0-only
# what: a drain is announced before block 0 is home
# file: ressd-cover-run.c
# breaks: 8
0,/^\tcase UNCOVER_FIRST:$/s//\tcase UNCOVER_FIRST: if (run->step == UNCOVER_FIRST) { is_home(run, log); return false; }/
