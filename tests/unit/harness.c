// SPDX-License-Identifier: GPL-2.0-only
/* The unit tests' harness in userspace; see runner.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <asm/barrier.h>
#include <linux/bug.h>
#include "harness.h"

#define EXIT_SAID	42	/* the test has failed and has said why */

u64 test_random_state = 1;
void (*test_store_hook)(void);

static struct test *first_test;
static struct test **last_test = &first_test;
static const struct test *running;

void test_register(struct test *test)
{
	*last_test = test;
	last_test = &test->next;
}

/* What the test has allocated is nobody's any more: without the search for leaks. */
void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("not ok - %s: %s: ", test_suite, running->name);
	vprintf(format, args);
	printf(" [%s:%d]\n", file, line);
	va_end(args);
	fflush(stdout);
	_exit(EXIT_SAID);
}

static void fail_on_warn(const char *condition, const char *file, int line)
{
	test_fail(file, line, "WARN_ON(%s)", condition);
}

/* A process of its own for each test: a crash, or what a sanitizer finds, costs this one only. */
static int run(const struct test *test)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		running = test;
		test->run();
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		printf("not ok - %s: %s: no process for it\n", test_suite, test->name);
	else if (!status)
		printf("ok - %s: %s\n", test_suite, test->name);
	else if (WIFSIGNALED(status))
		printf("not ok - %s: %s: %s\n", test_suite, test->name,
		       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != EXIT_SAID)
		printf("not ok - %s: %s: exit code %d\n", test_suite, test->name,
		       WEXITSTATUS(status));
	return child < 0 || status;
}

/* With an argument it ends with the first test that fails: of a planted bug one is enough. */
int main(int argc, char **argv)
{
	const struct test *test;
	int failed = 0;

	(void)argv;

	setvbuf(stdout, NULL, _IOLBF, 0);
	port_warn_hook = fail_on_warn;
	for (test = first_test; test && !(failed && argc > 1); test = test->next)
		failed += run(test);
	return failed || !first_test;
}
