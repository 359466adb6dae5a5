# SPDX-License-Identifier: GPL-2.0-only
# what: the death of a block that was moved is not written
# file: ressd-log.c
# breaks: 3
s/if (ressd_log_segment_seq(log, block) < log->reuse_seq) {/if (ressd_log_segment_seq(log, block) < log->reuse_seq || !log->segments[ressd_geom_slot(\&log->geom, block)].live) {/
