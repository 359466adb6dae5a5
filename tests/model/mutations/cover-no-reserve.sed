# SPDX-License-Identifier: GPL-2.0-only
# what: no segment is kept for carrying covered blocks on
# file: ressd-geom.c
# breaks: 8
s/return DIV_ROUND_UP(2 \* nr + 6, usable(geom)) + last_is_short(geom);/return 0;/
