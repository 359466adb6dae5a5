// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices that are named by what libblkid knows of them.  Its functions are replaced: it knows
 * as many devices by each tag as the test wants.  And those of this machine, of which none can be
 * opened: that is wrapped by the linker.
 */
#include <blkid.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "harness.h"
#include "log/block-devices.h"
#include "wrapped.h"

TEST_SUITE("named");

static int known, next;
static char path[PATH_MAX];
static struct failure failure;

int blkid_probe_all(blkid_cache cache)
{
	(void)cache;
	return 0;
}

blkid_dev_iterate blkid_dev_iterate_begin(blkid_cache cache)
{
	next = 0;
	return (blkid_dev_iterate)cache;
}

int blkid_dev_set_search(blkid_dev_iterate devices, const char *type, const char *value)
{
	(void)devices;
	if (!strcmp(type, "PARTUUID"))
		return strcmp(value, "1234-01") ? -1 : 0;
	return strcmp(type, "PARTLABEL") || strcmp(value, "data") ? -1 : 0;
}

int blkid_dev_next(blkid_dev_iterate devices, blkid_dev *dev)
{
	*dev = (blkid_dev)devices;
	return next++ < known ? 0 : -1;
}

void blkid_dev_iterate_end(blkid_dev_iterate devices)
{
	(void)devices;
}

const char *blkid_dev_devname(blkid_dev dev)
{
	(void)dev;
	return next == 1 ? "/dev/first" : "/dev/second";
}

char *blkid_evaluate_spec(const char *text, blkid_cache *cache)
{
	(void)cache;
	return strcmp(text, "PARTUUID=none") ? strdup("/dev/link") : NULL;
}

static int find(const char *text, int devices)
{
	known = devices;
	failure.text[0] = '\0';
	return block_device_find(text, path, &failure);
}

/* Formerly the first that libblkid came upon was opened, be it a copy of the card in its reader. */
TEST(copies)
{
	CHECK_EQ(find("PARTUUID=1234-01", 1), 0);
	CHECK_STR(path, "/dev/first");
	CHECK_EQ(find("PARTUUID=1234-01", 2), -EEXIST);
	CHECK_HAS(failure.text, "2 devices have the PARTUUID=1234-01, so one is a copy");
	CHECK_EQ(find("PARTUUID=\"1234-01\"", 3), -EEXIST);
	CHECK_HAS(failure.text, "3 devices have");
	/* Labels are given by people, who call more than one partition so. */
	CHECK_EQ(find("PARTLABEL=data", 2), -EEXIST);
	CHECK_HAS(failure.text, "2 devices have the PARTLABEL=data; name the device by its path");
}

/* What libblkid cannot identify udev may have a link for. */
TEST(links)
{
	CHECK_EQ(find("PARTUUID=1234-01", 0), 0);
	CHECK_STR(path, "/dev/link");
	CHECK_EQ(find("PARTUUID=none", 0), -ENODEV);
	CHECK_HAS(failure.text, "no device has the PARTUUID=none");
}

/* Paths are no tags, and a label is that of a file system. */
TEST(others)
{
	CHECK_EQ(find("/dev/a=b", 2), 0);
	CHECK_STR(path, "/dev/a=b");
	CHECK_EQ(find("a", 2), 0);
	CHECK_STR(path, "a");
	CHECK_EQ(find("LABEL=x", 2), -ENODEV);
}

static int open_code;		/* of each device, which is less than 0 */
static unsigned int opened;

int __wrap_blkdev_open(struct blkdev *dev, const char *name, enum blkdev_mode mode,
		       struct failure *why)
{
	(void)dev;
	(void)mode;
	opened++;
	return fail(why, open_code, "cannot open %s: %s", name, strerror(-open_code));
}

/* Does a search for logs warn, where a device cannot be opened for that reason? */
static bool warns(int code)
{
	char said[512] = "";
	FILE *file = tmpfile();
	int errors = dup(STDERR_FILENO);

	CHECK(file, "no scratch file");
	dup2(fileno(file), STDERR_FILENO);
	open_code = code;
	CHECK_EQ(find("UUID=1", 0), -ENODEV);
	dup2(errors, STDERR_FILENO);
	close(errors);
	CHECK(pread(fileno(file), said, sizeof(said) - 1, 0) >= 0, "it cannot be read");
	fclose(file);
	return strstr(said, "ressdctl: warning: cannot open /dev/");
}

/* An empty drive for CDs says that it has 1 GiB, one for floppies 4 KiB. */
TEST(without_a_medium)
{
	CHECK(!warns(-ENOMEDIUM), "it warns of a drive without a medium");
	CHECK(!warns(-ENXIO), "it warns of a drive without a floppy");
	CHECK(!warns(-ENOENT), "it warns of a disk without a node");
	CHECK(warns(-EACCES) || !opened, "it does not say that a device cannot be opened");
}
