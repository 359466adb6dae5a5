# SPDX-License-Identifier: GPL-2.0-only
# what: covers are written before the copies in the log are durable
# file: ressd-cover-run.c
# breaks: 8
0,/^\tcase COVER_COPIED:$/s//\tcase COVER_COPIED: if (run->step == COVER_COPIED) { run->step++; return false; }/
