# SPDX-License-Identifier: GPL-2.0-only
# what: after a failed write of a record the log stays in service
# file: ressd-commit.c
# breaks: 2
s/set_mode(log, RESSD_MODE_OFF);/set_mode(log, RESSD_MODE_RW);/
