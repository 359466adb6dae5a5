/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_BUILD_BUG_H
#define PORT_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(condition) \
	_Static_assert(!(condition), "BUILD_BUG_ON: " #condition)

#ifndef static_assert
#define static_assert(expression, ...)	_Static_assert(expression, #expression)
#endif

#endif
