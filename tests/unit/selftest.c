// SPDX-License-Identifier: GPL-2.0-only
/* The harness itself: what each end of a test counts as, and that the next ones still run. */
#include <signal.h>
#include <stdlib.h>
#include <linux/bug.h>
#include "harness.h"

TEST_SUITE("selftest");

static int state;

TEST(passes)
{
	state = 1;
}

TEST(fails)
{
	CHECK(state, "the first test's state is not this one's");
}

TEST(warns)
{
	WARN_ON(!state);
}

TEST(crashes)
{
	raise(SIGKILL);
}

TEST(reads_too_far)
{
	char *volatile block = malloc(1);

	state = block[1];
	free(block);
}

TEST(leaks)
{
	char *volatile lost = malloc(1);

	*lost = 1;
	lost = NULL;
}

TEST(passes_at_last)
{
}
