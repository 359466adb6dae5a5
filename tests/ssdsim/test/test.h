/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the emulated SSD's userspace test share. */
#ifndef SSDSIM_TEST_H
#define SSDSIM_TEST_H

#include <stdio.h>

#include <linux/kernel.h>

#include "ssd-drive.h"

/* Ends the test with a message if the condition does not hold. */
#define EXPECT(condition, ...) \
	((condition) ? (void)0 : expectation_failed(__FILE__, __LINE__, __VA_ARGS__))

__attribute__((format(printf, 3, 4), noreturn))
void expectation_failed(const char *file, int line, const char *format, ...);

/* Called when an expectation fails, to tell the circumstances; may be NULL. */
extern void (*describe_failure)(void);

/**
 * struct test - one line of output.
 */
struct test {
	const char *name;
	void (*run)(void);
};

extern const struct test profile_tests[];
extern const struct test store_tests[];
extern const struct test buffer_tests[];
extern const struct test mechanics_tests[];
extern const struct test fast_tests[];
extern const struct test page_tests[];
extern const struct test calibration_tests[];
extern const struct test random_tests[];
extern const struct test fault_tests[];
extern const struct test noise_tests[];
extern const struct test power_tests[];
extern const struct test power_random_tests[];

/* Folder with the profiles that the project ships. */
extern const char *profile_folder;

/** random_seed - start a known sequence; random_number - 0 to @below - 1. */
void random_seed(u64 seed);
u32 random_number(u32 below);

/** load_profile - a shipped profile with @overrides applied. */
void load_profile(struct ssd_profile *profile, const char *name, const char *overrides);

#endif /* SSDSIM_TEST_H */
