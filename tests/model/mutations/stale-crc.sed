# SPDX-License-Identifier: GPL-2.0-only
# what: a block that is overwritten in RAM keeps the checksum of what it was
# file: ressd-log.c
# breaks: 2
s/\*entry = (struct ressd_entry) { .block = cpu_to_le32(lbn) };/entry->block = cpu_to_le32(lbn);/
