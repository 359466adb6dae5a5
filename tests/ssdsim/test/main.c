// SPDX-License-Identifier: GPL-2.0-only
/*
 * Userspace tests of the emulated SSD: ssd-test PROFILE_FOLDER [SEED]
 * Prints "ok" or "not ok" lines and ends non-zero if a test failed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

long shim_allocations_left = -1;
const char *profile_folder;
void (*describe_failure)(void);

/* Where the runner goes on when an expectation fails. */
static jmp_buf next_test;

static u64 random_state = 1;

void random_seed(u64 seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

u32 random_number(u32 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % below;
}

void expectation_failed(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	printf("# %s:%d: ", file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	if (describe_failure)
		describe_failure();
	longjmp(next_test, 1);
}

void load_profile(struct ssd_profile *profile, const char *name, const char *overrides)
{
	char path[4096], text[16384], error[256];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", profile_folder, name);
	file = fopen(path, "r");
	EXPECT(file, "cannot open %s: %s", path, strerror(errno));
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	ssd_profile_init(profile);
	EXPECT(!ssd_profile_parse(profile, text, error, sizeof(error)), "%s: %s", path, error);
	EXPECT(!ssd_profile_parse(profile, overrides, error, sizeof(error)), "%s", error);
}

static bool passes(const struct test *test)
{
	describe_failure = NULL;
	shim_allocations_left = -1;
	if (setjmp(next_test))
		return false;
	test->run();
	return true;
}

static int run_all(const struct test *tests)
{
	int failed = 0;

	for (; tests->name; tests++) {
		bool passed = passes(tests);

		printf("%s - ssdsim: %s\n", passed ? "ok" : "not ok", tests->name);
		fflush(stdout);
		failed += !passed;
	}
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: ssd-test PROFILE_FOLDER [SEED]\n");
		return 2;
	}
	profile_folder = argv[1];
	random_seed(argc == 3 ? strtoull(argv[2], NULL, 0) : 1);
	failed += run_all(profile_tests);
	failed += run_all(store_tests);
	failed += run_all(buffer_tests);
	failed += run_all(mechanics_tests);
	failed += run_all(fast_tests);
	failed += run_all(page_tests);
	failed += run_all(calibration_tests);
	failed += run_all(random_tests);
	failed += run_all(fault_tests);
	failed += run_all(noise_tests);
	failed += run_all(power_tests);
	failed += run_all(power_random_tests);
	return failed ? 1 : 0;
}
