/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run as text: what a failure is shrunk to, and what --replay takes.
 *
 *	config segment_blocks=16 reserved_blocks=70 ...
 *	fault no-preflush		a deliberate bug; left out: none
 *	explore 8 seed 17		crash states at each moment; left out: only the cuts below
 *	write 16+8 as 3 small fua	sectors; bio number 3
 *	end 3				the I/O of bio number 3 ends
 *	log error 12			the log worker's I/O ends with an error
 *	crash prefix 1234		the power fails
 *	cut keep 0-7 16-23		tries one crash: these of the volatile sectors survive
 *
 * Empty lines, and what follows a #, mean nothing.  event.h says what each event does.
 */
#ifndef MODEL_SCRIPT_H
#define MODEL_SCRIPT_H

#include <stdio.h>
#include "run.h"

struct script {
	struct config config;
	struct run_options options;
	u64 seed;			/* of the crash states */
	struct events events;
};

void script_write(FILE *file, const struct script *script);

/* Ends the program with a sentence if @path is not a script. */
void script_read(const char *path, struct script *script);

void script_free(struct script *script);

#endif
