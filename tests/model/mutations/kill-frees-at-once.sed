# SPDX-License-Identifier: GPL-2.0-only
# what: a segment counts as dead before the record that killed its last block is durable
# file: ressd-space.c
# breaks: 4
s/if (segment->live || segment->kill_seq > limit)/if (segment->live)/
