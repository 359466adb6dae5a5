/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_CONTAINER_OF_H
#define PORT_LINUX_CONTAINER_OF_H

#include <stddef.h>

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#endif
