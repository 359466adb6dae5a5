// SPDX-License-Identifier: GPL-2.0-only
/* What a WARN does in userspace; see linux/bug.h. */
#include <stdio.h>
#include <stdlib.h>
#include <linux/bug.h>

static void warn_and_abort(const char *condition, const char *file, int line)
{
	fflush(stdout);
	fprintf(stderr, "WARN_ON(%s) at %s:%d\n", condition, file, line);
	abort();
}

port_warn_hook_t port_warn_hook = warn_and_abort;
