# SPDX-License-Identifier: GPL-2.0-only
# what: a read is served from a record buffer that was written already
# file: ressd-log.c
# breaks: 1
s/return other->sealed && record_holds(other, block)/return record_holds(other, block)/
