# SPDX-License-Identifier: GPL-2.0-only
# what: a sync completes when its record is written, FUA or not
# file: ressd-commit.c
# breaks: 2
s/if (io->fua) {/if (1) {/
