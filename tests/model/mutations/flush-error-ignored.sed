# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed flush the log stays in service
# file: ressd-commit.c
# breaks: 2
s/^		ressd_repair_distrust(log);/		log->cycle = 0;/
