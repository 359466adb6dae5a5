# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed flush the deaths by direct writes still count
# file: ressd-repair.c
# breaks: 3
s/done = distrust_kills(log);/(void)distrust_kills, done = true;/
