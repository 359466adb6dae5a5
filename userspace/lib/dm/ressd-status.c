// SPDX-License-Identifier: GPL-2.0-only
/* Parser of the status line; see ressd-status.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dm/ressd-status.h"

static const char blanks[] = { ' ', '\n', '\0' };

/* Cuts the next word off *@text.  False at the end and for a word that does not fit. */
static bool next_word(const char **text, char *word, size_t size)
{
	size_t length;

	*text += strspn(*text, blanks);
	length = strcspn(*text, blanks);
	if (!length || length >= size)
		return false;
	memcpy(word, *text, length);
	word[length] = '\0';
	*text += length;
	return true;
}

static bool parse_number(const char *word, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	return word[0] >= '0' && word[0] <= '9' && !*end && !errno;
}

/* "<part>/<whole>" */
static bool parse_pair(const char *word, u64 *part, u64 *whole)
{
	char copy[48];
	char *slash;

	snprintf(copy, sizeof(copy), "%s", word);
	slash = strchr(copy, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return parse_number(copy, part) && parse_number(slash + 1, whole);
}

static bool parse_counters(struct ressd_status *status, const char **text)
{
	char word[STATUS_KEY];
	u64 words;

	if (!next_word(text, word, sizeof(word)))
		return true;	/* none announced */
	if (!parse_number(word, &words))
		return false;
	for (; words >= 2; words -= 2) {
		struct ressd_counter counter;

		if (!next_word(text, counter.key, sizeof(counter.key)) ||
		    !next_word(text, word, sizeof(word)) || !parse_number(word, &counter.value))
			return false;
		if (status->nr_counters < STATUS_COUNTERS)
			status->counters[status->nr_counters++] = counter;
	}
	return !words;
}

int ressd_status_parse(struct ressd_status *status, const char *text, struct failure *failure)
{
	char used[48], dirty[48];
	const char *at = text;

	memset(status, 0, sizeof(*status));
	if (!next_word(&at, used, sizeof(used)) ||
	    !parse_pair(used, &status->used_blocks, &status->total_blocks) ||
	    !next_word(&at, dirty, sizeof(dirty)) ||
	    !parse_pair(dirty, &status->dirty_blocks, &status->mapped_blocks) ||
	    !next_word(&at, status->state, sizeof(status->state)) ||
	    !parse_counters(status, &at))
		return fail(failure, -EPROTO,
			    "the status of the target is not understood near '%.30s' of '%.200s'; do kernel module and program have the same version?",
			    at, text);
	return 0;
}

u64 ressd_status_get(const struct ressd_status *status, const char *key, u64 missing)
{
	unsigned int i;

	for (i = 0; i < status->nr_counters; i++)
		if (!strcmp(status->counters[i].key, key))
			return status->counters[i].value;
	return missing;
}
