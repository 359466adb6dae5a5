// SPDX-License-Identifier: GPL-2.0-only
/* Noise of the times that a drive is seen to take: how large it is; it changes no drive. */
#include <stdlib.h>
#include <string.h>

#include "ssd-host.h"
#include "test.h"

#define DRAWS	20000U
#define TOOK	1000000U	/* ns */
#define US	1000ULL

static struct ssd_noise noise_of(const char *words)
{
	struct ssd_profile profile;
	struct ssd_noise noise;
	char error[256];

	ssd_profile_init(&profile);
	EXPECT(!ssd_profile_parse(&profile, words, error, sizeof(error)), "%s", error);
	ssd_noise_init(&noise, &profile);
	return noise;
}

static int compare(const void *a, const void *b)
{
	const u64 first = *(const u64 *)a, second = *(const u64 *)b;

	return first < second ? -1 : first > second;
}

static u64 *draw_sorted(struct ssd_noise *noise)
{
	u64 *shown = malloc(DRAWS * sizeof(*shown));
	u32 i;

	EXPECT(shown, "no memory");
	for (i = 0; i < DRAWS; i++)
		shown[i] = ssd_noise_show(noise, TOOK);
	qsort(shown, DRAWS, sizeof(*shown), compare);
	return shown;
}

/* @share in parts per 10000 of the draws are below @expected millionths of TOOK, within 1.5 %. */
static void expect_quantile(const u64 *shown, u32 share, u64 expected)
{
	const u64 found = shown[(u64)DRAWS * share / 10000] * 1000000 / TOOK;

	EXPECT(found * 1000 > expected * 985 && found * 1000 < expected * 1015,
	       "%u of 10000 are below %llu, not %llu", share, (unsigned long long)found,
	       (unsigned long long)expected);
}

/* The quantiles at 0, 1 and 2 deviations are powers of e. */
static void spread_is_log_normal(void)
{
	struct ssd_noise noise = noise_of("noise_ppm=100000 noise_seed=5");
	u64 *shown = draw_sorted(&noise);

	expect_quantile(shown, 5000, 1000000);
	expect_quantile(shown, 1587, 904837);
	expect_quantile(shown, 8413, 1105171);
	expect_quantile(shown, 228, 818731);
	expect_quantile(shown, 9772, 1221403);
	free(shown);
}

static void largest_spread(void)
{
	struct ssd_noise noise = noise_of("noise_ppm=300000 noise_seed=6");
	u64 *shown = draw_sorted(&noise);

	expect_quantile(shown, 5000, 1000000);
	expect_quantile(shown, 1587, 740818);
	expect_quantile(shown, 8413, 1349859);
	free(shown);
}

/* Of exponential delays half are below ln 2 of the mean, and a tenth above ln 10 of it. */
static void delays_are_exponential(void)
{
	struct ssd_noise noise = noise_of("interference_ppm=1000000 interference_us=1000");
	u64 *shown = draw_sorted(&noise);

	expect_quantile(shown, 5000, 1693147);
	expect_quantile(shown, 9000, 3302585);
	free(shown);
}

static void as_many_delays_as_told(void)
{
	struct ssd_noise noise = noise_of("interference_ppm=30000 interference_us=100 noise_seed=7");
	u32 delayed = 0, i;

	for (i = 0; i < DRAWS; i++)
		delayed += ssd_noise_show(&noise, TOOK) != TOOK;
	EXPECT(delayed > DRAWS * 27 / 1000 && delayed < DRAWS * 33 / 1000, "%u of %u", delayed,
	       DRAWS);
}

static void seed_decides(void)
{
	const char *words =
		"noise_ppm=30000 interference_ppm=30000 interference_us=900 noise_seed=8";
	struct ssd_noise one = noise_of(words), two = noise_of(words);
	struct ssd_noise other = noise_of("noise_ppm=30000 noise_seed=9");
	u32 i, same = 0;

	for (i = 0; i < 100; i++) {
		const u64 shown = ssd_noise_show(&one, TOOK);

		EXPECT(shown == ssd_noise_show(&two, TOOK), "draw %u differs", i);
		same += shown == ssd_noise_show(&other, TOOK);
	}
	EXPECT(same < 5, "%u of 100 are those of another seed", same);
}

static void ignore(void *context, u64 sector, u32 sectors, bool write)
{
}

/* Commands one after the other, with pauses; the drive's own times go to @own. */
static void run_commands(const char *words, u64 *own, u32 count)
{
	struct ssd_profile profile;
	struct ssd_host host;
	char error[256];
	u64 now = 1000 * US;
	u32 i;

	ssd_profile_init(&profile);
	EXPECT(!ssd_profile_parse(&profile, "capacity_mb=64 log_blocks=3", error, sizeof(error)),
	       "%s", error);
	EXPECT(!ssd_profile_parse(&profile, words, error, sizeof(error)), "%s", error);
	EXPECT(!ssd_host_create(&host, &profile, ignore, NULL, error, sizeof(error)), "%s", error);
	for (i = 0; i < count; i++) {
		struct ssd_command command = {
			.operation = i % 5 ? SSD_WRITE : SSD_FLUSH,
			.sector = i % 5 ? i * 7919ULL % 1000 * 8 : 0,
			.sectors = i % 5 ? 8 : 0,
		};

		now = ssd_host_serve(&host, &command, now).end + i % 3 * 400 * US;
		own[i] = now - host.noise.lag;
	}
	ssd_host_destroy(&host);
}

static void drive_is_the_same(void)
{
	u64 quiet[600], noisy[600];
	u32 i;

	run_commands("", quiet, ARRAY_SIZE(quiet));
	run_commands("noise_ppm=200000 interference_ppm=30000 interference_us=20000", noisy,
		     ARRAY_SIZE(noisy));
	for (i = 0; i < ARRAY_SIZE(quiet); i++)
		EXPECT(quiet[i] == noisy[i], "command %u ends at %llu, not %llu", i,
		       (unsigned long long)noisy[i], (unsigned long long)quiet[i]);
}

/* Several under way: nothing is done before it came, and the drive's clock never goes back. */
static void many_commands_under_way(void)
{
	struct ssd_noise noise = noise_of("noise_ppm=200000 interference_ppm=300000 interference_us=5000");
	u64 now = 1000 * US, drive = 0;
	u32 i;

	for (i = 0; i < 1000; i++) {
		const u64 arrived = ssd_noise_arrive(&noise, now);

		EXPECT(arrived >= drive, "the drive's clock goes back");
		drive = arrived;
		EXPECT(ssd_noise_complete(&noise, now, arrived + 800 * US) > now,
		       "done before it came");
		now += 50 * US;
	}
}

const struct test noise_tests[] = {
	{ "noise is log-normal with the deviation told", spread_is_log_normal },
	{ "so is the largest", largest_spread },
	{ "delays are exponential with the mean told", delays_are_exponential },
	{ "as many commands are delayed as told", as_many_delays_as_told },
	{ "the seed decides the noise", seed_decides },
	{ "noise changes what is seen of a drive, and not the drive", drive_is_the_same },
	{ "noise of several commands under way keeps their order", many_commands_under_way },
	{ NULL, NULL },
};
