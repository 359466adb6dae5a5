// SPDX-License-Identifier: GPL-2.0-only
/* The unit tests' harness in userspace; see runner.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <asm/barrier.h>
#include <linux/bug.h>
#include "harness.h"

u64 test_random_state;
void (*test_store_hook)(void);

static struct test *first_test;
static struct test **last_test = &first_test;
static jmp_buf leave;
static char reason[1024];

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

static bool run(const struct test *test)
{
	test_random_state = 1;
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
	port_warn_hook = fail_on_warn;
	for (test = first_test; test; test = test->next)
		failed += !run(test);
	return failed || !first_test;
}
