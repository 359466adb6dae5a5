# SPDX-License-Identifier: GPL-2.0-only
# what: recovery believes a summary whose records are not known durable
# file: ressd-recover.c
# breaks: 6
s/le64_to_cpu(summary->last_seq) > fold->claims.durable_seq ||$/0 ||/
