# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is discarded under a read in flight
# file: ressd-log.c
# breaks: 4
s/    log->segment_busy(log->context, ressd_geom_slot_of_seq(&log->geom, seq)))/    false)/
