# SPDX-License-Identifier: GPL-2.0-only
# what: the mover waits for a sync that waits for the mover
# file: ressd-commit.c
# breaks: 4
s/^		log->starved = needed;/		log->starved = false;/
