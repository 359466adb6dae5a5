// SPDX-License-Identifier: GPL-2.0-only
/* Asking a device for its registers: commands that only read; see registers.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mmc/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "hints.h"
#include "registers.h"

/* MMC_IOC_CMD's flags, which no header for programs has: an answer of kind R1, data follows. */
#define MMC_RSP_R1_ADTC		0x35
#define MMC_SEND_EXT_CSD	8
#define NVME_IDENTIFY		0x06
#define COMMAND_TIMEOUT_MS	5000

static void add_all(struct hints *hints, const struct register_value *values, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count && hints->count < MAX_HINTS; i++) {
		struct hint *hint = &hints->hint[hints->count++];

		hint->name = values[i].name;
		snprintf(hint->value, sizeof(hint->value), "%llu", values[i].value);
	}
}

static bool nvme_identify(int fd, u32 nsid, u32 kind, u8 *data)
{
	struct nvme_admin_cmd command = {
		.opcode = NVME_IDENTIFY,
		.nsid = nsid,
		.addr = (uintptr_t)data,
		.data_len = NVME_IDENTIFY_BYTES,
		.cdw10 = kind,
		.timeout_ms = COMMAND_TIMEOUT_MS,
	};

	return !ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
}

static void ask_nvme(const struct blkdev *dev, struct hints *hints, u8 *data)
{
	struct register_value values[MAX_REGISTER_VALUES];
	const int nsid = ioctl(dev->fd, NVME_IOCTL_ID);

	if (nsid <= 0)
		return;
	if (nvme_identify(dev->fd, nsid, 0, data))
		add_all(hints, values, registers_nvme_namespace(data, values));
	if (nvme_identify(dev->fd, 0, 1, data))
		add_all(hints, values, registers_nvme_controller(data, values));
}

static void ask_mmc(const struct blkdev *dev, struct hints *hints, u8 *data)
{
	struct register_value values[MAX_REGISTER_VALUES];
	const char *type = hints_get(hints, "device/type");
	struct mmc_ioc_cmd command = {
		.opcode = MMC_SEND_EXT_CSD,
		.flags = MMC_RSP_R1_ADTC,
		.blksz = EXT_CSD_BYTES,
		.blocks = 1,
	};

	/* An SD card takes this command for another one. */
	if (!type || strcmp(type, "MMC"))
		return;
	mmc_ioc_cmd_set_data(command, data);
	if (!ioctl(dev->fd, MMC_IOC_CMD, &command))
		add_all(hints, values, registers_ext_csd(data, values));
}

/* The kernel has read this page when it found the disk. */
static void ask_scsi(const char *folder, struct hints *hints, u8 *data)
{
	struct register_value values[MAX_REGISTER_VALUES];
	const char *block = hints_get(hints, "queue/logical_block_size");
	char path[PATH_MAX + 32];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/vpd_pgb0", folder);
	file = fopen(path, "re");
	if (!file)
		return;
	size = fread(data, 1, 64, file);
	fclose(file);
	add_all(hints, values, registers_vpd_limits(data, size, block ? atoi(block) : 512, values));
}

void hints_ask_device(const struct blkdev *dev, const char *folder, struct hints *hints)
{
	u8 *data = blkdev_buffer(NVME_IDENTIFY_BYTES);

	if (!data)
		return;
	if (!strncmp(dev->path, "/dev/nvme", 9))
		ask_nvme(dev, hints, data);
	else if (!strncmp(dev->path, "/dev/mmcblk", 11))
		ask_mmc(dev, hints, data);
	else
		ask_scsi(folder, hints, data);
	free(data);
}
