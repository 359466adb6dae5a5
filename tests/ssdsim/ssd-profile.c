// SPDX-License-Identifier: GPL-2.0-only
/* Parsing and checking of drive descriptions. See ssd-profile.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "ssd-profile.h"

static const char * const log_association_words[] = { "block", "full", NULL };
static const char * const log_victim_words[] = { "lru", "fifo", NULL };
static const char * const power_loss_words[] = { "unflushed", "buffered", NULL };
static const char * const ftl_words[] = { "log", "page", NULL };
static const char * const firmware_words[] = { "serial", "parallel", NULL };
static const char * const buffer_order_words[] = { "fifo", "lru", NULL };
static const char * const buffer_drain_words[] = { "empty", "room", NULL };
static const char * const buffer_match_words[] = { "tail", "all", NULL };

/* A key takes either a number in [min, max] or one of some words. */
struct profile_key {
	const char *name;
	size_t offset;
	u32 min;
	u32 max;
	const char * const *words;
};

#define NUMBER(field, low, high) \
	{ #field, offsetof(struct ssd_profile, field), low, high, NULL }
#define WORD(field, list) \
	{ #field, offsetof(struct ssd_profile, field), 0, 0, list }

static const struct profile_key profile_keys[] = {
	NUMBER(capacity_mb, 8, 1024 * 1024),
	NUMBER(scale, 1, 1024),
	NUMBER(channels, 1, 64),
	NUMBER(planes, 1, 8),
	NUMBER(ways, 1, 64),
	NUMBER(die_sets, 1, 256),
	NUMBER(channel_sets, 1, 64),
	NUMBER(page_bytes, 512, 65536),
	NUMBER(spare_bytes, 0, 8192),
	NUMBER(block_pages, 4, 4096),
	NUMBER(read_ns, 0, 10000000),
	NUMBER(program_ns, 0, 100000000),
	NUMBER(program_slow_ns, 0, 100000000),
	NUMBER(erase_ns, 0, 1000000000),
	NUMBER(bus_read_ps, 0, 1000000),
	NUMBER(bus_write_ps, 0, 1000000),
	NUMBER(copyback, 0, 1),
	WORD(firmware, firmware_words),
	WORD(ftl, ftl_words),
	NUMBER(overprovision_ppm, 0, 900000),
	NUMBER(gc_threshold_ppm, 0, 900000),
	NUMBER(erase_on_open, 0, 1),
	NUMBER(map_cache_pages, 0, 1000000),
	NUMBER(slc_mb, 0, 1024 * 1024),
	NUMBER(slc_program_ns, 0, 100000000),
	NUMBER(log_blocks, 0, 32768),
	NUMBER(log_ppm, 0, 1000000),
	WORD(log_association, log_association_words),
	WORD(log_victim, log_victim_words),
	NUMBER(log_restart, 0, 1),
	NUMBER(read_buffer_kb, 0, 16384),
	NUMBER(partial_read, 0, 1),
	NUMBER(partial_update, 0, 1),
	NUMBER(prefetch_pages, 0, 64),
	NUMBER(write_buffer_kb, 4, 2048),
	WORD(write_buffer_match, buffer_match_words),
	WORD(write_buffer_order, buffer_order_words),
	WORD(write_buffer_drain, buffer_drain_words),
	NUMBER(write_buffer_idle_us, 0, 10000000),
	NUMBER(write_buffer_through, 0, 1),
	NUMBER(write_cache, 0, 1),
	NUMBER(command_ns, 0, 100000000),
	NUMBER(host_read_ns, 0, 100000000),
	NUMBER(interface_mb_s, 1, 20000),
	NUMBER(queue_depth, 1, 256),
	NUMBER(max_request_kb, 4, 16384),
	NUMBER(noise_ppm, 0, 300000),
	NUMBER(interference_ppm, 0, 1000000),
	NUMBER(interference_us, 0, 1000000),
	NUMBER(noise_seed, 0, 4294967295U),
	NUMBER(fua, 0, 1),
	NUMBER(discard, 0, 1),
	NUMBER(prefill, 0, 1),
	NUMBER(track_volatile, 0, 1),
	WORD(power_loss, power_loss_words),
	NUMBER(lies_about_flush, 0, 1),
	NUMBER(report_write_through, 0, 1),
	NUMBER(check, 0, 1),
};

void ssd_profile_init(struct ssd_profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	strcpy(profile->name, "ssdsim0");
	profile->capacity_mb = 256;
	profile->scale = 1;
	profile->channels = 1;
	profile->planes = 1;
	profile->ways = 1;
	profile->die_sets = 1;
	profile->channel_sets = 1;
	profile->page_bytes = 4096;
	profile->spare_bytes = 128;
	profile->block_pages = 64;
	profile->read_ns = 25000;
	profile->program_ns = 200000;
	profile->erase_ns = 1500000;
	profile->bus_read_ps = 25000;
	profile->bus_write_ps = 25000;
	profile->copyback = 1;
	profile->overprovision_ppm = 70000;
	profile->gc_threshold_ppm = 30000;
	profile->log_ppm = 20000;
	profile->write_buffer_kb = 128;
	profile->write_buffer_idle_us = 1000;
	profile->write_cache = 1;
	profile->command_ns = 20000;
	profile->interface_mb_s = 250;
	profile->queue_depth = 1;
	profile->max_request_kb = 512;
	profile->discard = 1;
	profile->prefill = 1;
}

static u32 *key_value(const struct profile_key *key, struct ssd_profile *profile)
{
	return (u32 *)((char *)profile + key->offset);
}

static const struct profile_key *find_key(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(profile_keys); i++) {
		const struct profile_key *key = &profile_keys[i];

		if (strlen(key->name) == length && !memcmp(key->name, name, length))
			return key;
	}
	return NULL;
}

/* A decimal number that is the whole of @text, or -EINVAL. */
static int parse_number(const char *text, size_t length, u32 *value)
{
	u64 number = 0;
	size_t i;

	if (!length || length > 10)
		return -EINVAL;
	for (i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		number = number * 10 + (text[i] - '0');
	}
	if (number > 0xffffffffULL)
		return -EINVAL;
	*value = number;
	return 0;
}

static int set_word(const struct profile_key *key, u32 *value, const char *text,
		    size_t length, char *error, size_t size)
{
	int used, i;

	for (i = 0; key->words[i]; i++) {
		if (strlen(key->words[i]) == length && !memcmp(key->words[i], text, length)) {
			*value = i;
			return 0;
		}
	}
	used = scnprintf(error, size, "%s=%.*s is not known; use one of:", key->name,
			 (int)length, text);
	for (i = 0; key->words[i]; i++)
		used += scnprintf(error + used, size - used, " %s", key->words[i]);
	return -EINVAL;
}

static int set_key(struct ssd_profile *profile, const struct profile_key *key,
		   const char *text, size_t length, char *error, size_t size)
{
	u32 *value = key_value(key, profile);
	u32 number;

	if (key->words)
		return set_word(key, value, text, length, error, size);
	if (parse_number(text, length, &number) || number < key->min || number > key->max) {
		scnprintf(error, size, "%s=%.*s is out of range; give a whole number from %u to %u",
			  key->name, (int)length, text, key->min, key->max);
		return -EINVAL;
	}
	*value = number;
	return 0;
}

/* The name becomes a device node: letters, digits, "-" and "_" only. */
static int set_name(struct ssd_profile *profile, const char *text, size_t length,
		    char *error, size_t size)
{
	size_t i;

	for (i = 0; i < length; i++) {
		char c = text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || c == '-' || c == '_'))
			break;
	}
	if (!length || i < length || length >= SSD_NAME_LENGTH) {
		scnprintf(error, size,
			  "name=%.*s is no device name; give 1 to %d letters, digits, '-' or '_'",
			  (int)length, text, SSD_NAME_LENGTH - 1);
		return -EINVAL;
	}
	memcpy(profile->name, text, length);
	profile->name[length] = '\0';
	return 0;
}

static int parse_word(struct ssd_profile *profile, const char *word, size_t length,
		      char *error, size_t size)
{
	const char *equals = memchr(word, '=', length);
	const struct profile_key *key;
	size_t key_length, rest;

	if (!equals) {
		scnprintf(error, size, "'%.*s' has no value; write it as key=value",
			  (int)length, word);
		return -EINVAL;
	}
	key_length = equals - word;
	rest = length - key_length - 1;
	if (key_length == 4 && !memcmp(word, "name", 4))
		return set_name(profile, equals + 1, rest, error, size);

	key = find_key(word, key_length);
	if (!key) {
		scnprintf(error, size,
			  "'%.*s' is not a key of a drive profile; ssd-profile.h lists them",
			  (int)key_length, word);
		return -EINVAL;
	}
	return set_key(profile, key, equals + 1, rest, error, size);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int ssd_profile_parse(struct ssd_profile *profile, const char *text,
		      char *error, size_t size)
{
	while (*text) {
		size_t length = 0;
		int r;

		if (is_space(*text)) {
			text++;
			continue;
		}
		if (*text == '#') {
			while (*text && *text != '\n')
				text++;
			continue;
		}
		while (text[length] && !is_space(text[length]))
			length++;
		r = parse_word(profile, text, length, error, size);
		if (r)
			return r;
		text += length;
	}
	return 0;
}

/* The log pool: given outright or as a share of the data blocks. */
static u32 log_block_count(const struct ssd_profile *profile, u32 data_blocks)
{
	u32 share;

	if (profile->log_blocks)
		return profile->log_blocks;
	share = div_u64((u64)data_blocks * profile->log_ppm + 500000, 1000000);
	return share < 2 ? 2 : share;
}

/*
 * Copies stay within a die set, so every set needs blocks to spare: twice its
 * even share of the log blocks, since the open ones need not spread evenly,
 * and one for the copy of a merge.
 */
static u32 hybrid_block_count(const struct ssd_profile *profile, u32 data_blocks,
			      u32 log_blocks)
{
	u32 data_share = DIV_ROUND_UP(data_blocks, profile->die_sets);
	u32 log_share = DIV_ROUND_UP(log_blocks, profile->die_sets);

	return (data_share + 2 * log_share + 1) * profile->die_sets;
}

/*
 * Page mapping: the share to spare, but for each die set at least what garbage
 * collection needs: the blocks being filled by the host and by copies, one
 * erased block, and two blocks' worth of garbage to be found.
 */
static u32 page_block_count(const struct ssd_profile *profile, u32 data_blocks)
{
	u32 blocks = div_u64((u64)data_blocks * 1000000, 1000000 - profile->overprovision_ppm);
	u32 data_share = DIV_ROUND_UP(data_blocks, profile->die_sets);
	u32 share = DIV_ROUND_UP(blocks, profile->die_sets);

	return max(share, data_share + 5) * profile->die_sets;
}

/* Clustered pages of a map with four bytes for each page. */
static u32 map_page_count(const struct ssd_profile *profile, const struct ssd_geometry *geometry)
{
	if (!profile->map_cache_pages)
		return 0;
	return DIV_ROUND_UP(geometry->pages, geometry->page_sectors * 128);
}

/* Blocks that hold half of what others do, the same number in each die set. */
static u32 slc_block_count(const struct ssd_profile *profile, const struct ssd_geometry *geometry)
{
	u64 sectors = div_u64((u64)profile->slc_mb << 11, profile->scale);
	u32 block_sectors = geometry->rows / 2 * profile->ways * geometry->page_sectors;
	u32 blocks = div_u64(sectors + block_sectors - 1, block_sectors);

	return DIV_ROUND_UP(blocks, profile->die_sets) * profile->die_sets;
}

static void count_blocks(const struct ssd_profile *profile, struct ssd_geometry *geometry)
{
	geometry->log_blocks = 0;
	geometry->slc_blocks = slc_block_count(profile, geometry);
	geometry->map_pages = map_page_count(profile, geometry);
	geometry->map_cache_pages = DIV_ROUND_UP(profile->map_cache_pages, profile->scale);
	if (profile->ftl == SSD_FTL_PAGE) {
		u32 map_blocks = DIV_ROUND_UP(geometry->map_pages, geometry->block_pages);

		geometry->total_blocks = page_block_count(profile,
							  geometry->data_blocks + map_blocks) +
					 geometry->slc_blocks;
		return;
	}
	geometry->log_blocks = log_block_count(profile, geometry->data_blocks);
	geometry->total_blocks = hybrid_block_count(profile, geometry->data_blocks,
						    geometry->log_blocks);
}

/* Keys that contradict each other. */
static int check_keys(const struct ssd_profile *profile, char *error, size_t size)
{
	if (profile->map_cache_pages && profile->ftl != SSD_FTL_PAGE) {
		scnprintf(error, size,
			  "map_cache_pages=%u needs a map of pages; give ftl=page with it, or 0",
			  profile->map_cache_pages);
		return -EINVAL;
	}
	if (profile->erase_on_open && profile->ftl != SSD_FTL_PAGE) {
		scnprintf(error, size,
			  "erase_on_open=1 is for a map of pages; give ftl=page with it, or 0");
		return -EINVAL;
	}
	if (profile->slc_mb && profile->ftl != SSD_FTL_PAGE) {
		scnprintf(error, size,
			  "slc_mb=%u needs a map of pages; give ftl=page with it, or 0",
			  profile->slc_mb);
		return -EINVAL;
	}
	if (profile->slc_mb && !profile->slc_program_ns) {
		scnprintf(error, size,
			  "slc_mb=%u needs the time of its programs; give slc_program_ns with it",
			  profile->slc_mb);
		return -EINVAL;
	}
	if (profile->slc_mb > profile->capacity_mb) {
		scnprintf(error, size,
			  "slc_mb=%u is more than capacity_mb=%u; an area that holds the whole drive is no cache",
			  profile->slc_mb, profile->capacity_mb);
		return -EINVAL;
	}
	if (profile->log_association == SSD_LOG_ASSOCIATION_FULL && profile->log_blocks == 1) {
		scnprintf(error, size,
			  "log_association=full needs a sequential and a random log block; make log_blocks at least 2, or 0");
		return -EINVAL;
	}
	if (profile->prefetch_pages && !profile->read_buffer_kb) {
		scnprintf(error, size,
			  "prefetch_pages=%u has nowhere to go; give read_buffer_kb with it, or 0",
			  profile->prefetch_pages);
		return -EINVAL;
	}
	if (profile->track_volatile && (profile->noise_ppm || profile->interference_ppm)) {
		scnprintf(error, size,
			  "track_volatile=1 needs one clock for host and drive; give noise_ppm=0 interference_ppm=0 with it");
		return -EINVAL;
	}
	if (profile->channel_sets > profile->die_sets * profile->ways) {
		scnprintf(error, size,
			  "channel_sets=%u is more than die_sets x ways = %u; a bus without a die is of no use",
			  profile->channel_sets, profile->die_sets * profile->ways);
		return -EINVAL;
	}
	return 0;
}

int ssd_profile_geometry(const struct ssd_profile *profile,
			 struct ssd_geometry *geometry, char *error, size_t size)
{
	u32 page_bytes = profile->page_bytes * profile->planes * profile->channels;
	u64 block_bytes, capacity = div_u64((u64)profile->capacity_mb << 20, profile->scale);
	u64 blocks;

	if (page_bytes % 512 || page_bytes > SSD_MAX_PAGE_SECTORS * 512) {
		scnprintf(error, size,
			  "channels x planes x page_bytes is %u bytes; the clustered page must be a multiple of 512 and at most %u",
			  page_bytes, SSD_MAX_PAGE_SECTORS * 512);
		return -EINVAL;
	}
	if (profile->ways * profile->block_pages > 65535) {
		scnprintf(error, size,
			  "ways x block_pages is %u; a clustered block holds at most 65535 pages",
			  profile->ways * profile->block_pages);
		return -EINVAL;
	}
	if (profile->write_buffer_kb * 1024 < page_bytes) {
		scnprintf(error, size,
			  "write_buffer_kb=%u is smaller than the clustered page of %u bytes; make it at least that",
			  profile->write_buffer_kb, page_bytes);
		return -EINVAL;
	}
	block_bytes = (u64)page_bytes * profile->ways * profile->block_pages;
	blocks = div64_u64(capacity, block_bytes);
	if (blocks < 2 || blocks > 1000000) {
		scnprintf(error, size,
			  "capacity_mb=%u with scale=%u gives %llu clustered blocks of %llu bytes; choose them for 2 to 1000000 blocks",
			  profile->capacity_mb, profile->scale, (unsigned long long)blocks,
			  (unsigned long long)block_bytes);
		return -EINVAL;
	}
	geometry->page_sectors = page_bytes >> SSD_SECTOR_SHIFT;
	geometry->rows = profile->block_pages;
	geometry->block_pages = profile->ways * profile->block_pages;
	geometry->data_blocks = blocks;
	if ((u64)geometry->data_blocks * geometry->block_pages > 0xfffffffeULL) {
		scnprintf(error, size,
			  "capacity_mb=%u needs more than 2^32 clustered pages; make the drive smaller or its pages larger",
			  profile->capacity_mb);
		return -EINVAL;
	}
	geometry->pages = geometry->data_blocks * geometry->block_pages;
	geometry->sectors = (u64)geometry->pages * geometry->page_sectors;
	count_blocks(profile, geometry);
	return check_keys(profile, error, size);
}

int ssd_profile_print(const struct ssd_profile *profile, char *text, size_t size)
{
	int used = scnprintf(text, size, "name=%s\n", profile->name);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(profile_keys); i++) {
		const struct profile_key *key = &profile_keys[i];
		u32 value = *key_value(key, (struct ssd_profile *)profile);

		if (key->words)
			used += scnprintf(text + used, size - used, "%s=%s\n", key->name,
					  key->words[value]);
		else
			used += scnprintf(text + used, size - used, "%s=%u\n", key->name, value);
	}
	return used;
}
