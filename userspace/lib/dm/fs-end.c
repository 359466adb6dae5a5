// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a file system ends; see fs-end.h.  libblkid says which one it is, and makes sure that it is
 * the only one; the versions of it that are in use do not all know the size, so that is read here,
 * from the fields that each file system documents.
 */
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/size.h"
#include "dm/fs-end.h"

#define HEAD_BYTES	(128U << 10)	/* the superblock of btrfs is the last, at 64 KiB */

static u64 le(const u8 *at, unsigned int bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static u64 be(const u8 *at, unsigned int bytes)
{
	u64 value = 0;

	for (; bytes--; at++)
		value = value << 8 | *at;
	return value;
}

/* A number of blocks of 1 << @shift bytes; 0 if that is more than any device has. */
static u64 blocks_to_bytes(u64 blocks, u64 shift)
{
	return shift < 32 && blocks < 1ULL << (62 - shift) ? blocks << shift : 0;
}

static u64 ext_bytes(const u8 *head)
{
	const u8 *super = head + 1024;
	const bool wide = le(super + 0x60, 4) & 0x80;	/* feature 64bit */
	const u64 high = wide ? le(super + 0x150, 4) : 0;

	return blocks_to_bytes(high << 32 | le(super + 4, 4), 10 + le(super + 0x18, 4));
}

static u64 xfs_bytes(const u8 *head)
{
	const u64 block = be(head + 4, 4), blocks = be(head + 8, 8);

	return block && block <= 65536 && blocks < 1ULL << 46 ? blocks * block : 0;
}

/* Of one device only: on several, none is complete without the others. */
static u64 btrfs_bytes(const u8 *head)
{
	const u8 *super = head + 65536;

	return le(super + 0x88, 8) == 1 ? le(super + 0xc9 + 8, 8) : 0;
}

static u64 f2fs_bytes(const u8 *head)
{
	const u8 *super = head + 1024;

	/* The path of a second device, whose blocks would count as well. */
	if (super[2269])
		return 0;
	return blocks_to_bytes(le(super + 36, 8), le(super + 16, 4));
}

static u64 fat_bytes(const u8 *head)
{
	const u64 few = le(head + 19, 2);

	return le(head + 11, 2) * (few ? few : le(head + 32, 4));
}

static const struct {
	const char *type;
	u64 (*bytes)(const u8 *head);
} known[] = {
	{ "ext2", ext_bytes },
	{ "ext3", ext_bytes },
	{ "ext4", ext_bytes },
	{ "xfs", xfs_bytes },
	{ "btrfs", btrfs_bytes },
	{ "f2fs", f2fs_bytes },
	{ "vfat", fat_bytes },
};

#define NR_KNOWN	(sizeof(known) / sizeof(known[0]))

/* The type as libblkid has it, "" if that is no file system; or what else is there. */
static int find_type(const struct blkdev *dev, char *type, size_t size, struct failure *failure)
{
	blkid_probe probe = blkid_new_probe();
	const char *usage = "", *value = "";
	/* libblkid reads into buffers that O_DIRECT does not take. */
	int found = -1, fd = open(dev->path, O_RDONLY | O_CLOEXEC);

	if (probe && fd >= 0 && !blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
		blkid_probe_enable_partitions(probe, 1);
		found = blkid_do_safeprobe(probe);
	}
	if (!found) {
		blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
		blkid_probe_lookup_value(probe, "TYPE", &value, NULL);
		snprintf(type, size, "%s", strcmp(usage, "filesystem") ? "" : value);
	}
	if (probe)
		blkid_free_probe(probe);
	if (fd >= 0)
		close(fd);
	if (found == 1)
		return fail(failure, -EEXIST,
			    "%s has no file system; format it with ressdctl format", dev->path);
	if (found == -2)
		return fail(failure, -EEXIST,
			    "%s has several signatures, so nobody knows what is on it; remove the wrong ones with wipefs",
			    dev->path);
	return found ? fail(failure, -EIO, "libblkid cannot read %s", dev->path) : 0;
}

static int refuse_type(const struct blkdev *dev, struct failure *failure)
{
	char what[128];
	int found = blkdev_signature(dev, 0, dev->bytes, what, sizeof(what), failure);

	if (found < 0)
		return found;
	return fail(failure, -EEXIST,
		    "%s holds %s; only a device that holds one file system (ext2, ext3, ext4, xfs, btrfs, f2fs or vfat) can be adopted: of a disk with partitions, name the partition",
		    dev->path, found ? what : "nothing");
}

static int read_end(const struct blkdev *dev, size_t i, struct file_system *fs,
		    struct failure *failure)
{
	u8 *head = blkdev_buffer(HEAD_BYTES);
	int code = head ? 0 : fail(failure, -ENOMEM, "there is not enough memory to read %s",
				   dev->path);

	if (!code && dev->bytes < HEAD_BYTES)
		code = fail(failure, -EINVAL, "%s is too small for a log", dev->path);
	if (!code)
		code = blkdev_read(dev, 0, head, HEAD_BYTES, failure);
	if (!code) {
		fs->bytes = known[i].bytes(head);
		if (!fs->bytes)
			code = fail(failure, -EEXIST,
				    "where the %s on %s ends cannot be told (does it use several devices?)",
				    fs->type, dev->path);
	}
	free(head);
	return code;
}

int fs_end(const struct blkdev *dev, struct file_system *fs, struct failure *failure)
{
	size_t i;
	int code = find_type(dev, fs->type, sizeof(fs->type), failure);

	if (code)
		return code;
	for (i = 0; i < NR_KNOWN; i++)
		if (!strcmp(fs->type, known[i].type))
			return read_end(dev, i, fs, failure);
	return refuse_type(dev, failure);
}

int fs_check_end(const struct blkdev *dev, u64 end, struct failure *failure)
{
	struct file_system fs;
	char remedy[512];
	int code = end ? fs_end(dev, &fs, failure) : -EEXIST;

	if (code == -EEXIST || (!code && fs.bytes <= end))
		return 0;
	if (code)
		return code;
	return fail(failure, -EEXIST,
		    "the %s on %.200s reaches into the reserved area: it was made larger while its log was closed, or is older than the log. Nothing may be written there; use the device without ressd; or, if the file system may go: wipefs -a %.200s; or, to use ressd again: %s; then make a new log with ressdctl format --force",
		    fs.type, dev->path, dev->path,
		    fs_shrink_words(&fs, dev->path, end, remedy, sizeof(remedy)));
}

const char *fs_shrink_words(const struct file_system *fs, const char *path, u64 bytes, char *text,
			    size_t size)
{
	if (!strncmp(fs->type, "ext", 3))
		snprintf(text, size,
			 "make it smaller with: e2fsck -f %s && resize2fs %s %llus", path, path,
			 bytes / 512);
	else if (!strcmp(fs->type, "btrfs"))
		snprintf(text, size,
			 "make it smaller with: mount %s /mnt && btrfs filesystem resize %llu /mnt && umount /mnt",
			 path, bytes);
	else
		snprintf(text, size,
			 "%s cannot be made smaller in its place, so save its files, make it anew with at most %llu bytes, and copy them back",
			 fs->type, bytes);
	return text;
}
