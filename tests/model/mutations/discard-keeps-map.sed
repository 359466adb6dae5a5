# SPDX-License-Identifier: GPL-2.0-only
# what: the map keeps the blocks of a segment that is discarded
# file: ressd-space.c
# breaks: 4
s,RW || seq >= log->forgotten_seq),RW || seq >= log->reuse_seq + log->geom.nr_segments),
