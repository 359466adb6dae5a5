# SPDX-License-Identifier: GPL-2.0-only
# what: covers go though something was logged since the run that takes them away began
# file: ressd-cover-run.c
# breaks: 2
s/^\tif (!may_uncover(log)) {$/\tif (!log) {/
