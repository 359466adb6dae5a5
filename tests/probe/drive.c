// SPDX-License-Identifier: GPL-2.0-only
/* An emulated drive as a disk; see drive.h. */
#include <errno.h>
#include <stddef.h>
#include "drive.h"

static struct emulated *emulated_of(struct disk *disk)
{
	return ((struct drive *)((char *)disk - offsetof(struct drive, disk)))->emulated;
}

/* The contents are not kept; the buffer keeps what it holds, which is not all zero. */
static int drive_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		      struct failure *failure)
{
	(void)data;
	(void)failure;
	*ns = emulated_read(emulated_of(disk), offset, bytes);
	return 0;
}

static int drive_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		       struct failure *failure)
{
	(void)data;
	(void)failure;
	*ns = emulated_write(emulated_of(disk), offset, bytes);
	return 0;
}

static int drive_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	(void)failure;
	*ns = emulated_flush(emulated_of(disk));
	return 0;
}

static void drive_pause(struct disk *disk, u64 ns)
{
	emulated_pause(emulated_of(disk), ns);
}

static u64 drive_now(struct disk *disk)
{
	return emulated_now(emulated_of(disk));
}

static const struct disk_ops drive_ops = {
	.read = drive_read,
	.write = drive_write,
	.flush = drive_flush,
	.pause = drive_pause,
	.now = drive_now,
};

int drive_create(struct drive *drive, const char *profile, const struct host *host,
		 struct failure *failure)
{
	drive->emulated = emulated_create(profile, host, failure->text, sizeof(failure->text));
	if (!drive->emulated)
		return -EINVAL;
	drive->disk = (struct disk){
		.ops = &drive_ops,
		.path = "an emulated drive",
		.bytes = emulated_bytes(drive->emulated),
		.granule = 512,
	};
	return 0;
}

void drive_destroy(struct drive *drive)
{
	emulated_destroy(drive->emulated);
}
