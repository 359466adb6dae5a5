/* SPDX-License-Identifier: GPL-2.0-only */
/* Error numbers: the exported kernel header has them all. */
#ifndef PORT_LINUX_ERRNO_H
#define PORT_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
