/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace of bios, as tools/bench.sh --only apps --record-traces makes it. */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include <linux/types.h>

#define TRACE_PHASES	16U

enum bio_op { BIO_READ, BIO_WRITE, BIO_FLUSH, BIO_DISCARD };

struct bio {
	u64 issued, completed;		/* when it was recorded, ns */
	u64 sector;
	u32 sectors;
	enum bio_op op;
	bool preflush, fua;
	/*
	 * It was issued @gap after the completion of the @after'th bio that completed, or after the
	 * bio before it, whichever came later.
	 */
	u32 after;
	u64 gap;
};

struct trace {
	struct bio *bios;		/* in the order of their issue */
	u32 *completions;		/* their indices in the order of their completion */
	u32 nr;
	struct {
		char name[16];
		u32 first;		/* bio */
	} phases[TRACE_PHASES + 1];
	u32 nr_phases;
};

/* Reads a trace; NULL with a message if it cannot be used. */
struct trace *trace_load(const char *path);

#endif
