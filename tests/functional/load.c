// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load: threads that write, read back, discard and flush in ranges of any size and alignment.
 * Every sector written is remembered, every sector read is compared.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "oracle.h"
#include "output.h"
#include "pattern.h"
#include "ranges.h"

#define MAX_SECTORS	2048U		/* 1 MiB */
#define HOT_BLOCKS	64U		/* where a third of the writes go */

enum operation { OP_WRITE, OP_READ, OP_DISCARD, OP_FLUSH };

struct counts {
	uint64_t writes, reads, discards, flushes, sectors_written;
};

struct worker {
	struct subject *subject;
	pthread_t thread;
	unsigned int number;
	uint64_t random;
	uint64_t next_sector;		/* behind the last operation: sequential writes */
	uint8_t *memory;
	struct note notes[NOTES_A_BLOCK];
	unsigned int nr_notes;		/* completed writes that no flush has covered yet */
	struct counts counts;
};

static uint64_t version_count;
static bool stop;
static bool differs;
static int device_error;
static struct timespec started;

static uint64_t below(struct worker *worker, uint64_t limit)
{
	return next_random(&worker->random) % limit;
}

static bool chance(struct worker *worker, unsigned int percent)
{
	return below(worker, 100) < percent;
}

static double elapsed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - started.tv_sec) + (now.tv_nsec - started.tv_nsec) / 1e9;
}

/* A call of the device failed: the end, and a trouble unless it was foretold. */
static void device_failed(const struct worker *worker, const char *call, uint64_t sector,
			  int error)
{
	if (!worker->subject->settings->may_fail)
		die(error, "%s at sector %" PRIu64 " of '%s' failed", call, sector,
		    worker->subject->settings->device);
	__atomic_store_n(&device_error, error, __ATOMIC_RELAXED);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

/* Sizes as file systems and databases write them, and odd ones. */
static uint32_t choose_sectors(struct worker *worker)
{
	uint64_t dice = below(worker, 100);

	if (worker->subject->settings->small || dice < 40)
		return 8;
	if (dice < 60)
		return 16;
	if (dice < 75)
		return 1 + below(worker, 24);
	if (dice < 85)
		return 8 * (1 + below(worker, 16));
	if (dice < 96)
		return 1 + below(worker, 256);
	return 1 + below(worker, MAX_SECTORS);
}

/* A place: hot, behind the last operation, or anywhere; mostly on whole blocks. */
static uint64_t choose_sector(struct worker *worker, uint32_t sectors)
{
	const uint64_t span = worker->subject->journal.sectors;
	uint64_t dice = below(worker, 100), sector;

	if (dice < 33)
		sector = 8 * below(worker, HOT_BLOCKS) + (sectors > 8 ? 0 : below(worker, 2) * 512);
	else if (dice < 50 && !worker->subject->settings->small)
		sector = worker->next_sector;
	else
		sector = below(worker, span) / 8 * 8;
	if (sectors % 8 && chance(worker, 80))
		sector += below(worker, 8);
	return sector + sectors > span ? span - sectors : sector;
}

static enum operation choose_operation(struct worker *worker)
{
	const struct settings *settings = worker->subject->settings;

	if (chance(worker, settings->flush_percent))
		return OP_FLUSH;
	if (worker->subject->discards && chance(worker, settings->discard_percent))
		return OP_DISCARD;
	return chance(worker, 25) ? OP_READ : OP_WRITE;
}

/* Memory that starts anywhere in a page, as a bio's does. */
static uint8_t *choose_memory(struct worker *worker)
{
	return worker->memory + SECTOR_SIZE * (below(worker, 8) / worker->subject->unit *
					       worker->subject->unit);
}

static uint64_t new_version(const struct worker *worker)
{
	return worker->subject->journal.epoch << VERSION_COUNT_BITS |
	       __atomic_add_fetch(&version_count, 1, __ATOMIC_RELAXED);
}

static off_t place_of(const struct worker *worker, uint64_t sector)
{
	return (off_t)(worker->subject->settings->offset + sector) * SECTOR_SIZE;
}

static void set_latest(struct worker *worker, uint64_t sector, uint32_t sectors, uint64_t version)
{
	uint32_t i;

	for (i = 0; i < sectors; i++)
		worker->subject->latest[sector + i] = version;
}

/* Writes notes to the journal; when it is full the load ends, and false is returned. */
static bool write_notes(struct worker *worker, const struct note *notes, unsigned int count)
{
	if (journal_write_notes(&worker->subject->journal, worker->number, notes, count))
		return true;
	if (!__atomic_exchange_n(&stop, true, __ATOMIC_RELAXED))
		say("thread %u has filled its part of the journal, the load ends", worker->number);
	return false;
}

static void do_flush(struct worker *worker)
{
	if (fdatasync(worker->subject->fd)) {
		device_failed(worker, "fdatasync", 0, errno);
		return;
	}
	worker->counts.flushes++;
	/* The writes that this thread had completed are durable now. */
	write_notes(worker, worker->notes, worker->nr_notes);
	worker->nr_notes = 0;
}

static void note_write(struct worker *worker, uint64_t sector, uint32_t sectors, uint64_t version)
{
	if (worker->subject->journal.fd < 0)
		return;
	worker->notes[worker->nr_notes++] = (struct note) {
		.version = version, .sector = sector, .sectors = sectors,
	};
	if (worker->nr_notes == NOTES_A_BLOCK)
		do_flush(worker);
}

/* A write that is durable when it returns acknowledges itself only, not those before it. */
static void note_durable(struct worker *worker, uint64_t sector, uint32_t sectors,
			 uint64_t version)
{
	const struct note note = { .version = version, .sector = sector, .sectors = sectors };

	write_notes(worker, &note, 1);
}

static void do_write(struct worker *worker, uint64_t sector, uint32_t sectors)
{
	uint64_t version = new_version(worker);
	bool durable = chance(worker, worker->subject->settings->flush_percent);
	uint8_t *memory = choose_memory(worker);
	struct iovec vector = { memory, (size_t)sectors * SECTOR_SIZE };
	ssize_t done;
	uint32_t i;

	for (i = 0; i < sectors; i++)
		pattern_fill(memory + (size_t)i * SECTOR_SIZE, worker->subject->journal.seed,
			     sector + i, version);
	done = pwritev2(worker->subject->fd, &vector, 1, place_of(worker, sector),
			durable && !worker->subject->settings->no_fua ? RWF_DSYNC : 0);
	if (done < 0 || (size_t)done != vector.iov_len) {
		device_failed(worker, "a write", sector, done < 0 ? errno : EIO);
		return;
	}
	set_latest(worker, sector, sectors, version);
	worker->counts.writes++;
	worker->counts.sectors_written += sectors;
	if (durable && !worker->subject->settings->no_fua) {
		note_durable(worker, sector, sectors, version);
		return;
	}
	note_write(worker, sector, sectors, version);
	if (durable)
		do_flush(worker);
}

static void compare(struct worker *worker, uint64_t sector, const uint8_t *data)
{
	uint64_t expected = worker->subject->latest[sector], found;
	char text[60];

	if (pattern_decode(data, worker->subject->journal.seed, sector, &found) &&
	    (found == expected || expected == VERSION_UNDEFINED))
		return;
	snprintf(text, sizeof(text), "version %" PRIx64, expected);
	report_difference(worker->subject, sector, data,
			  expected == VERSION_UNDEFINED ? "some version of it" : text);
	__atomic_store_n(&differs, true, __ATOMIC_RELAXED);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

static void do_read(struct worker *worker, uint64_t sector, uint32_t sectors)
{
	uint8_t *memory = choose_memory(worker);
	size_t bytes = (size_t)sectors * SECTOR_SIZE;
	ssize_t done;
	uint32_t i;

	memset(memory, 0xa5, bytes);
	done = pread(worker->subject->fd, memory, bytes, place_of(worker, sector));
	if (done < 0 || (size_t)done != bytes) {
		device_failed(worker, "a read", sector, done < 0 ? errno : EIO);
		return;
	}
	for (i = 0; i < sectors; i++)
		compare(worker, sector + i, memory + (size_t)i * SECTOR_SIZE);
	worker->counts.reads++;
}

static void do_discard(struct worker *worker, uint64_t sector, uint32_t sectors)
{
	uint64_t range[2] = { place_of(worker, sector), (uint64_t)sectors * SECTOR_SIZE };
	const struct note note = {
		.version = new_version(worker), .sector = sector, .sectors = sectors, .discard = 1,
	};

	if (!write_notes(worker, &note, 1))
		return;
	set_latest(worker, sector, sectors, VERSION_UNDEFINED);
	if (!ioctl(worker->subject->fd, BLKDISCARD, range))
		worker->counts.discards++;
	else if (errno == EOPNOTSUPP)
		worker->subject->discards = false;
	else
		device_failed(worker, "a discard", sector, errno);
}

static void do_operation(struct worker *worker)
{
	const uint32_t unit = worker->subject->unit;
	enum operation operation = choose_operation(worker);
	uint32_t sectors = (choose_sectors(worker) + unit - 1) / unit * unit;
	uint64_t sector = choose_sector(worker, sectors) / unit * unit;

	if (operation == OP_FLUSH) {
		do_flush(worker);
		return;
	}
	range_lock(worker->number, sector, sectors);
	if (operation == OP_WRITE)
		do_write(worker, sector, sectors);
	else if (operation == OP_READ)
		do_read(worker, sector, sectors);
	else
		do_discard(worker, sector, sectors);
	range_unlock(worker->number);
	worker->next_sector = sector + sectors;
}

static void *load_thread(void *argument)
{
	struct worker *worker = argument;
	const struct settings *settings = worker->subject->settings;
	uint64_t i;

	for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		if (settings->operations && i == settings->operations)
			break;
		if (settings->seconds > 0 && elapsed() > settings->seconds)
			break;
		do_operation(worker);
	}
	return NULL;
}

static struct worker *start_workers(struct subject *subject)
{
	const struct settings *settings = subject->settings;
	struct worker *workers = calloc(settings->threads, sizeof(*workers));
	unsigned int i;
	int error;

	if (!workers)
		die(ENOMEM, "no memory for the threads");
	clock_gettime(CLOCK_MONOTONIC, &started);
	for (i = 0; i < settings->threads; i++) {
		struct worker *worker = &workers[i];

		worker->subject = subject;
		worker->number = i;
		worker->random = mix64(settings->seed * 31 + i) ^ subject->journal.epoch;
		if (posix_memalign((void **)&worker->memory, 4096, (MAX_SECTORS + 8) * SECTOR_SIZE))
			die(ENOMEM, "no memory for the buffers");
		error = pthread_create(&worker->thread, NULL, load_thread, worker);
		if (error)
			die(error, "a thread cannot be started");
	}
	return workers;
}

static struct counts join_workers(struct worker *workers, unsigned int nr)
{
	struct counts sum = { 0 };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		sum.writes += workers[i].counts.writes;
		sum.reads += workers[i].counts.reads;
		sum.discards += workers[i].counts.discards;
		sum.flushes += workers[i].counts.flushes;
		sum.sectors_written += workers[i].counts.sectors_written;
		free(workers[i].memory);
	}
	free(workers);
	return sum;
}

/* A clean end: everything is durable, and the journal holds exactly what was written. */
static void close_epoch(struct subject *subject)
{
	flush_device(subject);
	memcpy(subject->journal.base, subject->latest,
	       subject->journal.sectors * sizeof(uint64_t));
	journal_begin_epoch(&subject->journal);
}

int load_run(struct subject *subject)
{
	const struct settings *settings = subject->settings;
	struct counts sum;
	uint64_t epoch = subject->journal.epoch;

	say("load of epoch %" PRIu64 " starts, seed %" PRIu64, epoch, settings->seed);
	sum = join_workers(start_workers(subject), settings->threads);
	say("epoch %" PRIu64 ": %" PRIu64 " writes of %" PRIu64 " sectors, %" PRIu64
	    " reads, %" PRIu64 " discards, %" PRIu64 " flushes in %.1f s", epoch, sum.writes,
	    sum.sectors_written, sum.reads, sum.discards, sum.flushes, elapsed());
	/*
	 * A write that fails may have written anything, and after a failed flush the device may go
	 * back to what it had before; a thread may read that before another one has learned of the
	 * error.  What the device still owes then, a check against the journal tells.
	 */
	if (differs && !device_error)
		return EXIT_DIFFERENT;
	if (device_error) {
		say("the device has failed (%s), as foretold", strerror(device_error));
		return EXIT_DEVICE_FAILED;
	}
	close_epoch(subject);
	return EXIT_SAME;
}
