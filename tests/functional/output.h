/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs say: lines on stdout at once, a sentence and an exit code at a failure. */
#ifndef OUTPUT_H
#define OUTPUT_H

/* Exit codes of the programs. */
enum { EXIT_SAME, EXIT_DIFFERENT, EXIT_TROUBLE, EXIT_DEVICE_FAILED };

/* Prints a line on stdout and flushes it. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a sentence, with the text of errno if @error is not 0, and ends with EXIT_TROUBLE. */
void die(int error, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

#endif
