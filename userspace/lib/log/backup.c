// SPDX-License-Identifier: GPL-2.0-only
/* The backup file of a repair; see backup.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/crc32c.h>
#include "cli/new-file.h"
#include "log/backup.h"
#include "log/super-pair.h"
#include "log/use.h"

#define BACKUP_MAGIC	0x6b61626473736572ULL	/* "ressdbak" */
#define BACKUP_VERSION	3

/* A power cut may tear a block between its sectors, so each of them has checksums of its own. */
#define BACKUP_SECTOR	512
#define BACKUP_SECTORS	(RESSD_BLOCK_SIZE / BACKUP_SECTOR)

struct backup_header {
	__le64 magic;
	__le32 version;
	__le32 nr;		/* blocks that follow */
	__le64 device_bytes;
	__u8 uuid[RESSD_UUID_SIZE];
	__le64 start;		/* of the reserved area, sectors */
	__le64 sectors;
	__le64 newest;		/* struct log_use of the log without the blocks that follow */
	__le32 use_crc;
	__le32 reserved;
};

struct backup_block {
	__le64 offset;
	__le32 new_crc[BACKUP_SECTORS];	/* of each sector that the repair writes there */
	__le32 old_crc[BACKUP_SECTORS];	/* of each that is saved */
};

/* A backup file being written or read, and the crc of what went by. */
struct backup {
	const char *path;
	FILE *file;
	u32 crc;
	u8 *block;		/* 4096 bytes, for the device */
	struct ressd_super_info info;	/* of the log */
	u8 *spared;		/* which of its blocks are in the file: a byte each */
};

static bool put(struct backup *backup, const void *data, size_t bytes)
{
	backup->crc = crc32c(backup->crc, data, bytes);
	return fwrite(data, 1, bytes, backup->file) == bytes;
}

static bool get(struct backup *backup, void *data, size_t bytes)
{
	if (fread(data, 1, bytes, backup->file) != bytes)
		return false;
	backup->crc = crc32c(backup->crc, data, bytes);
	return true;
}

static u32 sector_crc(const void *block, u32 sector)
{
	return ressd_crc((const u8 *)block + sector * BACKUP_SECTOR, BACKUP_SECTOR);
}

static int save_failure(const struct backup *backup, struct failure *failure)
{
	return fail(failure, -errno, "cannot write the backup file %s: %s", backup->path,
		    strerror(errno));
}

static int save_block(struct backup *backup, const struct blkdev *dev,
		      const struct planned_write *write, struct failure *failure)
{
	static const u8 zeroes[RESSD_BLOCK_SIZE];
	struct backup_block header = { .offset = cpu_to_le64(write->offset) };
	int code = blkdev_read(dev, write->offset, backup->block, RESSD_BLOCK_SIZE, failure);
	u32 i;

	/* A block that cannot be read has nothing to be saved; writing it may well heal it. */
	if (code)
		memset(backup->block, 0, RESSD_BLOCK_SIZE);
	for (i = 0; i < BACKUP_SECTORS; i++) {
		header.new_crc[i] = cpu_to_le32(sector_crc(write->data ? write->data : zeroes, i));
		header.old_crc[i] = cpu_to_le32(sector_crc(backup->block, i));
	}
	if (put(backup, &header, sizeof(header)) && put(backup, backup->block, RESSD_BLOCK_SIZE))
		return 0;
	return save_failure(backup, failure);
}

/* The file's name is durable only when its folder is. */
static int sync_folder(const struct backup *backup, struct failure *failure)
{
	char *copy = strdup(backup->path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int code = fd < 0 || fsync(fd) ? save_failure(backup, failure) : 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return code;
}

/* Which blocks of the log @backup has: none yet. */
static int spare_none(struct backup *backup, struct failure *failure)
{
	free(backup->spared);
	backup->spared = calloc(backup->info.table.reserved_sectors / RESSD_BLOCK_SECTORS, 1);
	return backup->spared ? 0 : fail(failure, -ENOMEM,
					 "there is not enough memory to look through the log");
}

/* The block at @offset of the device is one of them, if it is one of the log at all. */
static void spare(struct backup *backup, u64 offset)
{
	const struct ressd_table *table = &backup->info.table;
	const u64 at = offset - table->reserved_start * 512;

	if (at / 512 < table->reserved_sectors && !(at % RESSD_BLOCK_SIZE))
		backup->spared[at / RESSD_BLOCK_SIZE] = 1;
}

static int write_backup(struct backup *backup, const struct blkdev *dev,
			const struct planned_write *writes, size_t nr, struct failure *failure)
{
	const struct ressd_super_info *info = &backup->info;
	struct backup_header header = {
		.magic = cpu_to_le64(BACKUP_MAGIC),
		.version = cpu_to_le32(BACKUP_VERSION),
		.nr = cpu_to_le32(nr),
		.device_bytes = cpu_to_le64(dev->bytes),
		.start = cpu_to_le64(info->table.reserved_start),
		.sectors = cpu_to_le64(info->table.reserved_sectors),
	};
	struct log_use use;
	__le32 crc;
	size_t i;
	int code = spare_none(backup, failure);

	for (i = 0; !code && i < nr; i++)
		spare(backup, writes[i].offset);
	if (!code)
		code = log_use_read(&use, dev, info, backup->spared, failure);
	if (code)
		return code;
	header.newest = cpu_to_le64(use.newest);
	header.use_crc = cpu_to_le32(use.crc);
	memcpy(header.uuid, info->uuid, RESSD_UUID_SIZE);
	code = put(backup, &header, sizeof(header)) ? 0 : save_failure(backup, failure);
	for (i = 0; !code && i < nr; i++)
		code = save_block(backup, dev, &writes[i], failure);
	if (code)
		return code;
	crc = cpu_to_le32(backup->crc);
	if (!put(backup, &crc, sizeof(crc)) || fflush(backup->file) ||
	    fsync(fileno(backup->file)))
		return save_failure(backup, failure);
	return sync_folder(backup, failure);
}

int backup_save(const char *path, const struct blkdev *dev, const struct ressd_super_info *info,
		const struct planned_write *writes, size_t nr, struct failure *failure)
{
	struct backup backup = { .path = path, .crc = ~0U, .info = *info };
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), code;

	if (fd < 0 && errno == EEXIST)
		return fail(failure, -EEXIST,
			    "the backup file %s exists already; name one that does not, so that no backup is overwritten",
			    path);
	if (fd < 0)
		return save_failure(&backup, failure);
	backup.block = blkdev_buffer(RESSD_BLOCK_SIZE);
	backup.file = fdopen(fd, "wb");
	if (!backup.block || !backup.file)
		code = fail(failure, -ENOMEM, "there is not enough memory for a backup");
	else
		code = write_backup(&backup, dev, writes, nr, failure);
	if (backup.file ? fclose(backup.file) : close(fd))
		code = code ? code : save_failure(&backup, failure);
	if (code)
		unlink(path);
	free(backup.spared);
	free(backup.block);
	return code;
}

static int damaged_backup(const struct backup *backup, struct failure *failure)
{
	return fail(failure, -EBADMSG,
		    "%s is not a whole backup file of ressdctl repair; name the one that --backup has written",
		    backup->path);
}

/*
 * Is the log that was repaired on @dev?  A repair needs one good superblock, and leaves it alone.
 * An image of the same size may well hold the same blocks, such as zeroes, in the same places.
 */
static int check_same_log(struct backup *backup, const struct blkdev *dev,
			  const struct backup_header *header, struct failure *failure)
{
	const u64 start = le64_to_cpu(header->start), sectors = le64_to_cpu(header->sectors);
	const u64 all = dev->bytes / 512;
	struct super_pair supers;
	u32 i;

	if (sectors > all || start > all - sectors || sectors < 2 * RESSD_BLOCK_SECTORS)
		return damaged_backup(backup, failure);
	super_pair_read(&supers, dev, start, sectors);
	for (i = 0; i < 2; i++) {
		const struct ressd_super_info *info = &supers.copies[i].info;

		if (!supers.copies[i].readable || supers.copies[i].verdict != RESSD_SUPER_GOOD ||
		    memcmp(info->uuid, header->uuid, RESSD_UUID_SIZE) ||
		    info->table.reserved_start != start || info->table.reserved_sectors != sectors)
			continue;
		backup->info = *info;
		return 0;
	}
	return fail(failure, -EPERM,
		    "the log that %s was made of is not on %s at sector %llu: it is another device; name the one that was repaired",
		    backup->path, dev->path, (unsigned long long)start);
}

/* Opens the file at its start. */
static int begin_reading(struct backup *backup, const struct blkdev *dev,
			 struct backup_header *header, struct failure *failure)
{
	rewind(backup->file);
	backup->crc = ~0U;
	if (!get(backup, header, sizeof(*header)) ||
	    le64_to_cpu(header->magic) != BACKUP_MAGIC)
		return damaged_backup(backup, failure);
	if (le32_to_cpu(header->version) != BACKUP_VERSION)
		return fail(failure, -EBADMSG,
			    "%s is a backup of version %u, but this ressdctl reads version %u; use the ressdctl that made it",
			    backup->path, le32_to_cpu(header->version), BACKUP_VERSION);
	if (le64_to_cpu(header->device_bytes) != dev->bytes)
		return fail(failure, -EPERM,
			    "%s was made of a device of %llu bytes, but %s has %llu: it is another one",
			    backup->path, le64_to_cpu(header->device_bytes), dev->path,
			    (unsigned long long)dev->bytes);
	return check_same_log(backup, dev, header, failure);
}

/* The next block of the file: its header, and its old contents in backup->block. */
static int next_block(struct backup *backup, const struct blkdev *dev, struct backup_block *header,
		      struct failure *failure)
{
	u64 offset;
	u32 i;

	if (!get(backup, header, sizeof(*header)) ||
	    !get(backup, backup->block, RESSD_BLOCK_SIZE))
		return damaged_backup(backup, failure);
	offset = le64_to_cpu(header->offset);
	if (offset % BACKUP_SECTOR || dev->bytes < RESSD_BLOCK_SIZE ||
	    offset > dev->bytes - RESSD_BLOCK_SIZE)
		return damaged_backup(backup, failure);
	for (i = 0; i < BACKUP_SECTORS; i++)
		if (le32_to_cpu(header->old_crc[i]) != sector_crc(backup->block, i))
			return damaged_backup(backup, failure);
	return 0;
}

/* Does the device hold, sector by sector, what was there before the repair, or what it wrote? */
static int check_untouched(const struct backup *backup, const struct blkdev *dev,
			   const struct backup_block *header, struct failure *failure)
{
	u64 offset = le64_to_cpu(header->offset);
	u32 i, crc;

	if (blkdev_read(dev, offset, backup->block, RESSD_BLOCK_SIZE, failure))
		return 0;	/* not even that can be read: writing it cannot do harm */
	for (i = 0; i < BACKUP_SECTORS; i++) {
		crc = sector_crc(backup->block, i);
		if (crc != le32_to_cpu(header->new_crc[i]) &&
		    crc != le32_to_cpu(header->old_crc[i]))
			return fail(failure, -EPERM,
				    "the device was used after the repair (byte %llu has changed), so undoing it would do harm",
				    (unsigned long long)offset + i * BACKUP_SECTOR);
	}
	return 0;
}

/* An activation may change none of those blocks: what it writes goes behind the log's end. */
static int check_unused_since(const struct backup *backup, const struct blkdev *dev,
			      const struct backup_header *header, struct failure *failure)
{
	struct log_use use;
	int code = log_use_read(&use, dev, &backup->info, backup->spared, failure);

	if (code || (use.newest == le64_to_cpu(header->newest) &&
		     use.crc == le32_to_cpu(header->use_crc)))
		return code;
	return fail(failure, -EPERM,
		    "%s was used after the repair (beside what that wrote, the newest record of its log is %llu, and was %llu), so undoing it would destroy newer data; keep the log, and remove the backup %s",
		    dev->path, (unsigned long long)use.newest, le64_to_cpu(header->newest),
		    backup->path);
}

/* Looks at the whole file and at the device before anything is written. */
static int check_undo(struct backup *backup, const struct blkdev *dev, struct backup_header *header,
		      struct failure *failure)
{
	struct backup_block block;
	__le32 stored;
	u32 i, crc;
	int code = begin_reading(backup, dev, header, failure);

	if (!code)
		code = spare_none(backup, failure);
	for (i = 0; !code && i < le32_to_cpu(header->nr); i++) {
		code = next_block(backup, dev, &block, failure);
		if (!code)
			code = check_untouched(backup, dev, &block, failure);
		if (!code)
			spare(backup, le64_to_cpu(block.offset));
	}
	if (code)
		return code;
	crc = backup->crc;
	if (fread(&stored, 1, sizeof(stored), backup->file) != sizeof(stored) ||
	    le32_to_cpu(stored) != crc || fgetc(backup->file) != EOF)
		return damaged_backup(backup, failure);
	return check_unused_since(backup, dev, header, failure);
}

static int restore(struct backup *backup, const struct blkdev *dev, u64 *blocks,
		   struct failure *failure)
{
	struct backup_header header;
	struct backup_block block;
	u32 i;
	int code = check_undo(backup, dev, &header, failure);

	if (!code)
		code = begin_reading(backup, dev, &header, failure);
	for (i = 0; !code && i < le32_to_cpu(header.nr); i++) {
		code = next_block(backup, dev, &block, failure);
		if (!code)
			code = blkdev_write(dev, le64_to_cpu(block.offset), backup->block,
					    RESSD_BLOCK_SIZE, failure);
	}
	if (!code)
		*blocks = le32_to_cpu(header.nr);
	return code ? code : blkdev_flush(dev, failure);
}

int backup_restore(const char *path, const struct blkdev *dev, u64 *blocks,
		   struct failure *failure)
{
	struct backup backup = {
		.path = path, .file = regular_file_open(path, "the backup file", failure),
	};
	int code;

	if (!backup.file)
		return -errno;
	backup.block = blkdev_buffer(RESSD_BLOCK_SIZE);
	if (backup.block)
		code = restore(&backup, dev, blocks, failure);
	else
		code = fail(failure, -ENOMEM, "there is not enough memory for a block");
	fclose(backup.file);
	free(backup.spared);
	free(backup.block);
	return code;
}
