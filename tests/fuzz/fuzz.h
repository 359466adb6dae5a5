/* SPDX-License-Identifier: GPL-2.0-only */
/* What libFuzzer calls, and what it offers. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <linux/types.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t limit, unsigned int seed);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t limit);

#endif
