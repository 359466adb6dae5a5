# SPDX-License-Identifier: GPL-2.0-only
# what: a copy in a log that is not covered counts even where home holds no cover
# file: ressd-cover-run.c
# breaks: 8
s/^\t\t    ressd_cover_merge(block_of(run->home, lbn),$/\t\t    memcpy(block_of(run->home, lbn),/
s/^\t\t\t\t      block_of(run->logged, lbn), run->uuid,$/\t\t\t\t      block_of(run->logged, lbn), RESSD_BLOCK_SIZE +/
s/^\t\t\t\t      lbn))$/\t\t\t\t      0 * lbn))/
