# SPDX-License-Identifier: GPL-2.0-only
# what: the head leaves a segment in which no record stands
# file: ressd-space.c
# breaks: 6
s/^	return log->records\[log->open\].block !=$/	return true || log->records[log->open].block !=/
