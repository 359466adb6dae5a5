# SPDX-License-Identifier: GPL-2.0-only
# what: an activation leaves torn first records of the segments to come
# file: ressd-recover.c
# breaks: 6
s/^	if (!ret && !ressd_is_zero(header, RESSD_BLOCK_SIZE))$/	if (0)/
