# SPDX-License-Identifier: GPL-2.0-only
# what: a read does not see a full record that waits to be written
# file: ressd-log.c
# breaks: 1
s/for (i = 0; i <= log->nr_full; i++) {/for (i = 0; i < 1; i++) {/
