# SPDX-License-Identifier: GPL-2.0-only
# what: of what follows from a failed flush only the first piece is done
# file: ressd-repair.c
# breaks: 2
s/^	if (done)$/	if (done || 1)/
