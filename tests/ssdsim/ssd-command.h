/* SPDX-License-Identifier: GPL-2.0-only */
/* What a host asks of an emulated drive. */
#ifndef SSD_COMMAND_H
#define SSD_COMMAND_H

#include <linux/types.h>

enum ssd_operation {
	SSD_READ,
	SSD_WRITE,
	SSD_FLUSH,
	SSD_DISCARD,
	SSD_OPERATIONS,
};

/**
 * struct ssd_command - one command.
 * @sector, @sectors: its range; none for a flush; a write or read of more than
 *	32 bits of sectors does not exist
 * @fua: a write that completes once it is durable
 */
struct ssd_command {
	enum ssd_operation operation;
	u64 sector;
	u64 sectors;
	bool fua;
};

#endif /* SSD_COMMAND_H */
