// SPDX-License-Identifier: GPL-2.0-only
/* What the block-device contract allows; see oracle.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

void oracle_init(struct oracle *oracle, u32 nr_sectors)
{
	u32 i;

	oracle->cells = calloc(nr_sectors, sizeof(oracle->cells[0]));
	if (!oracle->cells)
		abort();
	oracle->nr = nr_sectors;
	oracle->now = 1;
	for (i = 0; i < nr_sectors; i++) {
		oracle->cells[i].versions[0] = (struct version){ .durable = true };
		oracle->cells[i].nr = 1;
	}
}

void oracle_free(struct oracle *oracle)
{
	free(oracle->cells);
}

static bool replaces(const struct version *later, const struct version *earlier)
{
	return earlier->completed < later->submitted && !later->failed;
}

/* Forgets the versions that a durable one replaces. */
static void prune(struct cell *cell)
{
	u32 i, j, kept = 0;

	if (cell->pins)
		return;
	for (i = 0; i < cell->nr; i++) {
		for (j = 0; j < cell->nr; j++)
			if (cell->versions[j].durable &&
			    replaces(&cell->versions[j], &cell->versions[i]))
				break;
		/* kept <= i: what j looks at below i may be moved, but is never lost wrongly. */
		if (j == cell->nr)
			cell->versions[kept++] = cell->versions[i];
	}
	cell->nr = kept;
}

bool oracle_has_room(const struct oracle *oracle, u32 first, u32 nr)
{
	u32 i;

	for (i = first; i < first + nr; i++)
		if (oracle->cells[i].nr == MAX_VERSIONS)
			return false;
	return true;
}

u64 oracle_submit(struct oracle *oracle, u32 first, u32 nr, const u64 *ids)
{
	u32 i;

	oracle->now++;
	for (i = 0; i < nr; i++) {
		struct cell *cell = &oracle->cells[first + i];

		cell->versions[cell->nr++] = (struct version){
			.id = ids[i], .submitted = oracle->now, .completed = NEVER,
		};
	}
	return oracle->now;
}

/* The version of @sector that was submitted at @submitted; its cell in *@cell. */
static struct version *find_version(struct oracle *oracle, u32 sector, u64 submitted,
				    struct cell **cell)
{
	u32 i;

	*cell = &oracle->cells[sector];
	for (i = 0; i < (*cell)->nr; i++)
		if ((*cell)->versions[i].submitted == submitted)
			return &(*cell)->versions[i];
	abort();	/* the simulator itself is wrong */
}

void oracle_complete(struct oracle *oracle, u32 first, u32 nr, u64 submitted, bool fua)
{
	struct version *version;
	struct cell *cell;
	u32 i;

	oracle->now++;
	oracle->narrowed += fua;
	for (i = first; i < first + nr; i++) {
		version = find_version(oracle, i, submitted, &cell);
		version->completed = oracle->now;
		if (fua) {
			version->durable = true;
			prune(cell);
		}
	}
}

void oracle_fail(struct oracle *oracle, u32 first, u32 nr, u64 submitted)
{
	struct version *version;
	struct cell *cell;
	u32 i;

	oracle->now++;
	for (i = first; i < first + nr; i++) {
		version = find_version(oracle, i, submitted, &cell);
		version->completed = oracle->now;
		version->failed = true;
	}
}

void oracle_distrust(struct oracle *oracle)
{
	u32 i, j;

	oracle->now++;
	for (i = 0; i < oracle->nr; i++) {
		struct cell *cell = &oracle->cells[i];

		for (j = 0; j < cell->nr; j++)
			if (cell->versions[j].completed != NEVER && !cell->versions[j].durable &&
			    !cell->versions[j].failed) {
				cell->versions[j].failed = true;
				cell->versions[j].distrusted = oracle->now;
			}
	}
}

void oracle_flushed(struct oracle *oracle, u64 submitted)
{
	u32 i, j;

	oracle->now++;
	oracle->narrowed++;
	for (i = 0; i < oracle->nr; i++) {
		struct cell *cell = &oracle->cells[i];

		if (cell->nr == 1 && cell->versions[0].durable)
			continue;
		for (j = 0; j < cell->nr; j++) {
			struct version *version = &cell->versions[j];

			/* One that was sent before another one failed has to be true as well. */
			if (version->completed < submitted &&
			    (!version->failed || version->distrusted > submitted)) {
				version->durable = true;
				version->failed = false;
			}
		}
		prune(cell);
	}
}

void oracle_pin(struct oracle *oracle, u32 first, u32 nr, bool pin)
{
	u32 i;

	for (i = first; i < first + nr; i++) {
		struct cell *cell = &oracle->cells[i];

		cell->pins += pin ? 1 : -1;
		prune(cell);
	}
}

bool oracle_may_read(const struct oracle *oracle, u32 sector, u64 id, u64 since)
{
	const struct cell *cell = &oracle->cells[sector];
	u32 i, j;

	for (i = 0; i < cell->nr; i++) {
		const struct version *version = &cell->versions[i];

		if (version->id != id)
			continue;
		for (j = 0; j < cell->nr; j++)
			if (replaces(&cell->versions[j], version) &&
			    cell->versions[j].completed < since)
				break;
		if (j == cell->nr)
			return true;
	}
	return false;
}

static bool replaces_all(const struct version *version, const struct cell *cell)
{
	u32 i;

	for (i = 0; i < cell->nr; i++)
		if (&cell->versions[i] != version && !replaces(version, &cell->versions[i]))
			return false;
	return true;
}

void oracle_settle(struct oracle *oracle, u32 sector, u64 id, u64 since)
{
	struct cell *cell = &oracle->cells[sector];
	struct version *winner = NULL;
	bool failed = false;
	u32 i;

	if (cell->nr == 1 || cell->pins)
		return;
	for (i = 0; i < cell->nr; i++) {
		if (cell->versions[i].completed >= since)
			return;
		failed |= cell->versions[i].failed;
		/* Of equal contents rather a volatile version: that allows more. */
		if (cell->versions[i].id == id && (!winner || winner->durable))
			winner = &cell->versions[i];
	}
	if (!winner || replaces_all(winner, cell))
		return;
	/* As if it had been written once more, now. */
	oracle->now++;
	winner->submitted = oracle->now;
	winner->completed = oracle->now;
	/* The next flush says so; until then a loss of power may choose anew. */
	winner->durable &= !failed;
	winner->failed = false;
	winner->distrusted = 0;
	prune(cell);
}

bool oracle_may_survive(const struct oracle *oracle, u32 sector, u64 id)
{
	const struct cell *cell = &oracle->cells[sector];
	u32 i, j;

	if (cell->versions[0].id == id && cell->nr == 1)
		return true;
	for (i = 0; i < cell->nr; i++) {
		if (cell->versions[i].id != id)
			continue;
		if (!cell->pins)
			return true;	/* pruned: every version may survive */
		for (j = 0; j < cell->nr; j++)
			if (cell->versions[j].durable &&
			    replaces(&cell->versions[j], &cell->versions[i]))
				break;
		if (j == cell->nr)
			return true;
	}
	return false;
}

void oracle_crashed(struct oracle *oracle, u32 sector, u64 id)
{
	struct cell *cell = &oracle->cells[sector];
	u32 i;

	oracle->narrowed++;
	for (i = 0; i < cell->nr; i++)
		if (cell->versions[i].id != id)
			cell->lost = cell->versions[i].id;
	cell->versions[0] = (struct version){ .id = id, .durable = true };
	cell->nr = 1;
	cell->pins = 0;
}

void oracle_explain(const struct oracle *oracle, u32 sector, char *text, size_t size)
{
	const struct cell *cell = &oracle->cells[sector];
	int at = 0;
	u32 i;

	text[0] = '\0';
	for (i = 0; i < cell->nr && at >= 0 && (size_t)at < size; i++) {
		const struct version *version = &cell->versions[i];

		at += snprintf(text + at, size - at, " %llx(%llu..%lld%s)",
			       (unsigned long long)version->id,
			       (unsigned long long)version->submitted,
			       (long long)version->completed, version->durable ? " durable" :
			       version->failed ? " failed" : "");
	}
}
