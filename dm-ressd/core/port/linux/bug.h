/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * WARN_ON and WARN_ON_ONCE.  A condition that core calls impossible is a test
 * failure: the hook prints and aborts unless a test installs another one.  Link
 * bug.c.
 */
#ifndef PORT_LINUX_BUG_H
#define PORT_LINUX_BUG_H

#include <linux/build_bug.h>
#include <linux/compiler.h>

typedef void (*port_warn_hook_t)(const char *condition, const char *file,
				 int line);

/*
 * Called for every WARN, the "once" ones too: a simulator runs many logs in one
 * process.
 */
extern port_warn_hook_t port_warn_hook;

#define WARN_ON(condition) ({						\
	int port_warned = !!(condition);				\
									\
	if (unlikely(port_warned))					\
		port_warn_hook(#condition, __FILE__, __LINE__);		\
	unlikely(port_warned); })

#define WARN_ON_ONCE(condition)		WARN_ON(condition)
#define WARN(condition, ...)		WARN_ON(condition)

#endif
