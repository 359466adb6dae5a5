// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the store of contents, against flat arrays. */
#include <stdlib.h>
#include <string.h>

#include "ssd-store.h"
#include "test.h"

#define SECTORS	10000
#define LONGEST	300

struct model {
	u8 newest[SECTORS][512];
	u8 durable[SECTORS][512];
	u64 label[SECTORS];
	u64 steps;
};

static void fill(u8 *data, u32 bytes)
{
	u8 seed = random_number(256);
	u32 i;

	for (i = 0; i < bytes; i++)
		data[i] = seed + i * 7 + (i >> 9);
}

static void same_contents(const struct ssd_store *store, const struct model *model)
{
	u8 data[512];
	u32 sector;

	for (sector = 0; sector < SECTORS; sector++) {
		ssd_store_read(store, sector, 1, data);
		EXPECT(!memcmp(data, model->newest[sector], 512), "sector %u differs", sector);
	}
}

static void set_labels(struct model *model, u32 sector, u32 sectors)
{
	for (; sectors--; sector++)
		model->label[sector] = model->steps;
}

static void one_step(struct ssd_store *store, struct model *model, bool track)
{
	static u8 data[LONGEST * 512];
	u32 sector = random_number(SECTORS), sectors = 1 + random_number(LONGEST);

	sectors = min(sectors, SECTORS - sector);
	ssd_store_label(store, ++model->steps);
	switch (random_number(10)) {
	case 0:
		ssd_store_discard(store, sector, sectors);
		memset(model->newest[sector], 0, sectors * 512);
		if (!track)
			memset(model->durable[sector], 0, sectors * 512);
		set_labels(model, sector, sectors);
		break;
	case 1:
	case 2:
		ssd_store_commit(store, sector, sectors);
		memcpy(model->durable[sector], model->newest[sector], sectors * 512);
		break;
	case 3:
		if (!track)
			break;
		ssd_store_revert(store, sector);
		memcpy(model->newest[sector], model->durable[sector], 512);
		EXPECT(!ssd_store_volatile(store, sector), "sector %u is still volatile", sector);
		break;
	case 4:
	case 5:
		ssd_store_read(store, sector, sectors, data);
		EXPECT(!memcmp(data, model->newest[sector], sectors * 512),
		       "%u sectors at %u differ", sectors, sector);
		break;
	default:
		fill(data, sectors * 512);
		EXPECT(!ssd_store_reserve(store, sector, sectors), "no memory");
		ssd_store_write(store, sector, sectors, data);
		memcpy(model->newest[sector], data, sectors * 512);
		set_labels(model, sector, sectors);
	}
}

static void behaves_like_an_array(bool track)
{
	struct model *model = calloc(1, sizeof(*model));
	struct ssd_store *store = ssd_store_create(SECTORS, track);
	u64 sector;
	int step, reverted = 0;

	EXPECT(model && store, "no memory");
	for (step = 0; step < 3000; step++)
		one_step(store, model, track);
	same_contents(store, model);

	/* Without tracking nothing is volatile, and nothing falls back. */
	for (sector = ssd_store_volatile_next(store, 0); sector < SECTORS;
	     sector = ssd_store_volatile_next(store, sector)) {
		EXPECT(ssd_store_volatile_label(store, sector) == model->label[sector],
		       "sector %llu has label %llu, not %llu", (unsigned long long)sector,
		       (unsigned long long)ssd_store_volatile_label(store, sector),
		       (unsigned long long)model->label[sector]);
		EXPECT(ssd_store_volatile_before(store, sector, sector) == sector, "not empty");
		ssd_store_revert(store, sector);
		reverted++;
	}
	EXPECT(track == (reverted > 0), "%d sectors were volatile", reverted);
	if (track)
		memcpy(model->newest, model->durable, sizeof(model->newest));
	same_contents(store, model);
	ssd_store_destroy(store);
	free(model);
}

static void plain_store(void)
{
	behaves_like_an_array(false);
}

static void tracking_store(void)
{
	behaves_like_an_array(true);
}

static void survives_lack_of_memory(void)
{
	struct ssd_store *store = ssd_store_create(SECTORS, true);
	u8 data[64 * 512], read[64 * 512];
	int allowed, failures = 0;

	EXPECT(store, "no memory");
	for (allowed = 0; allowed < 40; allowed++) {
		int r;

		shim_allocations_left = allowed;
		r = ssd_store_reserve(store, allowed * 128, 64);
		shim_allocations_left = -1;
		failures += r != 0;
		EXPECT(!ssd_store_reserve(store, allowed * 128, 64), "retry failed");
		fill(data, sizeof(data));
		ssd_store_write(store, allowed * 128, 64, data);
		ssd_store_read(store, allowed * 128, 64, read);
		EXPECT(!memcmp(data, read, sizeof(data)), "contents differ");
	}
	EXPECT(failures > 0 && failures < 40, "%d failures", failures);
	ssd_store_destroy(store);
}

static void discard_gives_memory_back(void)
{
	struct ssd_store *store = ssd_store_create(SECTORS, false);
	u8 data[64 * 512];
	u64 full;
	u32 i;

	EXPECT(store, "no memory");
	fill(data, sizeof(data));
	for (i = 0; i < 40; i++) {
		EXPECT(!ssd_store_reserve(store, i * 128, 64), "no memory");
		ssd_store_write(store, i * 128, 64, data);
	}
	full = ssd_store_bytes(store);
	ssd_store_discard(store, 0, SECTORS);
	EXPECT(ssd_store_bytes(store) + 40 * sizeof(data) == full, "discard gave too little back");
	ssd_store_destroy(store);
}

const struct test store_tests[] = {
	{ "store behaves like a flat array", plain_store },
	{ "tracking store gives the durable versions back", tracking_store },
	{ "store reports lack of memory and recovers", survives_lack_of_memory },
	{ "discard gives memory back", discard_gives_memory_back },
	{ NULL, NULL },
};
