/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding the parameters of a drive, one after the other, each with its own file here that does the
 * I/O and leaves the decision to judge.h.  Papers: ME = parameter extraction, PA = parameter aware
 * I/O; the numbers P1 .. P8 are those of docs/probe.md.
 */
#ifndef PROBE_SURVEY_H
#define PROBE_SURVEY_H

#include "judge/finding.h"
#include "measure/measure.h"

#define LARGEST_BLOCK	(32U << 20)	/* that is known of any drive, bytes */

enum thoroughness { SURVEY_QUICK, SURVEY_DEFAULT, SURVEY_THOROUGH };

struct survey {
	struct measure *measure;
	enum thoroughness thoroughness;
	bool may_write;
	u64 disk_offset;	/* where the device begins on its disk (partition), bytes */
	u64 deadline;		/* on the disk's clock; no search goes on after it. 0: none */
	u64 search_deadline;	/* of the search that runs */
	u64 search_ns;		/* that it may take in all */
	u64 search_written;	/* it ends when measure->written is so much; 0: no limit */
	struct finding finding[NR_PARAMETERS];
	void (*progress)(void *context, enum parameter parameter);	/* may be NULL */
	void (*ended)(void *context);	/* a search has; may be NULL */
	void *progress_context;
};

/*
 * Looks for all parameters that the mode allows and that are STATUS_UNKNOWN.  0, or a
 * negative errno with a sentence.
 */
int survey_run(struct survey *survey, struct failure *failure);

/*
 * One parameter each; they fill survey->finding[].  Those further down use what is known by
 * then.
 */
int find_flush(struct survey *survey, struct failure *failure);
int find_page(struct survey *survey, struct failure *failure);
int find_block(struct survey *survey, struct failure *failure);
int find_modes(struct survey *survey, struct failure *failure);
int find_read_buffer(struct survey *survey, struct failure *failure);
int find_write_buffer(struct survey *survey, struct failure *failure);
int find_prefetch(struct survey *survey, struct failure *failure);
int find_policy(struct survey *survey, struct failure *failure);
int find_open_units(struct survey *survey, struct failure *failure);
int find_rewrite(struct survey *survey, struct failure *failure);
int find_cut(struct survey *survey, struct failure *failure);

/*
 * A part of find_block(), for drives whose blocks have no places: @grid is where pages begin in the
 * region.  1 if the finding is there, 0 if not, or a negative errno with a sentence.
 */
int find_written_block(struct survey *survey, u64 grid, struct failure *failure);

/*
 * What find_open_units() tells of database commits, behind the random writes of a quick run, which
 * has no time to count blocks: the finding gets usual_ns and effect, and no status.
 */
int find_commits(struct survey *survey, struct failure *failure);

/* From the times that @count parts of the filling took, @chunk_bytes each. */
void find_fast_area(struct survey *survey, const double *chunk_ns, unsigned int count,
		    u64 chunk_bytes);

/* steps.c, for the searches. */

/* True when the time for this search, or for all of them, is used up. */
bool survey_late(const struct survey *survey);

/*
 * For a search that had better end what it has begun: true when it has taken twice its time, or all
 * of it is used up.
 */
bool survey_overdue(const struct survey *survey);

/* A write and a flush; @ns gets the time of both. */
int survey_write_flush(struct survey *survey, u64 at, u32 bytes, u64 *ns,
		       struct failure *failure);

/*
 * Transfers of any size, cut into requests of at most MEASURE_MAX_BYTES; @ns gets the sum of their
 * times.
 */
int survey_write_range(struct survey *survey, u64 at, u64 bytes, u64 *ns,
		       struct failure *failure);
int survey_read_range(struct survey *survey, u64 at, u64 bytes, u64 *ns,
		      struct failure *failure);

/*
 * Makes the write buffer empty, as far as the drive lets itself: a flush, and where flushes are
 * ignored a pause in which the drive may empty it by itself.
 */
int survey_empty_buffer(struct survey *survey, struct failure *failure);

/* A random position for @bytes in the region, on a multiple of @align of the whole disk. */
u64 survey_place(struct survey *survey, u64 bytes, u64 align);

/* Sets status and sentence of a finding. */
void survey_conclude(struct survey *survey, enum parameter parameter, enum status status,
		     enum confidence confidence, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
