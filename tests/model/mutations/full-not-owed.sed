# SPDX-License-Identifier: GPL-2.0-only
# what: a flush passes by full records that wait to be written
# file: ressd-log.c
# breaks: 2
s/log->nr_unmaps || log->nr_full ||/log->nr_unmaps ||/
