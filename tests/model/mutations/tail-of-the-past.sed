# SPDX-License-Identifier: GPL-2.0-only
# what: a tail counts that an earlier activation claimed, though the next one has done without it
# file: ressd-claims.c
# breaks: 2
s/claims->any = true;/claims->any = true, epoch = 0;/
