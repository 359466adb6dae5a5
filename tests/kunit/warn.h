/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file of core and of its tests: a WARN fails the running test, every time,
 * the "once" ones too, as core/port's does in userspace.
 */
#ifndef WARN_H
#define WARN_H

#include <linux/bug.h>

/* Ends the running test as failed. */
void test_warned(const char *condition, const char *file, int line);

#undef WARN_ON
#undef WARN_ON_ONCE
#define WARN_ON(condition) ({						\
	bool test_warns = !!(condition);				\
									\
	if (unlikely(test_warns))					\
		test_warned(#condition, __FILE__, __LINE__);		\
	unlikely(test_warns);						\
})
#define WARN_ON_ONCE(condition) WARN_ON(condition)

#endif
