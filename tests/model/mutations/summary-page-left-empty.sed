# SPDX-License-Identifier: GPL-2.0-only
# what: the head leaves a segment of one page, in which no record stands
# file: ressd-log.c
# breaks: 6
s/!log->page_blocks || !ressd_log_head_has_record(log) ||/!log->page_blocks ||/
