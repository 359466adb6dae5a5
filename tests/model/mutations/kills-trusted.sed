# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed flush the deaths by direct writes still count
# file: ressd-repair.c
# breaks: 3
s/if (!distrust_kills(log))/if ((void)distrust_kills, 0)/
