# SPDX-License-Identifier: GPL-2.0-only
# what: a page is written whole though what it begins with is not known
# file: ressd-page.c
# breaks: 2
s/return block == io->page_start ||/return block >= io->page_start ||/
