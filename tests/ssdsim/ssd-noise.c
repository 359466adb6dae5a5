// SPDX-License-Identifier: GPL-2.0-only
/*
 * Noise of an emulated drive's times. See ssd-noise.h.
 *
 * Real numbers are integers in units of 1 / ONE.
 */
#include <linux/math64.h>
#include <linux/string.h>

#include "ssd-noise.h"
#include "ssd-words.h"

#define ONE_SHIFT	16		/* of ONE */
#define ONE		65536U
#define LOG_OF_2	45426		/* ln 2 */
#define MILLION		1000000

/* Which draw of a command. */
enum draw {
	DRAW_NORMAL,			/* and the two behind it */
	DRAW_DELAYED = DRAW_NORMAL + 3,
	DRAW_DELAY,
};

void ssd_noise_init(struct ssd_noise *noise, const struct ssd_profile *profile)
{
	memset(noise, 0, sizeof(*noise));
	noise->spread_ppm = profile->noise_ppm;
	noise->delayed_ppm = profile->interference_ppm;
	noise->delay_ns = profile->interference_us * 1000ULL;
	noise->seed = profile->noise_seed;
}

/* Normally distributed around 0 with deviation ONE: the sum of twelve even draws is near enough. */
static s64 draw_normal(const struct ssd_noise *noise)
{
	const s64 mean = 12 * (0xffffLL) / 2;
	s64 sum = 0;
	u32 i, part;

	for (i = 0; i < 3; i++) {
		const u64 bits = ssd_dice(noise->seed, noise->commands, DRAW_NORMAL + i);

		for (part = 0; part < 64; part += 16)
			sum += bits >> part & 0xffff;
	}
	return sum - mean;
}

/* e to the power of @x, which is 0 to 2 * ONE: its series. */
static u64 exponential(u64 x)
{
	u64 term = ONE, sum = ONE;
	u32 i;

	for (i = 1; term; i++) {
		term = div_u64(term * x >> ONE_SHIFT, i);
		sum += term;
	}
	return sum;
}

/* -ln of @bits / 2^64: halvings, and the series of -ln(1 - y) for what is left, y at most 1/2. */
static u64 negative_log(u64 bits)
{
	u64 result = 0, y, power;
	u32 i;

	if (!bits)
		bits = 1;
	for (; !(bits >> 63); bits <<= 1)
		result += LOG_OF_2;
	y = ONE - (bits >> (64 - ONE_SHIFT));
	for (i = 1, power = y; power; i++) {
		result += div_u64(power, i);
		power = power * y >> ONE_SHIFT;
	}
	return result;
}

/* Log-normal: the median is @took. */
static u64 spread(const struct ssd_noise *noise, u64 took)
{
	const s64 normal = draw_normal(noise);
	const u64 size = normal < 0 ? -normal : normal;
	const u64 factor = exponential(div_u64(size * noise->spread_ppm, MILLION));

	return normal < 0 ? div64_u64(took << ONE_SHIFT, factor) : took * factor >> ONE_SHIFT;
}

static bool is_delayed(const struct ssd_noise *noise)
{
	u32 roll;

	div_u64_rem(ssd_dice(noise->seed, noise->commands, DRAW_DELAYED), MILLION, &roll);
	return roll < noise->delayed_ppm;
}

u64 ssd_noise_show(struct ssd_noise *noise, u64 took)
{
	u64 shown = took;

	if (noise->spread_ppm)
		shown = spread(noise, shown);
	if (is_delayed(noise))
		shown += noise->delay_ns * negative_log(ssd_dice(noise->seed, noise->commands,
								 DRAW_DELAY)) >> ONE_SHIFT;
	noise->commands++;
	return shown;
}

static bool is_silent(const struct ssd_noise *noise)
{
	return !noise->spread_ppm && !noise->delayed_ppm;
}

u64 ssd_noise_arrive(struct ssd_noise *noise, u64 now)
{
	const s64 drive = (s64)now - noise->lag;

	if (is_silent(noise))
		return now;
	if (drive > (s64)noise->drive_now)
		noise->drive_now = drive;
	return noise->drive_now;
}

u64 ssd_noise_complete(struct ssd_noise *noise, u64 now, u64 end)
{
	u64 seen;

	if (is_silent(noise))
		return end;
	seen = now + ssd_noise_show(noise, end - noise->drive_now);
	noise->lag = (s64)(seen - end);
	return seen;
}
