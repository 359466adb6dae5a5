# SPDX-License-Identifier: GPL-2.0-only
# what: a summary need not continue the chain
# file: ressd-recover.c
# breaks: 6
s/(chain->any && !ressd_summary_follows(summary, &chain->link)))$/0)/
