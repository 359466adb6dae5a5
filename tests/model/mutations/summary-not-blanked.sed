# SPDX-License-Identifier: GPL-2.0-only
# what: an activation leaves the summary of records whose place its own take
# file: ressd-recover.c
# breaks: 6
s/^		stale = le64_to_cpu(summary->segment_seq) == opening;$/		stale = false;/
