// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of ressd-fsx: each changes the file by a system call and the model in memory by
 * hand, or compares both.  What the file system does not support is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fsx.h"
#include "output.h"

/* In the first half of each word, above the number of the operation. */
#define WORD_MAGIC	0xf5000000U
#define WORD_MASK	0xff000000U

/* A range of the file, drawn at random. */
struct range {
	uint32_t place, bytes;
};

/* xorshift64*: the same numbers everywhere. */
uint32_t fsx_random(struct fsx *fsx, uint32_t limit)
{
	fsx->random ^= fsx->random >> 12;
	fsx->random ^= fsx->random << 25;
	fsx->random ^= fsx->random >> 27;
	return (uint32_t)((fsx->random * 0x2545f4914f6cdd1dULL) >> 33) % limit;
}

/* Every 8-byte word of the file says which operation wrote it, and for which place. */
void fsx_fill(uint8_t *data, uint32_t operation, uint32_t place, uint32_t bytes)
{
	uint32_t word[2];
	uint32_t i;

	for (i = 0; i < bytes; i++) {
		word[0] = WORD_MAGIC | operation;
		word[1] = (place + i) & ~7U;
		data[i] = ((uint8_t *)word)[(place + i) % 8];
	}
}

/* The word that byte @i is of, in words: whose it is.  Copies may stand at any place. */
static void describe(char *text, size_t size, const uint8_t *data, uint32_t i, uint32_t bytes)
{
	static const uint8_t zeros[8];
	uint32_t word[2], start;

	for (start = i < 7 ? 0 : i - 7; start <= i && start + 8 <= bytes; start++) {
		memcpy(word, data + start, sizeof(word));
		if ((word[0] & WORD_MASK) == WORD_MAGIC) {
			snprintf(text, size, "what operation %u wrote at byte %u",
				 word[0] & ~WORD_MASK, word[1] + i - start);
			return;
		}
	}
	if (i + 8 <= bytes && !memcmp(data + i, zeros, sizeof(zeros)))
		snprintf(text, size, "zeros");
	else
		snprintf(text, size, "the byte 0x%02x", data[i]);
}

bool fsx_same(const char *name, const uint8_t *wanted, const uint8_t *found, uint32_t place,
	      uint32_t bytes)
{
	char should[64], is[64];
	uint32_t i, first = 0, last = 0, differ = 0;

	if (!memcmp(wanted, found, bytes))
		return true;
	for (i = 0; i < bytes; i++) {
		if (wanted[i] == found[i])
			continue;
		if (!differ++)
			first = i;
		last = i;
	}
	describe(should, sizeof(should), wanted, first, bytes);
	describe(is, sizeof(is), found, first, bytes);
	say("DIFFERENCE in %s: %u bytes, the first at byte %u, the last at byte %u: expected %s, found %s",
	    name, differ, place + first, place + last, should, is);
	return false;
}

static void refuse(const struct fsx *fsx, const char *what)
{
	die(errno, "%s: operation %u: %s failed", fsx->name, fsx->operation, what);
}

/* A range of the first @limit bytes, at least one byte long; every other one of whole units. */
static struct range draw(struct fsx *fsx, uint32_t limit, bool aligned)
{
	struct range r = { .place = fsx_random(fsx, limit) };

	r.bytes = 1 + fsx_random(fsx, FSX_LENGTH_MAX);
	if (!fsx_random(fsx, 2))
		r.bytes = 1 + r.bytes / 8;
	if (aligned || fsx_random(fsx, 2)) {
		r.place -= r.place % FSX_UNIT;
		r.bytes += FSX_UNIT - 1;
		r.bytes -= r.bytes % FSX_UNIT;
	}
	if (r.bytes > limit - r.place)
		r.bytes = limit - r.place;
	return r;
}

static void grow(struct fsx *fsx, uint32_t end)
{
	if (end > fsx->size)
		fsx->size = end;
}

static void note(struct fsx *fsx, const char *what, uint32_t place, uint32_t bytes)
{
	fprintf(fsx->log, "%u %s %u +%u (size %u)\n", fsx->operation, what, place, bytes,
		fsx->size);
}

/* True if a call has succeeded, false if the file system knows none; an error ends the program. */
static bool supported(struct fsx *fsx, int result, const char *what)
{
	if (!result)
		return true;
	if (errno != EOPNOTSUPP && errno != ENOTTY)
		refuse(fsx, what);
	return false;
}

void fsx_verify(struct fsx *fsx, uint32_t place, uint32_t bytes)
{
	ssize_t got = pread(fsx->fd, fsx->scratch, bytes, place);

	if (got < 0)
		refuse(fsx, "read");
	if ((uint32_t)got != bytes) {
		say("DIFFERENCE in %s: a read of %u bytes at byte %u returns %zd, the size must be %u",
		    fsx->name, bytes, place, got, fsx->size);
		exit(EXIT_DIFFERENT);
	}
	if (!fsx_same(fsx->name, fsx->good + place, fsx->scratch, place, bytes)) {
		say("it was found by operation %u", fsx->operation);
		exit(EXIT_DIFFERENT);
	}
}

static void do_read(struct fsx *fsx)
{
	struct range r;

	if (!fsx->size)
		return;
	r = draw(fsx, fsx->size, false);
	note(fsx, "read", r.place, r.bytes);
	fsx_verify(fsx, r.place, r.bytes);
}

/* The pages of a range; *@shift is where it begins in them. */
static uint8_t *map_range(struct fsx *fsx, struct range r, uint32_t *shift)
{
	uint8_t *pages;

	*shift = r.place % (uint32_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, r.bytes + *shift, PROT_READ | PROT_WRITE, MAP_SHARED, fsx->fd,
		     r.place - *shift);
	if (pages == MAP_FAILED)
		refuse(fsx, "mmap");
	return pages;
}

static void do_map_read(struct fsx *fsx)
{
	struct range r;
	uint8_t *pages;
	uint32_t shift;
	bool same;

	if (!fsx->size)
		return;
	r = draw(fsx, fsx->size, false);
	note(fsx, "map-read", r.place, r.bytes);
	pages = map_range(fsx, r, &shift);
	same = fsx_same(fsx->name, fsx->good + r.place, pages + shift, r.place, r.bytes);
	munmap(pages, r.bytes + shift);
	if (!same)
		exit(EXIT_DIFFERENT);
}

static void do_write(struct fsx *fsx)
{
	struct range r = draw(fsx, FSX_FILE_MAX, false);

	note(fsx, "write", r.place, r.bytes);
	fsx_fill(fsx->good + r.place, fsx->operation, r.place, r.bytes);
	if (pwrite(fsx->fd, fsx->good + r.place, r.bytes, r.place) != (ssize_t)r.bytes)
		refuse(fsx, "write");
	grow(fsx, r.place + r.bytes);
}

static void do_map_write(struct fsx *fsx)
{
	struct range r = draw(fsx, FSX_FILE_MAX, false);
	uint8_t *pages;
	uint32_t shift;

	note(fsx, "map-write", r.place, r.bytes);
	fsx_fill(fsx->good + r.place, fsx->operation, r.place, r.bytes);
	grow(fsx, r.place + r.bytes);
	if (ftruncate(fsx->fd, fsx->size))
		refuse(fsx, "truncate");
	pages = map_range(fsx, r, &shift);
	memcpy(pages + shift, fsx->good + r.place, r.bytes);
	if (msync(pages, r.bytes + shift, MS_SYNC))
		refuse(fsx, "msync");
	munmap(pages, r.bytes + shift);
}

static void do_truncate(struct fsx *fsx)
{
	uint32_t size = fsx_random(fsx, FSX_FILE_MAX + 1);

	note(fsx, "truncate", size, 0);
	if (ftruncate(fsx->fd, size))
		refuse(fsx, "truncate");
	memset(fsx->good + size, 0, FSX_FILE_MAX - size);
	fsx->size = size;
}

/* Space, a hole or zeros: @mode of fallocate(2). */
static void allocate(struct fsx *fsx, const char *what, int mode, bool zeros)
{
	struct range r = draw(fsx, FSX_FILE_MAX, false);

	note(fsx, what, r.place, r.bytes);
	if (!supported(fsx, fallocate(fsx->fd, mode, r.place, r.bytes), what))
		return;
	if (zeros)
		memset(fsx->good + r.place, 0, r.bytes);
	if (!(mode & FALLOC_FL_KEEP_SIZE))
		grow(fsx, r.place + r.bytes);
}

static void do_allocate(struct fsx *fsx)
{
	if (fsx_random(fsx, 2))
		allocate(fsx, "allocate", 0, false);
	else
		allocate(fsx, "allocate-keep", FALLOC_FL_KEEP_SIZE, false);
}

static void do_punch(struct fsx *fsx)
{
	allocate(fsx, "punch", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, true);
}

static void do_zero(struct fsx *fsx)
{
	if (fsx_random(fsx, 2))
		allocate(fsx, "zero", FALLOC_FL_ZERO_RANGE, true);
	else
		allocate(fsx, "zero-keep", FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, true);
}

static void do_collapse(struct fsx *fsx)
{
	struct range r;
	uint32_t end;

	if (fsx->size <= FSX_UNIT)
		return;
	r = draw(fsx, fsx->size - 1, true);
	r.bytes -= r.bytes % FSX_UNIT;
	end = r.place + r.bytes;
	if (!r.bytes || end >= fsx->size)
		return;
	note(fsx, "collapse", r.place, r.bytes);
	if (!supported(fsx, fallocate(fsx->fd, FALLOC_FL_COLLAPSE_RANGE, r.place, r.bytes),
		       "collapse"))
		return;
	memmove(fsx->good + r.place, fsx->good + end, fsx->size - end);
	fsx->size -= r.bytes;
	memset(fsx->good + fsx->size, 0, FSX_FILE_MAX - fsx->size);
}

static void do_insert(struct fsx *fsx)
{
	struct range r;

	if (!fsx->size)
		return;
	r = draw(fsx, fsx->size, true);
	r.bytes = FSX_UNIT * (1 + fsx_random(fsx, FSX_LENGTH_MAX / FSX_UNIT));
	if (fsx->size + r.bytes > FSX_FILE_MAX)
		return;
	note(fsx, "insert", r.place, r.bytes);
	if (!supported(fsx, fallocate(fsx->fd, FALLOC_FL_INSERT_RANGE, r.place, r.bytes),
		       "insert"))
		return;
	memmove(fsx->good + r.place + r.bytes, fsx->good + r.place, fsx->size - r.place);
	memset(fsx->good + r.place, 0, r.bytes);
	fsx->size += r.bytes;
}

/*
 * Two ranges of one length that do not touch, the source within the file, the target anywhere:
 * false if there are none.
 */
static bool draw_two(struct fsx *fsx, bool aligned, struct range *source, uint32_t *target)
{
	if (!fsx->size)
		return false;
	*source = draw(fsx, fsx->size, aligned);
	*target = fsx_random(fsx, FSX_FILE_MAX);
	if (aligned) {
		source->bytes -= source->bytes % FSX_UNIT;
		*target -= *target % FSX_UNIT;
	}
	if (source->bytes > FSX_FILE_MAX - *target)
		return false;
	return source->bytes && (*target + source->bytes <= source->place ||
				 source->place + source->bytes <= *target);
}

static void copied(struct fsx *fsx, struct range source, uint32_t target)
{
	memcpy(fsx->good + target, fsx->good + source.place, source.bytes);
	grow(fsx, target + source.bytes);
}

static void do_clone(struct fsx *fsx)
{
	struct file_clone_range request = { .src_fd = fsx->fd };
	struct range source;
	uint32_t target;

	if (!fsx->share || !draw_two(fsx, true, &source, &target))
		return;
	note(fsx, "clone from", source.place, source.bytes);
	note(fsx, "clone to", target, source.bytes);
	request.src_offset = source.place;
	request.src_length = source.bytes;
	request.dest_offset = target;
	if (supported(fsx, ioctl(fsx->fd, FICLONERANGE, &request), "clone"))
		copied(fsx, source, target);
}

static void do_copy(struct fsx *fsx)
{
	struct range source;
	uint32_t target, done = 0;
	off_t from, to;
	ssize_t got;

	/* XFS copies by sharing where it can. */
	if (!fsx->share || !draw_two(fsx, false, &source, &target))
		return;
	note(fsx, "copy from", source.place, source.bytes);
	note(fsx, "copy to", target, source.bytes);
	while (done < source.bytes) {
		from = source.place + done;
		to = target + done;
		got = copy_file_range(fsx->fd, &from, fsx->fd, &to, source.bytes - done, 0);
		if (got <= 0)
			refuse(fsx, "copy_file_range");
		done += (uint32_t)got;
	}
	copied(fsx, source, target);
}

/* Makes two ranges the same by a write, and has the file system share them. */
static void do_dedupe(struct fsx *fsx)
{
	uint64_t words[8] = { 0 };
	struct file_dedupe_range *request = (void *)words;
	struct range source;
	uint32_t target;

	_Static_assert(sizeof(*request) + sizeof(request->info[0]) <= sizeof(words), "space");
	if (!fsx->share || !draw_two(fsx, true, &source, &target))
		return;
	note(fsx, "dedupe from", source.place, source.bytes);
	note(fsx, "dedupe to", target, source.bytes);
	if (pwrite(fsx->fd, fsx->good + source.place, source.bytes, target) !=
	    (ssize_t)source.bytes)
		refuse(fsx, "write");
	copied(fsx, source, target);
	request->src_offset = source.place;
	request->src_length = source.bytes;
	request->dest_count = 1;
	request->info[0].dest_fd = fsx->fd;
	request->info[0].dest_offset = target;
	if (supported(fsx, ioctl(fsx->fd, FIDEDUPERANGE, request), "dedupe") &&
	    request->info[0].status == FILE_DEDUPE_RANGE_DIFFERS) {
		say("DIFFERENCE in %s: operation %u: dedupe says that two same ranges differ",
		    fsx->name, fsx->operation);
		exit(EXIT_DIFFERENT);
	}
}

/* Each as often as it stands here. */
static void (*const operations[])(struct fsx *fsx) = {
	do_read, do_read, do_map_read, do_write, do_write, do_write, do_map_write, do_truncate,
	do_allocate, do_punch, do_punch, do_zero, do_collapse, do_insert, do_clone, do_clone,
	do_copy, do_dedupe, NULL, NULL,
};

bool fsx_operate(struct fsx *fsx)
{
	uint32_t which = fsx_random(fsx, sizeof(operations) / sizeof(operations[0]));

	fsx->operation++;
	if (!operations[which])
		return true;
	operations[which](fsx);
	return false;
}
