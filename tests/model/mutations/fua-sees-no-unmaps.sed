# SPDX-License-Identifier: GPL-2.0-only
# what: a direct FUA write does not see the UNMAPs that are on their way in a record
# file: ressd-log.c
# breaks: 3
s/return log->nr_unmaps || log->cycle ||/return log->nr_unmaps ||/
s/^\t       !ressd_dying_is_empty(&log->sealed_unmaps) ||$/\t       false ||/
