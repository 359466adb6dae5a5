# SPDX-License-Identifier: GPL-2.0-only
# what: the entries of a summary are not compared with its checksum
# file: ressd-summary.c
# breaks: 6
s/le32_to_cpu(summary->payload_crc) ==$/payload_crc(summary, geom) ==/
