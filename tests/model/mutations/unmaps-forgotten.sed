# SPDX-License-Identifier: GPL-2.0-only
# what: recovery does not apply UNMAPs
# file: ressd-recover.c
# breaks: 3
s/if (node->lbn == RESSD_NO_BLOCK)$/if (1)/
