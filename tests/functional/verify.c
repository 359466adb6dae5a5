// SPDX-License-Identifier: GPL-2.0-only
/* Opening a device, and comparing all of it with the journal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/fs.h>
#include "oracle.h"
#include "output.h"
#include "pattern.h"

#define CHUNK_SECTORS		2048U
#define MAX_REPORTS		12

/* What the notes of the last epoch say about one sector. */
struct promise {
	uint64_t written;		/* newest version acknowledged, 0: none */
	uint64_t discarded;		/* newest discard sent, 0: none */
};

/* Sets subject->unit and ->discards; returns the size in sectors. */
static uint64_t examine_device(struct subject *subject)
{
	struct stat status;
	uint64_t bytes;
	int block;

	if (fstat(subject->fd, &status))
		die(errno, "the device cannot be examined");
	subject->unit = 1;
	subject->discards = S_ISBLK(status.st_mode);
	if (!subject->discards)
		return status.st_size / SECTOR_SIZE;
	if (ioctl(subject->fd, BLKGETSIZE64, &bytes) || ioctl(subject->fd, BLKSSZGET, &block))
		die(errno, "the device does not tell its size");
	subject->unit = block / SECTOR_SIZE;
	return bytes / SECTOR_SIZE;
}

void subject_open(struct subject *subject, const struct settings *settings)
{
	uint64_t sectors, span = settings->span;

	*subject = (struct subject) { .settings = settings };
	subject->fd = open(settings->device, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (subject->fd < 0 && errno == EINVAL)		/* a file on tmpfs */
		subject->fd = open(settings->device, O_RDWR | O_CLOEXEC);
	if (subject->fd < 0)
		die(errno, "the device '%s' cannot be opened", settings->device);
	sectors = examine_device(subject);
	if (settings->offset > sectors)
		die(0, "--offset is %" PRIu64 ", but the device has only %" PRIu64 " sectors",
		    settings->offset, sectors);
	if (!span)
		span = sectors - settings->offset;
	if (!span || span > sectors - settings->offset || span > UINT32_MAX)
		die(0, "the span of %" PRIu64 " sectors from %" PRIu64
		    " on is empty, beyond the device's %" PRIu64 " sectors or 2 TiB and more",
		    span, settings->offset, sectors);
	journal_open(&subject->journal, settings->journal, settings->seed, span,
		     settings->threads);
	subject->latest = malloc(span * sizeof(uint64_t));
	if (!subject->latest)
		die(ENOMEM, "no memory for a span of %" PRIu64 " sectors", span);
}

void report_difference(const struct subject *subject, uint64_t sector, const void *data,
		       const char *expected)
{
	static unsigned int reports;
	char found[160];
	unsigned int report = __atomic_fetch_add(&reports, 1, __ATOMIC_RELAXED);

	if (report > MAX_REPORTS)
		return;
	if (report == MAX_REPORTS) {
		say("DIFFERENCE: more of them are not shown");
		return;
	}
	pattern_describe(data, subject->journal.seed, found, sizeof(found));
	say("DIFFERENCE in sector %" PRIu64 " (block %" PRIu64 "): expected %s, found %s",
	    sector, sector / 8, expected, found);
}

static void take_note(void *context, const struct note *note)
{
	struct promise *promises = context;
	uint32_t i;

	for (i = 0; i < note->sectors; i++) {
		struct promise *promise = &promises[note->sector + i];
		uint64_t *field = note->discard ? &promise->discarded : &promise->written;

		if (note->version > *field)
			*field = note->version;
	}
}

/* True if a sector may hold @found; else *@expected says what it should. */
static bool is_promised(const struct journal *journal, uint64_t base,
			const struct promise *promise, uint64_t found, char *expected, size_t size)
{
	uint64_t floor = promise->written ? promise->written : base;

	if (promise->discarded > promise->written ||
	    (base == VERSION_UNDEFINED && !promise->written))
		return true;
	if (found == floor)
		return true;
	if (version_epoch(found) == journal->epoch && found > floor)
		return true;
	snprintf(expected, size, "version %" PRIx64 "%s or a newer one of epoch %" PRIu64, floor,
		 promise->written ? " (acknowledged)" : "", journal->epoch);
	return false;
}

static uint64_t verify_sector(struct subject *subject, const struct promise *promise,
			      uint64_t sector, const void *data)
{
	const struct journal *journal = &subject->journal;
	uint64_t base = journal->base[sector], found;
	char expected[100];

	if (!pattern_decode(data, journal->seed, sector, &found)) {
		snprintf(expected, sizeof(expected), "some version of it");
		report_difference(subject, sector, data, expected);
		return 1;
	}
	if (!is_promised(journal, base, promise, found, expected, sizeof(expected))) {
		report_difference(subject, sector, data, expected);
		return 1;
	}
	/* What a discard left behind may still change until it is written again. */
	if ((promise->discarded > promise->written && found < promise->discarded) ||
	    (base == VERSION_UNDEFINED && !promise->written &&
	     version_epoch(found) != journal->epoch))
		found = VERSION_UNDEFINED;
	subject->latest[sector] = found;
	return 0;
}

static void read_chunk(const struct subject *subject, void *buffer, uint64_t sector,
		       uint32_t sectors)
{
	off_t place = (off_t)(subject->settings->offset + sector) * SECTOR_SIZE;
	ssize_t got = read_whole(subject->fd, buffer, (size_t)sectors * SECTOR_SIZE, place);

	if (got < 0 && subject->settings->may_fail) {
		say("sector %" PRIu64 " cannot be read, as foretold (%s)", sector,
		    strerror(errno));
		exit(EXIT_DEVICE_FAILED);
	}
	if (got < 0 || (size_t)got != (size_t)sectors * SECTOR_SIZE)
		die(got < 0 ? errno : EIO, "sector %" PRIu64 " of '%s' cannot be read", sector,
		    subject->settings->device);
}

void flush_device(const struct subject *subject)
{
	if (!fdatasync(subject->fd))
		return;
	if (!subject->settings->may_fail)
		die(errno, "'%s' cannot be flushed", subject->settings->device);
	say("the device cannot be flushed, as foretold (%s)", strerror(errno));
	exit(EXIT_DEVICE_FAILED);
}

uint64_t verify_all(struct subject *subject)
{
	struct journal *journal = &subject->journal;
	uint64_t sector, differences = 0, promised = 0;
	struct promise *promises = calloc(journal->sectors, sizeof(*promises));
	uint8_t *buffer;
	uint32_t i, count;

	if (!promises || posix_memalign((void **)&buffer, 4096, CHUNK_SECTORS * SECTOR_SIZE))
		die(ENOMEM, "no memory to compare");
	journal_read_notes(journal, take_note, promises);
	for (sector = 0; sector < journal->sectors; sector += count) {
		count = CHUNK_SECTORS;
		if (count > journal->sectors - sector)
			count = journal->sectors - sector;
		read_chunk(subject, buffer, sector, count);
		for (i = 0; i < count; i++) {
			promised += !!promises[sector + i].written;
			differences += verify_sector(subject, &promises[sector + i], sector + i,
						     buffer + (size_t)i * SECTOR_SIZE);
		}
	}
	free(buffer);
	free(promises);
	say("epoch %" PRIu64 ": compared %" PRIu64 " sectors, %" PRIu64
	    " of them acknowledged in it, %" PRIu64 " differ", journal->epoch, journal->sectors,
	    promised, differences);
	if (differences)
		return differences;
	/* What was read may so far be in a volatile cache: it must not be forgotten again. */
	flush_device(subject);
	memcpy(journal->base, subject->latest, journal->sectors * sizeof(uint64_t));
	journal_begin_epoch(journal);
	return 0;
}
