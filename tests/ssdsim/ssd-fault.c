// SPDX-License-Identifier: GPL-2.0-only
/* Error injection. See ssd-fault.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "ssd-fault.h"
#include "ssd-words.h"

#define ALL_OPERATIONS	((1U << SSD_OPERATIONS) - 1)
#define FOREVER		(~0ULL)

static const char * const operation_words[] = { "read", "write", "flush", "discard" };
static const char * const effect_words[] = { "none", "part", "all" };

/* A flush has no range, so only a rule without one sees it. */
static bool concerns(const struct ssd_fault_rule *rule, const struct ssd_command *command)
{
	if (!(rule->operations & (1U << command->operation)))
		return false;
	if (command->operation == SSD_FLUSH)
		return !rule->first && rule->end == FOREVER;
	return command->sector < rule->end && command->sector + command->sectors > rule->first;
}

static bool hits(struct ssd_fault_rule *rule, const struct ssd_command *command)
{
	u64 turn;

	if (!concerns(rule, command))
		return false;
	rule->seen++;
	if (rule->seen <= rule->after || (rule->times && rule->hits >= rule->times))
		return false;
	div64_u64_rem(rule->seen - rule->after, rule->every, &turn);
	if (turn)
		return false;
	if (rule->per_million < 1000000) {
		u32 roll;

		div_u64_rem(ssd_dice(rule->seed, rule->seen, 0), 1000000, &roll);
		if (roll >= rule->per_million)
			return false;
	}
	rule->hits++;
	return true;
}

/* How much of a failing command takes effect. */
static void decide_effect(const struct ssd_fault_rule *rule, const struct ssd_command *command,
			  struct ssd_fault_verdict *verdict)
{
	verdict->fail = true;
	verdict->effect = rule->effect;
	if (rule->effect == SSD_FAULT_EFFECT_NONE)
		verdict->done = 0;
	if (rule->effect == SSD_FAULT_EFFECT_PART && command->sectors)
		div64_u64_rem(ssd_dice(rule->seed, rule->seen, 1), command->sectors,
			      &verdict->done);
}

void ssd_faults_judge(struct ssd_faults *faults, const struct ssd_command *command,
		      struct ssd_fault_verdict *verdict)
{
	u32 i;

	*verdict = (struct ssd_fault_verdict) { .done = command->sectors };
	for (i = 0; i < faults->count; i++) {
		struct ssd_fault_rule *rule = &faults->rules[i];

		if (!hits(rule, command))
			continue;
		verdict->slow_ns += rule->slow_ns;
		if (rule->fail && !verdict->fail)
			decide_effect(rule, command, verdict);
	}
	faults->errors += verdict->fail;
	faults->slowed += verdict->slow_ns > 0;
}

/* "read,write" as bits; 0 if a word is not known. */
static u32 parse_operations(const struct ssd_word *word)
{
	const char *text = word->text, *end = word->text + word->length;
	u32 operations = 0;

	while (text <= end) {
		const char *comma = memchr(text, ',', end - text);
		struct ssd_word one = { .text = text, .length = (comma ?: end) - text };
		u32 i;

		for (i = 0; i < SSD_OPERATIONS && !ssd_word_is(&one, operation_words[i]); i++)
			;
		if (i < SSD_OPERATIONS)
			operations |= 1U << i;
		else if (ssd_word_is(&one, "any"))
			operations |= ALL_OPERATIONS;
		else
			return 0;
		text = (comma ?: end) + 1;
	}
	return operations;
}

/* A key of a rule that is a number in [min, max]. */
struct rule_key {
	const char *name;
	size_t offset;
	u64 min;
	u64 max;
};

#define KEY(word, field, low, high) { word, offsetof(struct ssd_fault_rule, field), low, high }

static const struct rule_key rule_keys[] = {
	KEY("after", after, 0, 1000000000000ULL),
	KEY("every", every, 1, 1000000000000ULL),
	KEY("times", times, 1, 1000000000000ULL),
	KEY("ppm", per_million, 1, 1000000),
	KEY("seed", seed, 0, 1000000000000000ULL),
	/* An hour; kept in microseconds until the rule is complete. */
	KEY("slow_us", slow_ns, 1, 3600000000ULL),
};

static int set_number(struct ssd_fault_rule *rule, const struct ssd_word *word,
		      char *error, size_t size)
{
	size_t i;
	u64 number;

	for (i = 0; i < ARRAY_SIZE(rule_keys); i++) {
		const struct rule_key *key = &rule_keys[i];

		if (!ssd_word_is(word, key->name))
			continue;
		if (ssd_value_number(word, &number) && number >= key->min &&
		    number <= key->max) {
			*(u64 *)((char *)rule + key->offset) = number;
			return 0;
		}
		scnprintf(error, size, "%s=%.*s is out of range; give a whole number from %llu to %llu",
			  key->name, (int)word->value_length, word->value ?: "",
			  (unsigned long long)key->min, (unsigned long long)key->max);
		return -EINVAL;
	}
	scnprintf(error, size,
		  "'%.*s' is not a key of a fault; use error, slow_us, range, after, every, times, ppm, seed or effect",
		  (int)word->length, word->text);
	return -EINVAL;
}

static int set_range(struct ssd_fault_rule *rule, const struct ssd_word *word, u64 capacity,
		     char *error, size_t size)
{
	u64 first, sectors;

	if (!ssd_value_pair(word, '+', &first, &sectors) || !sectors ||
	    first + sectors > capacity) {
		scnprintf(error, size,
			  "range=%.*s is not a range of this drive; give FIRST+SECTORS within its %llu sectors",
			  (int)word->value_length, word->value ?: "",
			  (unsigned long long)capacity);
		return -EINVAL;
	}
	rule->first = first;
	rule->end = first + sectors;
	return 0;
}

static int set_effect(struct ssd_fault_rule *rule, const struct ssd_word *word,
		      char *error, size_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(effect_words); i++) {
		if (ssd_value_is(word, effect_words[i])) {
			rule->effect = i;
			return 0;
		}
	}
	scnprintf(error, size, "effect=%.*s is not known; use one of: none part all",
		  (int)word->value_length, word->value ?: "");
	return -EINVAL;
}

static int parse_rule(struct ssd_fault_rule *rule, u64 capacity, const char *text,
		      char *error, size_t size)
{
	struct ssd_word word;
	int r = 0;

	*rule = (struct ssd_fault_rule) {
		.end = FOREVER,
		.every = 1,
		.per_million = 1000000,
		.seed = 1,
	};
	if (ssd_word_next(&text, &word) && !word.value)
		rule->operations = parse_operations(&word);
	if (!rule->operations) {
		scnprintf(error, size,
			  "'%.*s' is no operation; begin with read, write, flush, discard or any, separated by commas",
			  (int)word.length, word.text);
		return -EINVAL;
	}
	while (!r && ssd_word_next(&text, &word)) {
		if (ssd_word_is(&word, "error") && !word.value)
			rule->fail = true;
		else if (ssd_word_is(&word, "range"))
			r = set_range(rule, &word, capacity, error, size);
		else if (ssd_word_is(&word, "effect"))
			r = set_effect(rule, &word, error, size);
		else
			r = set_number(rule, &word, error, size);
	}
	rule->slow_ns *= 1000;
	rule->fail |= !rule->slow_ns;
	return r;
}

/* What only the whole rule shows. */
static int check_rule(const struct ssd_fault_rule *rule, char *error, size_t size)
{
	if (rule->operations == 1U << SSD_FLUSH && rule->end != FOREVER) {
		scnprintf(error, size, "a flush has no range; leave out range=");
		return -EINVAL;
	}
	if (rule->effect != SSD_FAULT_EFFECT_NONE && !rule->fail) {
		scnprintf(error, size,
			  "effect= says what a failing command does; add the word error or leave it out");
		return -EINVAL;
	}
	return 0;
}

static int add_rule(struct ssd_faults *faults, u64 capacity, const char *text,
		    char *error, size_t size)
{
	struct ssd_fault_rule rule;
	int r;

	if (faults->count == SSD_FAULT_RULES) {
		scnprintf(error, size, "there are %u faults already, the most a drive takes; remove one",
			  SSD_FAULT_RULES);
		return -ENOSPC;
	}
	r = parse_rule(&rule, capacity, text, error, size);
	if (!r)
		r = check_rule(&rule, error, size);
	if (r)
		return r;
	rule.number = ++faults->last_number;
	faults->rules[faults->count++] = rule;
	return 0;
}

static int remove_rule(struct ssd_faults *faults, const char *text, char *error, size_t size)
{
	struct ssd_word word;
	u64 number = 0;
	u32 i;

	ssd_word_next(&text, &word);
	word.value = word.text;
	word.value_length = word.length;
	ssd_value_number(&word, &number);
	for (i = 0; i < faults->count; i++) {
		if (faults->rules[i].number != number)
			continue;
		faults->count--;
		memmove(&faults->rules[i], &faults->rules[i + 1],
			(faults->count - i) * sizeof(faults->rules[0]));
		return 0;
	}
	scnprintf(error, size, "there is no fault '%.*s'; the list of faults shows their numbers",
		  (int)word.length, word.text);
	return -ENOENT;
}

int ssd_faults_control(struct ssd_faults *faults, u64 capacity, const char *text,
		       char *error, size_t size)
{
	struct ssd_word word;

	ssd_word_next(&text, &word);
	if (ssd_word_is(&word, "add"))
		return add_rule(faults, capacity, text, error, size);
	if (ssd_word_is(&word, "remove"))
		return remove_rule(faults, text, error, size);
	if (ssd_word_is(&word, "clear")) {
		faults->count = 0;
		return 0;
	}
	scnprintf(error, size, "'%.*s' is not known here; use add, remove or clear",
		  (int)word.length, word.text);
	return -EINVAL;
}

static int print_rule(const struct ssd_fault_rule *rule, char *text, size_t size)
{
	int used = scnprintf(text, size, "%u:", rule->number);
	const char *separator = " ";
	u32 i;

	for (i = 0; i < SSD_OPERATIONS; i++) {
		if (!(rule->operations & (1U << i)))
			continue;
		used += scnprintf(text + used, size - used, "%s%s", separator, operation_words[i]);
		separator = ",";
	}
	if (rule->fail)
		used += scnprintf(text + used, size - used, " error effect=%s",
				  effect_words[rule->effect]);
	if (rule->slow_ns)
		used += scnprintf(text + used, size - used, " slow_us=%llu",
				  (unsigned long long)div_u64(rule->slow_ns, 1000));
	if (rule->end != FOREVER)
		used += scnprintf(text + used, size - used, " range=%llu+%llu",
				  (unsigned long long)rule->first,
				  (unsigned long long)(rule->end - rule->first));
	if (rule->after)
		used += scnprintf(text + used, size - used, " after=%llu",
				  (unsigned long long)rule->after);
	if (rule->every > 1)
		used += scnprintf(text + used, size - used, " every=%llu",
				  (unsigned long long)rule->every);
	if (rule->times)
		used += scnprintf(text + used, size - used, " times=%llu",
				  (unsigned long long)rule->times);
	if (rule->per_million < 1000000)
		used += scnprintf(text + used, size - used, " ppm=%llu seed=%llu",
				  (unsigned long long)rule->per_million,
				  (unsigned long long)rule->seed);
	return used + scnprintf(text + used, size - used, " (seen %llu, hit %llu)\n",
				(unsigned long long)rule->seen, (unsigned long long)rule->hits);
}

int ssd_faults_print(const struct ssd_faults *faults, char *text, size_t size)
{
	int used = 0;
	u32 i;

	for (i = 0; i < faults->count; i++)
		used += print_rule(&faults->rules[i], text + used, size - used);
	return used;
}

void ssd_faults_reset(struct ssd_faults *faults)
{
	faults->errors = 0;
	faults->slowed = 0;
}
