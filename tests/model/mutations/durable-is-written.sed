# SPDX-License-Identifier: GPL-2.0-only
# what: a header claims that everything written is durable
# file: ressd-commit.c
# breaks: 6
s/header->durable_seq = cpu_to_le64(log->durable_seq);/header->durable_seq = cpu_to_le64(record->seq - 1);/
