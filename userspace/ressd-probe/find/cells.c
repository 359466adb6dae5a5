// SPDX-License-Identifier: GPL-2.0-only
/* Bandwidths: which are measured, in which order, and how long; see session-parts.h. */
#include <stddef.h>
#include "find/session-parts.h"
#include "measure/cycles.h"

/* Where an ordered cell takes its distance from. */
enum stride {
	STRIDE_NONE,
	STRIDE_128K,		/* of RE figure 2 */
	STRIDE_MOVER,		/* of the planned device */
	STRIDE_SWEEP,		/* MEASURED_STRIDE(0) and so on */
};

struct cell {
	const char *name;
	enum access access;
	int size;		/* SIZE_4K or SIZE_8K */
	enum stride stride;
	size_t result;		/* member of struct measurements */
};

#define RESULT(member)	offsetof(struct measurements, member)
#define SWEEP(index, text)							\
	{ "ordered write 4 KiB every " text, ACCESS_ORDERED_WRITE, SIZE_4K,	\
	  STRIDE_SWEEP, RESULT(by_stride[index]) }

/*
 * Sequential writes first, on a region written in order; then the random ones, so that the ordered
 * ones meet the state that random writes leave, as the mover does.  What verdict and advice need
 * comes before the rest, for which there may be no time: sequential reads say whether rewriting
 * whole blocks pays, and take some milliseconds where it is late.
 */
static const struct cell cells[] = {
	{ "sequential write", ACCESS_SEQUENTIAL_WRITE, SIZE_4K, STRIDE_NONE,
	  RESULT(sequential_write) },
	{ "random write 4 KiB", ACCESS_RANDOM_WRITE, SIZE_4K, STRIDE_NONE,
	  RESULT(random_write[SIZE_4K]) },
	{ "ordered write 4 KiB at the mover's distance", ACCESS_ORDERED_WRITE, SIZE_4K,
	  STRIDE_MOVER, RESULT(ordered_write[SIZE_4K]) },
	{ "random read 4 KiB", ACCESS_RANDOM_READ, SIZE_4K, STRIDE_NONE,
	  RESULT(random_read[SIZE_4K]) },
	{ "sequential read", ACCESS_SEQUENTIAL_READ, SIZE_4K, STRIDE_NONE,
	  RESULT(sequential_read) },
	{ "random write 8 KiB", ACCESS_RANDOM_WRITE, SIZE_8K, STRIDE_NONE,
	  RESULT(random_write[SIZE_8K]) },
	{ "ordered write 8 KiB at the mover's distance", ACCESS_ORDERED_WRITE, SIZE_8K,
	  STRIDE_MOVER, RESULT(ordered_write[SIZE_8K]) },
	{ "random read 8 KiB", ACCESS_RANDOM_READ, SIZE_8K, STRIDE_NONE,
	  RESULT(random_read[SIZE_8K]) },
	{ "ordered write 4 KiB every 128 KiB", ACCESS_ORDERED_WRITE, SIZE_4K, STRIDE_128K,
	  RESULT(ordered_write_128k[SIZE_4K]) },
	{ "ordered write 8 KiB every 128 KiB", ACCESS_ORDERED_WRITE, SIZE_8K, STRIDE_128K,
	  RESULT(ordered_write_128k[SIZE_8K]) },
	SWEEP(0, "16 KiB"), SWEEP(1, "64 KiB"), SWEEP(2, "256 KiB"), SWEEP(3, "1 MiB"),
	SWEEP(4, "4 MiB"), SWEEP(5, "16 MiB"),
};

#define NR_CELLS	((unsigned int)(sizeof(cells) / sizeof(cells[0])))
#define FIRST_SWEEP	(NR_CELLS - NR_STRIDES)
#define RANDOM_WRITE_4K	1U
#define RANDOM_READ_4K	3U

static bool verdict_rests_on(unsigned int cell)
{
	return cell == RANDOM_WRITE_4K || cell == RANDOM_READ_4K;
}

static const u32 size_bytes[NR_SIZES] = { 4096, 8192 };

unsigned int session_nr_cells(void)
{
	return NR_CELLS;
}

const char *session_cell_name(unsigned int cell)
{
	return cells[cell].name;
}

bool session_cell_writes(unsigned int cell)
{
	return cells[cell].access != ACCESS_RANDOM_READ &&
	       cells[cell].access != ACCESS_SEQUENTIAL_READ;
}

struct result *session_cell_result(struct measurements *measurements, unsigned int cell)
{
	return (struct result *)((char *)measurements + cells[cell].result);
}

/* A count of open blocks with an upper bound is that of log blocks, which are used up at once. */
static bool is_fast_for_a_while(const struct session *session)
{
	const struct finding *units = &session->survey.finding[PARAMETER_OPEN_UNITS];
	const bool counted = units->status == STATUS_MEASURED ||
			     (units->status == STATUS_BOUNDED && units->high != ~0ULL);

	return !session_has_open_blocks(session) || !counted;
}

static int write_group(struct session *session, struct cycles *cycles, struct failure *failure)
{
	struct measure *measure = session->measure;
	u64 ns = 0, sum = 0;
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < CYCLES_GROUP; i++) {
		code = measure_write(measure, measure_random_place(measure, BLOCK), BLOCK, &ns,
				     failure);
		sum += ns;
	}
	if (!code)
		code = measure_flush(measure, &ns, failure);
	if (!code)
		cycles_note(cycles, BLOCK, sum + ns);
	return code;
}

#define LEAST_AGING	(48ULL << 20)

int cells_age(struct session *session, struct failure *failure)
{
	const struct budget *budget = session_budget(session);
	struct measure *measure = session->measure;
	struct result *random = &session->measurements.random_write[SIZE_4K];
	const u64 start = session_now(session), least = measure->written + LEAST_AGING;
	const u64 most = budget->aged > least ? budget->aged : least;
	/* Where flushes are ignored, only what comes behind the buffer's writes tells something. */
	const unsigned int kept = session_flush_ignored(session) ? budget->kept : 0;
	const u64 end = session_end_of_part(session, budget->cycles, kept + budget->cells +
					    budget->rehearsal + budget->sweep);
	struct cycles cycles = { 0 };
	int code = 0;

	if (!session->may_write || !is_fast_for_a_while(session) || random->done)
		return 0;
	session_show_step(session, "random writes until spare blocks are used up");
	measure->phase = "age";
	while (!code && session_may_write_more(session) && session_now(session) < end &&
	       (cycles.pauses || session_now(session) - start < budget->age * SECOND) &&
	       (!budget->aged || measure->written < most))
		code = write_group(session, &cycles, failure);
	if (cycles.result.done)
		*random = cycles.result;
	session->pauses = cycles.result.done;
	session->long_ns = session->pauses ? cycles.pause_ns : 0;
	session->longest_ns = cycles.longest_ns;
	code = session_take_limit(code);
	if (!code)
		session_end_step(session);
	return code;
}

static u64 stride_of(const struct session *session, unsigned int cell)
{
	switch (cells[cell].stride) {
	case STRIDE_128K:
		return 128 << 10;
	case STRIDE_MOVER:
		return session->mover_stride[cells[cell].size];
	case STRIDE_SWEEP:
		return MEASURED_STRIDE(cell - FIRST_SWEEP);
	default:
		return 0;
	}
}

/*
 * Each goes to another clustered block.  Where that takes less than opening one has taken in order,
 * the drive still has log blocks to spare.
 */
static bool has_log_to_spare(const struct session *session, const struct result *random)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];

	return random->done && session_has_open_blocks(session) &&
	       (double)random->bandwidth * block->opening_ns > BLOCK * 1e9;
}

/*
 * Random writes that a drive without flushes has taken in less time than a round beyond the first
 * are in its buffer, and no result.  Those behind them found it full.
 */
static int run_cell(struct session *session, unsigned int cell, struct failure *failure)
{
	struct result *result = session_cell_result(&session->measurements, cell);
	int code;

	if (result->done || (session_cell_writes(cell) && !session_may_write_more(session)))
		return 0;
	session_show_step(session, cells[cell].name);
	session->measure->phase = cells[cell].name;
	if (verdict_rests_on(cell))
		session->measure->effort.round_ns *= VERDICT_ROUNDS;
	code = measure_cell(session->measure, cells[cell].access, size_bytes[cells[cell].size],
			    stride_of(session, cell), result, failure);
	if (verdict_rests_on(cell))
		session->measure->effort.round_ns /= VERDICT_ROUNDS;
	if (!code && cells[cell].access == ACCESS_RANDOM_WRITE && session_flush_ignored(session) &&
	    result->ns == result->total_ns && !session->buffer_full) {
		*result = (struct result){ 0 };
		session->buffer_full = true;
	}
	if (cell == RANDOM_WRITE_4K)
		result->gets_slower = has_log_to_spare(session, result);
	if (!code && session->watcher && session->watcher->result)
		session->watcher->result(session->context, cells[cell].name, result);
	code = session_take_limit(code);
	if (!code)
		session_end_step(session);
	return code;
}

int cells_run_cheap(struct session *session, struct failure *failure)
{
	unsigned int cell;
	int code = 0;

	session->measure->deadline = 0;
	for (cell = 0; !code && cell < FIRST_SWEEP; cell++)
		if (!session_cell_writes(cell))
			code = run_cell(session, cell, failure);
	for (cell = 0; !code && cell < NEEDED_4K; cell++)
		if (cells[cell].access != ACCESS_RANDOM_WRITE)
			code = run_cell(session, cell, failure);
	return code;
}

int cells_run_random(struct session *session, struct failure *failure)
{
	const struct budget *budget = session_budget(session);

	if (!is_fast_for_a_while(session))
		return 0;
	session->measure->deadline = session_end_of_part(session, budget->kept + budget->cells,
							 budget->rehearsal + budget->sweep);
	return run_cell(session, RANDOM_WRITE_4K, failure);
}

/*
 * Of a drive that pauses a quick run has time for the rehearsal or for the model, and a single
 * pause may take half a minute.
 */
static bool leaves_to_rehearsal(const struct session *session, unsigned int cell)
{
	return session->pauses && session_budget(session)->only_needed &&
	       cells[cell].access == ACCESS_ORDERED_WRITE;
}

int cells_run(struct session *session, struct failure *failure)
{
	const struct budget *budget = session_budget(session);
	struct measure *measure = session->measure;
	unsigned int cell;
	int code = 0;

	measure->deadline = session_end_of_part(session, budget->kept + budget->cells,
						budget->rehearsal + budget->sweep);
	for (cell = 0; !code && cell < FIRST_SWEEP; cell++)
		if (!leaves_to_rehearsal(session, cell) &&
		    (cell < budget->needed ||
		     (!budget->only_needed && !measure_is_late(measure))))
			code = run_cell(session, cell, failure);
	return code;
}

/*
 * May what no verdict needs be written?  On a drive that pauses one call may take half a minute,
 * and where random writes are slow a round of them does.
 */
static bool may_write_more_cells(const struct session *session)
{
	const struct result *random = &session->measurements.random_write[SIZE_4K];
	const u64 now = session_now(session), left = session->end > now ? session->end - now : 0;

	return !session->pauses && random->done && !random->gets_slower &&
	       random->worst_ns < left &&
	       (double)random->bandwidth * left > 2.0 * MEASURE_LATE_OPS * BLOCK * SECOND;
}

int cells_run_rest(struct session *session, struct failure *failure)
{
	struct measure *measure = session->measure;
	unsigned int cell;
	int code = 0;

	if (!session_budget(session)->only_needed)
		return 0;
	measure->deadline = session->end;
	for (cell = 0; !code && cell < FIRST_SWEEP; cell++)
		if (!measure_is_late(measure) &&
		    (!session_cell_writes(cell) || may_write_more_cells(session)))
			code = run_cell(session, cell, failure);
	return code;
}

/*
 * The distances of the sweep: first those that the mover's visits have, on which it depends whether
 * rewriting whole blocks pays.  A drive that programs a page for each write takes seconds for one
 * round of the shortest.
 */
static const unsigned int sweep_order[NR_STRIDES] = { 1, 2, 0, 3, 4, 5 };

int cells_run_sweep(struct session *session, struct failure *failure)
{
	const unsigned int seconds = session_budget(session)->sweep;
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	const struct effort whole = session->measure->effort;
	struct measure *measure = session->measure;
	unsigned int i;
	int code = 0;

	/* Nothing but move_fill_blocks depends on it; and a pause would take all the time. */
	if (!seconds && (!session_has_open_blocks(session) || session->pauses ||
			 session->measurements.random_write[SIZE_4K].gets_slower))
		return 0;
	/* A quick run has what is left. */
	measure->deadline = session_end_of_part(session, seconds ? seconds :
						session_seconds(session->thoroughness), 0);
	measure->whole_bytes = block->status == STATUS_MEASURED ? block->value : 0;
	measure->effort.round_ns /= 5;
	for (i = 0; !code && i < NR_STRIDES; i++)
		if (!measure_is_late(measure) &&
		    MEASURED_STRIDE(sweep_order[i]) * 4 <= measure->bytes)
			code = run_cell(session, FIRST_SWEEP + sweep_order[i], failure);
	measure->whole_bytes = 0;
	measure->effort = whole;
	return code;
}
