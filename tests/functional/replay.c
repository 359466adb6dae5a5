// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-replay: reads what the kernel's dm-log-writes has recorded, and makes a device as it was
 * at some moment of the recording.  The help text below says how.
 *
 * The log (drivers/md/dm-log-writes.c): a superblock, then entries one after the other.  Each is
 * one block that describes a request, followed by its data; a mark has its text in the block
 * itself.  A write stands in the log when it has completed and been covered by a flush, or when it
 * is FUA: so what comes before a flush is exactly what that flush made durable.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arguments.h"
#include "output.h"

static const char help_text[] =
	"Usage: ressd-replay list LOG\n"
	"       ressd-replay apply LOG DEVICE FIRST LAST\n"
	"\n"
	"  list   one line for each entry after which the device was known durable, or that is a\n"
	"         mark: its number, and flush, fua or mark TEXT\n"
	"  apply  write the entries FIRST to LAST to DEVICE; 0 is the first of all\n"
	"\n"
	"LOG is the log device of dm-log-writes, after the recording device has been removed.\n";

#define LOG_MAGIC	0x6a736677736872ULL
#define LOG_VERSION	1U
#define MAX_BLOCK	4096U
#define CHUNK		(1024U * 1024U)

enum { ENTRY_FLUSH = 1, ENTRY_FUA = 2, ENTRY_DISCARD = 4, ENTRY_MARK = 8 };

struct log {
	int fd;
	uint32_t block;			/* bytes: unit of all numbers in the log */
	uint64_t entries;
	off_t next;			/* where the next entry begins */
};

struct entry {
	uint64_t sector, sectors;	/* in blocks of the log */
	uint64_t flags;
	off_t data;			/* where its data stand in the log */
	char mark[MAX_BLOCK];		/* text of a mark */
};

static void read_at(int fd, void *buffer, size_t bytes, off_t place)
{
	ssize_t got = pread(fd, buffer, bytes, place);

	if (got < 0 || (size_t)got != bytes)
		die(got < 0 ? errno : 0, "the log cannot be read at byte %jd; is it whole?",
		    (intmax_t)place);
}

static uint64_t number_at(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

static void log_open(struct log *log, const char *path)
{
	uint8_t super[32];

	log->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (log->fd < 0)
		die(errno, "the log '%s' cannot be opened", path);
	read_at(log->fd, super, sizeof(super), 0);
	if (number_at(super) != LOG_MAGIC || number_at(super + 8) != LOG_VERSION)
		die(0, "'%s' is no log of dm-log-writes, version %u", path, LOG_VERSION);
	log->entries = number_at(super + 16);
	log->block = number_at(super + 24) & UINT32_MAX;
	if (log->block < 512 || log->block > MAX_BLOCK || log->block % 512)
		die(0, "the log has blocks of %u bytes, but 512 to %u are possible", log->block,
		    MAX_BLOCK);
	log->next = log->block;
}

static void log_next(struct log *log, struct entry *entry)
{
	uint8_t block[MAX_BLOCK];
	uint64_t text;

	read_at(log->fd, block, log->block, log->next);
	entry->sector = number_at(block);
	entry->sectors = number_at(block + 8);
	entry->flags = number_at(block + 16);
	entry->data = log->next + log->block;
	log->next = entry->data;
	entry->mark[0] = '\0';
	if (entry->flags & ENTRY_MARK) {
		text = number_at(block + 24);
		if (text >= log->block - 32)
			die(0, "the log is damaged: a mark has %" PRIu64 " bytes", text);
		memcpy(entry->mark, block + 32, text);
		entry->mark[text] = '\0';
	} else if (!(entry->flags & ENTRY_DISCARD)) {
		log->next += (off_t)(entry->sectors * log->block);
	}
}

static void list(struct log *log)
{
	static struct entry entry;
	uint64_t number;

	for (number = 0; number < log->entries; number++) {
		log_next(log, &entry);
		if (entry.flags & ENTRY_MARK)
			printf("%" PRIu64 " mark %s\n", number, entry.mark);
		else if (entry.flags & (ENTRY_FLUSH | ENTRY_FUA))
			printf("%" PRIu64 " %s\n", number,
			       entry.flags & ENTRY_FLUSH ? "flush" : "fua");
	}
}

/* A discarded range may hold anything; zeros are what most devices return. */
static void write_entry(const struct log *log, const struct entry *entry, int device)
{
	static uint8_t buffer[CHUNK];
	uint64_t left = entry->sectors * log->block, bytes;
	off_t from = entry->data, to = (off_t)(entry->sector * log->block);

	for (; left; left -= bytes, from += bytes, to += bytes) {
		bytes = left < CHUNK ? left : CHUNK;
		if (entry->flags & ENTRY_DISCARD)
			memset(buffer, 0, bytes);
		else
			read_at(log->fd, buffer, bytes, from);
		if (pwrite(device, buffer, bytes, to) != (ssize_t)bytes)
			die(errno, "the device cannot be written at byte %jd", (intmax_t)to);
	}
}

static void apply(struct log *log, const char *path, uint64_t first, uint64_t last)
{
	static struct entry entry;
	uint64_t number;
	int device = open(path, O_WRONLY | O_CLOEXEC);

	if (device < 0)
		die(errno, "the device '%s' cannot be opened", path);
	for (number = 0; number <= last; number++) {
		log_next(log, &entry);
		if (number >= first && !(entry.flags & ENTRY_MARK))
			write_entry(log, &entry, device);
	}
	if (fsync(device) || close(device))
		die(errno, "the device '%s' cannot be flushed", path);
}

int main(int argc, char **argv)
{
	struct log log = { .fd = -1 };
	uint64_t first, last;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help_text, stdout);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "list")) {
		log_open(&log, argv[2]);
		list(&log);
		return 0;
	}
	if (argc != 6 || strcmp(argv[1], "apply"))
		die(0, "this is not how it is called; see ressd-replay --help");
	log_open(&log, argv[2]);
	if (!log.entries)
		die(0, "the log '%s' has no entries", argv[2]);
	first = parse_number("FIRST", argv[4], log.entries - 1);
	last = parse_number("LAST", argv[5], log.entries - 1);
	if (first > last)
		die(0, "FIRST is %" PRIu64 ", beyond LAST, %" PRIu64, first, last);
	apply(&log, argv[3], first, last);
	return 0;
}
