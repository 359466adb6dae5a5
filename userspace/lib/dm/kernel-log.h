/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own words: device-mapper returns only an errno, the target's sentence goes to the
 * kernel log.
 */
#ifndef RESSD_KERNEL_LOG_H
#define RESSD_KERNEL_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the present end of the kernel log.  Returns a descriptor, or -1 if it is unreadable. */
int kernel_log_mark(void);

/*
 * Takes the last sentence of the ressd target, and closes @mark.  True if there was one; a message
 * of the target itself wins over what device-mapper adds.
 */
bool kernel_log_sentence(int mark, char *sentence, size_t size);

/* The sentence in one record of /dev/kmsg, or NULL: a pointer into @record, which is cut. */
const char *kernel_log_extract(char *record);

#endif
