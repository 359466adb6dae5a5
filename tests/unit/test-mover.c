// SPDX-License-Identifier: GPL-2.0-only
/* ressd-mover: what it does next; whatever that is ends, and lets go of writers before it rests. */
#include <linux/kernel.h>
#include "harness.h"
#include "ressd-mover.h"

TEST_SUITE("mover");

#define NR_STATES	(RESSD_MOVER_EMPTYING + 1)

/* Which states can be reached from @from by way of states in @through. */
static u32 reachable(enum ressd_mover_state from, u32 through)
{
	u32 reached = 0, more = 1U << from, state, next;

	while (more) {
		state = __builtin_ctz(more);
		more &= more - 1;
		for (next = 0; next < NR_STATES; next++) {
			if (reached & 1U << next || !ressd_mover_may_become(state, next))
				continue;
			reached |= 1U << next;
			if (through & 1U << next)
				more |= 1U << next;
		}
	}
	return reached;
}

TEST(each_state_is_reached_and_ends)
{
	u32 state;

	for (state = 0; state < NR_STATES; state++) {
		CHECK_EQ(reachable(state, ~0U), (1U << NR_STATES) - 1);
		CHECK(!ressd_mover_may_become(state, state), "state %u", state);
	}
}

/* A sweep's end lets go of the segments that its start has frozen. */
TEST(no_sweep_begins_in_another)
{
	u32 from, to;

	for (from = 0; from < NR_STATES; from++)
		for (to = 0; to < NR_STATES; to++)
			CHECK(!ressd_mover_may_become(from, to) || !ressd_mover_sweeps(from) ||
			      !ressd_mover_sweeps(to), "from %u to %u", from, to);
}

/* Only a thread that has begun can move, and it begins with nothing of the last one. */
TEST(a_thread_begins_at_rest)
{
	CHECK_EQ(reachable(RESSD_MOVER_STOPPED, 0), 1U << RESSD_MOVER_IDLE);
	CHECK_EQ(reachable(RESSD_MOVER_RESTING, 0), 1U << RESSD_MOVER_IDLE);
	CHECK_EQ(reachable(RESSD_MOVER_BACKOFF, 0), 1U << RESSD_MOVER_IDLE);
}

/* Only space that a sweep has just gained is shared out by the next one. */
TEST(writers_follow_only_sweeps_for_space)
{
	u32 state;

	for (state = 0; state < NR_STATES; state++)
		CHECK_EQ(ressd_mover_may_become(state, RESSD_MOVER_SWEPT),
			 state == RESSD_MOVER_SWEEPING);
	CHECK(ressd_mover_leads(RESSD_MOVER_SWEPT), "not followed");
	CHECK(!ressd_mover_leads(RESSD_MOVER_IDLE) && !ressd_mover_leads(RESSD_MOVER_BACKOFF) &&
	      !ressd_mover_leads(RESSD_MOVER_STOPPED) && !ressd_mover_leads(RESSD_MOVER_RESTING),
	      "followed at rest");
}

TEST(become_changes_the_state)
{
	enum ressd_mover_state state = RESSD_MOVER_STOPPED;

	ressd_mover_become(&state, RESSD_MOVER_IDLE);
	ressd_mover_become(&state, RESSD_MOVER_SWEEPING);
	CHECK_EQ(state, RESSD_MOVER_SWEEPING);
}

/* --- what it does next ---------------------------------------------------- */

struct choice {
	const char *why;
	struct ressd_mover_facts facts;
	enum ressd_mover_state state;
};

/* In service, and the mover may move whenever it is worth it. */
#define ON	.in_service = true, .on = true
#define OFF	.in_service = true

static const struct choice choices[] = {
	{ "nothing to do", { ON }, RESSD_MOVER_IDLE },
	{ "all is free", { ON, .low = true, .full = true }, RESSD_MOVER_IDLE },
	{ "a part is used", { ON, .used = true }, RESSD_MOVER_IDLE },
	{ "little is free", { ON, .used = true, .low = true }, RESSD_MOVER_SWEEPING },
	{ "... but off", { OFF, .used = true, .low = true }, RESSD_MOVER_IDLE },
	{ "full, and off", { OFF, .used = true, .full = true }, RESSD_MOVER_SWEEPING },
	{ "covers", { OFF, .covers = true }, RESSD_MOVER_SWEEPING },

	{ "bad blocks", { ON, .bad = true, .used = true }, RESSD_MOVER_IDLE },
	{ "to be tried", { OFF, .bad = true, .retry = true }, RESSD_MOVER_SWEEPING },
	{ "... in a suspend", { OFF, .suspending = true, .bad = true, .retry = true },
	  RESSD_MOVER_IDLE },
	{ "... though there are none", { ON, .retry = true }, RESSD_MOVER_IDLE },
	{ "one overwritten", { ON, .bad = true, .bad_gone = true }, RESSD_MOVER_SWEEPING },
	{ "... but off", { OFF, .bad = true, .bad_gone = true }, RESSD_MOVER_IDLE },

	{ "idle", { ON, .idle = true }, RESSD_MOVER_EMPTYING },
	{ "... but off", { OFF, .idle = true }, RESSD_MOVER_IDLE },
	{ "... and little is free", { ON, .idle = true, .used = true, .low = true },
	  RESSD_MOVER_EMPTYING },
	{ "trial", { ON, .trial = true }, RESSD_MOVER_TRIAL },
	{ "... and idle, full", { ON, .trial = true, .idle = true, .used = true, .full = true },
	  RESSD_MOVER_TRIAL },

	{ "drain", { ON, .draining = true }, RESSD_MOVER_DRAINING },
	{ "... of a mover that is off", { OFF, .draining = true }, RESSD_MOVER_DRAINING },
	{ "... before all else", { ON, .draining = true, .trial = true, .idle = true, .used = true,
				   .full = true, .low = true, .covers = true },
	  RESSD_MOVER_DRAINING },
	{ "... in a suspend", { OFF, .draining = true, .suspending = true }, RESSD_MOVER_IDLE },
	{ "... that needs space", { OFF, .draining = true, .suspending = true, .used = true,
				    .full = true }, RESSD_MOVER_DRAINING },
	{ "a suspend that needs space", { OFF, .suspending = true, .used = true, .full = true },
	  RESSD_MOVER_SWEEPING },
};

TEST(each_reason_has_its_sweep)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(choices); i++)
		CHECK(ressd_mover_choose(&choices[i].facts) == choices[i].state, "%u: %s", i,
		      choices[i].why);
}

/* Each of the facts is one bit of @bits. */
static struct ressd_mover_facts facts_of(u32 bits)
{
	struct ressd_mover_facts facts;
	u32 i;

	for (i = 0; i < sizeof(facts) / sizeof(bool); i++)
		((bool *)&facts)[i] = bits >> i & 1;
	return facts;
}

/* Of all that can be: what comes before what. */
TEST(choices_keep_their_order)
{
	u32 bits;

	for (bits = 0; bits < 1U << sizeof(struct ressd_mover_facts); bits++) {
		struct ressd_mover_facts f = facts_of(bits);
		enum ressd_mover_state state = ressd_mover_choose(&f);
		bool space = f.used && f.full;

		CHECK(state == RESSD_MOVER_IDLE || ressd_mover_sweeps(state), "%x", bits);
		CHECK(state == RESSD_MOVER_IDLE || f.in_service, "%x: out of service", bits);
		CHECK(state == RESSD_MOVER_IDLE || !f.draining || state == RESSD_MOVER_DRAINING,
		      "%x: something else before a drain", bits);
		CHECK((state == RESSD_MOVER_DRAINING) <= f.draining, "%x: a drain of itself", bits);
		CHECK(state != RESSD_MOVER_IDLE || !f.in_service || !space,
		      "%x: who waits for space gets none", bits);
		CHECK(state != RESSD_MOVER_IDLE || !f.in_service || !f.used || !f.low || !f.on,
		      "%x: who waits for the mover to begin waits for ever", bits);
		CHECK(state != RESSD_MOVER_IDLE || !f.in_service || !f.draining || f.suspending,
		      "%x: no drain", bits);
		CHECK(f.draining || !f.trial || !f.in_service || state == RESSD_MOVER_TRIAL,
		      "%x: no trial", bits);
	}
}

/* --- pauses --------------------------------------------------------------- */

static const struct ressd_mover_progress none = { .reused = 7, .moved = 100 };

TEST(pauses_after_errors_grow)
{
	u32 backoff = 0, seconds;

	for (seconds = 1; seconds < 64; seconds *= 2)
		CHECK_EQ(ressd_mover_pause(&none, &none, -5, &backoff), seconds * 1000);
	CHECK_EQ(ressd_mover_pause(&none, &none, -5, &backoff), 64000);
	CHECK_EQ(ressd_mover_pause(&none, &none, -5, &backoff), 64000);
	/* Nothing gained, but no error. */
	CHECK_EQ(ressd_mover_pause(&none, &none, 0, &backoff), 20);
	CHECK_EQ(ressd_mover_pause(&none, &none, -5, &backoff), 1000);
}

TEST(gain_needs_no_pause)
{
	static const struct ressd_mover_progress gains[] = {
		{ .reused = 8, .moved = 100 },
		{ .reused = 7, .moved = 100, .covered = true },
		{ .reused = 7, .moved = 101 },
	};
	u32 i, backoff = 0;

	for (i = 0; i < ARRAY_SIZE(gains); i++) {
		CHECK_EQ(ressd_mover_pause(&none, &gains[i], 0, &backoff), 0);
		CHECK_EQ(ressd_mover_pause(&gains[i], &none, 0, &backoff), 0);
	}
	/* Blocks beside those that cannot be moved are no gain: each sweep finds some. */
	CHECK_EQ(ressd_mover_pause(&none, &gains[2], -5, &backoff), 1000);
	/* Space is, and what follows without goes on where the pauses were. */
	CHECK_EQ(ressd_mover_pause(&none, &gains[0], -5, &backoff), 0);
	CHECK_EQ(ressd_mover_pause(&none, &gains[1], -5, &backoff), 0);
	CHECK_EQ(ressd_mover_pause(&none, &none, -5, &backoff), 2000);
	CHECK_EQ(ressd_mover_pause(&none, &gains[0], 0, &backoff), 0);
	CHECK_EQ(ressd_mover_pause(&none, &none, -5, &backoff), 1000);
}

/* What appends again all that it frees would go on for ever. */
TEST(freeing_that_gains_nothing_is_vain)
{
	static const struct ressd_mover_progress before = { .reused = 7, .moved = 100, .taken = 9,
							    .free = 50 };
	static const struct {
		struct ressd_mover_progress after;
		bool vain;
	} cases[] = {
		{ { .reused = 8, .moved = 100, .taken = 9, .free = 50 }, true },
		{ { .reused = 9, .moved = 100, .taken = 9, .free = 49 }, true },
		{ { .reused = 8, .moved = 100, .taken = 9, .free = 51 }, false },
		/* A direct write was in the way; it is over soon. */
		{ { .reused = 7, .moved = 100, .taken = 9, .free = 50 }, false },
		{ { .reused = 8, .moved = 101, .taken = 9, .free = 50 }, false },
		/* Writers have used what it gained. */
		{ { .reused = 8, .moved = 100, .taken = 10, .free = 49 }, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK(ressd_mover_was_vain(&before, &cases[i].after, 0) == cases[i].vain, "case %u",
		      i);
		CHECK(!ressd_mover_was_vain(&before, &cases[i].after, -5), "case %u failed", i);
	}
}

TEST(who_waits_ends_a_pause)
{
	static const struct {
		struct ressd_mover_facts facts;
		bool ends;
	} cases[] = {
		{ { ON, .used = true, .low = true, .full = true, .bad = true }, false },
		{ { ON, .retry = true }, true },
		{ { ON, .draining = true }, true },
		{ { OFF, .suspending = true }, false },
		{ { OFF, .starved = true }, false },
		{ { OFF, .suspending = true, .starved = true }, true },
		{ { .suspending = true, .starved = true }, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK(ressd_mover_resumes(&cases[i].facts, -5) == cases[i].ends, "case %u", i);
		CHECK(!ressd_mover_resumes(&cases[i].facts, 0), "case %u without an error", i);
	}
}
