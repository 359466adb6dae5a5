// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the profile parser. */
#include <dirent.h>
#include <string.h>

#include "test.h"

static void accepts_words(void)
{
	struct ssd_profile profile;
	char error[256];

	ssd_profile_init(&profile);
	EXPECT(!ssd_profile_parse(&profile,
				  "# comment with=equals\n name=ssd7\tways=2 # rest\r\nways=4 log_victim=fifo",
				  error, sizeof(error)), "refused: %s", error);
	EXPECT(!strcmp(profile.name, "ssd7"), "name is %s", profile.name);
	EXPECT(profile.ways == 4, "the later word must win, ways is %u", profile.ways);
	EXPECT(profile.log_victim == SSD_LOG_VICTIM_FIFO, "log_victim is %u", profile.log_victim);
}

/* Each refused text, and a word its sentence must contain. */
static void refuses_bad_words(void)
{
	static const char * const cases[][2] = {
		{ "ways", "key=value" },
		{ "wways=2", "wways" },
		{ "=2", "not a key" },
		{ "ways=", "1 to 64" },
		{ "ways=0", "1 to 64" },
		{ "ways=65", "1 to 64" },
		{ "ways=2x", "1 to 64" },
		{ "ways=-1", "1 to 64" },
		{ "ways=0x2", "1 to 64" },
		{ "read_ns=4294967297", "read_ns" },
		{ "read_ns=99999999999999999999", "read_ns" },
		{ "log_victim=2", "lru fifo" },
		{ "ftl=hybrid", "log page" },
		{ "scale=0", "1 to 1024" },
		{ "log_association=set", "block full" },
		{ "firmware=fast", "serial parallel" },
		{ "write_buffer_order=random", "fifo lru" },
		{ "write_buffer_drain=never", "empty room" },
		{ "overprovision_ppm=1000000", "900000" },
		{ "log_victim=lr", "lru fifo" },
		{ "name=", "1 to 31" },
		{ "name=a/b", "1 to 31" },
		{ "name=..", "1 to 31" },
		{ "name=abcdefghijklmnopqrstuvwxyzabcdef", "1 to 31" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ssd_profile profile;
		char error[256] = "";

		ssd_profile_init(&profile);
		EXPECT(ssd_profile_parse(&profile, cases[i][0], error, sizeof(error)),
		       "'%s' was accepted", cases[i][0]);
		EXPECT(strstr(error, cases[i][1]), "'%s' said '%s'", cases[i][0], error);
	}
}

static void refuses_bad_geometry(void)
{
	static const char * const cases[][2] = {
		{ "page_bytes=1000", "clustered page" },
		{ "page_bytes=65536 channels=16", "clustered page" },
		{ "ways=64 block_pages=4096", "65535" },
		{ "page_bytes=65536 write_buffer_kb=32", "write_buffer_kb" },
		{ "capacity_mb=8 page_bytes=65536 block_pages=128", "capacity_mb" },
		{ "capacity_mb=64 scale=1024", "scale=1024" },
		{ "capacity_mb=1048576 page_bytes=512 block_pages=4", "capacity_mb" },
		{ "map_cache_pages=4", "ftl=page" },
		{ "slc_mb=16 slc_program_ns=1", "ftl=page" },
		{ "erase_on_open=1", "ftl=page" },
		{ "ftl=page slc_mb=16", "slc_program_ns" },
		{ "ftl=page slc_mb=512 slc_program_ns=1", "capacity_mb=256" },
		{ "prefetch_pages=4", "read_buffer_kb" },
		{ "log_association=full log_blocks=1", "at least 2" },
		{ "channel_sets=2", "die_sets x ways" },
		{ "track_volatile=1 noise_ppm=1", "noise_ppm=0" },
		{ "track_volatile=1 interference_ppm=1", "interference_ppm=0" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ssd_geometry geometry;
		struct ssd_profile profile;
		char error[256] = "";

		ssd_profile_init(&profile);
		EXPECT(!ssd_profile_parse(&profile, cases[i][0], error, sizeof(error)),
		       "'%s': %s", cases[i][0], error);
		EXPECT(ssd_profile_geometry(&profile, &geometry, error, sizeof(error)),
		       "'%s' was accepted", cases[i][0]);
		EXPECT(strstr(error, cases[i][1]), "'%s' said '%s'", cases[i][0], error);
	}
}

static void prints_what_it_reads(void)
{
	struct ssd_profile profile, again;
	char text[4096], error[256];

	load_profile(&profile, "samsung.conf", "name=ssdx log_victim=fifo");
	ssd_profile_print(&profile, text, sizeof(text));
	ssd_profile_init(&again);
	EXPECT(!ssd_profile_parse(&again, text, error, sizeof(error)), "refused: %s", error);
	EXPECT(!memcmp(&profile, &again, sizeof(profile)), "the printed profile differs");
}

static void ships_valid_profiles(void)
{
	DIR *folder = opendir(profile_folder);
	struct dirent *entry;
	int count = 0;

	EXPECT(folder, "cannot open %s", profile_folder);
	while ((entry = readdir(folder))) {
		struct ssd_geometry geometry;
		struct ssd_profile profile;
		char error[256];

		if (!strstr(entry->d_name, ".conf"))
			continue;
		load_profile(&profile, entry->d_name, "");
		EXPECT(!ssd_profile_geometry(&profile, &geometry, error, sizeof(error)),
		       "%s: %s", entry->d_name, error);
		count++;
	}
	closedir(folder);
	EXPECT(count > 0, "no profile in %s", profile_folder);
}

static void scales_the_log(void)
{
	struct ssd_geometry full, part;
	struct ssd_profile profile;
	char error[256];

	load_profile(&profile, "samsung.conf", "");
	EXPECT(!ssd_profile_geometry(&profile, &full, error, sizeof(error)), "%s", error);
	EXPECT(full.page_sectors == 32 && full.block_pages == 256,
	       "clustered page %u sectors, block %u pages", full.page_sectors, full.block_pages);
	EXPECT(full.total_blocks <= 16384, "%u blocks, but 64 GiB have 16384", full.total_blocks);
	profile.capacity_mb /= 16;
	EXPECT(!ssd_profile_geometry(&profile, &part, error, sizeof(error)), "%s", error);
	EXPECT(part.log_blocks == (full.log_blocks + 8) / 16, "%u and %u log blocks",
	       full.log_blocks, part.log_blocks);
}

/* A drive scaled down is as good as one with a smaller capacity, and keeps its ratios. */
static void scales_every_profile(void)
{
	static const struct {
		const char *name;
		u32 scale;
	} cases[] = {
		{ "samsung.conf", 16 }, { "supertalent.conf", 16 }, { "transcend.conf", 16 },
		{ "ocz.conf", 16 }, { "intel.conf", 16 }, { "ssdsim-sc.conf", 2 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = cases[i].name;
		struct ssd_geometry full, part;
		struct ssd_profile profile;
		char error[256];
		double logs, spare;

		load_profile(&profile, name, "");
		EXPECT(!ssd_profile_geometry(&profile, &full, error, sizeof(error)), "%s", error);
		profile.scale = cases[i].scale;
		EXPECT(!ssd_profile_geometry(&profile, &part, error, sizeof(error)), "%s", error);
		EXPECT(part.data_blocks == full.data_blocks / profile.scale &&
		       part.page_sectors == full.page_sectors &&
		       part.block_pages == full.block_pages, "%s: %u of %u blocks", name,
		       part.data_blocks, full.data_blocks);
		logs = (double)full.log_blocks / full.data_blocks * part.data_blocks;
		EXPECT(part.log_blocks > logs - 1 && part.log_blocks < logs + 1,
		       "%s: %u log blocks, not %.1f", name, part.log_blocks, logs);
		spare = (double)full.total_blocks / full.data_blocks * part.data_blocks;
		EXPECT(part.total_blocks > spare * 0.97 && part.total_blocks < spare * 1.03,
		       "%s: %u blocks, not %.1f", name, part.total_blocks, spare);
	}
}

static void scales_the_map_cache(void)
{
	struct ssd_geometry geometry;
	struct ssd_profile profile;
	char error[256];

	load_profile(&profile, "intel.conf", "map_cache_pages=1000 scale=64");
	EXPECT(!ssd_profile_geometry(&profile, &geometry, error, sizeof(error)), "%s", error);
	EXPECT(geometry.map_cache_pages == 16, "%u pages of the map in RAM",
	       geometry.map_cache_pages);
	load_profile(&profile, "sdcard.conf", "scale=8");
	EXPECT(!ssd_profile_geometry(&profile, &geometry, error, sizeof(error)), "%s", error);
	EXPECT(geometry.log_blocks == 2, "%u open allocation units", geometry.log_blocks);
}

/* SC section III: 2 channels, 4 chips on each, 4 dies in each, 4 planes in each. */
static void sc_is_as_published(void)
{
	struct ssd_geometry geometry;
	struct ssd_profile profile;
	char error[256];

	load_profile(&profile, "ssdsim-sc.conf", "");
	EXPECT(!ssd_profile_geometry(&profile, &geometry, error, sizeof(error)), "%s", error);
	EXPECT(profile.channel_sets == 2 && profile.die_sets == 2 * 4 * 4 * 4,
	       "%u channels, %u planes", profile.channel_sets, profile.die_sets);
	EXPECT(geometry.page_sectors == 8 && geometry.block_pages * 4 == 512,
	       "page of %u sectors, block of %u pages", geometry.page_sectors,
	       geometry.block_pages);
	EXPECT(profile.read_ns == 500000 && profile.program_ns == 900000 &&
	       profile.erase_ns == 3500000 && profile.bus_read_ps == 25000 &&
	       profile.bus_write_ps == 25000, "times differ");
	EXPECT(profile.ftl == SSD_FTL_PAGE && profile.gc_threshold_ppm == 100000,
	       "garbage collection differs");
	EXPECT(geometry.data_blocks * 5 == geometry.total_blocks * 4, "%u of %u blocks are data",
	       geometry.data_blocks, geometry.total_blocks);
}

const struct test profile_tests[] = {
	{ "profile words, comments and overrides are read", accepts_words },
	{ "bad profile words are refused with a sentence", refuses_bad_words },
	{ "impossible geometry is refused with a sentence", refuses_bad_geometry },
	{ "a printed profile reads back the same", prints_what_it_reads },
	{ "all shipped profiles are valid", ships_valid_profiles },
	{ "scale keeps the ratios of every profile", scales_every_profile },
	{ "scale divides the map cache, not the open units", scales_the_map_cache },
	{ "profile ssdsim-sc is the drive of SC section III", sc_is_as_published },
	{ "a smaller copy of a drive keeps the share of log blocks", scales_the_log },
	{ NULL, NULL },
};
