// SPDX-License-Identifier: GPL-2.0-only
/* JSON as it comes; see json-stream.h. */
#include <math.h>
#include <stdio.h>
#include "cli/json-stream.h"

#define MAX_DEPTH	8

static char closing[MAX_DEPTH];
static int depth;
static bool empty = true;	/* nothing yet in the innermost object or list */

/* What comes before every value: comma, new line, indentation, key. */
static void begin(const char *key)
{
	if (!empty)
		putchar(',');
	if (depth)
		printf("\n%*s", depth * 2, "");
	if (key)
		printf("\"%s\":", key);
	empty = false;
}

void json_open(const char *key, char bracket)
{
	begin(key);
	putchar(bracket);
	closing[depth++] = bracket == '{' ? '}' : ']';
	empty = true;
}

void json_close(void)
{
	depth--;
	if (!empty)
		printf("\n%*s", depth * 2, "");
	putchar(closing[depth]);
	empty = false;
	if (depth)
		return;
	putchar('\n');
	empty = true;
}

void json_string(const char *key, const char *text)
{
	begin(key);
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

void json_number(const char *key, u64 value)
{
	begin(key);
	printf("%llu", (unsigned long long)value);
}

void json_bool(const char *key, bool value)
{
	begin(key);
	fputs(value ? "true" : "false", stdout);
}

void json_hex(const char *key, u64 value)
{
	begin(key);
	printf("\"0x%llx\"", (unsigned long long)value);
}

void json_real(const char *key, double value)
{
	begin(key);
	if (isfinite(value))
		printf("%.17g", value);
	else
		fputs("null", stdout);
}
