// SPDX-License-Identifier: GPL-2.0-only
/* The grammar of the table line; see ressd-args.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-args.h"
#include "ressd-geom.h"
#include "ressd-pattern.h"

#define MAX_SPLIT_SECTORS	131072U	/* 64 MiB */

/*
 * One option: a number within [min, max] in steps of @step, or one of @words.
 */
struct option_rule {
	const char *key;
	size_t offset;			/* in struct ressd_options */
	u32 initial, min, max, step;
	const char *const *words;	/* NULL-terminated; index = value */
	bool format_only;		/* no message changes it */
};

#define NUMBER(k, i, lo, hi, st) \
	{ .key = #k, .offset = __builtin_offsetof(struct ressd_options, k), \
	  .initial = i, .min = lo, .max = hi, .step = st }
#define WORDS(k, i, w) \
	{ .key = #k, .offset = __builtin_offsetof(struct ressd_options, k), \
	  .initial = i, .words = w }

static const char *const route_words[] = { "always", "never", "adaptive",
					   NULL };
static const char *const pace_words[] = { "burst", "even", "idle", NULL };
static const char *const commit_words[] = { "writeback", "writethrough", NULL };
static const char *const on_full_words[] = { "bypass", "wait", NULL };
static const char *const dispatch_words[] = { "none", "pai", "bundle",
					      "bundle_rp", NULL };
static const char *const switch_words[] = { "off", "on", NULL };

static const struct option_rule rules[] = {
	NUMBER(small_write_sectors, 16, 8, 256, 8),
	NUMBER(streams, 16, 1, RESSD_PATTERN_MAX_STREAMS, 1),
	NUMBER(open_units, 0, 0, RESSD_UNITS_MAX, 1),
	WORDS(route, RESSD_ROUTE_ALWAYS, route_words),
	NUMBER(log_cost_us, 0, 0, 10000000, 1),
	NUMBER(move_threshold, 50, 1, 95, 1),
	NUMBER(move_batch_sectors, 1024, 8, RESSD_MAX_MOVE_BATCH_SECTORS, 8),
	NUMBER(move_block_sectors, 0, 0, RESSD_MAX_MOVE_BLOCK_SECTORS, 8),
	NUMBER(move_fill_blocks, 0, 0,
	       RESSD_MAX_MOVE_BLOCK_SECTORS / RESSD_BLOCK_SECTORS, 1),
	WORDS(pace, RESSD_PACE_EVEN, pace_words),
	WORDS(commit, RESSD_COMMIT_WRITEBACK, commit_words),
	NUMBER(commit_interval_ms, 100, 1, 60000, 1),
	NUMBER(log_align_sectors, 0, 0, 1024, 8),
	NUMBER(log_page_sectors, 0, 0, 1024, 8),
	WORDS(log_rewrite, RESSD_OFF, switch_words),
	WORDS(log_discard, RESSD_OFF, switch_words),
	{ .key = "segment_sectors",
	  .offset = __builtin_offsetof(struct ressd_options, segment_sectors),
	  .min = RESSD_MIN_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS,
	  .max = RESSD_MAX_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS,
	  .step = 8,
	  .format_only = true },
	{ .key = "cover",
	  .offset = __builtin_offsetof(struct ressd_options, cover),
	  .initial = RESSD_ON,
	  .words = switch_words,
	  .format_only = true },
	WORDS(on_full, RESSD_FULL_BYPASS, on_full_words),
	NUMBER(split_read_sectors, 0, 0, MAX_SPLIT_SECTORS, 8),
	NUMBER(split_write_sectors, 0, 0, MAX_SPLIT_SECTORS, 8),
	NUMBER(align_sectors, 0, 0, MAX_SPLIT_SECTORS, 8),
	WORDS(dispatch, RESSD_DISPATCH_NONE, dispatch_words),
	NUMBER(bundle_sectors, 0, 0, RESSD_MAX_MOVE_BLOCK_SECTORS, 8),
	NUMBER(pending_expire_ms, 10, 1, 1000, 1),
	NUMBER(dispatch_depth, 4, 1, 256, 1),
};

#define NR_RULES	ARRAY_SIZE(rules)

static u32 *option_field(struct ressd_options *options,
			 const struct option_rule *rule)
{
	return (u32 *)((char *)options + rule->offset);
}

static u32 option_value(const struct ressd_options *options,
			const struct option_rule *rule)
{
	return *(const u32 *)((const char *)options + rule->offset);
}

void ressd_options_default(struct ressd_options *options)
{
	size_t i;

	memset(options, 0, sizeof(*options));
	for (i = 0; i < NR_RULES; i++)
		*option_field(options, &rules[i]) = rules[i].initial;
}

/* Decimal digits only; false on anything else and on overflow. */
static bool parse_decimal(const char *word, u64 *value)
{
	const u64 limit = ~0ULL;
	u64 v = 0;

	if (!*word)
		return false;
	for (; *word; word++) {
		u32 digit = (u32)(*word - '0');

		/*
		 * limit / 10 is a constant for the compiler: no 64-bit division
		 * at run time.
		 */
		if (digit > 9 || v > limit / 10 || v * 10 > limit - digit)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return true;
}

int ressd_parse_u64(const char *word, const char *name, u64 *value, char *error,
		    size_t size)
{
	if (parse_decimal(word, value))
		return 0;
	snprintf(error, size,
		 "%s is '%.40s', but must be a decimal number of sectors", name,
		 word);
	return -EINVAL;
}

static int parse_word(const struct option_rule *rule, const char *value,
		      u32 *out, char *error, size_t size)
{
	u32 i;
	int n;

	for (i = 0; rule->words[i]; i++) {
		if (!strcmp(value, rule->words[i])) {
			*out = i;
			return 0;
		}
	}
	n = snprintf(error, size,
		     "%s is '%.40s', but must be one of:", rule->key, value);
	for (i = 0; rule->words[i] && (size_t)n < size; i++)
		n += snprintf(error + n, size - n, " %s", rule->words[i]);
	return -EINVAL;
}

static int parse_number(const struct option_rule *rule, const char *value,
			u32 *out, char *error, size_t size)
{
	u64 v;

	if (parse_decimal(value, &v) && v >= rule->min && v <= rule->max &&
	    (u32)v % rule->step == 0) {
		*out = v;
		return 0;
	}
	if (rule->step > 1)
		snprintf(error, size,
			 "%s is '%.40s', but must be a multiple of %u from %u to %u",
			 rule->key, value, rule->step, rule->min, rule->max);
	else
		snprintf(error, size,
			 "%s is '%.40s', but must be a number from %u to %u",
			 rule->key, value, rule->min, rule->max);
	return -EINVAL;
}

/* Finds the rule of @key, or NULL with the reason. */
static const struct option_rule *find_rule(const char *key, char *error,
					   size_t size)
{
	size_t i;

	for (i = 0; i < NR_RULES; i++)
		if (!strcmp(key, rules[i].key))
			return &rules[i];
	snprintf(error, size,
		 "'%.40s' is not an option of ressd; see the manual page ressd(7) for the list",
		 key);
	return NULL;
}

static int parse_option(const struct option_rule *rule, const char *value,
			struct ressd_options *options, char *error, size_t size)
{
	if (rule->words)
		return parse_word(rule, value, option_field(options, rule),
				  error, size);
	return parse_number(rule, value, option_field(options, rule), error,
			    size);
}

static int check_open_units(const struct ressd_options *options, char *error,
			    size_t size)
{
	if (!options->open_units)
		return 0;
	if (options->streams == 1) {
		snprintf(error, size,
			 "open_units is %u, but streams 1 is the paper's rule, which knows none; leave out one of them",
			 options->open_units);
		return -EINVAL;
	}
	if (!options->move_block_sectors) {
		snprintf(error, size,
			 "open_units is %u, but the size of a unit is not known: set move_block_sectors first",
			 options->open_units);
		return -EINVAL;
	}
	return 0;
}

/*
 * All pieces but the first begin at a boundary only if each is a number of
 * whole units.
 */
static int check_align(const struct ressd_options *options, const char *key,
		       u32 split, char *error, size_t size)
{
	if (!options->align_sectors || split % options->align_sectors == 0)
		return 0;
	snprintf(error, size,
		 "%s is %u, but must be a multiple of align_sectors, which is %u",
		 key, split, options->align_sectors);
	return -EINVAL;
}

static int check_split(const struct ressd_options *options, char *error,
		       size_t size)
{
	if (options->align_sectors && !options->split_read_sectors &&
	    !options->split_write_sectors) {
		snprintf(error, size,
			 "align_sectors is %u, but only what is split is aligned: set split_read_sectors or split_write_sectors first",
			 options->align_sectors);
		return -EINVAL;
	}
	if (check_align(options, "split_read_sectors",
			options->split_read_sectors, error, size))
		return -EINVAL;
	return check_align(options, "split_write_sectors",
			   options->split_write_sectors, error, size);
}

static int check_dispatch(const struct ressd_options *options, char *error,
			  size_t size)
{
	switch (options->dispatch) {
	case RESSD_DISPATCH_PAI:
		if (options->split_read_sectors || options->split_write_sectors)
			return 0;
		snprintf(error, size,
			 "dispatch is pai, but which requests are well-formed is not known: set split_read_sectors or split_write_sectors first");
		return -EINVAL;
	case RESSD_DISPATCH_BUNDLE:
	case RESSD_DISPATCH_BUNDLE_RP:
		if (options->bundle_sectors)
			return 0;
		snprintf(error, size,
			 "dispatch is %s, but the size of a bundle is not known: set bundle_sectors first",
			 dispatch_words[options->dispatch]);
		return -EINVAL;
	}
	return 0;
}

/* Options that mean nothing beside each other. */
static int check_options(const struct ressd_options *options, char *error,
			 size_t size)
{
	if (check_open_units(options, error, size) ||
	    check_split(options, error, size))
		return -EINVAL;
	return check_dispatch(options, error, size);
}

int ressd_options_parse(struct ressd_options *options, unsigned int argc,
			char **argv, char *error, size_t size)
{
	u32 seen = 0;

	BUILD_BUG_ON(NR_RULES > 32);
	while (argc) {
		const char *value = argc > 1 ? argv[1] : NULL;
		const struct option_rule *rule =
			find_rule(argv[0], error, size);

		if (!rule)
			return -EINVAL;
		if (!value) {
			snprintf(error, size,
				 "option %s has no value; write: %s <value>",
				 rule->key, rule->key);
			return -EINVAL;
		}
		if (seen & 1U << (rule - rules)) {
			snprintf(error, size,
				 "option %s is given twice; leave one out",
				 rule->key);
			return -EINVAL;
		}
		seen |= 1U << (rule - rules);
		if (parse_option(rule, value, options, error, size))
			return -EINVAL;
		argc -= 2;
		argv += 2;
	}
	return check_options(options, error, size);
}

int ressd_option_set(struct ressd_options *options, const char *key,
		     const char *value, char *error, size_t size)
{
	const struct option_rule *rule = find_rule(key, error, size);
	struct ressd_options set = *options;

	if (!rule)
		return -EINVAL;
	if (rule->format_only) {
		snprintf(error, size,
			 "option %s is fixed when the reserved area is formatted; drain, then use ressdctl format",
			 rule->key);
		return -EINVAL;
	}
	if (parse_option(rule, value, &set, error, size) ||
	    check_options(&set, error, size))
		return -EINVAL;
	*options = set;
	return 0;
}

const char *ressd_options_fixed(const struct ressd_options *options)
{
	size_t i;

	for (i = 0; i < NR_RULES; i++)
		if (rules[i].format_only &&
		    option_value(options, &rules[i]) != rules[i].initial)
			return rules[i].key;
	return NULL;
}

/*
 * Appends " key value" for each option that differs from the default; as
 * snprintf().
 */
static int print_words(const struct ressd_options *options, char *buffer,
		       size_t size)
{
	size_t i;
	int n = 0;

	for (i = 0; i < NR_RULES; i++) {
		u32 value = option_value(options, &rules[i]);
		size_t at = min_t(size_t, n, size);

		if (value == rules[i].initial)
			continue;
		if (rules[i].words)
			n += snprintf(buffer + at, size - at, " %s %s",
				      rules[i].key, rules[i].words[value]);
		else
			n += snprintf(buffer + at, size - at, " %s %u",
				      rules[i].key, value);
	}
	return n;
}

int ressd_options_print(const struct ressd_options *options, char *buffer,
			size_t size)
{
	unsigned int words = 0;
	size_t i;
	int n;

	for (i = 0; i < NR_RULES; i++)
		if (option_value(options, &rules[i]) != rules[i].initial)
			words += 2;
	n = snprintf(buffer, size, "%u", words);
	return n + print_words(options, buffer + min_t(size_t, n, size),
			       size - min_t(size_t, n, size));
}

void ressd_options_pack(const struct ressd_options *options,
			char stored[RESSD_STORED_OPTIONS])
{
	struct ressd_options packed = *options;
	size_t i;

	for (i = 0; i < NR_RULES; i++)
		if (rules[i].format_only)
			*option_field(&packed, &rules[i]) = rules[i].initial;
	memset(stored, 0, RESSD_STORED_OPTIONS);
	print_words(&packed, stored, RESSD_STORED_OPTIONS);
	/* Without the space before the first word. */
	memmove(stored, stored + 1, RESSD_STORED_OPTIONS - 1);
}

static int check_area(const char *name, u64 start, u64 sectors, u64 dev_sectors,
		      char *error, size_t size)
{
	if (start % RESSD_BLOCK_SECTORS || sectors % RESSD_BLOCK_SECTORS) {
		snprintf(error, size,
			 "the %s area starts at sector %llu and has %llu sectors, but both must be multiples of 8 (4 KiB)",
			 name, (unsigned long long)start,
			 (unsigned long long)sectors);
		return -EINVAL;
	}
	if (start > dev_sectors || sectors > dev_sectors - start) {
		snprintf(error, size,
			 "the %s area ends at sector %llu + %llu, but its device has only %llu sectors",
			 name, (unsigned long long)start,
			 (unsigned long long)sectors,
			 (unsigned long long)dev_sectors);
		return -EINVAL;
	}
	return 0;
}

int ressd_table_check(const struct ressd_table *table, u64 normal_dev_sectors,
		      u64 reserved_dev_sectors, bool same_dev, char *error,
		      size_t size)
{
	if (!table->len || table->len / RESSD_BLOCK_SECTORS >= RESSD_NO_BLOCK) {
		snprintf(error, size,
			 "the target has %llu sectors, but must have at least 8 and less than 16 TiB",
			 (unsigned long long)table->len);
		return -EINVAL;
	}
	if (check_area("normal", table->normal_start, table->len,
		       normal_dev_sectors, error, size) ||
	    check_area("reserved", table->reserved_start,
		       table->reserved_sectors, reserved_dev_sectors, error,
		       size))
		return -EINVAL;
	if (same_dev &&
	    table->normal_start <
		    table->reserved_start + table->reserved_sectors &&
	    table->reserved_start < table->normal_start + table->len) {
		snprintf(error, size,
			 "the normal area (sector %llu + %llu) and the reserved area (sector %llu + %llu) overlap; move one of them",
			 (unsigned long long)table->normal_start,
			 (unsigned long long)table->len,
			 (unsigned long long)table->reserved_start,
			 (unsigned long long)table->reserved_sectors);
		return -EINVAL;
	}
	return 0;
}
