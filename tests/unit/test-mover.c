// SPDX-License-Identifier: GPL-2.0-only
/* ressd-mover: whatever the mover does, it ends, and writers are let go of before it rests. */
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
	      !ressd_mover_leads(RESSD_MOVER_STOPPED), "followed at rest");
}

TEST(become_changes_the_state)
{
	enum ressd_mover_state state = RESSD_MOVER_STOPPED;

	ressd_mover_become(&state, RESSD_MOVER_IDLE);
	ressd_mover_become(&state, RESSD_MOVER_SWEEPING);
	CHECK_EQ(state, RESSD_MOVER_SWEEPING);
}
