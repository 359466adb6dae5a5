# SPDX-License-Identifier: GPL-2.0-only
# what: the first record of an activation may stand elsewhere than where the chain ended
# file: ressd-log.c
# breaks: 6
s/return log->rotate && !log->first_pending;/return log->rotate;/
