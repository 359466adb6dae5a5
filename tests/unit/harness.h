/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unit tests' own harness: TEST(name) { ... } defines one test, CHECK() fails it with a
 * reason and leaves it.  A WARN of core fails the running test too.
 *
 * runner.h is what differs between userspace (here, with harness.c) and the kernel
 * (tests/kunit, where each test is a KUnit case): TEST, TEST_SUITE and how a test ends.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <linux/string.h>
#include <linux/types.h>
#include "runner.h"

/* Ends the running test as failed. */
__attribute__((noreturn, format(printf, 3, 4)))
void test_fail(const char *file, int line, const char *format, ...);

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

/* Equal strings; @a contains @b. */
#define CHECK_STR(a, b) test_check_string(__FILE__, __LINE__, a, b)
#define CHECK_HAS(a, b) test_check_contains(__FILE__, __LINE__, a, b)

static inline void test_check_string(const char *file, int line, const char *text,
				     const char *expected)
{
	if (strcmp(text, expected))
		test_fail(file, line, "'%.300s' is not '%.300s'", text, expected);
}

static inline void test_check_contains(const char *file, int line, const char *text,
				       const char *part)
{
	if (!strstr(text, part))
		test_fail(file, line, "'%.300s' does not contain '%.300s'", text, part);
}

/* Repeatable random numbers: every test starts from the same seed. */
extern u64 test_random_state;

static inline u64 test_random(void)
{
	u64 x = test_random_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* 0 .. limit - 1 */
static inline u32 test_below(u32 limit)
{
	return (test_random() >> 32) * limit >> 32;
}

static inline void test_random_bytes(void *buffer, size_t bytes)
{
	u8 *p = buffer;

	while (bytes--)
		*p++ = test_random() >> 56;
}

#endif
