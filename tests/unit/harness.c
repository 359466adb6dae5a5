// SPDX-License-Identifier: GPL-2.0-only
/* The unit tests' harness; see harness.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/bug.h>
#include "harness.h"

static struct test *first_test;
static struct test **last_test = &first_test;
static jmp_buf leave;
static char reason[1024];
static u64 random_state;

void test_register(struct test *test)
{
	*last_test = test;
	last_test = &test->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(reason))
		snprintf(reason + n, sizeof(reason) - n, " [%s:%d]", file, line);
	longjmp(leave, 1);
}

static void fail_on_warn(const char *condition, const char *file, int line)
{
	test_fail(file, line, "WARN_ON(%s)", condition);
}

void test_check_string(const char *file, int line, const char *text, const char *expected)
{
	if (strcmp(text, expected))
		test_fail(file, line, "'%.300s' is not '%.300s'", text, expected);
}

void test_check_contains(const char *file, int line, const char *text, const char *part)
{
	if (!strstr(text, part))
		test_fail(file, line, "'%.300s' does not contain '%.300s'", text, part);
}

u64 test_random(void)
{
	u64 x = random_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

u32 test_below(u32 limit)
{
	return (test_random() >> 32) * limit >> 32;
}

void test_random_bytes(void *buffer, size_t bytes)
{
	u8 *p = buffer;

	while (bytes--)
		*p++ = test_random() >> 56;
}

static bool run(const struct test *test)
{
	random_state = 1;
	reason[0] = '\0';
	if (setjmp(leave)) {
		printf("not ok - %s: %s: %s\n", test_suite, test->name, reason);
		return false;
	}
	test->run();
	printf("ok - %s: %s\n", test_suite, test->name);
	return true;
}

int main(void)
{
	const struct test *test;
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	shim_warn_hook = fail_on_warn;
	for (test = first_test; test; test = test->next)
		failed += !run(test);
	return failed || !first_test;
}
