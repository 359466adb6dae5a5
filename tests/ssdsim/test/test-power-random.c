// SPDX-License-Identifier: GPL-2.0-only
/*
 * The power switch: random drives under random load and random cuts against an oracle that
 * knows only what a host may rely on.
 */
#include <string.h>

#include "power-rig.h"
#include "test.h"

#define LONGEST		96	/* sectors of a write */
#define CASES		24

static void random_step(struct rig *rig, u64 range)
{
	u64 sector = random_number(range);
	u64 sectors = min_t(u64, 1 + random_number(random_number(3) ? 16 : LONGEST),
			    rig->capacity - sector);

	if (rig->count == rig->profile.queue_depth)
		rig_complete_until(rig, rig_first_end(rig));
	switch (random_number(20)) {
	case 0:
	case 1:
		rig_send(rig, SSD_FLUSH, 0, 0, false);
		break;
	case 2:
		rig_send(rig, SSD_DISCARD, sector, min_t(u64, rig->capacity - sector, sectors * 8),
			 false);
		break;
	case 3:
	case 4:
		rig_send(rig, SSD_READ, sector, sectors, false);
		break;
	default:
		rig_send(rig, SSD_WRITE, sector, sectors, !random_number(15));
	}
	if (rig->host.power.on && !random_number(2))
		rig_complete_until(rig, rig->now +
				   random_number(random_number(4) ? 500000 : 20000000));
}

static void arm(struct rig *rig, u32 seed)
{
	static const char * const moments[] = {
		"writes=1-200", "bytes=1-3000000", "flushes=1-8", "commands=1-200", "us=1-200000",
		"discards=1-4",
	};
	char text[128];

	snprintf(text, sizeof(text), "cut %s seed=%u", moments[random_number(ARRAY_SIZE(moments))],
		 seed);
	rig_order(rig, text);
}

static void random_profile(char *text, size_t size)
{
	static const char * const modes[] = {
		"ftl=page overprovision_ppm=150000 gc_threshold_ppm=50000 map_cache_pages=4 die_sets=2",
		"", "log_association=full", "power_loss=buffered", "write_cache=0", "interface_mb_s=2",
	};

	snprintf(text, size,
		 "queue_depth=%u ways=%u log_blocks=%u write_buffer_kb=%u write_buffer_match=%s write_buffer_idle_us=%u prefill=%u %s",
		 1 + random_number(MOST_OUTSTANDING), 1 + random_number(3), 2 + random_number(8),
		 40 + random_number(200), random_number(2) ? "tail" : "all",
		 random_number(2) ? 100 : 100000, random_number(2),
		 modes[random_number(ARRAY_SIZE(modes))]);
}

struct outcome {
	u64 digest;
	u64 kept;
	u64 lost;
	u64 tears;
	u64 between;
	u64 old;
};

static char current_profile[256];

/* @load_seed decides what is done, @cut_seed what the cuts do. */
static void torment(u64 load_seed, u32 cut_seed, struct outcome *outcome)
{
	struct rig *rig;
	char error[256];
	int cut;

	random_seed(load_seed);
	random_profile(current_profile, sizeof(current_profile));
	rig = rig_create(current_profile);
	for (cut = 0; cut < 12; cut++) {
		u64 range = random_number(2) ? 800 : rig->capacity;

		arm(rig, cut_seed);
		while (rig->host.power.on)
			random_step(rig, range);
		rig_power_on(rig);
		rig_check_survivors(rig);
		EXPECT(!ssd_drive_check(rig->host.drive, error, sizeof(error)), "%s", error);
		EXPECT(ssd_store_volatile_next(rig->host.store, 0) == rig->capacity,
		       "something is at risk after a cut");
		rig->now += 1000000;
	}
	*outcome = (struct outcome) {
		rig->digest, rig->host.power.counters.kept_sectors,
		rig->host.power.counters.lost_sectors, rig->host.power.counters.tears,
		rig->between, rig->old,
	};
	rig_destroy(rig);
}

static void print_current_profile(void)
{
	printf("# profile: %s\n", current_profile);
}

static void random_cuts(void)
{
	u64 seed = (u64)random_number(1000000) << 20;
	u64 kept = 0, lost = 0, tears = 0, between = 0, old = 0;
	u32 i, different = 0;

	describe_failure = print_current_profile;
	for (i = 0; i < CASES; i++) {
		struct outcome first, again, other;

		torment(seed + i, 5, &first);
		torment(seed + i, 5, &again);
		EXPECT(!memcmp(&first, &again, sizeof(first)), "the same seed, another outcome");
		torment(seed + i, 6, &other);
		different += other.digest != first.digest;
		kept += first.kept;
		lost += first.lost;
		tears += first.tears;
		between += first.between;
		old += first.old;
	}
	EXPECT(kept && lost && tears, "%llu kept, %llu lost, %llu torn", (unsigned long long)kept,
	       (unsigned long long)lost, (unsigned long long)tears);
	EXPECT(between && old, "%llu sectors between, %llu old", (unsigned long long)between,
	       (unsigned long long)old);
	EXPECT(different > CASES / 2, "the seed matters in %u of %u cases", different, CASES);
}

const struct test power_random_tests[] = {
	{ "random cuts match the oracle and follow the seed", random_cuts },
	{ NULL, NULL },
};
