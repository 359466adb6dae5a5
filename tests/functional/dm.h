/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper by its ioctls, for devices of one target: what dmsetup does, without a process for
 * each step, which takes longer than the step itself where a guest is emulated.
 */
#ifndef DM_H
#define DM_H

#include <stddef.h>
#include <stdint.h>

/* Each but the dm_try_... ends the program at an error. */

/* Makes /dev/mapper/@name of @sectors. */
void dm_create(const char *name, uint64_t sectors, const char *target, const char *parameters);

void dm_remove(const char *name);
void dm_suspend(const char *name);
void dm_resume(const char *name);
void dm_message(const char *name, const char *text);

/* As the kernel's answer is what matters here, these return it: 0 or an errno. */
int dm_try_load(const char *name, uint64_t sectors, const char *target, const char *parameters);
int dm_try_resume(const char *name);
int dm_try_message(const char *name, const char *text);

/* The line that "dmsetup status" prints, without the numbers of sectors and the target. */
void dm_status(const char *name, char *text, size_t size);

#endif
