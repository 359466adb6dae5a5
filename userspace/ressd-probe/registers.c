// SPDX-License-Identifier: GPL-2.0-only
/* What devices say of themselves; see registers.h. */
#include "registers.h"

static void add(struct register_value *values, unsigned int *count, const char *name, u64 value)
{
	if (*count < MAX_REGISTER_VALUES)
		values[(*count)++] = (struct register_value){ name, value };
}

static u32 little16(const u8 *data)
{
	return data[0] | (u32)data[1] << 8;
}

static u32 big16(const u8 *data)
{
	return (u32)data[0] << 8 | data[1];
}

static u64 big32(const u8 *data)
{
	return (u64)big16(data) << 16 | big16(data + 2);
}

/* Bytes of NVMe's identify namespace. */
#define NVME_NSFEAT		24
#define NVME_NSFEAT_OPTPERF	0x10	/* the fields from NPWG on are filled in */
#define NVME_FLBAS		26
#define NVME_NOIOB		46	/* borders that a request should not cross */
#define NVME_NPWG		64	/* preferred write granularity, less 1 */
#define NVME_NPWA		66	/* its alignment, less 1 */
#define NVME_NPDG		68	/* preferred deallocation granularity, less 1 */
#define NVME_NOWS		72	/* optimal write size, less 1 */
#define NVME_LBAF		128	/* formats, four bytes each; the third: bits of the size */

unsigned int registers_nvme_namespace(const u8 *data, struct register_value *values)
{
	const u8 bits = data[NVME_LBAF + 4 * (data[NVME_FLBAS] & 15) + 2];
	unsigned int count = 0;

	if (bits < 9 || bits > 16)
		return 0;
	if (little16(data + NVME_NOIOB))
		add(values, &count, "nvme/io_boundary", (u64)little16(data + NVME_NOIOB) << bits);
	if (!(data[NVME_NSFEAT] & NVME_NSFEAT_OPTPERF))
		return count;
	add(values, &count, "nvme/write_granularity", (little16(data + NVME_NPWG) + 1ULL) << bits);
	add(values, &count, "nvme/write_alignment", (little16(data + NVME_NPWA) + 1ULL) << bits);
	add(values, &count, "nvme/discard_granularity",
	    (little16(data + NVME_NPDG) + 1ULL) << bits);
	add(values, &count, "nvme/optimal_write", (little16(data + NVME_NOWS) + 1ULL) << bits);
	return count;
}

#define NVME_MDTS		77	/* largest transfer: a power of two of memory pages */
#define NVME_VWC		525	/* bit 0: a volatile write cache */

unsigned int registers_nvme_controller(const u8 *data, struct register_value *values)
{
	unsigned int count = 0;

	if (data[NVME_MDTS] && data[NVME_MDTS] < 20)
		add(values, &count, "nvme/largest_transfer", 4096ULL << data[NVME_MDTS]);
	add(values, &count, "nvme/volatile_cache", data[NVME_VWC] & 1);
	return count;
}

/* Bytes of EXT_CSD. */
#define MMC_HC_ERASE_GRP_SIZE	224	/* in 512 KiB */
#define MMC_ACC_SIZE		225	/* low four bits: super page, 512 bytes shifted by n - 1 */
#define MMC_CACHE_SIZE		249	/* four bytes, in Kbit */
#define MMC_OPTIMAL_WRITE_SIZE	265	/* in 4 KiB */
#define MMC_OPTIMAL_READ_SIZE	266	/* in 4 KiB */

unsigned int registers_ext_csd(const u8 *data, struct register_value *values)
{
	const u8 *cache = data + MMC_CACHE_SIZE, super_page = data[MMC_ACC_SIZE] & 15;
	const u64 cache_kbit = little16(cache) | (u64)little16(cache + 2) << 16;
	unsigned int count = 0;

	if (data[MMC_HC_ERASE_GRP_SIZE])
		add(values, &count, "emmc/erase_group", data[MMC_HC_ERASE_GRP_SIZE] * 524288ULL);
	if (super_page && super_page <= 8)
		add(values, &count, "emmc/super_page", 512ULL << (super_page - 1));
	if (data[MMC_OPTIMAL_WRITE_SIZE])
		add(values, &count, "emmc/optimal_write", data[MMC_OPTIMAL_WRITE_SIZE] * 4096ULL);
	if (data[MMC_OPTIMAL_READ_SIZE])
		add(values, &count, "emmc/optimal_read", data[MMC_OPTIMAL_READ_SIZE] * 4096ULL);
	if (cache_kbit)
		add(values, &count, "emmc/cache", cache_kbit * 128);
	return count;
}

/* Bytes of VPD page B0h. */
#define VPD_PAGE		1
#define VPD_LIMITS		0xb0
#define VPD_GRANULARITY		6	/* optimal transfer length granularity, blocks */
#define VPD_LARGEST		8	/* maximum transfer length, blocks */
#define VPD_OPTIMAL		12	/* optimal transfer length, blocks */
#define VPD_UNMAP		28	/* optimal unmap granularity, blocks */

unsigned int registers_vpd_limits(const u8 *data, size_t size, u32 block_bytes,
				  struct register_value *values)
{
	unsigned int count = 0;

	if (size < VPD_OPTIMAL + 4 || data[VPD_PAGE] != VPD_LIMITS)
		return 0;
	if (big16(data + VPD_GRANULARITY))
		add(values, &count, "scsi/transfer_granularity",
		    (u64)big16(data + VPD_GRANULARITY) * block_bytes);
	if (big32(data + VPD_LARGEST))
		add(values, &count, "scsi/largest_transfer",
		    big32(data + VPD_LARGEST) * block_bytes);
	if (big32(data + VPD_OPTIMAL))
		add(values, &count, "scsi/optimal_transfer",
		    big32(data + VPD_OPTIMAL) * block_bytes);
	if (size >= VPD_UNMAP + 4 && big32(data + VPD_UNMAP))
		add(values, &count, "scsi/discard_granularity",
		    big32(data + VPD_UNMAP) * block_bytes);
	return count;
}
