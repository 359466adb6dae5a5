/* SPDX-License-Identifier: GPL-2.0-only */
/* What all reports of ressd-probe say in the same words. */
#ifndef REPORT_SENTENCES_H
#define REPORT_SENTENCES_H

#include <stdio.h>
#include "probe.h"

#define REPORT_VALUE_TEXT	96

/* The value of a parameter for people.  @text has REPORT_VALUE_TEXT bytes; returned. */
char *report_value(const struct probe *probe, enum parameter parameter, char *text);

#define REPORT_GAIN_TEXT	40

/* What a load gains, for people: "5.4 to 11 times as fast".  @text likewise; returned. */
char *report_gain(const struct load_gain *gain, char *text);

const char *report_verdict(enum verdict verdict);

/* Reasons not to believe what was measured, or not to use the drive as it is. */
struct report_warnings {
	unsigned int count;
	char text[8][100];
};

void report_warnings(const struct probe *probe, struct report_warnings *warnings);

/* If the verdict pays: the exact commands; what is not blank must be formatted first. */
void report_commands(FILE *file, const struct probe *probe);

#endif
