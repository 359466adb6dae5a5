// SPDX-License-Identifier: GPL-2.0-only
/* The region's contents, kept aside; see preserve.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cli/progress.h"
#include "measure/measure.h"
#include "preserve.h"

#define PIECE		1048576U

/* Memory that can be had without pushing anybody else out, bytes; 0: unknown. */
static u64 available_memory(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kilobytes = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

/* Of an address space of 32 bits at most a quarter, for it is in pieces. */
u64 preserve_memory(void)
{
	const u64 free_half = available_memory() / 2;

	return free_half < SIZE_MAX / 4 ? free_half : SIZE_MAX / 4;
}

static int take_memory(struct preserved *preserved, struct failure *failure)
{
	const u64 most = preserve_memory();
	void *memory = MAP_FAILED;

	if (preserved->bytes <= most)
		memory = mmap(NULL, preserved->bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return fail(failure, -ENOMEM,
			    "the region has %llu bytes, but only %llu bytes of memory may hold them; name a file with --save-file, or choose a smaller --region",
			    preserved->bytes, most);
	preserved->memory = memory;
	return 0;
}

static int take_file(struct preserved *preserved, struct failure *failure)
{
	preserved->fd = open(preserved->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (preserved->fd < 0)
		return fail(failure, -errno, "cannot create %s to save the region in: %s",
			    preserved->path, strerror(errno));
	return 0;
}

static int to_store(struct preserved *preserved, u64 at, const void *data, u32 bytes,
		    struct failure *failure)
{
	if (preserved->memory) {
		memcpy(preserved->memory + at, data, bytes);
		return 0;
	}
	errno = 0;
	if (pwrite(preserved->fd, data, bytes, at) != (ssize_t)bytes)
		return fail(failure, -EIO, "cannot write %s: %s", preserved->path,
			    errno ? strerror(errno) : "it is full");
	return 0;
}

static int from_store(const struct preserved *preserved, u64 at, void *data, u32 bytes,
		      struct failure *failure)
{
	if (preserved->memory) {
		memcpy(data, preserved->memory + at, bytes);
		return 0;
	}
	if (pread(preserved->fd, data, bytes, at) != (ssize_t)bytes)
		return fail(failure, -EIO, "cannot read %s", preserved->path);
	return 0;
}

static void drop_store(struct preserved *preserved, bool remove)
{
	if (preserved->memory)
		munmap(preserved->memory, preserved->bytes);
	preserved->memory = NULL;
	free(preserved->buffer);
	preserved->buffer = NULL;
	if (preserved->fd >= 0)
		close(preserved->fd);
	if (preserved->fd >= 0 && remove)
		unlink(preserved->path);
	preserved->fd = -1;
}

static u32 piece_at(const struct preserved *preserved, u64 at)
{
	return preserved->bytes - at < PIECE ? preserved->bytes - at : PIECE;
}

static int copy_region(struct preserved *preserved, struct failure *failure)
{
	u8 *const buffer = preserved->buffer;
	struct progress progress;
	u64 at;
	int code = 0;

	progress_start(&progress, "saving the region");
	for (at = 0; !code && at < preserved->bytes; at += PIECE) {
		const u32 bytes = piece_at(preserved, at);

		code = blkdev_read(preserved->dev, preserved->offset + at, buffer, bytes, failure);
		if (!code)
			code = to_store(preserved, at, buffer, bytes, failure);
		if (!code && measure_interrupted)
			code = fail(failure, -ECANCELED, "stopped; nothing was written to %s",
				    preserved->dev->path);
		progress_update(&progress, at + bytes, preserved->bytes);
	}
	progress_end();
	if (!code && preserved->fd >= 0 && fsync(preserved->fd))
		code = fail(failure, -errno, "cannot write %s: %s", preserved->path,
			    strerror(errno));
	return code;
}

int preserve_save(struct preserved *preserved, const struct blkdev *dev, u64 offset, u64 bytes,
		  const char *path, struct failure *failure)
{
	int code;

	*preserved = (struct preserved){
		.dev = dev, .offset = offset, .bytes = bytes, .path = path, .fd = -1,
		.buffer = blkdev_buffer(2 * PIECE),
	};
	code = preserved->buffer ? 0 :
	       fail(failure, -ENOMEM, "not enough memory to save the region");
	if (!code)
		code = path ? take_file(preserved, failure) : take_memory(preserved, failure);
	if (!code)
		code = copy_region(preserved, failure);
	if (code)
		drop_store(preserved, true);
	preserved->saved = !code;
	return code;
}

/* One piece, back to its place and compared; the flush between is the caller's. */
static int restore_piece(const struct preserved *preserved, u64 at, bool compare,
			 struct failure *failure)
{
	u8 *const buffer = preserved->buffer;
	const u32 bytes = piece_at(preserved, at);
	int code = from_store(preserved, at, buffer, bytes, failure);

	if (!code && !compare)
		return blkdev_write(preserved->dev, preserved->offset + at, buffer, bytes, failure);
	if (!code)
		code = blkdev_read(preserved->dev, preserved->offset + at, buffer + PIECE, bytes,
				   failure);
	if (!code && memcmp(buffer, buffer + PIECE, bytes))
		code = fail(failure, -EIO, "byte %llu and those behind it read back differently",
			    preserved->offset + at);
	return code;
}

/* All pieces; the first error is kept, and the number of pieces that failed is returned. */
static u64 restore_pass(const struct preserved *preserved, bool compare, struct failure *failure)
{
	struct failure one;
	struct progress progress;
	u64 at, failed = 0;

	progress_start(&progress, compare ? "comparing the region" : "restoring the region");
	for (at = 0; at < preserved->bytes; at += PIECE) {
		if (restore_piece(preserved, at, compare, &one) && !failed++)
			*failure = one;
		progress_update(&progress, at + piece_at(preserved, at), preserved->bytes);
	}
	progress_end();
	return failed;
}

static int restore_failure(const struct preserved *preserved, u64 failed, struct failure *failure)
{
	const struct failure cause = *failure;

	if (preserved->memory)
		return fail(failure, -EIO,
			    "the region was not restored as a whole: %llu of its pieces of 1 MiB failed, first: %.400s",
			    failed, cause.text);
	return fail(failure, -EIO,
		    "the region was not restored as a whole: %llu of its pieces of 1 MiB failed, first: %.400s; its contents are in %s, to put them back, if the device still has that name: dd bs=4096 seek=%llu conv=notrunc,fsync of=%s if=%s",
		    failed, cause.text, preserved->path, preserved->offset / 4096,
		    preserved->dev->path, preserved->path);
}

int preserve_restore(struct preserved *preserved, struct failure *failure)
{
	struct failure flushing;
	u64 failed;
	int code = 0;

	if (!preserved->saved)
		return 0;
	preserved->saved = false;
	failed = restore_pass(preserved, false, failure);
	/* Also behind a piece that failed: the others are in a cache. */
	if (blkdev_flush(preserved->dev, &flushing) && !failed) {
		*failure = flushing;
		failed = 1;
	}
	if (!failed)
		failed = restore_pass(preserved, true, failure);
	if (failed)
		code = restore_failure(preserved, failed, failure);
	drop_store(preserved, !failed);
	return code;
}
