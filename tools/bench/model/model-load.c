// SPDX-License-Identifier: GPL-2.0-only
/* What the loads write: places at random, in flows, or as an installation of packages has them. */
#include <math.h>
#include "mover-model.h"

static u64 random_below(struct model *model, u64 below)
{
	model->random ^= model->random << 13;
	model->random ^= model->random >> 7;
	model->random ^= model->random << 17;
	return model->random % below;
}

#define PRIME		2654435761ULL

/* Rank by the inverse of the distribution, for a continuous variable; ranks lie anywhere. */
static u64 zipf_place(struct model *model, u64 places)
{
	const double power = 1 - model->set.zipf / 100.0;
	const double u = random_below(model, 1ULL << 32) / 4294967296.0;
	const u64 rank = pow(1 + u * (pow(places, power) - 1), 1 / power) - 1;

	return rank * PRIME % places;
}

static u64 flow_place(struct model *model, u64 places)
{
	const u64 turn = model->turn++, each = places / model->set.flows;

	return turn % model->set.flows * each + turn / model->set.flows % each;
}

static u64 next_place(struct model *model, u64 places)
{
	u64 fifth = places / 5;

	if (model->set.flows)
		return flow_place(model, places);
	if (model->set.zipf)
		return zipf_place(model, places);
	if (!model->set.hot)
		return random_below(model, places);
	if (random_below(model, 100) < model->set.hot)
		return random_below(model, fifth);
	return fifth + random_below(model, places - fifth);
}

/*
 * What dpkg writes, by a trace of an installation on ext4 (docs/notebook/probe-score.md): the files
 * of some packages one behind the other, a commit of the journal behind every sixth, and now and
 * then what that has logged of inodes and directories, which lie in one place.
 */
#define COMMIT_FILES	6U
#define COMMITS		100U	/* until the journal's blocks are written to their places ... */
#define METADATA	48U	/* ... in so many writes, ascending */
#define METADATA_BLOCKS	6144U	/* where these are: 24 MiB */
#define JOURNAL_WRITE	6U	/* blocks: its descriptor and what it describes */
#define JOURNAL_BLOCKS	8192U	/* of the journal, in the middle of the file system */
#define FILE_SIZES	5U	/* 4 to 64 KiB */

static struct model_write next_metadata(u64 turn)
{
	return (struct model_write) { .lbn = turn * METADATA_BLOCKS / METADATA, .nr = 4 };
}

static struct model_write install_write(struct model *model)
{
	const u64 blocks = (u64)model->set.span_mb * 256;
	const u64 commit_writes = COMMIT_FILES + 2, round = COMMITS * commit_writes;
	const u64 turn = model->turn++ % (round + METADATA), step = turn % commit_writes;
	struct model_write write = { .flush = step >= COMMIT_FILES };
	u64 *done = write.flush ? &model->journal : &model->files;
	u64 start = write.flush ? blocks / 2 : METADATA_BLOCKS;
	u64 most = write.flush ? JOURNAL_BLOCKS : blocks / 2 - METADATA_BLOCKS;

	if (turn >= round)
		return next_metadata(turn - round);
	write.nr = step < COMMIT_FILES ? 1U << random_below(model, FILE_SIZES) :
		   step == COMMIT_FILES ? JOURNAL_WRITE : 1;
	if (*done % most + write.nr > most)
		*done += most - *done % most;
	write.lbn = start + *done % most;
	*done += write.nr;
	return write;
}

struct model_write model_next_write(struct model *model)
{
	const u32 each = model->set.write_kb / 4;
	const u64 places = (u64)model->set.span_mb * 256 / each;

	if (model->set.install)
		return install_write(model);
	return (struct model_write) {
		.lbn = next_place(model, places) * each, .nr = each, .flush = model->set.fsync,
	};
}
