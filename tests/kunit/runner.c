// SPDX-License-Identifier: GPL-2.0-only
/* The unit tests' harness in the kernel; see runner.h. */
#include <linux/kernel.h>
#include "harness.h"

u64 test_random_state;

static struct kunit *running;

int test_begin(struct kunit *test)
{
	running = test;
	test_random_state = 1;
	return 0;
}

int __init test_add(struct kunit_case *cases, const char *name, void (*run)(struct kunit *test))
{
	u32 nr = 0;

	while (cases[nr].run_case)
		nr++;
	if (nr == TEST_MAX_CASES)
		panic("%s is one test too many: raise TEST_MAX_CASES\n", name);
	cases[nr].name = name;
	cases[nr].run_case = run;
	return 0;
}

void test_fail(const char *file, int line, const char *format, ...)
{
	static char reason[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	KUNIT_ASSERT_FAILURE(running, "%s [%s:%d]", reason, file, line);
	panic("a test goes on after its failure\n");	/* the assertion has ended its thread */
}

void test_warned(const char *condition, const char *file, int line)
{
	test_fail(file, line, "WARN_ON(%s)", condition);
}
