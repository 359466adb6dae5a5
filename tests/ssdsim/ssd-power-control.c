// SPDX-License-Identifier: GPL-2.0-only
/* The commands of the power switch, and its state as text. See ssd-power.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "ssd-power.h"
#include "ssd-words.h"

#define LARGEST_NUMBER	1000000000000000ULL

static const char * const trigger_words[] = {
	"none", "writes", "bytes", "flushes", "discards", "commands", "us",
};

static const char * const fate_words[] = {
	"mix", "lost", "kept", "writes", "sectors", "order",
};

/* A cut as asked for; it replaces the waiting one only if all of it is right. */
struct order {
	bool now;
	enum ssd_power_trigger trigger;
	u64 low;
	u64 high;
	u64 first;
	u64 end;
	u64 seed;
	enum ssd_power_fate fate;
};

static enum ssd_power_trigger find_trigger(const struct ssd_word *word)
{
	u32 i;

	for (i = SSD_TRIGGER_WRITES; i < ARRAY_SIZE(trigger_words); i++) {
		if (ssd_word_is(word, trigger_words[i]))
			return i;
	}
	return SSD_TRIGGER_NONE;
}

static int refuse_value(const struct ssd_word *word, const char *remedy, char *error, size_t size)
{
	scnprintf(error, size, "%.*s=%.*s is not possible; %s", (int)word->length, word->text,
		  (int)word->value_length, word->value ?: "", remedy);
	return -EINVAL;
}

static int set_trigger(struct order *order, const struct ssd_word *word, char *error, size_t size)
{
	if (order->trigger || order->now) {
		scnprintf(error, size, "a cut has one moment; give only one of now, writes, bytes, flushes, discards, commands and us");
		return -EINVAL;
	}
	order->trigger = find_trigger(word);
	if (ssd_value_number(word, &order->low))
		order->high = order->low;
	else if (!ssd_value_pair(word, '-', &order->low, &order->high))
		order->low = 0;
	if (!order->low || order->low > order->high || order->high > LARGEST_NUMBER)
		return refuse_value(word, "give a whole number from 1 to 10^15, or LOW-HIGH", error,
				    size);
	return 0;
}

static int set_range(struct order *order, const struct ssd_word *word, u64 capacity,
		     char *error, size_t size)
{
	u64 sectors;

	if (!ssd_value_pair(word, '+', &order->first, &sectors) || !sectors ||
	    order->first + sectors > capacity)
		return refuse_value(word, "give FIRST+SECTORS within the drive", error, size);
	order->end = order->first + sectors;
	return 0;
}

static int set_fate(struct order *order, const struct ssd_word *word, char *error, size_t size)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fate_words); i++) {
		if (ssd_value_is(word, fate_words[i])) {
			order->fate = i;
			return 0;
		}
	}
	return refuse_value(word, "use mix, lost, kept, writes, sectors or order", error, size);
}

static int parse_word(struct order *order, const struct ssd_word *word, u64 capacity,
		      char *error, size_t size)
{
	if (find_trigger(word))
		return set_trigger(order, word, error, size);
	if (ssd_word_is(word, "range"))
		return set_range(order, word, capacity, error, size);
	if (ssd_word_is(word, "fate"))
		return set_fate(order, word, error, size);
	if (ssd_word_is(word, "seed")) {
		if (ssd_value_number(word, &order->seed) && order->seed <= LARGEST_NUMBER)
			return 0;
		return refuse_value(word, "give a whole number up to 10^15", error, size);
	}
	if (ssd_word_is(word, "now") && !word->value && !order->trigger) {
		order->now = true;
		return 0;
	}
	scnprintf(error, size, "'%.*s' is not known here; a cut takes now or one of writes=, bytes=, flushes=, discards=, commands=, us=, and range=, seed=, fate=",
		  (int)word->length, word->text);
	return -EINVAL;
}

static int parse_order(struct order *order, u64 capacity, const char *text, char *error,
		       size_t size)
{
	struct ssd_word word;
	int r = 0;

	while (!r && ssd_word_next(&text, &word))
		r = parse_word(order, &word, capacity, error, size);
	if (r)
		return r;
	if (!order->trigger && !order->now) {
		scnprintf(error, size, "the cut has no moment; give now, writes=, bytes=, flushes=, discards=, commands= or us=");
		return -EINVAL;
	}
	if (order->end != capacity || order->first) {
		if (order->now || order->trigger == SSD_TRIGGER_FLUSHES ||
		    order->trigger == SSD_TRIGGER_TIME) {
			scnprintf(error, size, "range= is for writes=, bytes=, discards= and commands=; leave it out");
			return -EINVAL;
		}
	}
	return 0;
}

static void carry_out(struct ssd_power *power, const struct order *order, u64 now)
{
	u64 number;

	power->seed = order->seed;
	power->fate = order->fate;
	power->deadline = SSD_POWER_NEVER;
	power->remaining = 0;
	power->trigger = order->trigger;
	if (order->now) {
		ssd_power_cut(power, now);
		return;
	}
	power->first = order->first;
	power->end = order->end;
	div64_u64_rem(ssd_dice(order->seed, power->cut_number, order->trigger),
		      order->high - order->low + 1, &number);
	number += order->low;
	if (order->trigger == SSD_TRIGGER_TIME)
		power->deadline = now + number * 1000;
	else
		power->remaining = number;
}

static int order_cut(struct ssd_power *power, const char *text, u64 now, char *error, size_t size)
{
	struct order order = {
		.end = power->capacity,
		.seed = power->seed,
	};
	int r = parse_order(&order, power->capacity, text, error, size);

	if (r)
		return r;
	if (!power->tracking) {
		scnprintf(error, size, "the drive does not know what is volatile; create it with track_volatile=1 to cut its power");
		return -EINVAL;
	}
	ssd_power_tick(power, now);
	if (!power->on) {
		scnprintf(error, size, "the power is off; switch it on first");
		return -EIO;
	}
	carry_out(power, &order, now);
	return 0;
}

int ssd_power_control(struct ssd_power *power, const char *text, u64 now,
		      char *error, size_t size)
{
	struct ssd_word word;

	ssd_word_next(&text, &word);
	if (ssd_word_is(&word, "cut"))
		return order_cut(power, text, now, error, size);
	if (ssd_word_is(&word, "cancel")) {
		power->trigger = SSD_TRIGGER_NONE;
		power->remaining = 0;
		power->deadline = SSD_POWER_NEVER;
		return 0;
	}
	scnprintf(error, size, "'%.*s' is not known here; use on, off, cut or cancel",
		  (int)word.length, word.text);
	return -EINVAL;
}

int ssd_power_print(const struct ssd_power *power, char *text, size_t size)
{
	int used = scnprintf(text, size, "power %s\ncuts %llu\nwaiting %s\n",
			     power->on ? "on" : "off", (unsigned long long)power->cut_number,
			     trigger_words[power->trigger]);

	if (power->remaining)
		used += scnprintf(text + used, size - used, "remaining %llu\nrange %llu+%llu\n",
				  (unsigned long long)power->remaining,
				  (unsigned long long)power->first,
				  (unsigned long long)(power->end - power->first));
	return used + scnprintf(text + used, size - used, "seed %llu\nfate %s\n",
				(unsigned long long)power->seed, fate_words[power->fate]);
}
