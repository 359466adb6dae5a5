# SPDX-License-Identifier: GPL-2.0-only
# what: a segment is forgotten and discarded when its death is written, before that is durable
# file: ressd-space.c
# breaks: 4
s/log->forgotten_seq < log->reuse_seq + log->geom.nr_segments/log->forgotten_seq < log->written_tail + log->geom.nr_segments/
