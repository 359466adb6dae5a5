# SPDX-License-Identifier: GPL-2.0-only
# what: a summary is written before its records are durable, and believed
# file: ressd-commit.c
# breaks: 6
s/^		\.preflush = true,$/		.preflush = false,/
