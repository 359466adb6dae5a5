/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The harness in userspace: a program prints "ok - SUITE: name" or "not ok - SUITE: name: why" for
 * each test, which is a process of its own, and exits 1 if one failed.
 */
#ifndef RUNNER_H
#define RUNNER_H

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

/* What the program is called in its output; each test file says TEST_SUITE("name"). */
extern const char test_suite[];

#define TEST_SUITE(title) const char test_suite[] = title

void test_register(struct test *test);

#define TEST(test_name)								\
	static void test_name(void);						\
	__attribute__((constructor)) static void register_##test_name(void)	\
	{									\
		static struct test test = { #test_name, test_name, NULL };	\
										\
		test_register(&test);						\
	}									\
	static void test_name(void)

#endif
