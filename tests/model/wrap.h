/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of core that the linker redirects (--wrap), for the deliberate bugs inside of core. */
#ifndef MODEL_WRAP_H
#define MODEL_WRAP_H

#include <linux/types.h>

u32 __real_ressd_crc(const void *data, size_t bytes);
u32 __wrap_ressd_crc(const void *data, size_t bytes);

#endif
