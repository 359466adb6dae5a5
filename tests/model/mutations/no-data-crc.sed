# SPDX-License-Identifier: GPL-2.0-only
# what: recovery does not compare data with its checksums: torn data passes
# file: ressd-recover.c
# breaks: 6
s/if (ressd_crc(data, RESSD_BLOCK_SIZE) !=$/if (0 \&\&/
