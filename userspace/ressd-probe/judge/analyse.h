/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From bandwidths to a verdict and to the target's options.  Pure: no I/O.
 *
 * The model is RE Eq. (1) to (5) (model.h), for 4 KiB and for 8 KiB writes, with the
 * ordered write measured at the distance at which the mover of the planned device will write.
 * The same terms measured in a rehearsal (rehearse.h) take its place wherever there is one.
 */
#ifndef PROBE_ANALYSE_H
#define PROBE_ANALYSE_H

#include "judge/finding.h"
#include "judge/loads.h"
#include "judge/model.h"
#include "measure/rehearse.h"
#include "measure/rounds.h"
#include "ressd-args.h"

enum { SIZE_4K, SIZE_8K, NR_SIZES };

/* Distances of ordered writes of 4 KiB: 16 KiB to 16 MiB. */
#define NR_STRIDES		6
#define MEASURED_STRIDE(index)	(16384ULL << (2 * (index)))

/* All that is measured; a cell that was not has done == false. */
struct measurements {
	u64 disk_offset;			/* where the device begins on its disk, bytes */
	bool takes_discards;			/* as the kernel says */
	bool is_memory;				/* a RAM disk or zram: no drive to be judged */
	struct result sequential_write;
	struct result sequential_read;
	struct result random_write[NR_SIZES];
	struct result ordered_write[NR_SIZES];		/* at the mover's distance */
	struct result ordered_write_128k[NR_SIZES];	/* at 128 KiB, as published */
	struct result random_read[NR_SIZES];
	struct result by_stride[NR_STRIDES];		/* ordered, every MEASURED_STRIDE() */
	struct rehearsal rehearsal[NR_REHEARSALS];
	u64 normal_bytes, log_bytes;		/* of the planned device; 0: not known */
};

enum verdict {
	VERDICT_WORTH,		/* faster by ANALYSE_MARGIN even if nothing is ever overwritten */
	VERDICT_LOCALITY,	/* only if a share of the blocks is overwritten in the log */
	VERDICT_NOT_WORTH,	/* never */
	VERDICT_UNKNOWN,	/* not measured, or too unsteady to tell */
};

#define ANALYSE_MARGIN	120	/* percent of the bare speed that counts as a gain */

/*
 * Percent of the logged blocks that hardly any load overwrites there: Zipf with 0.99, as YCSB
 * writes to a million blocks, overwrites 63 in a log of a twentieth, and 68 in one of a tenth.
 */
#define ANALYSE_MOST_OVERWRITTEN	85

#define MAX_ADVICE	32

/* One option of the target and why. */
struct advice {
	const char *key;
	char value[24];
	char reason[192];
	bool is_default;	/* the target does so anyway */
};

/* What the terms of Eq. (1) and (2) mean for one size of writes. */
struct size_verdict {
	bool known;
	u32 size;		/* bytes */
	enum verdict verdict;
	bool close;		/* another run may say otherwise */
	u32 gain_percent;	/* of random writes to struct rehearsal's working_set */
	u32 least_percent;	/* if nothing is overwritten in the log */
	u32 alpha_percent;	/* VERDICT_LOCALITY: share that must be overwritten */
	u64 through_ns;		/* a block through the log and home */
};

struct analysis {
	enum verdict verdict;
	u32 alpha_percent;	/* VERDICT_LOCALITY: share that must be overwritten */
	u64 working_set;	/* bytes of the drive that the verdict is for; 0: all */
	bool adaptive_takes;	/* VERDICT_LOCALITY: random writes to these gain by it */
	u32 overwritten_percent; /* of the blocks in the log, by random writes to these */
	bool has_cost[NR_SIZES];
	struct cost cost[NR_SIZES];	/* of the model, at alpha = 0 */
	struct size_verdict by_size[NR_REHEARSALS];	/* of the rehearsals */
	char reason[512];	/* of the verdict, a sentence */
	unsigned int nr_advice;
	struct advice advice[MAX_ADVICE];
	struct load_gain load[NR_LOADS];	/* by that advice; without any: not known */
};

/* costs.c */

/* ns of @bytes as fast as in the cell of @result, but for its pauses (rounds_without_pauses()). */
double analyse_transfers_ns(const struct result *result, u64 bytes, u64 pause_ns);

/*
 * ns in which @bytes, whole clustered blocks, are read and written in order.  What single transfers
 * waited beyond their median is left out: the drive then merges blocks that measurements before
 * have opened, which the mover's own whole blocks do not ask of it.
 */
double analyse_rewrite_ns(const struct measurements *measurements, u64 bytes);

/*
 * Logged blocks of a clustered block from which on it costs less to rewrite it whole than to bring
 * them home one by one; 0: it never does, or is not known.  One by one costs what ordered writes
 * cost at the distance that so many blocks have; as many as were rehearsed: what they cost there.
 */
u64 analyse_fill_from(const struct measurements *measurements, u64 block_bytes);

/* Is it known what ordered writes cost at any distance? */
bool analyse_knows_distances(const struct measurements *measurements);

/*
 * Could the target rewrite the drive's clustered @block as a whole?  It counts them from the start
 * of the disk, also on a partition.  Those of a drive that maps pages have no place to count.
 */
bool analyse_can_rewrite(const struct measurements *measurements, const struct finding *block);

/*
 * What it takes to bring a block home: as rehearsed, or read from the log and written with all of
 * its clustered block, of which the rest is read and all written in order (advise_fill()).
 */
u64 analyse_move_ns(const struct measurements *measurements, const struct rehearsal *rehearsal,
		    const struct finding *block);

/* analyse.c */

/* Name of a verdict: "worth-it", "worth-it-with-locality", "not-worth-it", "unknown". */
const char *verdict_name(enum verdict verdict);

/* Does it pay for some load, so that there is something to be created? */
bool verdict_pays(enum verdict verdict);

/*
 * Evaluates, and stores the advised options in @options, which holds the defaults.  @findings: all
 * NR_PARAMETERS of them.
 */
void analyse(const struct measurements *measurements, const struct finding *findings,
	     struct analysis *analysis, struct ressd_options *options);

/* advise.c */

/* The options for a device that is worth it, at least with locality. */
void advise(const struct measurements *measurements, const struct finding *findings,
	    struct analysis *analysis, struct ressd_options *options);

/* Do random writes gain what counts, but only with `route always`, which is not advised? */
bool advise_gains_by_always(const struct analysis *analysis);

#endif
