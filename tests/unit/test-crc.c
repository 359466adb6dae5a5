// SPDX-License-Identifier: GPL-2.0-only
/* The port's two implementations of crc32c: the processor's instruction, and tables. */
#include <linux/crc32c.h>
#include "harness.h"

TEST_SUITE("crc");

TEST(instruction_against_tables)
{
	u8 buffer[257];
	u32 round;

	test_random_bytes(buffer, sizeof(buffer));
	for (round = 0; round < 1000; round++) {
		u32 cut = test_below(sizeof(buffer) + 1);

		CHECK_EQ(crc32c(round, buffer, cut), crc32c_by_tables(round, buffer, cut));
	}
}
