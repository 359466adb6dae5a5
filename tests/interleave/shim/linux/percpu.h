/* SPDX-License-Identifier: GPL-2.0-only */
/* A pointer that is __percpu points to an array with an element for each thread. */
#ifndef INTERLEAVE_LINUX_PERCPU_H
#define INTERLEAVE_LINUX_PERCPU_H

#include "threads.h"

#define __percpu

#define per_cpu_ptr(pointer, cpu)	((pointer) + (cpu))
#define raw_cpu_ptr(pointer)		((pointer) + thread_number())
#define get_cpu_ptr(pointer)		raw_cpu_ptr(pointer)
#define put_cpu_ptr(pointer)		((void)(pointer))
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < thread_count(); cpu++)

#endif
