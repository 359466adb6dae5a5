/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * WARN_ON and WARN_ON_ONCE.  A condition that core calls impossible is a test failure: the hook
 * prints and aborts unless a test installs another one.  Link tests/shim/bug.c.
 */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <linux/build_bug.h>
#include <linux/compiler.h>

typedef void (*shim_warn_hook_t)(const char *condition, const char *file, int line);

/* Called for every WARN, the "once" ones too: a simulator runs many logs in one process. */
extern shim_warn_hook_t shim_warn_hook;

#define WARN_ON(condition) ({						\
	int shim_warned = !!(condition);				\
									\
	if (unlikely(shim_warned))					\
		shim_warn_hook(#condition, __FILE__, __LINE__);		\
	unlikely(shim_warned); })

#define WARN_ON_ONCE(condition)		WARN_ON(condition)
#define WARN(condition, ...)		WARN_ON(condition)
#define WARN_ONCE(condition, ...)	WARN_ON(condition)

#endif
