/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON as it comes, on standard output: lists may be too long to be held in memory. */
#ifndef RESSD_JSON_STREAM_H
#define RESSD_JSON_STREAM_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* Opens an object or a list; @key is NULL in a list and at the top. */
void json_open(const char *key, char bracket);

/* An object at the top that goes to @file, on one line. */
void json_open_line(FILE *file);

/* Closes what was opened last with '{' or '['. */
void json_close(void);

void json_string(const char *key, const char *text);
void json_number(const char *key, u64 value);
void json_bool(const char *key, bool value);

/* null if it is not finite. */
void json_real(const char *key, double value);

/* A number that people know in hexadecimal, as a string. */
void json_hex(const char *key, u64 value);

#endif
