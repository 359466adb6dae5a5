# SPDX-License-Identifier: GPL-2.0-only
# what: an activation without room for a record leaves a torn one where the next will be
# file: ressd-commit.c
# breaks: 2
s/(blank_rest(log, io) || blank_place(log, io) ||$/(blank_rest(log, io) ||/
