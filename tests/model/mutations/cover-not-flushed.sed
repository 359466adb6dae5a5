# SPDX-License-Identifier: GPL-2.0-only
# what: the log counts before the covers are durable
# file: ressd-cover-run.c
# breaks: 8
0,/^\tcase COVER_OTHERS_STAND:$/s//\tcase COVER_OTHERS_STAND: if (run->step == COVER_OTHERS_STAND) { is_covered(run, log); return false; }/
