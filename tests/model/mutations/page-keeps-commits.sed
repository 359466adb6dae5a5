# SPDX-License-Identifier: GPL-2.0-only
# what: the kept page lacks the records that went out alone
# file: ressd-page.c
# breaks: 2
s/memcpy(page_data(io, from), ressd_record_data(io->record, from),/memcpy(page_data(io, from), io->whole_page ? ressd_record_data(io->record, from) : io->page,/
