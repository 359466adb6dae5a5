# SPDX-License-Identifier: GPL-2.0-only
# what: a summary is written before its records are durable, and believed
# file: ressd-log.c
# breaks: 6
s/^		\.preflush = true,$/		.preflush = false,/
