/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_CRC32C_H
#define PORT_LINUX_CRC32C_H

#include <linux/types.h>

/*
 * The kernel's convention: @crc is the raw register, nothing is inverted before
 * or after.
 */
u32 crc32c(u32 crc, const void *data, unsigned int bytes);

/* The same without the processor's instruction, for the test of both. */
u32 crc32c_by_tables(u32 crc, const void *data, unsigned int bytes);

#endif
