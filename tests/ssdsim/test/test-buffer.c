// SPDX-License-Identifier: GPL-2.0-only
/* The read buffer and its index, against a list that is searched from end to end. */
#include <stdlib.h>
#include <string.h>

#include "ssd-buffer.h"
#include "ssd-nand.h"
#include "test.h"

#define MOST_SLOTS	64
#define PAGES		40
#define STEPS		20000

/*
 * struct model - what should be in the buffer.
 * @unit: [@slots] ring of the units in the order they came, the oldest at @next
 */
struct model {
	u32 unit[MOST_SLOTS];
	u64 ready[MOST_SLOTS];
	u32 slots;
	u32 next;
};

static struct ssd_read_buffer buffer;

static u32 place_of(const struct model *model, u32 unit)
{
	u32 i;

	for (i = 0; i < model->slots && model->unit[i] != unit; i++)
		;
	return i;
}

static void model_clear(struct model *model)
{
	memset(model->unit, 0xff, sizeof(model->unit));
}

static void model_add(struct model *model, u32 unit, u32 count, u64 ready)
{
	for (; model->slots && count--; unit++) {
		if (place_of(model, unit) < model->slots)
			continue;
		model->unit[model->next] = unit;
		model->ready[model->next] = ready;
		model->next = (model->next + 1) % model->slots;
	}
}

static void model_forget(struct model *model, u32 unit, u32 count)
{
	for (; count--; unit++) {
		u32 place = place_of(model, unit);

		if (place < model->slots)
			model->unit[place] = SSD_NO_PAGE;
	}
}

static void expect_same(const struct model *model, u32 page, u32 first, u32 sectors)
{
	u32 unit = page * buffer.page_units + first / buffer.unit_sectors;
	u32 count = ssd_read_buffer_units(&buffer, first, sectors);
	u64 ready, latest = 0;
	bool all = true;

	for (; count--; unit++) {
		u32 place = place_of(model, unit);

		all &= place < model->slots;
		if (place < model->slots)
			latest = max(latest, model->ready[place]);
	}
	EXPECT(ssd_read_buffer_has(&buffer, page, first, sectors, &ready) == all,
	       "page %u, %u sectors from %u: should%s be buffered", page, sectors, first,
	       all ? "" : " not");
	EXPECT(!all || ready == latest, "page %u is ready at %llu, not %llu", page,
	       (unsigned long long)ready, (unsigned long long)latest);
}

static void one_step(struct model *model, u32 step)
{
	u32 page_sectors = buffer.unit_sectors * buffer.page_units;
	u32 page = random_number(PAGES), first = random_number(page_sectors);
	u32 sectors = 1 + random_number(page_sectors - first);

	switch (random_number(200) ? random_number(4) : 4) {
	case 0:
	case 1:
		ssd_read_buffer_add(&buffer, page, first, sectors, step);
		model_add(model, page * buffer.page_units + first / buffer.unit_sectors,
			  ssd_read_buffer_units(&buffer, first, sectors), step);
		break;
	case 2:
		ssd_read_buffer_forget(&buffer, page);
		model_forget(model, page * buffer.page_units, buffer.page_units);
		break;
	case 3:
		break;
	default:
		ssd_read_buffer_clear(&buffer);
		model_clear(model);
	}
	expect_same(model, page, first, sectors);
}

static void run_with(u32 kilobytes, u32 planes, u32 page_sectors)
{
	struct ssd_profile profile = {
		.read_buffer_kb = kilobytes,
		.partial_read = planes > 1,
		.planes = planes,
	};
	struct model model = { .next = 0 };
	u32 step;

	EXPECT(!ssd_read_buffer_create(&buffer, &profile, page_sectors), "no memory");
	model.slots = buffer.slots;
	EXPECT(model.slots <= MOST_SLOTS, "%u slots", model.slots);
	model_clear(&model);
	for (step = 1; step <= STEPS; step++)
		one_step(&model, step);
	ssd_read_buffer_destroy(&buffer);
}

/* Sizes that are a power of two and others, one unit, none at all; pages of 1 to 4 units. */
static void test_read_buffer(void)
{
	run_with(256, 1, 8);
	run_with(100, 1, 8);
	run_with(4, 1, 8);
	run_with(0, 1, 8);
	run_with(3, 1, 8);
	run_with(200, 4, 32);
	run_with(40, 4, 32);
	run_with(100, 2, 16);
}

const struct test buffer_tests[] = {
	{ "the index of the read buffer finds what a search from end to end finds",
	  test_read_buffer },
	{ NULL, NULL },
};
