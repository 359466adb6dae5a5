/* SPDX-License-Identifier: GPL-2.0-only */
/* Made-up times of a drive on a machine that does other things as well. */
#ifndef PROBE_TEST_NOISY_H
#define PROBE_TEST_NOISY_H

#include <math.h>
#include "harness.h"

/* A time of @ns give or take the share @noise; one in @calm comes 5 ms later. */
static inline double noisy_time(double ns, double noise, u32 calm)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += test_below(10001) / 10000.0;
	ns *= exp(noise * (sum - 6));
	return test_below(calm) ? ns : ns + 5e6;
}

#endif
