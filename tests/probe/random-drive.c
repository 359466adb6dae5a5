// SPDX-License-Identifier: GPL-2.0-only
/* Drives drawn from a seed; see random-drive.h. */
#include <stdio.h>
#include <string.h>

#include "random-drive.h"

#define COUNT(array)		(sizeof(array) / sizeof((array)[0]))
#define ONE_OF(state, array)	((array)[draw(state, COUNT(array))])

/* xorshift64* */
static uint64_t draw(uint64_t *state, uint64_t below)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 2685821657736338717ULL >> 16) % below;
}

static uint64_t between(uint64_t *state, uint64_t low, uint64_t high)
{
	return low + draw(state, high - low + 1);
}

static int chance(uint64_t *state, unsigned int percent)
{
	return draw(state, 100) < percent;
}

/* NAND side by side and one after the other, bytes. */
struct shape {
	unsigned int channels;
	unsigned int planes;
	unsigned int page_bytes;
	unsigned int ways;
	unsigned int block_pages;
	unsigned int page;	/* clustered */
	unsigned int block;	/* clustered */
};

static void draw_shape(uint64_t *state, struct shape *shape)
{
	static const unsigned int channels[] = { 1, 1, 2, 3, 4, 6, 8 };
	static const unsigned int planes[] = { 1, 2, 4, 8 };
	static const unsigned int page_bytes[] = { 4096, 4096, 8192, 16384 };
	static const unsigned int ways[] = { 1, 1, 2, 4, 8 };
	static const unsigned int block_pages[] = { 64, 96, 128, 192, 256 };

	/* Few of the combinations have the largest pages, so they get a share of their own. */
	const unsigned int least = chance(state, 8) ? 256 << 10 : 0;

	do {
		shape->channels = ONE_OF(state, channels);
		shape->planes = ONE_OF(state, planes);
		shape->page_bytes = ONE_OF(state, page_bytes);
		shape->ways = ONE_OF(state, ways);
		shape->block_pages = ONE_OF(state, block_pages);
		shape->page = shape->channels * shape->planes * shape->page_bytes;
		shape->block = shape->page * shape->ways * shape->block_pages;
	} while (shape->page < least || shape->page > 512 << 10 ||
		 shape->block < 512 << 10 || shape->block > 24 << 20);
}

static int add_shape(uint64_t *state, const struct shape *shape, char *text, int size)
{
	const unsigned int sets = 1U << draw(state, 3);
	const unsigned int dies = sets * shape->ways;
	const unsigned int buses = chance(state, 70) ? 1 : between(state, 1, dies);

	return snprintf(text, size,
			"channels=%u planes=%u page_bytes=%u ways=%u block_pages=%u die_sets=%u channel_sets=%u spare_bytes=%u\n",
			shape->channels, shape->planes, shape->page_bytes, shape->ways,
			shape->block_pages, sets, buses, shape->page_bytes / 32);
}

static int add_times(uint64_t *state, char *text, int size)
{
	const unsigned int program = between(state, 200, 900) * 1000;
	const unsigned int slow = chance(state, 40) ? 0 : program / 10 * between(state, 25, 50);

	return snprintf(text, size,
			"read_ns=%u program_ns=%u program_slow_ns=%u erase_ns=%u bus_read_ps=%u bus_write_ps=%u copyback=%u command_ns=%u host_read_ns=%u interface_mb_s=%u\n",
			(unsigned int)between(state, 25, 90) * 1000, program, slow,
			(unsigned int)between(state, 15, 50) * 100000,
			(unsigned int)between(state, 10, 45) * 1000,
			(unsigned int)between(state, 10, 45) * 1000,
			(unsigned int)draw(state, 2), (unsigned int)between(state, 5, 100) * 1000,
			(unsigned int)between(state, 0, 200) * 1000,
			(unsigned int)between(state, 20, 550));
}

static int add_layer(uint64_t *state, char *text, int size)
{
	if (chance(state, 35))
		return snprintf(text, size,
				"ftl=page firmware=%s overprovision_ppm=%u gc_threshold_ppm=%u map_cache_pages=%u\n",
				chance(state, 50) ? "serial" : "parallel",
				(unsigned int)between(state, 40, 200) * 1000,
				(unsigned int)between(state, 5, 30) * 1000,
				chance(state, 15) ? (unsigned int)between(state, 4, 64) : 0);
	return snprintf(text, size,
			"ftl=log log_association=%s firmware=%s log_ppm=%u log_victim=%s log_restart=%u\n",
			chance(state, 15) ? "full" : "block",
			chance(state, 70) ? "serial" : "parallel",
			(unsigned int)between(state, 5, 40) * 1000,
			chance(state, 70) ? "lru" : "fifo", (unsigned int)draw(state, 2));
}

static int add_buffers(uint64_t *state, const struct shape *shape, char *text, int size)
{
	static const unsigned int read_kb[] = {
		0, 0, 64, 128, 256, 512, 768, 1024, 2048, 4096, 8192,
	};
	static const unsigned int write_kb[] = {
		16, 32, 64, 112, 128, 192, 255, 256, 512, 1024, 2048,
	};
	const unsigned int page_kb = shape->page / 1024;
	unsigned int read = ONE_OF(state, read_kb), write = ONE_OF(state, write_kb);
	unsigned int ahead = 0;

	read = read / page_kb * page_kb;
	write = write < page_kb ? page_kb : write;
	if (chance(state, 30) && read / page_kb >= 4)
		ahead = between(state, 1, read / page_kb / 2 < 8 ? read / page_kb / 2 : 8);
	return snprintf(text, size,
			"read_buffer_kb=%u write_buffer_kb=%u prefetch_pages=%u partial_read=%u partial_update=%u write_buffer_match=%s write_buffer_order=%s write_buffer_drain=%s write_buffer_idle_us=%u write_cache=%u\n",
			read, write, ahead, ahead ? 0 : (unsigned int)draw(state, 2),
			chance(state, 10), chance(state, 75) ? "tail" : "all",
			chance(state, 70) ? "fifo" : "lru", chance(state, 80) ? "empty" : "room",
			(unsigned int)between(state, 500, 5000), chance(state, 85));
}

static uint64_t draw_offset(uint64_t *state)
{
	const unsigned int kind = draw(state, 100);

	if (kind < 50)
		return 0;
	if (kind < 75)
		return 1 << 20;
	return kind < 95 ? between(state, 1, 2048) * 4096 : 63 * 512;
}

/* Some drives that map pages have a pseudo-SLC area. */
static int add_fast_area(uint64_t *state, char *text, int size)
{
	return snprintf(text, size, "slc_mb=%u slc_program_ns=%u\n",
			(unsigned int)between(state, 16, 512),
			(unsigned int)between(state, 80, 190) * 1000);
}

/* What is seen of the drive's times, and whether it keeps its promises. */
static int add_noise(uint64_t *state, char *text, int size)
{
	static const unsigned int noise_ppm[] = { 30000, 30000, 100000, 100000, 200000 };
	const unsigned int seed = draw(state, 1ULL << 32), noise = ONE_OF(state, noise_ppm);

	return snprintf(text, size,
			"noise_seed=%u noise_ppm=%u interference_ppm=%u interference_us=%u lies_about_flush=%u\n",
			seed, noise, (unsigned int)draw(state, 31) * 1000,
			(unsigned int)between(state, 2, 20) * 1000, chance(state, 8));
}

void random_drive(uint64_t seed, unsigned int number, char *profile, struct host *host)
{
	static const unsigned int request_kb[] = { 64, 120, 128, 240, 256, 512, 1024 };
	uint64_t state = (seed * 1000003 + number + 1) * 0x9e3779b97f4a7c15ULL;
	char *end = profile + RANDOM_DRIVE_TEXT, *start = profile;
	struct shape shape;
	int i;

	for (i = 0; i < 10; i++)
		draw(&state, 2);
	draw_shape(&state, &shape);
	profile += add_shape(&state, &shape, profile, end - profile);
	profile += add_times(&state, profile, end - profile);
	profile += add_layer(&state, profile, end - profile);
	profile += add_buffers(&state, &shape, profile, end - profile);
	profile += snprintf(profile, end - profile, "capacity_mb=%u max_request_kb=%u\n",
			    (unsigned int)between(&state, 3000, 8000), ONE_OF(&state, request_kb));
	profile += add_noise(&state, profile, end - profile);
	*host = (struct host){
		.host_ns = between(&state, 5, 60) * 1000,
		.offset = draw_offset(&state),
	};
	if (strstr(start, "ftl=page")) {
		if (chance(&state, 40))
			profile += add_fast_area(&state, profile, end - profile);
		snprintf(profile, end - profile, "erase_on_open=%u\n",
			 (unsigned int)draw(&state, 2));
	}
}
