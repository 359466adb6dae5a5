# SPDX-License-Identifier: GPL-2.0-only
# what: a record of the last free segment is padded with blocks that are needed for making room
# file: ressd-log.c
# breaks: 4
s/^\t\tressd_log_free_segments(log) <= log->cover_reserve;/\t\tfalse;/
