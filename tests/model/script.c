// SPDX-License-Identifier: GPL-2.0-only
/* A run as text; see script.h. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "script.h"

static const char *const event_names[NR_EVENT_KINDS] = {
	[EVENT_WRITE] = "write", [EVENT_DISCARD] = "discard", [EVENT_READ] = "read",
	[EVENT_FLUSH] = "flush", [EVENT_END] = "end", [EVENT_LOG] = "log",
	[EVENT_SWEEP] = "sweep", [EVENT_PRIME] = "prime", [EVENT_MOVER] = "mover", [EVENT_KICK] = "kick",
	[EVENT_TRIM] = "trim", [EVENT_DISPATCH] = "dispatch",
	[EVENT_ROTATE] = "rotate", [EVENT_TUNE] = "tune", [EVENT_REPAIR] = "repair",
	[EVENT_CHECK] = "check",
	[EVENT_SUSPEND] = "suspend", [EVENT_RELOAD] = "reload", [EVENT_DRAIN] = "drain",
	[EVENT_DRAINING] = "draining",
	[EVENT_CRASH] = "crash",
	[EVENT_STOP] = "stop", [EVENT_CUT] = "cut",
};

struct config_field {
	const char *name;
	size_t offset;
};

static const struct config_field config_fields[] = {
	{ "segment_blocks", __builtin_offsetof(struct config, segment_blocks) },
	{ "reserved_blocks", __builtin_offsetof(struct config, reserved_blocks) },
	{ "normal_blocks", __builtin_offsetof(struct config, normal_blocks) },
	{ "align_blocks", __builtin_offsetof(struct config, align_blocks) },
	{ "hot_blocks", __builtin_offsetof(struct config, hot_blocks) },
	{ "writethrough", __builtin_offsetof(struct config, writethrough) },
	{ "wait", __builtin_offsetof(struct config, wait) },
	{ "overlap", __builtin_offsetof(struct config, overlap) },
	{ "visit_blocks", __builtin_offsetof(struct config, visit_blocks) },
	{ "visit_phase", __builtin_offsetof(struct config, visit_phase) },
	{ "fill_blocks", __builtin_offsetof(struct config, fill_blocks) },
	{ "page_blocks", __builtin_offsetof(struct config, page_blocks) },
	{ "page_phase", __builtin_offsetof(struct config, page_phase) },
	{ "rewrite", __builtin_offsetof(struct config, rewrite) },
	{ "move_threshold", __builtin_offsetof(struct config, move_threshold) },
	{ "keeps", __builtin_offsetof(struct config, keeps) },
	{ "tunes", __builtin_offsetof(struct config, tunes) },
	{ "two_disks", __builtin_offsetof(struct config, two_disks) },
	{ "errors", __builtin_offsetof(struct config, errors) },
	{ "discards", __builtin_offsetof(struct config, discards) },
	{ "dispatch", __builtin_offsetof(struct config, dispatch) },
	{ "dispatch_depth", __builtin_offsetof(struct config, dispatch_depth) },
	{ "cover_blocks", __builtin_offsetof(struct config, cover_blocks) },
	{ "crash_every", __builtin_offsetof(struct config, crash_every) },
	{ "idle_every", __builtin_offsetof(struct config, idle_every) },
	{ "step_nodes", __builtin_offsetof(struct config, step_nodes) },
	{ "record_unmaps", __builtin_offsetof(struct config, record_unmaps) },
};

static u32 *config_field(struct config *config, const struct config_field *field)
{
	return (u32 *)((u8 *)config + field->offset);
}

/* ---- writing ---- */

static void write_keep(FILE *file, const struct cut *cut)
{
	u32 i, end;

	for (i = 0; i < cut->nr; i = end + 1) {
		end = i;
		if (!cut->keep[i])
			continue;
		while (end + 1 < cut->nr && cut->keep[end + 1])
			end++;
		fprintf(file, " %u-%u", i, end);
	}
}

static void write_cut(FILE *file, const struct cut *cut)
{
	fprintf(file, " %s", cut_name(cut->kind));
	if (cut->kind == CUT_LIST)
		write_keep(file, cut);
	else if (cut->kind != CUT_NOTHING_LOST && cut->kind != CUT_ALL_LOST)
		fprintf(file, " %llu", (unsigned long long)cut->number);
}

static void write_event(FILE *file, const struct event *event)
{
	bool fate = event->kind == EVENT_CRASH || event->kind == EVENT_STOP ||
		    event->kind == EVENT_RELOAD;

	fputs(event_names[event->kind], file);
	if (event->kind == EVENT_CRASH || event->kind == EVENT_CUT)
		write_cut(file, &event->cut);
	else if (event->kind == EVENT_END)
		fprintf(file, " %u", event->slot);
	else if (event->nr && !fate)
		fprintf(file, " %u+%u as %u", event->first, event->nr, event->slot);
	else if (event->kind == EVENT_FLUSH)
		fprintf(file, " as %u", event->slot);
	fprintf(file, "%s%s%s%s%s", event->small ? " small" : "", event->fua ? " fua" : "",
		event->preflush ? " preflush" : "", event->repeat ? " repeat" : "",
		event->slow ? " slow" : "");
	if (event->number)
		fprintf(file, " choice %llu", (unsigned long long)event->number);
	if (event->error && fate)
		fprintf(file, " bad-read %u", event->nr);
	else if (event->error)
		fputs(" error", file);
	fputc('\n', file);
}

void script_write(FILE *file, const struct script *script)
{
	struct config config = script->config;
	u32 i;

	fputs("config", file);
	for (i = 0; i < ARRAY_SIZE(config_fields); i++)
		fprintf(file, " %s=%u", config_fields[i].name,
			*config_field(&config, &config_fields[i]));
	fputc('\n', file);
	if (script->options.fault)
		fprintf(file, "fault %s\n", fault_info(script->options.fault)->name);
	if (script->options.per_moment)
		fprintf(file, "explore %u seed %llu\n", script->options.per_moment,
			(unsigned long long)script->seed);
	for (i = 0; i < script->events.nr; i++)
		write_event(file, &script->events.list[i]);
}

/* ---- reading ---- */

struct parser {
	const char *path;
	u32 line;
	char *rest;
};

__attribute__((noreturn))
static void refuse(const struct parser *parser, const char *what, const char *word)
{
	fprintf(stderr, "model: %s, line %u: %s '%s'; script.h says what a script may hold\n",
		parser->path, parser->line, what, word ? word : "");
	exit(2);
}

static char *next_word(struct parser *parser)
{
	return strtok_r(NULL, " \t\n", &parser->rest);
}

static u64 parse_number(const struct parser *parser, const char *word)
{
	char *end;
	u64 value;

	if (!word || *word < '0' || *word > '9')
		refuse(parser, "a number is expected, not", word);
	value = strtoull(word, &end, 0);
	if (*end)
		refuse(parser, "a number is expected, not", word);
	return value;
}

/* Both numbers of A+B or A-B. */
static void parse_pair(const struct parser *parser, char *word, char between, u32 *first,
		       u32 *second)
{
	char *at = word ? strchr(word, between) : NULL;

	if (!at)
		refuse(parser, "two numbers are expected, not", word);
	*at = '\0';
	*first = parse_number(parser, word);
	*second = parse_number(parser, at + 1);
}

static void parse_config(struct parser *parser, struct config *config)
{
	char *word, *value;
	u32 i;

	while ((word = next_word(parser))) {
		value = strchr(word, '=');
		if (!value)
			refuse(parser, "name=value is expected, not", word);
		*value++ = '\0';
		for (i = 0; i < ARRAY_SIZE(config_fields); i++)
			if (!strcmp(word, config_fields[i].name))
				break;
		if (i == ARRAY_SIZE(config_fields))
			refuse(parser, "there is no setting", word);
		*config_field(config, &config_fields[i]) = parse_number(parser, value);
	}
}

static void parse_keep(struct parser *parser, struct cut *cut)
{
	u32 first, last;
	char *word;

	while ((word = next_word(parser))) {
		parse_pair(parser, word, '-', &first, &last);
		if (last < first || last > 1000000)
			refuse(parser, "a range is expected, not", word);
		if (last >= cut->nr) {
			cut->keep = realloc(cut->keep, last + 1);
			if (!cut->keep)
				abort();
			memset(cut->keep + cut->nr, 0, last + 1 - cut->nr);
			cut->nr = last + 1;
		}
		memset(cut->keep + first, 1, last + 1 - first);
	}
}

static void parse_cut(struct parser *parser, struct cut *cut)
{
	char *word = next_word(parser);

	for (cut->kind = 0; word && cut->kind < NR_CUT_KINDS; cut->kind++)
		if (!strcmp(word, cut_name(cut->kind)))
			break;
	if (!word || cut->kind == NR_CUT_KINDS)
		refuse(parser, "there is no cut", word);
	if (cut->kind == CUT_LIST)
		parse_keep(parser, cut);
	else if (cut->kind != CUT_NOTHING_LOST && cut->kind != CUT_ALL_LOST)
		cut->number = parse_number(parser, next_word(parser));
}

static void parse_word(struct parser *parser, struct event *event, char *word)
{
	if (!strcmp(word, "small")) {
		event->small = true;
	} else if (!strcmp(word, "fua")) {
		event->fua = true;
	} else if (!strcmp(word, "preflush")) {
		event->preflush = true;
	} else if (!strcmp(word, "repeat")) {
		event->repeat = true;
	} else if (!strcmp(word, "slow")) {
		event->slow = true;
	} else if (!strcmp(word, "error")) {
		event->error = true;
	} else if (!strcmp(word, "as")) {
		event->slot = parse_number(parser, next_word(parser));
	} else if (!strcmp(word, "choice")) {
		event->number = parse_number(parser, next_word(parser));
	} else if (!strcmp(word, "bad-read")) {
		event->error = true;
		event->nr = parse_number(parser, next_word(parser));
	} else if (event->kind == EVENT_END) {
		event->slot = parse_number(parser, word);
	} else {
		parse_pair(parser, word, '+', &event->first, &event->nr);
	}
}

/* The simulator trusts its own draws; what is written by hand has to be within the device. */
static void check_place(struct parser *parser, const struct event *event,
			const struct config *config)
{
	bool bio = event->kind == EVENT_WRITE || event->kind == EVENT_DISCARD ||
		   event->kind == EVENT_READ;
	u32 limit = event->kind == EVENT_READ ? BLOCK_SECTORS : MAX_OP_SECTORS;

	if (bio && (!event->nr || event->nr > limit ||
		    (u64)event->first + event->nr > (u64)config->normal_blocks * BLOCK_SECTORS))
		refuse(parser, "too long, or outside of the device:", event_names[event->kind]);
	if (event->preflush && !(event->kind == EVENT_WRITE && event->fua))
		refuse(parser, "preflush is of a write with fua, not of", event_names[event->kind]);
}

static void parse_event(struct parser *parser, struct script *script, const char *name)
{
	struct event event = { };
	char *word;

	for (event.kind = 0; event.kind < NR_EVENT_KINDS; event.kind++)
		if (!strcmp(name, event_names[event.kind]))
			break;
	if (event.kind == NR_EVENT_KINDS)
		refuse(parser, "there is no event", name);
	if (event.kind == EVENT_CRASH || event.kind == EVENT_CUT)
		parse_cut(parser, &event.cut);
	while ((word = next_word(parser)))
		parse_word(parser, &event, word);
	check_place(parser, &event, &script->config);
	events_add(&script->events, &event);
}

static void parse_line(struct parser *parser, struct script *script, char *line)
{
	char *name, *word;

	line[strcspn(line, "#")] = '\0';
	name = strtok_r(line, " \t\n", &parser->rest);
	if (!name)
		return;
	if (!strcmp(name, "config")) {
		parse_config(parser, &script->config);
	} else if (!strcmp(name, "fault")) {
		word = next_word(parser);
		script->options.fault = word ? fault_parse(word) : NR_FAULTS;
		if (script->options.fault == NR_FAULTS)
			refuse(parser, "there is no deliberate bug", word);
	} else if (!strcmp(name, "explore")) {
		script->options.per_moment = parse_number(parser, next_word(parser));
		if (next_word(parser))
			script->seed = parse_number(parser, next_word(parser));
	} else {
		parse_event(parser, script, name);
	}
}

void script_read(const char *path, struct script *script)
{
	struct parser parser = { .path = path };
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	*script = (struct script){ };
	if (!file) {
		fprintf(stderr, "model: %s cannot be read\n", path);
		exit(2);
	}
	while (getline(&line, &size, file) >= 0) {
		parser.line++;
		parse_line(&parser, script, line);
	}
	free(line);
	fclose(file);
	if (!script->config.normal_blocks)
		refuse(&parser, "a line is missing:", "config");
}

void script_free(struct script *script)
{
	u32 i;

	for (i = 0; i < script->events.nr; i++)
		free(script->events.list[i].cut.keep);
	events_free(&script->events);
}
