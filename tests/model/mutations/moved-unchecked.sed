# SPDX-License-Identifier: GPL-2.0-only
# what: what the mover brought home counts as clean although a newer version was logged
# file: ressd-log.c
# breaks: 5
s/if (!node || ressd_map_block(&log->map, node) != block ||/if (!node || (block = ressd_map_block(\&log->map, node)) == RESSD_NO_BLOCK ||/
