# SPDX-License-Identifier: GPL-2.0-only
# what: a drain ends before the tail is announced
# file: ressd-log.c
# breaks: 3
s/return !log->head_maps && log->reuse_seq == log->head_seq &&/return !log->map.nr_dirty \&\&/
