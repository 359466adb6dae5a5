// SPDX-License-Identifier: GPL-2.0-only
/* Opening block devices and transferring blocks; see blkdev.h.  Who uses one: blkdev-unused.c. */
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "dm/blkdev.h"

/* File systems without O_DIRECT (tmpfs) are good enough for trying out, but not for measuring. */
static int open_direct(struct blkdev *dev, int flags)
{
	dev->direct = true;
	dev->fd = open(dev->path, flags | O_DIRECT);
	if (dev->fd < 0 && errno == EINVAL && dev->is_file) {
		dev->direct = false;
		dev->fd = open(dev->path, flags);
	}
	return dev->fd < 0 ? -errno : 0;
}

static int identify(struct blkdev *dev, const char *path, struct failure *failure)
{
	struct stat status;

	if (!realpath(path, dev->path) || stat(dev->path, &status))
		return fail(failure, -errno, "cannot find %s: %s", path, strerror(errno));
	dev->is_file = S_ISREG(status.st_mode);
	if (!dev->is_file && !S_ISBLK(status.st_mode))
		return fail(failure, -EINVAL,
			    "%s is neither a block device nor a regular file; name the disk or partition to use",
			    path);
	if (!dev->is_file) {
		dev->major = major(status.st_rdev);
		dev->minor = minor(status.st_rdev);
	}
	return 0;
}

static int read_size(struct blkdev *dev, struct failure *failure)
{
	unsigned long long bytes = 0;
	struct stat status;

	if (dev->is_file) {
		if (fstat(dev->fd, &status))
			return fail(failure, -errno, "cannot read the size of %s: %s", dev->path,
				    strerror(errno));
		bytes = status.st_size;
	} else if (ioctl(dev->fd, BLKGETSIZE64, &bytes)) {
		return fail(failure, -errno, "cannot read the size of %s: %s", dev->path,
			    strerror(errno));
	}
	dev->bytes = bytes / 512 * 512;
	if (!dev->bytes)
		return fail(failure, -ENODEV, "%s has no size; insert a medium, or name another device",
			    dev->path);
	return 0;
}

/*
 * Files have no O_EXCL.  flock() keeps our own programs apart, and virtual machines lock bytes of
 * the images that they use.
 */
static int lock_file(const struct blkdev *dev, struct failure *failure)
{
	struct flock foreign = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (flock(dev->fd, LOCK_EX | LOCK_NB))
		return fail(failure, errno == EWOULDBLOCK ? -EBUSY : -errno,
			    "%s is locked by another program, such as a ressdctl or ressd-probe that runs; wait until it has ended",
			    dev->path);
	if (!fcntl(dev->fd, F_OFD_GETLK, &foreign) && foreign.l_type != F_UNLCK)
		return fail(failure, -EBUSY,
			    "%s is in use by another program, perhaps a virtual machine; end that first",
			    dev->path);
	return 0;
}

static int check_writable(const struct blkdev *dev, struct failure *failure)
{
	int read_only = 0;

	if (dev->is_file && access(dev->path, W_OK))
		return fail(failure, -errno, "cannot write %s: %s", dev->path, strerror(errno));
	if (dev->is_file)
		return lock_file(dev, failure);
	if (ioctl(dev->fd, BLKROGET, &read_only))
		return fail(failure, -errno, "cannot ask whether %s is read-only: %s", dev->path,
			    strerror(errno));
	if (read_only)
		return fail(failure, -EROFS,
			    "%s is read-only; use its write-protect switch or blockdev --setrw",
			    dev->path);
	return 0;
}

static int open_failure(const struct blkdev *dev, int code, struct failure *failure)
{
	switch (code) {
	case -EBUSY:
		return fail(failure, code,
			    "%s is in use by the kernel (a mount, swap, RAID, device-mapper or another program); release it first",
			    dev->path);
	case -EROFS:
		return fail(failure, code,
			    "%s is read-only; use its write-protect switch or blockdev --setrw",
			    dev->path);
	default:
		return fail(failure, code, "cannot open %s: %s", dev->path, strerror(-code));
	}
}

int blkdev_open(struct blkdev *dev, const char *path, enum blkdev_mode mode,
		struct failure *failure)
{
	const bool write = mode != BLKDEV_READ;
	int flags = O_CLOEXEC | (mode == BLKDEV_WRITE ? O_RDWR : O_RDONLY);
	int code;

	memset(dev, 0, sizeof(*dev));
	dev->fd = -1;
	code = identify(dev, path, failure);
	/* Before the open, because its sentence says who the user is. */
	if (!code && write)
		code = blkdev_check_unused(dev, failure);
	if (code)
		return code;
	if (write && !dev->is_file)
		flags |= O_EXCL;
	code = open_direct(dev, flags);
	if (code)
		return open_failure(dev, code, failure);
	code = read_size(dev, failure);
	if (!code && write)
		code = check_writable(dev, failure);
	if (code)
		blkdev_close(dev);
	return code;
}

void blkdev_close(struct blkdev *dev)
{
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
}

bool blkdev_same(const struct blkdev *a, const struct blkdev *b)
{
	if (a->is_file || b->is_file)
		return a->is_file && b->is_file && !strcmp(a->path, b->path);
	return a->major == b->major && a->minor == b->minor;
}

void *blkdev_buffer(size_t bytes)
{
	void *buffer;

	if (posix_memalign(&buffer, BLKDEV_ALIGN, bytes))
		return NULL;
	memset(buffer, 0, bytes);
	return buffer;
}

static int transfer_failure(const struct blkdev *dev, const char *verb, u64 offset, ssize_t done,
			    struct failure *failure)
{
	return fail(failure, -EIO, "cannot %s %s at byte %llu: %s", verb, dev->path,
		    (unsigned long long)offset, done < 0 ? strerror(errno) : "it ends there");
}

int blkdev_read(const struct blkdev *dev, u64 offset, void *buffer, size_t bytes,
		struct failure *failure)
{
	char *at = buffer;

	while (bytes) {
		ssize_t done = pread(dev->fd, at, bytes, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return transfer_failure(dev, "read", offset, done, failure);
		at += done;
		offset += done;
		bytes -= done;
	}
	return 0;
}

int blkdev_write(const struct blkdev *dev, u64 offset, const void *buffer, size_t bytes,
		 struct failure *failure)
{
	const char *at = buffer;

	while (bytes) {
		ssize_t done = pwrite(dev->fd, at, bytes, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return transfer_failure(dev, "write", offset, done, failure);
		at += done;
		offset += done;
		bytes -= done;
	}
	return 0;
}

int blkdev_flush(const struct blkdev *dev, struct failure *failure)
{
	if (fdatasync(dev->fd))
		return fail(failure, -errno, "cannot flush %s: %s", dev->path, strerror(errno));
	return 0;
}

static void describe_signature(blkid_probe probe, char *what, size_t size)
{
	const char *type = NULL, *label = NULL;

	if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) &&
	    !blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL)) {
		snprintf(what, size, "a partition table (%s)", type);
		return;
	}
	blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
	snprintf(what, size, "%s%s%s%s", type ? type : "an unknown signature",
		 label ? " labelled '" : "", label ? label : "", label ? "'" : "");
}

/* Runs libblkid's safe probe on @fd; returns what that returns. */
static int safe_probe(int fd, u64 offset, u64 bytes, char *what, size_t size)
{
	blkid_probe probe = blkid_new_probe();
	int found = -ENOMEM;

	if (!probe)
		return found;
	found = blkid_probe_set_device(probe, fd, offset, bytes);
	if (!found) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL);
		blkid_probe_enable_partitions(probe, 1);
		found = blkid_do_safeprobe(probe);
	}
	if (!found)
		describe_signature(probe, what, size);
	blkid_free_probe(probe);
	return found;
}

int blkdev_signature(const struct blkdev *dev, u64 offset, u64 bytes, char *what, size_t size,
		     struct failure *failure)
{
	/* libblkid reads into buffers that O_DIRECT does not take. */
	int found, fd = open(dev->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(failure, -errno, "cannot open %s: %s", dev->path, strerror(errno));
	found = safe_probe(fd, offset, bytes, what, size);
	close(fd);
	switch (found) {
	case 0:		/* BLKID_PROBE_OK */
		return 1;
	case 1:		/* BLKID_PROBE_NONE */
		return 0;
	case -2:	/* BLKID_PROBE_AMBIGUOUS */
		snprintf(what, size, "several signatures");
		return 1;
	default:
		return fail(failure, -EIO, "libblkid cannot read %s", dev->path);
	}
}
