// SPDX-License-Identifier: GPL-2.0-only
/* One whole measurement of a disk; see session.h. */
#include <errno.h>
#include "find/session-parts.h"

#define GB		1000000000ULL
#define MIN_CHUNK	1048576U

static const struct budget budgets[] = {
	[SURVEY_QUICK] = {
		.fill = 12, .survey = 22, .cells = 14, .rehearsal = 12,
		.age = 20, .cycles = 30,
		.least_fill = 64 << 20, .most_fill = 320 << 20, .aged = 720000000,
		.rehearsed = 64 << 20, .sequential = 16,
		.needed = NEEDED_4K,
		.effort = { .round_ns = 250000000, .min_ops = 24, .max_ops = 1024,
			    .slow_ns = 2000000000, .most_bytes = 16 << 20 },
	},
	[SURVEY_DEFAULT] = {
		.fill = 45, .survey = 115, .cells = 50, .rehearsal = 40, .sweep = 10,
		.dispatch = 28,
		.age = 80, .cycles = 120,
		.least_fill = 128 << 20, .most_fill = 320 << 20, .aged = 720000000,
		.rehearsed = 64 << 20, .sequential = 16,
		.needed = NEEDED_CELLS,
		.effort = { .round_ns = 500000000, .min_ops = 24, .max_ops = 8192,
			    .slow_ns = 8000000000, .most_bytes = 16 << 20 },
	},
	[SURVEY_THOROUGH] = {
		.fill = 1800, .survey = 1200, .cells = 600, .rehearsal = 600, .sweep = 300,
		.dispatch = 120,
		.age = 600, .cycles = 600,
		.least_fill = 128 << 20, .rehearsed = ~0ULL, .sequential = 32768,
		.needed = NEEDED_CELLS,
		.effort = { .round_ns = 2000000000, .min_ops = 64, .max_ops = 32768 },
	},
};

const struct budget *session_budget(const struct session *session)
{
	return &budgets[session->thoroughness];
}

unsigned int session_seconds(enum thoroughness thoroughness)
{
	const struct budget *budget = &budgets[thoroughness];

	return budget->fill + budget->survey + budget->cells + budget->rehearsal + budget->sweep +
	       budget->dispatch;
}

void session_effort(struct measure *measure, enum thoroughness thoroughness)
{
	measure->effort = budgets[thoroughness].effort;
	measure->fill_ns = budgets[thoroughness].fill * SECOND;
	measure->least_fill = budgets[thoroughness].least_fill;
	measure->most_fill = budgets[thoroughness].most_fill;
	measure->sequential_ops = budgets[thoroughness].sequential;
}

u64 session_fill_bytes(enum thoroughness thoroughness, u64 bytes)
{
	const u64 most = budgets[thoroughness].most_fill;

	return most && most < bytes ? most : bytes;
}

u64 session_write_limit(enum thoroughness thoroughness, u64 bytes)
{
	const u64 least = 8ULL << 30;

	/* The parts are made to need less than that; a thorough run may take what it needs. */
	if (thoroughness != SURVEY_THOROUGH)
		return GB;
	return bytes > least / 4 ? bytes * 4 : least;
}

u64 session_now(const struct session *session)
{
	return session->measure->disk->ops->now(session->measure->disk);
}

u64 session_end_of_part(const struct session *session, unsigned int seconds, unsigned int behind)
{
	const u64 end = session_now(session) + seconds * SECOND;
	const u64 last = session->end - (behind + session_budget(session)->dispatch) * SECOND;

	return end < last ? end : last;
}

void session_show_step(const struct session *session, const char *name)
{
	const u64 now = session_now(session);

	if (session->watcher && session->watcher->step)
		session->watcher->step(session->context, name, session->end > now ?
				       (session->end - now) / SECOND + 1 : 0);
}

void session_end_step(const struct session *session)
{
	if (session->watcher && session->watcher->ended)
		session->watcher->ended(session->context);
}

bool session_has_open_blocks(const struct session *session)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];

	return block->status == STATUS_MEASURED && block->confidence >= CONFIDENCE_MEDIUM &&
	       block->has_phase;
}

bool session_may_write_more(const struct session *session)
{
	return session->may_write && !measure_is_spent(session->measure);
}

int session_take_limit(int code)
{
	return code == -EDQUOT ? 0 : code;
}

bool session_flush_ignored(const struct session *session)
{
	const struct finding *flush = &session->survey.finding[PARAMETER_FLUSH];

	return flush->status == STATUS_MEASURED && !flush->value;
}

/* One transfer of the filling. */
static void note_filled(void *context, u64 bytes, u64 ns)
{
	struct session *session = context;
	const unsigned int chunk = (bytes - 1) / session->chunk_bytes;
	const unsigned int percent = bytes * 100 / session->measure->bytes;

	if (chunk < FILL_CHUNKS) {
		session->chunk_ns[chunk] += ns;
		session->nr_chunks = chunk + 1;
	}
	if (percent != session->shown && session->watcher && session->watcher->filled)
		session->watcher->filled(session->context, percent);
	session->shown = percent;
}

#define VERIFIED	64U		/* blocks of the filling */

/*
 * Some blocks of the filling must hold what was written to them, or the device has not the capacity
 * that it claims.
 */
static int verify_filling(struct measure *measure, u64 first_stamp, struct failure *failure)
{
	const u64 blocks = measure->bytes / BLOCK;
	unsigned int i;
	int code = 0;

	measure->phase = "verify";
	for (i = 0; !code && i < VERIFIED; i++) {
		const u64 block = i ? measure_random(measure, blocks) : blocks - 1;

		code = measure_read(measure, block * BLOCK, BLOCK, NULL, failure);
		if (!code && *(const u64 *)measure->data != first_stamp + block)
			code = fail(failure, -EPERM,
				    "%s does not keep what is written at byte %llu: its capacity is counterfeit, or it is broken; f3probe tells how large it is",
				    measure->disk->path, measure->offset + block * BLOCK);
	}
	return code;
}

static int fill(struct session *session, struct failure *failure)
{
	struct measure *measure = session->measure;
	const u64 parts = (measure->bytes + FILL_CHUNKS - 1) / FILL_CHUNKS;
	const u64 first_stamp = measure->stamp + 1;
	int code;

	if (session->filled || !session->may_write)
		return 0;
	session_show_step(session, "fill");
	session->chunk_bytes = (parts + MIN_CHUNK - 1) / MIN_CHUNK * MIN_CHUNK;
	measure->phase = "fill";
	measure->filled = note_filled;
	measure->filled_context = session;
	code = measure_fill(measure, failure);
	if (!code && session->verify)
		code = verify_filling(measure, first_stamp, failure);
	session->filled = !code;
	/* The last one may be shorter than the others. */
	if (session->nr_chunks && measure->bytes % session->chunk_bytes)
		session->nr_chunks--;
	if (!code)
		find_fast_area(&session->survey, session->chunk_ns, session->nr_chunks,
			       session->chunk_bytes);
	if (!code)
		session_end_step(session);
	return code;
}

static void show_search(void *context, enum parameter parameter)
{
	session_show_step(context, parameter_title(parameter));
}

static void search_ended(void *context)
{
	session_end_step(context);
}

static int run_survey(struct session *session, struct failure *failure)
{
	const struct budget *budget = session_budget(session);
	struct survey *survey = &session->survey;

	survey->deadline = session_end_of_part(session, budget->survey,
					       budget->cells + budget->rehearsal + budget->sweep);
	survey->progress = show_search;
	survey->ended = search_ended;
	survey->progress_context = session;
	return survey_run(survey, failure);
}

/* Random writes are to cost what they cost all over the device. */
static void keep_apart(struct session *session)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	struct measure *measure = session->measure;

	if (!session_has_open_blocks(session))
		return;
	/* A part of a block would tell too little of its merge, or far too much. */
	if (measure->sequential_ops < block->value / measure->sequential_bytes)
		measure->sequential_ops = block->value / measure->sequential_bytes;
	measure->apart = block->value;
	measure->apart_phase = (block->value + block->phase - measure->offset % block->value) %
			       block->value;
}

int session_run(struct session *session, struct failure *failure)
{
	struct measure *measure = session->measure;
	int code;

	session->end = session_now(session) + session_seconds(session->thoroughness) * SECOND;
	session->survey.measure = measure;
	session->survey.thoroughness = session->thoroughness;
	session->survey.may_write = session->may_write;
	session->survey.disk_offset = session->disk_offset;
	session->measurements.disk_offset = session->disk_offset;
	session->measurements.takes_discards = session->takes_discards;
	session->measurements.is_memory = session->is_memory;
	code = fill(session, failure);
	if (!code)
		code = run_survey(session, failure);
	if (!code && session->plan_again)
		session->plan_again(session->context);
	keep_apart(session);
	if (!code && session_flush_ignored(session))
		code = cells_run_cheap(session, failure);
	if (!code)
		code = cells_age(session, failure);
	if (!code)
		code = cells_run_random(session, failure);
	if (!code)
		code = cells_run(session, failure);
	if (!code && session->may_write)
		code = rehearsals_run(session, failure);
	if (!code && session->may_write)
		code = cells_run_sweep(session, failure);
	if (!code && session->may_write)
		code = dispatch_run(session, failure);
	session->limited = measure_is_spent(measure);
	return code;
}
