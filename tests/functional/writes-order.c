// SPDX-License-Identifier: GPL-2.0-only
/* Which sectors of a recording are too old; see writes-order.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output.h"
#include "pattern.h"
#include "writes-log.h"
#include "writes-order.h"

#define DISCARDED	1U		/* in place of the hash of the contents */
#define MARK		UINT64_MAX	/* in place of a sector */

/* One version of one sector, or a mark. */
struct step {
	uint64_t sector, hash;
	char mark[32];
};

struct steps {
	struct step *all;
	uint64_t nr, space, sectors;	/* @sectors: beyond the last one */
};

static void *grow(void *memory, uint64_t nr, size_t size)
{
	memory = realloc(memory, nr * size);
	if (!memory)
		die(ENOMEM, "there is no memory for %" PRIu64 " sectors", nr);
	return memory;
}

static struct step *add_step(struct steps *steps, uint64_t sector, uint64_t hash)
{
	if (steps->nr == steps->space) {
		steps->space = steps->space * 2 + 1024;
		steps->all = grow(steps->all, steps->space, sizeof(*steps->all));
	}
	if (sector != MARK && sector >= steps->sectors)
		steps->sectors = sector + 1;
	steps->all[steps->nr] = (struct step) { .sector = sector, .hash = hash };
	return &steps->all[steps->nr++];
}

static uint64_t hash_of(const uint8_t *data, size_t bytes)
{
	uint64_t hash = bytes, word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), data += sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		hash = mix64(hash ^ word) + 1;
	}
	return hash > DISCARDED ? hash : DISCARDED + 1;
}

static void add_entry(struct steps *steps, const struct writes_log *log, const struct entry *entry)
{
	uint8_t data[WRITES_LOG_MAX_BLOCK];
	uint64_t i, hash = DISCARDED;

	for (i = 0; i < entry->sectors; i++) {
		if (!(entry->flags & ENTRY_DISCARD)) {
			writes_log_read(log, entry, i, data);
			hash = hash_of(data, log->block);
		}
		add_step(steps, entry->sector + i, hash);
	}
}

static struct steps read_steps(const char *path)
{
	static struct entry entry;
	struct steps steps = { };
	struct writes_log log;
	uint64_t number;

	writes_log_open(&log, path);
	for (number = 0; number < log.entries; number++) {
		writes_log_next(&log, &entry);
		if (entry.flags & ENTRY_MARK)
			snprintf(add_step(&steps, MARK, 0)->mark, sizeof(steps.all->mark), "%.31s",
				 entry.mark);
		else
			add_entry(&steps, &log, &entry);
	}
	writes_log_close(&log);
	return steps;
}

/* Where the mark stands; steps->nr if it is not there. */
static uint64_t find_mark(const struct steps *steps, const char *mark)
{
	uint64_t i;

	for (i = 0; i < steps->nr; i++)
		if (steps->all[i].sector == MARK && !strcmp(steps->all[i].mark, mark))
			break;
	return i;
}

/* Two recordings up to a mark of each, sector by sector. */
struct version {
	uint64_t right, found;	/* last versions of both; 0: none */
	bool seen;		/* the recording has noted @right, too */
	bool older;		/* the right one has noted @found, too */
};

static void compare_at(const struct steps *steps, uint64_t end, const struct steps *right,
		       uint64_t right_end, struct version *versions, struct stale *stale)
{
	uint64_t i;

	for (i = 0; i < right_end; i++)
		if (right->all[i].sector != MARK)
			versions[right->all[i].sector].right = right->all[i].hash;
	for (i = 0; i < end; i++) {
		struct version *version;

		if (steps->all[i].sector == MARK)
			continue;
		version = &versions[steps->all[i].sector];
		version->found = steps->all[i].hash;
		version->seen |= version->found == version->right;
	}
	for (i = 0; i < right_end; i++)
		if (right->all[i].sector != MARK)
			versions[right->all[i].sector].older |=
				versions[right->all[i].sector].found == right->all[i].hash;
	for (i = 0; i < right->sectors; i++) {
		if (versions[i].found == versions[i].right ||
		    (versions[i].found && !versions[i].older))
			continue;
		stale->sectors++;
		stale->misordered += versions[i].seen;
	}
}

unsigned int writes_order_compare(const char *path, const char *right_path, struct stale *stale,
				  unsigned int max)
{
	struct steps steps = read_steps(path), right = read_steps(right_path);
	uint64_t sectors = steps.sectors > right.sectors ? steps.sectors : right.sectors;
	uint64_t i, right_end;
	struct version *versions = grow(NULL, sectors + 1, sizeof(*versions));
	unsigned int nr = 0;

	for (i = 0; i < steps.nr && nr < max; i++) {
		if (steps.all[i].sector != MARK)
			continue;
		right_end = find_mark(&right, steps.all[i].mark);
		if (right_end == right.nr)
			continue;
		stale[nr] = (struct stale) { };
		memcpy(stale[nr].mark, steps.all[i].mark, sizeof(stale[nr].mark));
		memset(versions, 0, sectors * sizeof(*versions));
		compare_at(&steps, i, &right, right_end, versions, &stale[nr++]);
	}
	free(versions);
	free(steps.all);
	free(right.all);
	return nr;
}
