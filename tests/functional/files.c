// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file system variant: whole files that replace one another by rename, as editors and mail
 * servers do, and files that grow, as logs do.  The journal is an array of counters on another
 * disk: the version of each file, and the length of each log, that fsync has acknowledged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "oracle.h"
#include "output.h"
#include "pattern.h"
#include "ranges.h"

#define BLOCK		4096U
#define NR_FILES	256U			/* each belongs to thread (number % threads) */
#define NR_SLOTS	(NR_FILES + MAX_THREADS) /* and one log for each thread */
#define MAX_FILE_BLOCKS	64U			/* of 512 bytes */
#define SLOT_MAGIC	0x6a2d656c69662d72ULL

struct slot_block {
	uint64_t magic, seed, slot, value, sum;
};

struct files {
	const struct settings *settings;
	int journal, folder;
	uint64_t acknowledged[NR_SLOTS];	/* by fsync, as the journal says */
	uint64_t present[NR_SLOTS];		/* found, or written since */
	uint64_t random[MAX_THREADS];
	uint64_t syncs[MAX_THREADS];
	struct timespec started;
	uint64_t differences;
};

struct files_thread {
	struct files *files;
	pthread_t thread;
	unsigned int number;
};

static uint64_t slot_sum(const struct slot_block *block)
{
	return mix64(block->magic ^ mix64(block->seed ^ mix64(block->slot ^ mix64(block->value))));
}

static void *new_block(void)
{
	void *block;

	if (posix_memalign(&block, BLOCK, BLOCK))
		die(ENOMEM, "no memory for a block");
	memset(block, 0, BLOCK);
	return block;
}

static void read_journal(struct files *files)
{
	struct slot_block *block = new_block();
	unsigned int slot;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		ssize_t got = pread(files->journal, block, BLOCK, (off_t)slot * BLOCK);

		if (got < 0)
			die(errno, "the journal cannot be read");
		if (got != BLOCK || block->magic != SLOT_MAGIC)
			continue;
		if (block->slot != slot || block->sum != slot_sum(block))
			die(0, "the journal is damaged in slot %u", slot);
		if (block->seed != files->settings->seed)
			die(0, "the journal was made with --seed %" PRIu64, block->seed);
		files->acknowledged[slot] = block->value;
	}
	free(block);
}

static void acknowledge(struct files *files, unsigned int slot, uint64_t value)
{
	struct slot_block *block = new_block();
	ssize_t done;

	*block = (struct slot_block) {
		.magic = SLOT_MAGIC, .seed = files->settings->seed, .slot = slot, .value = value,
	};
	block->sum = slot_sum(block);
	done = pwrite(files->journal, block, BLOCK, (off_t)slot * BLOCK);
	if (done != BLOCK)
		die(done < 0 ? errno : ENOSPC, "the journal cannot be written");
	free(block);
	files->acknowledged[slot] = value;
}

static void file_name(char *name, size_t size, unsigned int slot)
{
	if (slot < NR_FILES)
		snprintf(name, size, "file-%03u", slot);
	else
		snprintf(name, size, "log-%02u", slot - NR_FILES);
}

static uint32_t file_blocks(unsigned int slot, uint64_t version)
{
	return 1 + mix64(slot ^ mix64(version)) % MAX_FILE_BLOCKS;
}

/* Sector number of the pattern: unlike for any other place of any other file. */
static uint64_t pattern_place(unsigned int slot, uint64_t block)
{
	return (uint64_t)slot << 32 | block;
}

static void differs(struct files *files, unsigned int slot, const char *why)
{
	char name[20];

	file_name(name, sizeof(name), slot);
	say("DIFFERENCE in %s: %s; fsync had acknowledged %" PRIu64, name, why,
	    files->acknowledged[slot]);
	files->differences++;
}

/* Reads a file whole into a new buffer; -1 if there is none. */
static ssize_t slurp(struct files *files, unsigned int slot, uint8_t **data)
{
	struct stat status;
	char name[20];
	ssize_t got;
	int fd;

	file_name(name, sizeof(name), slot);
	fd = openat(files->folder, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd < 0 || fstat(fd, &status))
		die(errno, "%s cannot be opened", name);
	*data = malloc(status.st_size + 1);
	if (!*data)
		die(ENOMEM, "no memory to read %s", name);
	got = read_whole(fd, *data, status.st_size + 1, 0);
	if (got < 0)
		die(errno, "%s cannot be read", name);
	close(fd);
	return got;
}

static void check_file(struct files *files, unsigned int slot)
{
	const uint64_t seed = files->settings->seed;
	uint64_t version = 0, found;
	uint8_t *data = NULL;
	ssize_t bytes = slurp(files, slot, &data), at;

	if (bytes < 0) {
		if (files->acknowledged[slot])
			differs(files, slot, "it does not exist");
		return;
	}
	if (bytes < (ssize_t)SECTOR_SIZE ||
	    !pattern_decode(data, seed, pattern_place(slot, 0), &version) || !version)
		differs(files, slot, "its beginning is damaged");
	else if (version < files->acknowledged[slot])
		differs(files, slot, "it is an older version");
	else if (bytes != (ssize_t)(file_blocks(slot, version) * SECTOR_SIZE))
		differs(files, slot, "its length is wrong");
	else
		for (at = SECTOR_SIZE; at < bytes; at += SECTOR_SIZE)
			if (!pattern_decode(data + at, seed, pattern_place(slot, at / SECTOR_SIZE),
					    &found) || found != version) {
				differs(files, slot, "its contents are damaged");
				break;
			}
	files->present[slot] = version;
	free(data);
}

/* A log may end in a torn entry, but not before the length that was acknowledged. */
static void check_log(struct files *files, unsigned int slot)
{
	const uint64_t seed = files->settings->seed;
	uint64_t entry = 0, found;
	uint8_t *data = NULL;
	ssize_t bytes = slurp(files, slot, &data);

	for (; bytes >= 0 && (ssize_t)((entry + 1) * SECTOR_SIZE) <= bytes; entry++)
		if (!pattern_decode(data + entry * SECTOR_SIZE, seed, pattern_place(slot, entry),
				    &found) || found != entry + 1)
			break;
	if (entry < files->acknowledged[slot])
		differs(files, slot, "entries of it are gone");
	files->present[slot] = entry;
	free(data);
}

static int open_folder(struct files *files, const struct settings *settings)
{
	unsigned int slot, known = 0;

	*files = (struct files) { .settings = settings };
	if (!settings->journal)
		die(0, "--journal is needed to check files");
	files->folder = open(settings->device, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->folder < 0)
		die(errno, "the folder '%s' cannot be opened", settings->device);
	files->journal = open(settings->journal, O_RDWR | O_CREAT | O_DSYNC | O_DIRECT | O_CLOEXEC,
			      0644);
	if (files->journal < 0 && errno == EINVAL)	/* tmpfs has no O_DIRECT */
		files->journal = open(settings->journal, O_RDWR | O_CREAT | O_DSYNC | O_CLOEXEC,
				      0644);
	if (files->journal < 0)
		die(errno, "the journal '%s' cannot be opened", settings->journal);
	read_journal(files);
	for (slot = 0; slot < NR_SLOTS; slot++) {
		known += !!files->acknowledged[slot];
		if (slot < NR_FILES)
			check_file(files, slot);
		else
			check_log(files, slot);
	}
	say("%u files and logs of the journal checked, %" PRIu64 " differ", known,
	    files->differences);
	return files->differences ? EXIT_DIFFERENT : EXIT_SAME;
}

int files_check(const struct settings *settings)
{
	struct files files;

	return open_folder(&files, settings);
}

/*
 * fsync() whose success is true.  XFS answers a folder's with success when it shuts down meanwhile
 * (Linux 6.1: xfs_dir_fsync() asks nobody once the folder is unpinned), and so does ext4 when its
 * journal is aborted meanwhile (jbd2_complete_transaction() takes a transaction that is gone for a
 * committed one): 1 in 400 power cuts, on a plain drive as well.  From then on both refuse a change
 * of the mode.
 */
static int sync_truly(int fd)
{
	struct stat status;

	return fsync(fd) || fstat(fd, &status) || fchmod(fd, status.st_mode & 07777);
}

static void write_blocks(int fd, uint64_t seed, unsigned int slot, uint64_t first, uint32_t blocks,
			 uint64_t version)
{
	uint8_t data[MAX_FILE_BLOCKS * SECTOR_SIZE];
	uint32_t i;
	ssize_t done;

	for (i = 0; i < blocks; i++)
		pattern_fill(data + (size_t)i * SECTOR_SIZE, seed, pattern_place(slot, first + i),
			     version);
	done = pwrite(fd, data, (size_t)blocks * SECTOR_SIZE, first * SECTOR_SIZE);
	if (done != (ssize_t)(blocks * SECTOR_SIZE))
		die(done < 0 ? errno : ENOSPC, "a file cannot be written");
	if (sync_truly(fd))
		die(errno, "fsync failed");
}

/* Makes the folder's names durable. */
static void sync_folder(const struct files *files)
{
	if (sync_truly(files->folder))
		die(errno, "fsync of the folder failed");
}

/* New contents in a new file, then the rename, then the folder: all of it durable. */
static void replace_file(struct files *files, unsigned int slot)
{
	uint64_t version = files->present[slot] + 1;
	char name[20], temporary[30];
	int fd;

	file_name(name, sizeof(name), slot);
	snprintf(temporary, sizeof(temporary), "%s.new", name);
	fd = openat(files->folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die(errno, "%s cannot be made", temporary);
	write_blocks(fd, files->settings->seed, slot, 0, file_blocks(slot, version), version);
	close(fd);
	if (renameat(files->folder, temporary, files->folder, name))
		die(errno, "%s cannot be renamed", temporary);
	sync_folder(files);
	files->present[slot] = version;
	acknowledge(files, slot, version);
}

static void extend_log(struct files *files, unsigned int slot)
{
	uint64_t entry = files->present[slot];
	char name[20];
	int fd;

	file_name(name, sizeof(name), slot);
	fd = openat(files->folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		die(errno, "%s cannot be opened", name);
	write_blocks(fd, files->settings->seed, slot, entry, 1, entry + 1);
	/* A new name is durable only with its folder. */
	if (!entry)
		sync_folder(files);
	close(fd);
	files->present[slot] = entry + 1;
	acknowledge(files, slot, entry + 1);
}

static double elapsed(const struct files *files)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - files->started.tv_sec) +
	       (now.tv_nsec - files->started.tv_nsec) / 1e9;
}

static void *files_thread(void *argument)
{
	const struct files_thread *self = argument;
	struct files *files = self->files;
	const struct settings *settings = files->settings;
	uint64_t *random = &files->random[self->number], i;
	unsigned int slot;

	for (i = 0; !settings->operations || i < settings->operations; i++) {
		if (settings->seconds > 0 && elapsed(files) > settings->seconds)
			break;
		slot = next_random(random) % (NR_FILES / settings->threads) * settings->threads +
		       self->number;
		if (next_random(random) % 3)
			replace_file(files, slot);
		else
			extend_log(files, NR_FILES + self->number);
		files->syncs[self->number]++;
	}
	return NULL;
}

int files_run(const struct settings *settings)
{
	struct files_thread threads[MAX_THREADS];
	struct files files;
	uint64_t syncs = 0;
	unsigned int i;
	int error;

	if (open_folder(&files, settings))
		return EXIT_DIFFERENT;
	say("load on files starts, seed %" PRIu64, settings->seed);
	clock_gettime(CLOCK_MONOTONIC, &files.started);
	for (i = 0; i < settings->threads; i++) {
		threads[i] = (struct files_thread) { .files = &files, .number = i };
		files.random[i] = mix64(settings->seed + i) ^ files.present[NR_FILES + i];
		error = pthread_create(&threads[i].thread, NULL, files_thread, &threads[i]);
		if (error)
			die(error, "a thread cannot be started");
	}
	for (i = 0; i < settings->threads; i++) {
		pthread_join(threads[i].thread, NULL);
		syncs += files.syncs[i];
	}
	say("%" PRIu64 " files and log entries written and synced in %.1f s", syncs,
	    elapsed(&files));
	return EXIT_SAME;
}
