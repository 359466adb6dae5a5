/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hints in what devices say of themselves in their own standards' words: NVMe's identify data,
 * the EXT_CSD register of eMMC, vital product data of SCSI.  Pure: from bytes to numbers.
 */
#ifndef PROBE_REGISTERS_H
#define PROBE_REGISTERS_H

#include <stddef.h>
#include <linux/types.h>

#define NVME_IDENTIFY_BYTES	4096U
#define EXT_CSD_BYTES		512U

/* One number of a register. */
struct register_value {
	const char *name;	/* "nvme/write_granularity"; sizes are bytes */
	u64 value;
};

#define MAX_REGISTER_VALUES	8U

/* Each returns how many values it has found; those that a device leaves open are left out. */

/* NVMe: identify namespace (CNS 0), NVME_IDENTIFY_BYTES. */
unsigned int registers_nvme_namespace(const u8 *data, struct register_value *values);

/* NVMe: identify controller (CNS 1), NVME_IDENTIFY_BYTES. */
unsigned int registers_nvme_controller(const u8 *data, struct register_value *values);

/* eMMC: EXT_CSD, EXT_CSD_BYTES. */
unsigned int registers_ext_csd(const u8 *data, struct register_value *values);

/* SCSI: VPD page B0h (block limits), of a device with logical blocks of @block_bytes. */
unsigned int registers_vpd_limits(const u8 *data, size_t size, u32 block_bytes,
				  struct register_value *values);

#endif
