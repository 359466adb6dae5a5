// SPDX-License-Identifier: GPL-2.0-only
/* One whole measurement of a disk; see session.h. */
#include <errno.h>
#include "find/session-parts.h"

#define MIN_CHUNK	1048576U

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

	survey->deadline = session_end_of_part(session, budget->survey, budget->kept +
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

/* Where the survey has not; a drive that pauses may take half a minute for one of them. */
static int run_commits(struct session *session, struct failure *failure)
{
	const struct measurements *measurements = &session->measurements;
	struct survey *survey = &session->survey;
	int code;

	if (survey->finding[PARAMETER_OPEN_UNITS].status != STATUS_UNKNOWN || session->pauses ||
	    session_flush_ignored(session) || !measurements->rehearsal[0].done ||
	    !session_may_write_more(session))
		return 0;
	session_show_step(session, "database commits");
	survey->deadline = session->end;
	survey->search_deadline = 0;
	survey->search_written = 0;
	session->measure->phase = "commits";
	code = session_take_limit(find_commits(survey, failure));
	if (!code)
		session_end_step(session);
	return code;
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
	session->measurements.normal_bytes = session->normal_bytes;
	session->measurements.log_bytes = session->log_bytes;
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
		code = run_commits(session, failure);
	if (!code && session->may_write)
		code = cells_run_sweep(session, failure);
	if (!code)
		code = cells_run_rest(session, failure);
	/* A drive that pauses may take a minute for a single write, and no time is left then. */
	if (!code && session->may_write && !session->pauses)
		code = dispatch_run(session, failure);
	session->limited = measure_is_spent(measure);
	return code;
}
