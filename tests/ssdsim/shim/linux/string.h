/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#include <string.h>
