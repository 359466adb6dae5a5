# SPDX-License-Identifier: GPL-2.0-only
# what: a segment counts as dead although blocks of it are live
# file: ressd-space.c
# breaks: 4
s/if (segment->live || segment->kill_seq > limit)/if (segment->kill_seq > limit)/
