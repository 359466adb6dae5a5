// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices that are named by what libblkid knows of them.  Its functions are replaced: it knows
 * as many devices by each tag as the test wants.
 */
#include <blkid.h>
#include <errno.h>
#include <string.h>
#include "harness.h"
#include "log/block-devices.h"

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
	return strcmp(type, "PARTUUID") || strcmp(value, "1234-01") ? -1 : 0;
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
