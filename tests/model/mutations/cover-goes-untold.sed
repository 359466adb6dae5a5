# SPDX-License-Identifier: GPL-2.0-only
# what: covered blocks come home before the log says that home counts
# file: ressd-cover-run.c
# breaks: 8
0,/^\tcase UNCOVER_TOLD:$/s//\tcase UNCOVER_TOLD: if (run->step == UNCOVER_TOLD) { run->step++; return false; }/
