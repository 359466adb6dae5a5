# SPDX-License-Identifier: GPL-2.0-only
# what: the head enters a slot of which only the first piece is forgotten
# file: ressd-space.c
# breaks: 4
s/^	if (block < end)$/	if (0)/
