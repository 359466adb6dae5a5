# SPDX-License-Identifier: GPL-2.0-only
# what: a read is served from a record buffer that was written already
# file: ressd-log.c
# breaks: 1
s/return record->sealed && record_holds(record, block)/return record_holds(record, block)/
