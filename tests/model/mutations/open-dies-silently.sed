# SPDX-License-Identifier: GPL-2.0-only
# what: a killed block of the open record gets no UNMAP
# file: ressd-log.c
# breaks: 3
s/if (ressd_log_segment_seq(log, block) < log->reuse_seq) {/if (record_holds(\&log->records[log->open], block)) {/
