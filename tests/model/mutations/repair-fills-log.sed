# SPDX-License-Identifier: GPL-2.0-only
# what: a repair uses up a block for a record of which nothing is left
# file: ressd-repair.c
# breaks: 4
s/record->taken_back = log->mode >= RESSD_MODE_RO && !record->nr_maps &&$/record->taken_back = false \&\& !record->nr_maps \&\&/
