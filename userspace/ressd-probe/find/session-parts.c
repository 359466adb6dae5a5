// SPDX-License-Identifier: GPL-2.0-only
/* The time and the bytes that each part of a session may take; see session-parts.h. */
#include <errno.h>
#include "find/session-parts.h"

#define GB		1000000000ULL

static const struct budget budgets[] = {
	[SURVEY_QUICK] = {
		.fill = 12, .survey = 22, .kept = 10, .cells = 10, .rehearsal = 12,
		.age = 30, .cycles = 30,
		.least_fill = 64 << 20, .most_fill = 320 << 20, .aged = 720000000,
		.rehearsed = 64 << 20, .sequential = 16,
		.needed = NEEDED_4K, .only_needed = true,
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

	return budget->fill + budget->survey + budget->kept + budget->cells + budget->rehearsal +
	       budget->sweep + budget->dispatch;
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
