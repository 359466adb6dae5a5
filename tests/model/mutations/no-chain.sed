# SPDX-License-Identifier: GPL-2.0-only
# what: a record need not continue the one before: a stale record after a torn one passes
# file: ressd-recover.c
# breaks: 6
s/(chain->any && !ressd_record_follows(header, &chain->link)))/0)/
