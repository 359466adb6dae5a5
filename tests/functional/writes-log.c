// SPDX-License-Identifier: GPL-2.0-only
/* Reads the log of dm-log-writes and replays it; see writes-log.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "output.h"
#include "pattern.h"
#include "writes-log.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define LOG_VERSION	1U
#define CHUNK		(1024U * 1024U)

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

void writes_log_open(struct writes_log *log, const char *path)
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
	if (log->block < 512 || log->block > WRITES_LOG_MAX_BLOCK || log->block % 512)
		die(0, "the log has blocks of %u bytes, but 512 to %u are possible", log->block,
		    WRITES_LOG_MAX_BLOCK);
	log->next = log->block;
}

void writes_log_close(struct writes_log *log)
{
	close(log->fd);
}

void writes_log_next(struct writes_log *log, struct entry *entry)
{
	uint8_t block[WRITES_LOG_MAX_BLOCK];
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

/* A discarded range may hold anything; zeros are what most devices return. */
static void write_entry(const struct writes_log *log, const struct entry *entry, int device)
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

/*
 * What a loss of power may leave of an entry that no flush has covered: nothing, all, or any of its
 * sectors.
 */
static void write_some(const struct writes_log *log, const struct entry *entry, int device,
		       uint64_t seed)
{
	struct entry part = *entry;
	uint64_t choice = mix64(seed), i;

	part.sectors = 1;
	for (i = 0; i < entry->sectors && choice % 4 != 0; i++) {
		if (choice % 4 == 1 || mix64(choice + i) % 2)
			write_entry(log, &part, device);
		part.sector++;
		part.data += log->block;
	}
}

/*
 * The kernel forgets what the page cache still holds of the range.  So that it goes to the device
 * before: what a discard leaves there must be the same in each replay.
 */
static void discard_entry(const struct writes_log *log, const struct entry *entry, int device)
{
	uint64_t range[2] = { entry->sector * log->block, entry->sectors * log->block };

	if (fdatasync(device))
		die(errno, "the device cannot be flushed before a discard");
	if (ioctl(device, BLKDISCARD, range))
		die(errno, "the device cannot be discarded at byte %" PRIu64, range[0]);
}

void writes_log_apply(struct writes_log *log, const char *path, uint64_t first, uint64_t last,
		      enum replay_way way, uint64_t seed)
{
	static struct entry entry;
	uint64_t number;
	int device = open(path, O_WRONLY | O_CLOEXEC);

	if (device < 0)
		die(errno, "the device '%s' cannot be opened", path);
	for (number = 0; number <= last; number++) {
		writes_log_next(log, &entry);
		if (number < first || entry.flags & ENTRY_MARK)
			continue;
		if (way == REPLAY_TORN && number == last)
			entry.sectors /= 2;
		if (way == REPLAY_SUBSET && entry.flags & ENTRY_FLUSH)
			die(0, "entry %" PRIu64 " is a flush: all before it is durable", number);
		if (way == REPLAY_SUBSET && !(entry.flags & ENTRY_FUA))
			write_some(log, &entry, device, mix64(seed) + number);
		else if (way == REPLAY_DISCARDS && entry.flags & ENTRY_DISCARD)
			discard_entry(log, &entry, device);
		else
			write_entry(log, &entry, device);
	}
	if (fsync(device) || close(device))
		die(errno, "the device '%s' cannot be flushed", path);
}
