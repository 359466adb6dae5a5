// SPDX-License-Identifier: GPL-2.0-only
/* /etc/ressdtab; see ressdtab.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dm/ressdtab.h"

/* Options that are not the target's; those of systemd and of the initramfs are theirs to read. */
static bool is_own_option(struct ressdtab_entry *entry, const char *option)
{
	if (!strncmp(option, "normal=", 7))
		snprintf(entry->normal, sizeof(entry->normal), "%s", option + 7);
	else if (!strcmp(option, "noauto"))
		entry->noauto = true;
	else
		return !strcmp(option, "auto") || !strcmp(option, "nofail") ||
		       !strcmp(option, "initramfs") || !strcmp(option, "-");
	return true;
}

static int take_options(struct ressdtab_entry *entry, const char *file, struct failure *failure)
{
	char *option, *rest, *value;

	for (option = strtok_r(entry->text, ",", &rest); option;
	     option = strtok_r(NULL, ",", &rest)) {
		if (is_own_option(entry, option))
			continue;
		value = strchr(option, '=');
		if (!value || entry->nr_words + 2 > RESSDTAB_OPTIONS)
			return fail(failure, -EINVAL,
				    "%s, line %u: the option '%.60s' is neither normal=DEVICE, noauto, nofail or initramfs nor an option of ressd(7) as KEY=VALUE",
				    file, entry->line, option);
		*value = '\0';
		entry->words[entry->nr_words++] = option;
		entry->words[entry->nr_words++] = value + 1;
	}
	return 0;
}

/* True if the line has an entry; else it is a comment. */
static int parse(struct ressdtab_entry *entry, char *line, const char *file,
		 struct failure *failure)
{
	char *words[5], *rest;
	int nr = 0;

	line[strcspn(line, "#\n")] = '\0';
	for (words[0] = strtok_r(line, " \t", &rest); words[nr];
	     words[nr] = strtok_r(NULL, " \t", &rest))
		if (++nr == 4)
			break;
	if (!nr)
		return 0;
	if (nr == 1 || nr > 3 || strlen(words[0]) >= sizeof(entry->name) ||
	    strlen(words[1]) >= sizeof(entry->device))
		return fail(failure, -EINVAL,
			    "%s, line %u has not the form: NAME DEVICE [OPTION,OPTION=VALUE,...]",
			    file, entry->line);
	snprintf(entry->name, sizeof(entry->name), "%s", words[0]);
	snprintf(entry->device, sizeof(entry->device), "%s", words[1]);
	snprintf(entry->text, sizeof(entry->text), "%s", nr == 3 ? words[2] : "");
	return take_options(entry, file, failure) ? -EINVAL : 1;
}

int ressdtab_read(int (*visit)(void *context, struct ressdtab_entry *entry,
			       struct failure *failure), void *context,
		  struct failure *failure)
{
	const char *file = getenv("RESSDTAB") ? getenv("RESSDTAB") : RESSDTAB;
	static struct ressdtab_entry entry;
	FILE *stream = fopen(file, "re");
	char line[PATH_MAX];
	unsigned int nr = 0;
	int code = 0;

	if (!stream && errno == ENOENT)
		return 0;
	if (!stream)
		return fail(failure, -errno, "cannot open %s: %s", file, strerror(errno));
	while (!code && fgets(line, sizeof(line), stream)) {
		entry = (struct ressdtab_entry) { .line = ++nr };
		code = parse(&entry, line, file, failure);
		if (code > 0)
			code = visit(context, &entry, failure);
	}
	fclose(stream);
	return code;
}
