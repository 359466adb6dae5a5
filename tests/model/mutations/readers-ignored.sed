# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is reused under a read in flight
# file: ressd-space.c
# breaks: 4
s/^\t    log->segment_busy(log->context, slot) ||$/\t    false ||/
