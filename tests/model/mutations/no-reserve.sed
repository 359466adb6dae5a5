# SPDX-License-Identifier: GPL-2.0-only
# what: data may use the segment that is kept for making room
# file: ressd-log.c
# breaks: 4
s/if (!ressd_log_advance_head(log, reserve))/if (!ressd_log_advance_head(log, 0))/
s/if (lacks_room(log, reserve))$/if (0)/
