# SPDX-License-Identifier: GPL-2.0-only
# what: a summary counts although no record follows its last one
# file: ressd-recover.c
# breaks: 6
s/^	if (!confirmed) {$/	if (0) {/
