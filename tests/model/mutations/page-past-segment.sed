# SPDX-License-Identifier: GPL-2.0-only
# what: a page is written whole though it goes on in the next segment
# file: ressd-page.c
# breaks: 4
s/^\t       ressd_geom_slot_end(&log->geom, slot);/\t       log->geom.nr_blocks - 1;/
