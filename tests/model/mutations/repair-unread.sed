# SPDX-License-Identifier: GPL-2.0-only
# what: a repair believes that all is there, without reading it back
# file: ressd-repair.c
# breaks: 2
s/if (log->durable_seq == log->written_seq)$/if (1)/
