# SPDX-License-Identifier: GPL-2.0-only
# what: after a loss of power blocks of a log that is not covered are moved home again
# file: ressd-recover.c
# breaks: 8
s/^\tif (!log->cover_blocks || log->covered)$/\tif (log->cover_blocks)/
