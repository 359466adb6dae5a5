/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unit tests' own harness: TEST(name) { ... } defines one test, CHECK() fails it with a
 * reason and leaves it.  The program prints "ok - SUITE: name" or "not ok - SUITE: name: why" for
 * each and exits 1 if one failed.  A WARN of core fails the running test too.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <linux/types.h>

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

/* What the program is called in its output; each test file defines it. */
extern const char test_suite[];

void test_register(struct test *test);

/* Ends the running test as failed. */
__attribute__((noreturn, format(printf, 3, 4)))
void test_fail(const char *file, int line, const char *format, ...);

#define TEST(test_name)								\
	static void test_name(void);						\
	__attribute__((constructor)) static void register_##test_name(void)	\
	{									\
		static struct test test = { #test_name, test_name, NULL };	\
										\
		test_register(&test);						\
	}									\
	static void test_name(void)

#define CHECK(condition, format, ...) do {					\
	if (!(condition))							\
		test_fail(__FILE__, __LINE__, "%s is false: " format, #condition,	\
			  ##__VA_ARGS__);					\
} while (0)

#define CHECK_EQ(a, b) do {							\
	unsigned long long check_a = (a), check_b = (b);			\
										\
	if (check_a != check_b)							\
		test_fail(__FILE__, __LINE__, "%s is %llu, expected %llu (%s)", #a,	\
			  check_a, check_b, #b);				\
} while (0)

#define CHECK_STR(a, b) test_check_string(__FILE__, __LINE__, a, b)
#define CHECK_HAS(a, b) test_check_contains(__FILE__, __LINE__, a, b)

/* Equal strings; @text contains @part. */
void test_check_string(const char *file, int line, const char *text, const char *expected);
void test_check_contains(const char *file, int line, const char *text, const char *part);

/* Repeatable random numbers: every test starts from the same seed. */
u64 test_random(void);

/* 0 .. limit - 1 */
u32 test_below(u32 limit);
void test_random_bytes(void *buffer, size_t bytes);

#endif
