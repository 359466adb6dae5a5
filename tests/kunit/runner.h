/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The harness in the kernel: TEST_SUITE() is a KUnit suite, TEST() a case of it.  So that the tests
 * need no table of their own, each adds itself in an initcall; KUnit runs the suites after those.
 */
#ifndef RUNNER_H
#define RUNNER_H

#include <kunit/test.h>
#include <linux/init.h>

#define TEST_MAX_CASES	64

/* Before each case: the seed, and who fails by test_fail(). */
int test_begin(struct kunit *test);

/* @cases has TEST_MAX_CASES + 1 places; the last one stays empty. */
int test_add(struct kunit_case *cases, const char *name, void (*run)(struct kunit *test));

#define TEST_SUITE(title)							\
	static struct kunit_case test_cases[TEST_MAX_CASES + 1];		\
	static struct kunit_suite test_suite = {				\
		.name = title, .init = test_begin, .test_cases = test_cases,	\
	};									\
	kunit_test_suite(test_suite)

#define TEST(test_name)								\
	static void test_name(void);						\
	static void run_##test_name(struct kunit *test)				\
	{									\
		test_name();							\
	}									\
	static int __init add_##test_name(void)					\
	{									\
		return test_add(test_cases, #test_name, run_##test_name);	\
	}									\
	core_initcall(add_##test_name);						\
	static void test_name(void)

#endif
