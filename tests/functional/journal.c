// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle's memory; see journal.h.  On disk, in blocks of 4096 bytes:
 *
 *	0, 1		headers of even and odd epochs: one is whole at any time
 *	2 ...		two base arrays, of even and odd epochs
 *	then		NOTE_BLOCKS blocks of notes for each possible thread
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "journal.h"
#include "output.h"
#include "pattern.h"
#include "ranges.h"

#define BLOCK		4096U
#define NOTE_BLOCKS	4096U
#define HEADER_MAGIC	0x6a2d72656461656fULL
#define NOTES_MAGIC	0x6a2d7365746f6e6fULL

struct header {
	uint64_t magic, sum;
	uint64_t seed, sectors, epoch, base_sum;
};

struct note_block {
	uint64_t magic, sum;
	uint64_t seed;
	uint32_t thread, index;
	uint64_t epoch;
	uint32_t count, unused;
	struct note notes[(BLOCK - 48) / sizeof(struct note)];
};

_Static_assert((BLOCK - 48) / sizeof(struct note) == NOTES_A_BLOCK, "notes of a block");
_Static_assert(sizeof(struct note_block) <= BLOCK, "one block");

static uint32_t next_block[MAX_THREADS];

static uint64_t checksum(const void *data, size_t bytes)
{
	const uint8_t *byte = data;
	uint64_t sum = bytes, word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), byte += sizeof(word)) {
		memcpy(&word, byte, sizeof(word));
		sum = mix64(sum ^ word) + 1;
	}
	return sum;
}

static void *block_buffer(size_t bytes)
{
	void *buffer;

	if (posix_memalign(&buffer, BLOCK, bytes))
		die(ENOMEM, "no memory for the journal");
	memset(buffer, 0, bytes);
	return buffer;
}

static size_t base_bytes(const struct journal *journal)
{
	return (journal->sectors * sizeof(uint64_t) + BLOCK - 1) / BLOCK * BLOCK;
}

static off_t base_place(const struct journal *journal, uint64_t epoch)
{
	return 2 * BLOCK + (off_t)(epoch & 1) * base_bytes(journal);
}

static off_t note_place(const struct journal *journal, unsigned int thread, uint32_t index)
{
	return 2 * BLOCK + 2 * (off_t)base_bytes(journal) +
	       ((off_t)thread * NOTE_BLOCKS + index) * BLOCK;
}

/* A block beyond the end of a file reads as zeros. */
static void read_at(const struct journal *journal, void *buffer, size_t bytes, off_t place)
{
	ssize_t got = pread(journal->fd, buffer, bytes, place);

	if (got < 0)
		die(errno, "the journal cannot be read");
	memset((char *)buffer + got, 0, bytes - got);
}

static void write_at(const struct journal *journal, const void *buffer, size_t bytes, off_t place)
{
	ssize_t done = pwrite(journal->fd, buffer, bytes, place);

	if (done < 0 || (size_t)done != bytes)
		die(done < 0 ? errno : ENOSPC, "the journal cannot be written");
}

static bool read_header(const struct journal *journal, uint64_t parity, struct header *header)
{
	void *block = block_buffer(BLOCK);
	uint64_t sum;

	read_at(journal, block, BLOCK, (off_t)parity * BLOCK);
	memcpy(header, block, sizeof(*header));
	free(block);
	sum = header->sum;
	header->sum = 0;
	return header->magic == HEADER_MAGIC && sum == checksum(header, sizeof(*header));
}

static void load_base(struct journal *journal, const struct header *header)
{
	if (header->sectors != journal->sectors)
		die(0, "the journal is of a span of %" PRIu64 " sectors, this one has %" PRIu64,
		    header->sectors, journal->sectors);
	journal->seed = header->seed;
	journal->epoch = header->epoch;
	read_at(journal, journal->base, base_bytes(journal), base_place(journal, header->epoch));
	if (checksum(journal->base, base_bytes(journal)) != header->base_sum)
		die(0, "the journal is damaged: epoch %" PRIu64 " has a wrong checksum",
		    header->epoch);
}

void journal_open(struct journal *journal, const char *path, uint64_t seed, uint64_t sectors,
		  unsigned int threads)
{
	struct header headers[2];
	bool good[2];

	*journal = (struct journal) {
		.fd = -1, .seed = seed, .sectors = sectors, .threads = threads,
	};
	journal->base = block_buffer(base_bytes(journal));
	if (!path)
		return;
	journal->fd = open(path, O_RDWR | O_CREAT | O_DSYNC | O_DIRECT | O_CLOEXEC, 0644);
	if (journal->fd < 0 && errno == EINVAL)		/* tmpfs has no O_DIRECT */
		journal->fd = open(path, O_RDWR | O_CREAT | O_DSYNC | O_CLOEXEC, 0644);
	if (journal->fd < 0)
		die(errno, "the journal '%s' cannot be opened", path);
	good[0] = read_header(journal, 0, &headers[0]);
	good[1] = read_header(journal, 1, &headers[1]);
	if (good[0] && good[1])
		load_base(journal, &headers[headers[1].epoch > headers[0].epoch]);
	else if (good[0] || good[1])
		load_base(journal, &headers[good[1]]);
}

static bool notes_valid(const struct journal *journal, struct note_block *block,
			unsigned int thread, uint32_t index)
{
	uint64_t sum = block->sum;

	block->sum = 0;
	return block->magic == NOTES_MAGIC && block->epoch == journal->epoch &&
	       block->seed == journal->seed && block->thread == thread && block->index == index &&
	       sum == checksum(block, BLOCK);
}

void journal_read_notes(struct journal *journal,
			void (*take)(void *context, const struct note *note), void *context)
{
	struct note_block *block = block_buffer(BLOCK);
	unsigned int thread;
	uint32_t index, i;

	for (thread = 0; journal->fd >= 0 && thread < MAX_THREADS; thread++) {
		for (index = 0; index < NOTE_BLOCKS; index++) {
			read_at(journal, block, BLOCK, note_place(journal, thread, index));
			if (!notes_valid(journal, block, thread, index))
				break;
			for (i = 0; i < block->count; i++)
				take(context, &block->notes[i]);
		}
	}
	free(block);
}

void journal_begin_epoch(struct journal *journal)
{
	struct header *header;

	journal->epoch++;
	memset(next_block, 0, sizeof(next_block));
	if (journal->fd < 0)
		return;
	header = block_buffer(BLOCK);
	header->magic = HEADER_MAGIC;
	header->seed = journal->seed;
	header->sectors = journal->sectors;
	header->epoch = journal->epoch;
	header->base_sum = checksum(journal->base, base_bytes(journal));
	header->sum = checksum(header, sizeof(*header));
	write_at(journal, journal->base, base_bytes(journal), base_place(journal, journal->epoch));
	write_at(journal, header, BLOCK, (off_t)(journal->epoch & 1) * BLOCK);
	free(header);
}

bool journal_write_notes(struct journal *journal, unsigned int thread, const struct note *notes,
			 unsigned int count)
{
	struct note_block *block;

	if (journal->fd < 0 || !count)
		return true;
	if (next_block[thread] == NOTE_BLOCKS)
		return false;
	block = block_buffer(BLOCK);
	block->magic = NOTES_MAGIC;
	block->seed = journal->seed;
	block->thread = thread;
	block->index = next_block[thread];
	block->epoch = journal->epoch;
	block->count = count;
	memcpy(block->notes, notes, count * sizeof(*notes));
	block->sum = checksum(block, BLOCK);
	write_at(journal, block, BLOCK, note_place(journal, thread, next_block[thread]));
	next_block[thread]++;
	free(block);
	return true;
}
