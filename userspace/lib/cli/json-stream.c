// SPDX-License-Identifier: GPL-2.0-only
/* JSON as it comes; see json-stream.h. */
#include <math.h>
#include <stdio.h>
#include "cli/json-stream.h"

#define MAX_DEPTH	8

static char closing[MAX_DEPTH];
static int depth;
static bool empty = true;	/* nothing yet in the innermost object or list */
static FILE *line;		/* of json_open_line(); NULL: indented, on standard output */

static FILE *output(void)
{
	return line ? line : stdout;
}

static void new_line(void)
{
	if (!line)
		printf("\n%*s", depth * 2, "");
}

/* What comes before every value: comma, new line, indentation, key. */
static void begin(const char *key)
{
	if (!empty)
		putc(',', output());
	if (depth)
		new_line();
	if (key)
		fprintf(output(), "\"%s\":", key);
	empty = false;
}

void json_open(const char *key, char bracket)
{
	begin(key);
	putc(bracket, output());
	closing[depth++] = bracket == '{' ? '}' : ']';
	empty = true;
}

void json_open_line(FILE *file)
{
	line = file;
	json_open(NULL, '{');
}

void json_close(void)
{
	depth--;
	if (!empty)
		new_line();
	putc(closing[depth], output());
	empty = false;
	if (depth)
		return;
	putc('\n', output());
	empty = true;
	line = NULL;
}

/* The bytes of the character that @text begins with, or 0 if that is not UTF-8. */
static int utf8_bytes(const char *text)
{
	static const u32 least[] = { 0, 0x80, 0x800, 0x10000 };
	const u8 *at = (const u8 *)text;
	const int more = *at < 0x80 ? 0 : *at < 0xc0 ? -1 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 :
			 *at < 0xf8 ? 3 : -1;
	u32 value = more > 0 ? *at & (0x3f >> more) : *at;
	int i;

	for (i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3f);
	}
	return more < 0 || value < least[more] || value > 0x10ffff || value >> 11 == 0x1b ?
	       0 : more + 1;
}

void json_string(const char *key, const char *text)
{
	int bytes;

	begin(key);
	putc('"', output());
	for (; *text; text += bytes ? bytes : 1) {
		bytes = utf8_bytes(text);
		if (!bytes)
			fputs("\\ufffd", output());	/* a path, or a card's name */
		else if (*text == '"' || *text == '\\')
			fprintf(output(), "\\%c", *text);
		else if (bytes == 1 && *text < ' ')
			fprintf(output(), "\\u%04x", *text);
		else
			fprintf(output(), "%.*s", bytes, text);
	}
	putc('"', output());
}

void json_number(const char *key, u64 value)
{
	begin(key);
	fprintf(output(), "%llu", (unsigned long long)value);
}

void json_bool(const char *key, bool value)
{
	begin(key);
	fputs(value ? "true" : "false", output());
}

void json_hex(const char *key, u64 value)
{
	begin(key);
	fprintf(output(), "\"0x%llx\"", (unsigned long long)value);
}

void json_real(const char *key, double value)
{
	begin(key);
	if (isfinite(value))
		fprintf(output(), "%.17g", value);
	else
		fputs("null", output());
}
