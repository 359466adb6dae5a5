/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error injection: rules that make chosen commands fail or take longer.
 *
 * Plain C, no locks: the caller serialises.
 */
#ifndef SSD_FAULT_H
#define SSD_FAULT_H

#include <linux/types.h>

#include "ssd-command.h"

/* So many that their list fits a page. */
#define SSD_FAULT_RULES	16

/* What a failing write, flush or discard has done nevertheless. */
enum ssd_fault_effect {
	SSD_FAULT_EFFECT_NONE,	/* nothing */
	SSD_FAULT_EFFECT_PART,	/* the first sectors of its range; a flush: nothing */
	SSD_FAULT_EFFECT_ALL,	/* everything: only the answer is wrong */
};

/**
 * struct ssd_fault_rule - one rule. It sees the commands of its operations that
 * touch its range, and numbers them from 1.
 * @number: names it, from 1
 * @operations: bit (1 << enum ssd_operation) each
 * @first, @end: sectors [first, end)
 * @after: leaves that many commands alone
 * @every: then hits each @every-th one
 * @times: and stops after that many hits; 0 = never
 * @per_million: hits with this probability only
 * @seed: of these dice
 * @fail: the command fails, with @effect
 * @slow_ns: the command completes this much later
 * @seen: commands so far
 * @hits: those that were hit
 */
struct ssd_fault_rule {
	u32 number;
	u32 operations;
	u64 first;
	u64 end;
	u64 after;
	u64 every;
	u64 times;
	u64 per_million;
	u64 seed;
	bool fail;
	enum ssd_fault_effect effect;
	u64 slow_ns;
	u64 seen;
	u64 hits;
};

/**
 * struct ssd_faults - the rules of one drive.
 * @errors: commands that failed
 * @slowed: commands that took longer
 */
struct ssd_faults {
	u32 count;
	u32 last_number;
	u64 errors;
	u64 slowed;
	struct ssd_fault_rule rules[SSD_FAULT_RULES];
};

/**
 * struct ssd_fault_verdict - what happens to a command.
 * @done: sectors of its range that take effect, of all its sectors
 */
struct ssd_fault_verdict {
	bool fail;
	enum ssd_fault_effect effect;
	u64 done;
	u64 slow_ns;
};

/**
 * ssd_faults_judge - count a command and say what happens to it. If several rules
 * hit it, the delays add up and the first that fails it decides on the effect.
 */
void ssd_faults_judge(struct ssd_faults *faults, const struct ssd_command *command,
		      struct ssd_fault_verdict *verdict);

/**
 * ssd_faults_control - carry out one of
 *	add OPERATION[,OPERATION...] [error] [slow_us=N] [range=FIRST+SECTORS] [after=N]
 *		[every=N] [times=N] [ppm=N] [seed=N] [effect=none,part,all]
 *	remove NUMBER
 *	clear
 * with OPERATION one of read, write, flush, discard, any. A rule is an error
 * unless slow_us is given alone.
 * @capacity: of the drive, sectors
 * @error: on failure one sentence
 *
 * Return: 0, -EINVAL, -ENOENT or -ENOSPC.
 */
int ssd_faults_control(struct ssd_faults *faults, u64 capacity, const char *text,
		       char *error, size_t size);

/** ssd_faults_print - one line a rule, with its counts. Return: characters written. */
int ssd_faults_print(const struct ssd_faults *faults, char *text, size_t size);

/** ssd_faults_reset - counters start from zero; the rules go on where they are. */
void ssd_faults_reset(struct ssd_faults *faults);

#endif /* SSD_FAULT_H */
