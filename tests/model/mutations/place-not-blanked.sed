# SPDX-License-Identifier: GPL-2.0-only
# what: an activation without room for a record leaves a torn one where the next will be
# file: ressd-commit.c
# breaks: 2
s/(blank_summary(log, io) || blank_place(log, io) ||$/(blank_summary(log, io) ||/
