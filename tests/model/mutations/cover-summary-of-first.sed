# SPDX-License-Identifier: GPL-2.0-only
# what: a summary says of the first record, not of the last, whether the log is covered
# file: ressd-summary.c
# breaks: 8
s/^\t\t(header->flags & cpu_to_le32(RESSD_RECORD_UNCOVERED));/\t\t(summary->flags \& cpu_to_le32(RESSD_RECORD_UNCOVERED));/
