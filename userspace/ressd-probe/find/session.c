// SPDX-License-Identifier: GPL-2.0-only
/* One whole measurement of a disk; see session.h. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "dm/plan.h"
#include "find/session.h"
#include "measure/cycles.h"

#define SECOND		1000000000ULL
#define GB		1000000000ULL
#define BLOCK		4096U
#define MIN_CHUNK	1048576U

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
/* What is needed, of 4 KiB and of 8 KiB as well; the others only if there is time. */
#define NEEDED_4K	5U
#define NEEDED_CELLS	8U
#define RANDOM_WRITE_4K	1U
#define RANDOM_READ_4K	3U

/*
 * The verdict rests on the smallest writes: so much longer are their rounds, which pass over some
 * clustered blocks and let a drive that maps pages collect what others have left; and those of the
 * reads that tell which pauses are another load's.
 */
#define VERDICT_ROUNDS	4

static bool verdict_rests_on(unsigned int cell)
{
	return cell == RANDOM_WRITE_4K || cell == RANDOM_READ_4K;
}

static const u32 size_bytes[NR_SIZES] = { 4096, 8192 };

/* Device time of each part, seconds; what one part leaves over is not the next one's. */
struct budget {
	unsigned int fill;
	unsigned int survey;
	unsigned int cells;
	unsigned int rehearsal;
	unsigned int sweep;
	unsigned int age;		/* at most, of the time that the survey has left */
	unsigned int cycles;		/* likewise where there are pauses */
	u64 least_fill;			/* bytes that are filled, however slow the drive */
	u64 most_fill;			/* likewise, however fast; 0: all of the region */
	u64 aged;			/* bytes that are written when aging ends; 0: any */
	u64 rehearsed;			/* bytes after which no larger writes are rehearsed */
	unsigned int sequential;	/* writes in order of a round, at most */
	unsigned int needed;		/* cells that are measured, however late it is */
	struct effort effort;		/* of a cell */
};

static const struct budget budgets[] = {
	[SURVEY_QUICK] = {
		.fill = 12, .survey = 22, .cells = 14, .rehearsal = 12,
		.age = 20, .cycles = 30,
		.least_fill = 64 << 20, .most_fill = 320 << 20, .aged = 720000000,
		.rehearsed = 64 << 20, .sequential = 16,
		.needed = NEEDED_4K,
		.effort = { .round_ns = 250000000, .min_ops = 24, .max_ops = 1024,
			    .slow_ns = 2000000000, .most_bytes = 16 << 20 },
	},
	[SURVEY_DEFAULT] = {
		.fill = 45, .survey = 115, .cells = 50, .rehearsal = 40, .sweep = 10,
		.age = 80, .cycles = 120,
		.least_fill = 128 << 20, .most_fill = 320 << 20, .aged = 720000000,
		.rehearsed = 64 << 20, .sequential = 16,
		.needed = NEEDED_CELLS,
		.effort = { .round_ns = 500000000, .min_ops = 24, .max_ops = 8192,
			    .slow_ns = 8000000000, .most_bytes = 16 << 20 },
	},
	[SURVEY_THOROUGH] = {
		.fill = 1800, .survey = 1200, .cells = 600, .rehearsal = 600, .sweep = 300,
		.age = 600, .cycles = 600,
		.least_fill = 128 << 20, .rehearsed = ~0ULL, .sequential = 32768,
		.needed = NEEDED_CELLS,
		.effort = { .round_ns = 2000000000, .min_ops = 64, .max_ops = 32768 },
	},
};

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

unsigned int session_seconds(enum thoroughness thoroughness)
{
	const struct budget *budget = &budgets[thoroughness];

	return budget->fill + budget->survey + budget->cells + budget->rehearsal + budget->sweep;
}

void session_effort(struct measure *measure, enum thoroughness thoroughness)
{
	measure->effort = budgets[thoroughness].effort;
	measure->fill_ns = budgets[thoroughness].fill * SECOND;
	measure->least_fill = budgets[thoroughness].least_fill;
	measure->most_fill = budgets[thoroughness].most_fill;
	measure->sequential_ops = budgets[thoroughness].sequential;
}

u64 session_fill_bytes(enum thoroughness thoroughness, u64 bytes)
{
	const u64 most = budgets[thoroughness].most_fill;

	return most && most < bytes ? most : bytes;
}

u64 session_write_limit(enum thoroughness thoroughness, u64 bytes)
{
	const u64 least = 8ULL << 30;

	/* The parts are made to need less than that; a thorough run may take what it needs. */
	if (thoroughness != SURVEY_THOROUGH)
		return GB;
	return bytes > least / 4 ? bytes * 4 : least;
}

static u64 now_of(const struct session *session)
{
	return session->measure->disk->ops->now(session->measure->disk);
}

/*
 * When a part must end that may take @seconds: so early that those behind it, which may take
 * @behind seconds, keep their time, whatever those before it have used up.
 */
static u64 end_of_part(const struct session *session, unsigned int seconds, unsigned int behind)
{
	const u64 end = now_of(session) + seconds * SECOND;
	const u64 last = session->end - behind * SECOND;

	return end < last ? end : last;
}

static void show_step(const struct session *session, const char *name)
{
	const u64 now = now_of(session);

	if (session->watcher && session->watcher->step)
		session->watcher->step(session->context, name, session->end > now ?
				       (session->end - now) / SECOND + 1 : 0);
}

static void end_step(const struct session *session)
{
	if (session->watcher && session->watcher->ended)
		session->watcher->ended(session->context);
}

/* One transfer of the filling. */
static void note_filled(void *context, u64 bytes, u64 ns)
{
	struct session *session = context;
	const unsigned int chunk = (bytes - 1) / session->chunk_bytes;
	const unsigned int percent = bytes * 100 / session->measure->bytes;

	if (chunk < FILL_CHUNKS) {
		session->chunk_ns[chunk] += ns;
		session->nr_chunks = chunk + 1;
	}
	if (percent != session->shown && session->watcher && session->watcher->filled)
		session->watcher->filled(session->context, percent);
	session->shown = percent;
}

#define VERIFIED	64U		/* blocks of the filling */

/*
 * Some blocks of the filling must hold what was written to them, or the device has not the capacity
 * that it claims.
 */
static int verify_filling(struct measure *measure, u64 first_stamp, struct failure *failure)
{
	const u64 blocks = measure->bytes / BLOCK;
	unsigned int i;
	int code = 0;

	measure->phase = "verify";
	for (i = 0; !code && i < VERIFIED; i++) {
		const u64 block = i ? measure_random(measure, blocks) : blocks - 1;

		code = measure_read(measure, block * BLOCK, BLOCK, NULL, failure);
		if (!code && *(const u64 *)measure->data != first_stamp + block)
			code = fail(failure, -EPERM,
				    "%s does not keep what is written at byte %llu: its capacity is counterfeit, or it is broken; f3probe tells how large it is",
				    measure->disk->path, measure->offset + block * BLOCK);
	}
	return code;
}

static int fill(struct session *session, struct failure *failure)
{
	struct measure *measure = session->measure;
	const u64 parts = (measure->bytes + FILL_CHUNKS - 1) / FILL_CHUNKS;
	const u64 first_stamp = measure->stamp + 1;
	int code;

	if (session->filled || !session->may_write)
		return 0;
	show_step(session, "fill");
	session->chunk_bytes = (parts + MIN_CHUNK - 1) / MIN_CHUNK * MIN_CHUNK;
	measure->phase = "fill";
	measure->filled = note_filled;
	measure->filled_context = session;
	code = measure_fill(measure, failure);
	if (!code && session->verify)
		code = verify_filling(measure, first_stamp, failure);
	session->filled = !code;
	/* The last one may be shorter than the others. */
	if (session->nr_chunks && measure->bytes % session->chunk_bytes)
		session->nr_chunks--;
	if (!code)
		find_fast_area(&session->survey, session->chunk_ns, session->nr_chunks,
			       session->chunk_bytes);
	if (!code)
		end_step(session);
	return code;
}

static void show_search(void *context, enum parameter parameter)
{
	show_step(context, parameter_title(parameter));
}

static void search_ended(void *context)
{
	end_step(context);
}

static int run_survey(struct session *session, struct failure *failure)
{
	const struct budget *budget = &budgets[session->thoroughness];
	struct survey *survey = &session->survey;

	survey->deadline = end_of_part(session, budget->survey,
				       budget->cells + budget->rehearsal + budget->sweep);
	survey->progress = show_search;
	survey->ended = search_ended;
	survey->progress_context = session;
	return survey_run(survey, failure);
}

/* Does each place have a block of its own, some of which the drive keeps open? */
static bool has_open_blocks(const struct session *session)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];

	return block->status == STATUS_MEASURED && block->confidence >= CONFIDENCE_MEDIUM &&
	       block->has_phase;
}

static bool may_write_more(const struct session *session)
{
	return session->may_write && !measure_is_spent(session->measure);
}

/* The limit ends the writing; what was measured by then is still good. */
static int take_limit(int code)
{
	return code == -EDQUOT ? 0 : code;
}

static bool flush_ignored(const struct session *session)
{
	const struct finding *flush = &session->survey.finding[PARAMETER_FLUSH];

	return flush->status == STATUS_MEASURED && !flush->value;
}

/* A count of open blocks with an upper bound is that of log blocks, which are used up at once. */
static bool is_fast_for_a_while(const struct session *session)
{
	const struct finding *units = &session->survey.finding[PARAMETER_OPEN_UNITS];
	const bool counted = units->status == STATUS_MEASURED ||
			     (units->status == STATUS_BOUNDED && units->high != ~0ULL);

	return !has_open_blocks(session) || !counted;
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

/*
 * A drive that puts random writes wherever there is room is fast until its spare blocks are used
 * up.  So some are written before any is measured, where the survey has left the time.
 */
static int age(struct session *session, struct failure *failure)
{
	const struct budget *budget = &budgets[session->thoroughness];
	struct measure *measure = session->measure;
	struct result *random = &session->measurements.random_write[SIZE_4K];
	const u64 start = now_of(session), least = measure->written + LEAST_AGING;
	const u64 most = budget->aged > least ? budget->aged : least;
	const u64 end = end_of_part(session, budget->cycles,
				    budget->cells + budget->rehearsal + budget->sweep);
	struct cycles cycles = { 0 };
	int code = 0;

	if (!session->may_write || !is_fast_for_a_while(session) || random->done)
		return 0;
	show_step(session, "random writes until spare blocks are used up");
	measure->phase = "age";
	while (!code && may_write_more(session) && now_of(session) < end &&
	       (cycles.pauses || now_of(session) - start < budget->age * SECOND) &&
	       (!budget->aged || measure->written < most))
		code = write_group(session, &cycles, failure);
	if (cycles.result.done)
		*random = cycles.result;
	session->pauses = cycles.result.done;
	code = take_limit(code);
	if (!code)
		end_step(session);
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
 * Random writes that a drive without flushes has taken in less time than a round beyond the first
 * are in its buffer, and no result.
 */
static int run_cell(struct session *session, unsigned int cell, struct failure *failure)
{
	struct result *result = session_cell_result(&session->measurements, cell);
	int code;

	if (result->done || (session_cell_writes(cell) && !may_write_more(session)))
		return 0;
	show_step(session, cells[cell].name);
	session->measure->phase = cells[cell].name;
	if (verdict_rests_on(cell))
		session->measure->effort.round_ns *= VERDICT_ROUNDS;
	code = measure_cell(session->measure, cells[cell].access, size_bytes[cells[cell].size],
			    stride_of(session, cell), result, failure);
	if (verdict_rests_on(cell))
		session->measure->effort.round_ns /= VERDICT_ROUNDS;
	if (!code && cells[cell].access == ACCESS_RANDOM_WRITE && flush_ignored(session) &&
	    result->ns == result->total_ns)
		*result = (struct result){ 0 };
	if (!code && session->watcher && session->watcher->result)
		session->watcher->result(session->context, cells[cell].name, result);
	code = take_limit(code);
	if (!code)
		end_step(session);
	return code;
}

/*
 * Where flushes are ignored, a read or a write in order may have to wait for all the random writes
 * that the drive has buffered, half a second each: so these come before them, not to pay for them.
 */
static int run_cheap_cells(struct session *session, struct failure *failure)
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

/*
 * Right behind the aging: on a drive that maps pages writes in order leave garbage that costs
 * nothing to collect.
 */
static int run_random(struct session *session, struct failure *failure)
{
	const struct budget *budget = &budgets[session->thoroughness];

	if (!is_fast_for_a_while(session))
		return 0;
	session->measure->deadline = end_of_part(session, budget->cells,
						 budget->rehearsal + budget->sweep);
	return run_cell(session, RANDOM_WRITE_4K, failure);
}

static int run_cells(struct session *session, struct failure *failure)
{
	const struct budget *budget = &budgets[session->thoroughness];
	struct measure *measure = session->measure;
	unsigned int cell;
	int code = 0;

	measure->deadline = end_of_part(session, budget->cells,
					budget->rehearsal + budget->sweep);
	for (cell = 0; !code && cell < FIRST_SWEEP; cell++)
		if (cell < budget->needed || !measure_is_late(measure))
			code = run_cell(session, cell, failure);
	return code;
}

/*
 * The distances of the sweep: first those that the mover's visits have, on which it depends whether
 * rewriting whole blocks pays.  A drive that programs a page for each write takes seconds for one
 * round of the shortest.
 */
static const unsigned int sweep_order[NR_STRIDES] = { 1, 2, 0, 3, 4, 5 };

/*
 * Ordered writes at several distances, shortly: what the mover gains by a denser sweep.  A quick
 * run has only the time for it that the other parts have left.
 */
static int run_sweep(struct session *session, struct failure *failure)
{
	const unsigned int seconds = budgets[session->thoroughness].sweep;
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	const struct effort whole = session->measure->effort;
	struct measure *measure = session->measure;
	unsigned int i;
	int code = 0;

	/* Nothing but move_fill_blocks depends on it. */
	if (!seconds && !has_open_blocks(session))
		return 0;
	measure->deadline = seconds ? end_of_part(session, seconds, 0) : session->end;
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

/* The drive's log takes a page for each write: so many times more bytes are written for that. */
static u32 transfers_of_page(const struct session *session, u32 bytes)
{
	const struct finding *page = &session->survey.finding[PARAMETER_PAGE];
	const u32 most = page->status == STATUS_MEASURED ? page->value : BLOCK;

	return (bytes < most ? bytes : most) / BLOCK;
}

/* Random writes of one size, from the cell if there is one. */
static int measure_direct(struct session *session, unsigned int index, struct result *direct,
			  struct failure *failure)
{
	if (session->pauses) {
		*direct = session->measurements.random_write[SIZE_4K];
		direct->bandwidth *= transfers_of_page(session, REHEARSAL_BYTES(index));
		return 0;
	}
	if (index < NR_SIZES && session->measurements.random_write[index].done) {
		*direct = session->measurements.random_write[index];
		return 0;
	}
	return measure_cell(session->measure, ACCESS_RANDOM_WRITE, REHEARSAL_BYTES(index), 0,
			    direct, failure);
}

/*
 * What random writes cost depends on how much of the drive they go to, unless each place has a
 * block of its own.  The region is all that can be seen, so what is said is said of that: the log,
 * which is for the whole device, holds more of it, and is overwritten before the mover comes.
 * A round of the mover begins when half of the log is full; at its end all of it is.
 */
#define LOGGED		0.75	/* of the log, which a round of the mover finds on average */

static void keep_to_region(const struct session *session, struct rehearsal_plan *plan)
{
	const u64 reach = measure_reach(session->measure), pieces = reach / plan->size;
	const u64 logged = LOGGED * 100 / PLAN_HALF_LOG * session->normal_bytes / plan->stride;
	double share;

	if (session->normal_bytes <= reach)
		return;
	share = 1 - exp(-(double)logged / pieces);
	plan->working_set = reach;
	plan->overwritten_percent = 100 * share;
	plan->stride = reach / (logged * (1 - share));
	plan->stride = (plan->stride + BLOCK / 2) / BLOCK * BLOCK;
}

/* A call, on average.  All reads count, for pauses are few. */
static u64 pause_of_reads(const struct measurements *measurements)
{
	u64 ops = 0, ns = 0;
	int i;

	for (i = 0; i < NR_SIZES; i++) {
		const struct result *read = &measurements->random_read[i];

		ops += read->ops;
		ns += read->ops * read->pause_ns;
	}
	return ops ? ns / ops : 0;
}

static int rehearse_size(struct session *session, unsigned int index, struct failure *failure)
{
	struct measure *measure = session->measure;
	const struct finding *page = &session->survey.finding[PARAMETER_PAGE];
	const bool paged = page->status == STATUS_MEASURED && page->value % 4096 == 0;
	struct rehearsal *rehearsal = &session->measurements.rehearsal[index];
	struct rehearsal_plan plan = {
		.size = REHEARSAL_BYTES(index),
		.stride = session->mover_stride[SIZE_4K] * (REHEARSAL_BYTES(index) / 4096),
		.flush_ignored = flush_ignored(session),
		.pause_ns = pause_of_reads(&session->measurements),
		.most_bytes = budgets[session->thoroughness].rehearsed,
	};
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	struct result direct = { 0 };
	int code;

	if (has_open_blocks(session) && !session->pauses)
		plan.visit_pieces = block->value / plan.stride;
	else
		keep_to_region(session, &plan);
	rehearsal_place(measure, paged ? page->value : 4096, paged ? page->phase : 0,
			&plan);
	code = measure_direct(session, index, &direct, failure);
	if (!index)
		measure->effort.round_ns *= VERDICT_ROUNDS;
	if (!code)
		code = rehearse(measure, &plan, &direct, rehearsal, failure);
	if (!index)
		measure->effort.round_ns /= VERDICT_ROUNDS;
	code = take_limit(code);
	if (!code)
		end_step(session);
	return code;
}

#define BUFFERED	(2ULL << 20)	/* bytes that a drive may hold back */

/*
 * Where flushes are ignored, the first append may have to wait for all the random writes that the
 * drive has buffered, whatever the deadline: half a second each on some.
 */
static bool may_take_a_minute(const struct session *session)
{
	const struct result *random = &session->measurements.random_write[SIZE_4K];

	return flush_ignored(session) && random->done &&
	       random->bandwidth * budgets[session->thoroughness].rehearsal < BUFFERED;
}

#define CALM_READS	16U	/* that take at most so many times as long as usual: */
#define CALM_TIMES	4U
#define CALM_NS		10000000ULL	/* between them: a drive that is idle writes, too */

/*
 * Where flushes are ignored, random writes are still on their way for up to a minute, and each read
 * waits for one of them: a rehearsal would be of that.
 */
static int wait_for_buffer(struct session *session, struct failure *failure)
{
	const struct result *usual = &session->measurements.random_read[SIZE_4K];
	const struct budget *budget = &budgets[session->thoroughness];
	struct measure *measure = session->measure;
	unsigned int calm = 0;
	int code = 0;
	u64 ns = 0;

	measure->deadline = end_of_part(session, budget->cycles,
					budget->rehearsal + budget->sweep);
	while (!code && usual->done && calm < CALM_READS && !measure_is_late(measure)) {
		measure->disk->ops->pause(measure->disk, CALM_NS);
		code = measure_read(measure, measure_random(measure, measure->bytes / BLOCK) *
				    BLOCK, BLOCK, &ns, failure);
		calm = ns > CALM_TIMES * usual->median_ns ? 0 : calm + 1;
	}
	return code;
}

/* Ever larger writes, as long as the log pays for them. */
static int run_rehearsals(struct session *session, struct failure *failure)
{
	const struct budget *budget = &budgets[session->thoroughness];
	struct measure *measure = session->measure;
	const u64 from = measure->written;
	u64 before = 0, start = now_of(session);
	unsigned int index;
	char name[48];
	int code = 0;

	if (session->thoroughness == SURVEY_QUICK && may_take_a_minute(session))
		return 0;
	if (flush_ignored(session))
		code = wait_for_buffer(session, failure);
	measure->deadline = end_of_part(session, budget->rehearsal, budget->sweep);
	for (index = 0; !code && index < NR_REHEARSALS; index++) {
		struct rehearsal *rehearsal = &session->measurements.rehearsal[index];

		/* A larger one takes longer than the one before. */
		if (index && (start + 2 * (start - before) > measure->deadline ||
			      measure->written - from > budget->rehearsed))
			break;
		if (!rehearsal->done && !may_write_more(session))
			break;
		snprintf(name, sizeof(name), "rehearsal %u KiB", REHEARSAL_BYTES(index) >> 10);
		show_step(session, name);
		measure->phase = "rehearsal";
		if (!rehearsal->done)
			code = rehearse_size(session, index, failure);
		before = start;
		start = now_of(session);
		if (!rehearsal->done || rehearsal->gain_percent < ANALYSE_MARGIN)
			break;
	}
	return code;
}

/* Random writes are to cost what they cost all over the device. */
static void keep_apart(struct session *session)
{
	const struct finding *block = &session->survey.finding[PARAMETER_BLOCK];
	struct measure *measure = session->measure;

	if (!has_open_blocks(session))
		return;
	/* A part of a block would tell too little of its merge, or far too much. */
	if (measure->sequential_ops < block->value / measure->sequential_bytes)
		measure->sequential_ops = block->value / measure->sequential_bytes;
	measure->apart = block->value;
	measure->apart_phase = (block->value + block->phase - measure->offset % block->value) %
			       block->value;
}

int session_run(struct session *session, struct failure *failure)
{
	struct measure *measure = session->measure;
	int code;

	session->end = now_of(session) + session_seconds(session->thoroughness) * SECOND;
	session->survey.measure = measure;
	session->survey.thoroughness = session->thoroughness;
	session->survey.may_write = session->may_write;
	session->survey.disk_offset = session->disk_offset;
	session->measurements.disk_offset = session->disk_offset;
	session->measurements.takes_discards = session->takes_discards;
	session->measurements.is_memory = session->is_memory;
	code = fill(session, failure);
	if (!code)
		code = run_survey(session, failure);
	if (!code && session->plan_again)
		session->plan_again(session->context);
	keep_apart(session);
	if (!code && flush_ignored(session))
		code = run_cheap_cells(session, failure);
	if (!code)
		code = age(session, failure);
	if (!code)
		code = run_random(session, failure);
	if (!code)
		code = run_cells(session, failure);
	if (!code && session->may_write)
		code = run_rehearsals(session, failure);
	if (!code && session->may_write)
		code = run_sweep(session, failure);
	session->limited = measure_is_spent(measure);
	return code;
}
