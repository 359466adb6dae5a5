// SPDX-License-Identifier: GPL-2.0-only
/* The controller of an emulated drive. See ssd-drive.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "ssd-drive.h"

/* The part of a command that lies in one clustered page. */
struct page_part {
	u32 page;
	u32 first;
	u32 sectors;
};

static u64 interface_ns(const struct ssd_drive *drive, u32 sectors)
{
	return div_u64((u64)sectors * 512 * 1000, drive->profile.interface_mb_s);
}

static struct page_part part_at(const struct ssd_drive *drive, u64 sector, u32 sectors)
{
	struct page_part part;

	part.page = div_u64_rem(sector, drive->geometry.page_sectors, &part.first);
	part.sectors = min(sectors, drive->geometry.page_sectors - part.first);
	return part;
}

static void count_busy(struct ssd_drive *drive, u64 start, u64 end)
{
	start = max(start, drive->busy_until);
	if (end <= start)
		return;
	drive->counters.busy_ns += end - start;
	drive->busy_until = end;
}

/*
 * Tell which sectors of the oldest entry become durable: all but those of which
 * a newer version is buffered.
 */
static void tell_durable(struct ssd_drive *drive)
{
	const struct ssd_write_buffer *buffer = &drive->write_buffer;
	const struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, 0);
	u64 base = (u64)entry->page * drive->geometry.page_sectors;
	DECLARE_BITMAP(sectors, SSD_MAX_PAGE_SECTORS);
	unsigned int first, end;
	u32 age;

	if (!drive->events || !drive->events->durable)
		return;
	bitmap_copy(sectors, entry->sectors, buffer->page_sectors);
	for (age = 1; age < buffer->count; age++) {
		const struct ssd_write_entry *newer = ssd_write_buffer_at(buffer, age);

		if (newer->page == entry->page)
			bitmap_andnot(sectors, sectors, newer->sectors, buffer->page_sectors);
	}
	for (first = find_first_bit(sectors, buffer->page_sectors);
	     first < buffer->page_sectors;
	     first = find_next_bit(sectors, buffer->page_sectors, end)) {
		end = find_next_zero_bit(sectors, buffer->page_sectors, first);
		drive->events->durable(drive->context, base + first, end - first);
	}
}

static bool is_serial(const struct ssd_drive *drive)
{
	return drive->profile.firmware == SSD_FIRMWARE_SERIAL;
}

/* The firmware waited for something until @time. */
static void firmware_waited(struct ssd_drive *drive, u64 time)
{
	if (is_serial(drive))
		drive->firmware_free = max(drive->firmware_free, time);
}

/* Where a page is. Moves *time on if the map must be read for that. */
static bool find_page(struct ssd_drive *drive, u32 page, struct ssd_place *place, u64 *time)
{
	if (drive->ftl->ops->resolve)
		*time = drive->ftl->ops->resolve(drive->ftl, page, *time);
	return drive->ftl->ops->lookup(drive->ftl, page, place);
}

/*
 * Complete a part of a mapped page by reading the rest, not before @start. Returns
 * when all of the page is there.
 */
static u64 complete_entry(struct ssd_drive *drive, struct ssd_write_entry *entry, u64 start)
{
	struct ssd_place place;

	if (entry->count == drive->geometry.page_sectors || drive->profile.partial_update)
		return start;
	if (!entry->completed) {
		entry->completed = true;
		entry->rest_ready = start;
		if (find_page(drive, entry->page, &place, &entry->rest_ready)) {
			entry->rest_ready = ssd_nand_read(&drive->nand, &place, entry->page,
							  entry->rest_ready);
			drive->counters.rmw_reads++;
		}
	}
	return max(start, entry->rest_ready);
}

/* When the firmware can begin with the oldest entry, not before @start. */
static u64 drain_start(struct ssd_drive *drive, u64 start)
{
	const struct ssd_write_entry *oldest = ssd_write_buffer_at(&drive->write_buffer, 0);

	start = max3(start, drive->firmware_free, oldest->ready);
	if (!is_serial(drive) && drive->ftl->ops->ready)
		start = max(start, drive->ftl->ops->ready(drive->ftl));
	return start;
}

static bool has_older(const struct ssd_write_buffer *buffer, u32 page, u32 age)
{
	while (age--) {
		if (ssd_write_buffer_at(buffer, age)->page == page)
			return true;
	}
	return false;
}

/*
 * A firmware that works on all dies does not let them wait for an entry whose rest is
 * still being read: it goes on with the oldest one that is complete at @time. (Entries
 * whose reading has not begun come in their turn.)
 */
static void prefer_complete(struct ssd_drive *drive, u64 time)
{
	struct ssd_write_buffer *buffer = &drive->write_buffer;
	u32 age;

	for (age = 0; age < buffer->count; age++) {
		const struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, age);

		if (entry->completed && entry->rest_ready > time)
			continue;
		if (entry->ready <= time && !has_older(buffer, entry->page, age)) {
			ssd_write_buffer_prefer(buffer, age);
			return;
		}
	}
}

/* Send the oldest entry to the NAND, not before @start. Returns when its data have left. */
static u64 drain_entry(struct ssd_drive *drive, u64 start)
{
	struct ssd_write_entry *entry;
	u64 time;

	start = drain_start(drive, start);
	if (!is_serial(drive))
		prefer_complete(drive, start);
	entry = ssd_write_buffer_at(&drive->write_buffer, 0);
	time = complete_entry(drive, entry, start);
	time = drive->ftl->ops->write(drive->ftl, entry->page, time);
	tell_durable(drive);
	ssd_write_buffer_take(&drive->write_buffer, time);
	firmware_waited(drive, time);
	count_busy(drive, start, time);
	return time;
}

/* The newest entry waits for more sectors of its page as long as it can. */
static bool may_drain(const struct ssd_drive *drive)
{
	const struct ssd_write_buffer *buffer = &drive->write_buffer;

	return buffer->count > 1 ||
	       (buffer->count == 1 &&
		ssd_write_buffer_at(buffer, 0)->count == drive->geometry.page_sectors);
}

static void start_draining(struct ssd_drive *drive, u64 time)
{
	if (drive->draining || drive->profile.write_buffer_drain == SSD_BUFFER_DRAIN_ROOM)
		return;
	drive->draining = true;
	drive->drain_from = time;
}

/* What the layer does by itself before @now. */
static void run_background(struct ssd_drive *drive, u64 now)
{
	struct ssd_ftl *ftl = drive->ftl;

	if (ftl->ops->background)
		firmware_waited(drive, ftl->ops->background(ftl, drive->firmware_free, now));
}

/* The background work that begins before @now. */
static void catch_up(struct ssd_drive *drive, u64 now)
{
	while (drive->draining && may_drain(drive)) {
		if (drain_start(drive, drive->drain_from) >= now)
			break;
		drain_entry(drive, drive->drain_from);
	}
	if (!may_drain(drive))
		drive->draining = false;
	run_background(drive, now);
	ssd_write_buffer_settle(&drive->write_buffer, now);
}

/* Drain until @sectors fit. Returns the time they do. */
static u64 make_room(struct ssd_drive *drive, u32 sectors, u64 time)
{
	struct ssd_write_buffer *buffer = &drive->write_buffer;

	ssd_write_buffer_settle(buffer, time);
	while (buffer->used + sectors > buffer->capacity) {
		start_draining(drive, time);
		if (buffer->used - buffer->leaving + sectors > buffer->capacity) {
			drain_entry(drive, time);
			continue;
		}
		time = max(time, ssd_write_buffer_next_left(buffer));
		ssd_write_buffer_settle(buffer, time);
	}
	return time;
}

/* Drain everything. Returns the time all of it is programmed. */
static u64 drain_all(struct ssd_drive *drive, u64 time)
{
	while (drive->write_buffer.count)
		drain_entry(drive, time);
	return max(time, drive->nand.programmed_at);
}

/*
 * Begin a command. It waits for the one before, with command queueing only until that
 * one is decoded. Returns when its data may move.
 */
static u64 begin_command(struct ssd_drive *drive, u64 now)
{
	u64 start = max(now, drive->host_free);
	u64 idle = drive->last_end + drive->profile.write_buffer_idle_us * 1000ULL;

	if (start > idle)
		start_draining(drive, idle);
	catch_up(drive, start);
	drive->host_free = start + drive->profile.command_ns;
	return drive->host_free;
}

static u64 end_command(struct ssd_drive *drive, u64 now, u64 end)
{
	count_busy(drive, now, end);
	drive->last_end = max(drive->last_end, end);
	if (drive->profile.queue_depth == 1)
		drive->host_free = end;
	return end;
}

/* Move sectors over the interface, not before @start. Returns when that is done. */
static u64 transfer(struct ssd_drive *drive, u32 sectors, u64 start)
{
	u64 length = interface_ns(drive, sectors);

	return ssd_bus_reserve(&drive->link, start, length) + length;
}

/*
 * The entry before the newest one gets no more sectors from the tail. A firmware that
 * works on all dies completes it now, so that no die waits for that later.
 */
static void complete_ahead(struct ssd_drive *drive, u64 time)
{
	struct ssd_write_buffer *buffer = &drive->write_buffer;

	if (!is_serial(drive) && buffer->count > 1)
		complete_entry(drive, ssd_write_buffer_at(buffer, buffer->count - 2), time);
}

/* Take one part into the buffer. Returns when it has arrived. */
static u64 buffer_part(struct ssd_drive *drive, struct page_part part, u64 time)
{
	struct ssd_write_buffer *buffer = &drive->write_buffer;
	u32 need;

	catch_up(drive, time);
	need = ssd_write_buffer_need(buffer, part.page, part.first, part.sectors);
	time = make_room(drive, need, time);
	/* Making room may have drained the entry that was to take the part. */
	if (ssd_write_buffer_need(buffer, part.page, part.first, part.sectors) != need)
		time = make_room(drive, part.sectors, time);
	time = transfer(drive, part.sectors, time);
	drive->counters.write_buffer_merges +=
		ssd_write_buffer_add(buffer, part.page, part.first, part.sectors, time);
	complete_ahead(drive, time);
	ssd_read_buffer_forget(&drive->read_buffer, part.page);
	return time;
}

/* Does the firmware take a write for one that it cannot buffer? */
static bool goes_through(const struct ssd_drive *drive, u32 sectors)
{
	return drive->profile.write_buffer_through && sectors > drive->write_buffer.capacity;
}

u64 ssd_drive_write(struct ssd_drive *drive, u64 now, u64 sector, u32 sectors, bool fua)
{
	bool drains = fua || !drive->profile.write_cache || goes_through(drive, sectors);
	u64 time = begin_command(drive, now);

	drive->counters.writes++;
	drive->counters.write_bytes += (u64)sectors << SSD_SECTOR_SHIFT;
	while (sectors) {
		struct page_part part = part_at(drive, sector, sectors);

		time = buffer_part(drive, part, time);
		if (drive->events)
			drive->events->arrived(drive->context, sector, part.sectors);
		sector += part.sectors;
		sectors -= part.sectors;
	}
	if (drains)
		time = drain_all(drive, time);
	return end_command(drive, now, time);
}

u64 ssd_drive_flush(struct ssd_drive *drive, u64 now)
{
	u64 time = begin_command(drive, now);

	drive->counters.flushes++;
	return end_command(drive, now, drain_all(drive, time));
}

/*
 * struct fetched - when a part of a read is in the drive's RAM.
 * @first: its first NAND pages are; the interface can begin with them
 * @all: all of it is
 */
struct fetched {
	u64 first;
	u64 all;
};

/* Where one part of a read comes from: RAM at once, or the NAND not before @start. */
static struct fetched fetch_part(struct ssd_drive *drive, struct page_part part, u64 start)
{
	struct ssd_read_buffer *buffer = &drive->read_buffer;
	struct fetched fetched = { 0, 0 };
	struct ssd_place place;
	u32 rounds;

	if (ssd_write_buffer_covers(&drive->write_buffer, part.page, part.first,
				    part.sectors)) {
		drive->counters.write_buffer_hits++;
		return fetched;
	}
	if (ssd_read_buffer_has(buffer, part.page, part.first, part.sectors, &fetched.all)) {
		fetched.first = fetched.all;
		drive->counters.read_buffer_hits++;
		return fetched;
	}
	fetched.all = 0;
	if (!find_page(drive, part.page, &place, &start))
		return fetched;
	rounds = drive->profile.partial_read ?
		 ssd_read_buffer_units(buffer, part.first, part.sectors) : drive->profile.planes;
	fetched.all = ssd_nand_read_part(&drive->nand, &place, part.page, rounds, start,
					 &fetched.first);
	drive->counters.page_reads++;
	ssd_read_buffer_add(buffer, part.page, part.first, part.sectors, fetched.all);
	firmware_waited(drive, fetched.all);
	return fetched;
}

/* Read the pages behind @page into the read buffer, unless they are there. */
static void fetch_ahead(struct ssd_drive *drive, u32 page, u64 start)
{
	u32 page_sectors = drive->geometry.page_sectors;
	u32 end = min(page + 1 + drive->profile.prefetch_pages, drive->geometry.pages);

	for (page++; page < end; page++) {
		struct ssd_place place;
		u64 time = start;

		if (ssd_read_buffer_has(&drive->read_buffer, page, 0, page_sectors, &time))
			continue;
		time = start;
		if (!find_page(drive, page, &place, &time))
			continue;
		time = ssd_nand_read(&drive->nand, &place, page, time);
		drive->counters.prefetch_reads++;
		ssd_read_buffer_add(&drive->read_buffer, page, 0, page_sectors, time);
		firmware_waited(drive, time);
	}
}

u64 ssd_drive_read(struct ssd_drive *drive, u64 now, u64 sector, u32 sectors)
{
	u64 time = begin_command(drive, now);
	u64 nand_start = max(time, drive->firmware_free) + drive->profile.host_read_ns;
	u32 round_sectors = drive->geometry.page_sectors / drive->profile.planes;
	struct page_part part;

	drive->counters.reads++;
	drive->counters.read_bytes += (u64)sectors << SSD_SECTOR_SHIFT;
	while (sectors) {
		struct fetched fetched;

		/* The NAND reads ahead of the interface within the command. */
		part = part_at(drive, sector, sectors);
		fetched = fetch_part(drive, part, nand_start);
		time = transfer(drive, part.sectors, max(time, fetched.first));
		time = max(time, fetched.all + interface_ns(drive, min(part.sectors,
								       round_sectors)));
		sector += part.sectors;
		sectors -= part.sectors;
	}
	if (drive->profile.prefetch_pages)
		fetch_ahead(drive, part.page, nand_start);
	return end_command(drive, now, time);
}

bool ssd_drive_whole_pages(const struct ssd_drive *drive, u64 *sector, u64 *sectors)
{
	u32 page_sectors = drive->geometry.page_sectors;
	u64 first = div_u64(*sector + page_sectors - 1, page_sectors);
	u64 end = div_u64(*sector + *sectors, page_sectors);

	if (first >= end)
		return false;
	*sector = first * page_sectors;
	*sectors = (end - first) * page_sectors;
	return true;
}

u64 ssd_drive_discard(struct ssd_drive *drive, u64 now, u64 sector, u64 sectors)
{
	u64 time = begin_command(drive, now);
	u32 page, end;

	drive->counters.discards++;
	drive->counters.discard_bytes += sectors << SSD_SECTOR_SHIFT;
	if (!ssd_drive_whole_pages(drive, &sector, &sectors))
		return end_command(drive, now, time);

	time = max(time, drive->firmware_free);
	page = div_u64(sector, drive->geometry.page_sectors);
	end = page + div_u64(sectors, drive->geometry.page_sectors);
	for (; page < end; page++) {
		ssd_write_buffer_forget(&drive->write_buffer, page);
		ssd_read_buffer_forget(&drive->read_buffer, page);
		drive->ftl->ops->discard(drive->ftl, page, time);
	}
	return end_command(drive, now, time);
}

u64 ssd_drive_nothing(struct ssd_drive *drive, u64 now)
{
	return end_command(drive, now, begin_command(drive, now));
}

void ssd_drive_power_cycle(struct ssd_drive *drive, u64 off, u64 on)
{
	run_background(drive, off);
	if (drive->ftl->ops->power_cycle)
		drive->ftl->ops->power_cycle(drive->ftl, on);
	drive->draining = false;
	drive->host_free = on;
	drive->last_end = on;
	drive->link.spans = 0;
	ssd_write_buffer_clear(&drive->write_buffer);
	ssd_read_buffer_clear(&drive->read_buffer);
}

static int create_ftl(struct ssd_drive *drive)
{
	const struct ssd_profile *profile = &drive->profile;

	if (profile->ftl == SSD_FTL_PAGE)
		return ssd_ftl_page_create(profile, &drive->geometry, &drive->nand, &drive->ftl);
	if (profile->log_association == SSD_LOG_ASSOCIATION_FULL)
		return ssd_ftl_fast_create(profile, &drive->geometry, &drive->nand, &drive->ftl);
	return ssd_ftl_log_create(profile, &drive->geometry, &drive->nand, &drive->ftl);
}

static int create_parts(struct ssd_drive *drive)
{
	int r;

	r = ssd_nand_create(&drive->nand, &drive->profile, &drive->geometry);
	if (r)
		return r;
	r = create_ftl(drive);
	if (r)
		return r;
	r = ssd_write_buffer_create(&drive->write_buffer, &drive->profile,
				    drive->geometry.page_sectors);
	if (r)
		return r;
	return ssd_read_buffer_create(&drive->read_buffer, &drive->profile,
				      drive->geometry.page_sectors);
}

int ssd_drive_create(struct ssd_drive **result, const struct ssd_profile *profile,
		     const struct ssd_drive_events *events, void *context,
		     char *error, size_t size)
{
	struct ssd_drive *drive = kvcalloc(1, sizeof(*drive), GFP_KERNEL);
	int r;

	if (!drive) {
		scnprintf(error, size, "no memory for a drive");
		return -ENOMEM;
	}
	drive->profile = *profile;
	drive->events = events;
	drive->context = context;
	r = ssd_profile_geometry(profile, &drive->geometry, error, size);
	if (!r) {
		r = create_parts(drive);
		if (r)
			scnprintf(error, size,
				  "no memory for a drive of %u MiB; make capacity_mb smaller",
				  profile->capacity_mb);
	}
	if (r) {
		ssd_drive_destroy(drive);
		return r;
	}
	*result = drive;
	return 0;
}

void ssd_drive_destroy(struct ssd_drive *drive)
{
	if (drive->ftl)
		drive->ftl->ops->destroy(drive->ftl);
	ssd_nand_destroy(&drive->nand);
	ssd_write_buffer_destroy(&drive->write_buffer);
	ssd_read_buffer_destroy(&drive->read_buffer);
	kvfree(drive);
}

int ssd_drive_check(struct ssd_drive *drive, char *error, size_t size)
{
	const struct ssd_write_buffer *buffer = &drive->write_buffer;
	u32 age, used = buffer->leaving;

	if (drive->nand.violations) {
		scnprintf(error, size, "%llu NAND operations broke a rule",
			  (unsigned long long)drive->nand.violations);
		return -EINVAL;
	}
	for (age = 0; age < buffer->count; age++) {
		const struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, age);

		used += entry->count;
		if (entry->count != bitmap_weight(entry->sectors, buffer->page_sectors))
			used = buffer->capacity + 1;
	}
	if (used != buffer->used || used > buffer->capacity) {
		scnprintf(error, size, "the write buffer counts %u of %u sectors but holds %u",
			  buffer->used, buffer->capacity, used);
		return -EINVAL;
	}
	return drive->ftl->ops->check(drive->ftl, error, size);
}

/* NAND bytes programmed per byte written, in thousandths. */
static u64 write_amplification(const struct ssd_drive *drive)
{
	u64 programmed = drive->nand.programs * drive->geometry.page_sectors *
			 (512 * 1000 / 8);

	if (drive->counters.write_bytes < 8)
		return 0;
	return div64_u64(programmed, drive->counters.write_bytes / 8);
}

static void wear(const struct ssd_nand *nand, u32 *lowest, u32 *highest)
{
	u32 block;

	*lowest = nand->erase_count[0];
	*highest = nand->erase_count[0];
	for (block = 1; block < nand->blocks; block++) {
		*lowest = min(*lowest, nand->erase_count[block]);
		*highest = max(*highest, nand->erase_count[block]);
	}
}

int ssd_drive_print(const struct ssd_drive *drive, char *text, size_t size)
{
	const struct ssd_drive_counters *host = &drive->counters;
	const struct ssd_ftl_counters *ftl = &drive->ftl->counters;
	u64 amplification = write_amplification(drive);
	u32 lowest, highest, fraction;
	const struct {
		const char *key;
		u64 value;
	} lines[] = {
		{ "host_reads", host->reads },
		{ "host_read_bytes", host->read_bytes },
		{ "host_writes", host->writes },
		{ "host_write_bytes", host->write_bytes },
		{ "host_flushes", host->flushes },
		{ "host_discards", host->discards },
		{ "host_discard_bytes", host->discard_bytes },
		{ "read_buffer_hits", host->read_buffer_hits },
		{ "write_buffer_hits", host->write_buffer_hits },
		{ "write_buffer_merges", host->write_buffer_merges },
		{ "page_reads", host->page_reads },
		{ "rmw_reads", host->rmw_reads },
		{ "prefetch_reads", host->prefetch_reads },
		{ "nand_reads", drive->nand.reads },
		{ "nand_programs", drive->nand.programs },
		{ "nand_copies", drive->nand.copies },
		{ "nand_erases", drive->nand.erases },
		{ "nand_violations", drive->nand.violations },
		{ "switch_merges", ftl->switch_merges },
		{ "partial_merges", ftl->partial_merges },
		{ "full_merges", ftl->full_merges },
		{ "merge_copies", ftl->merge_copies },
		{ "gc_blocks", ftl->gc_blocks },
		{ "gc_copies", ftl->gc_copies },
		{ "slc_programs", ftl->slc_programs },
		{ "slc_copies", ftl->slc_copies },
		{ "map_hits", ftl->map_hits },
		{ "map_reads", ftl->map_reads },
		{ "map_writes", ftl->map_writes },
		{ "busy_ns", host->busy_ns },
		{ "page_bytes", drive->geometry.page_sectors * 512 },
		{ "block_bytes", (u64)drive->geometry.page_sectors * 512 *
				 drive->geometry.block_pages },
		{ "log_blocks", drive->geometry.log_blocks },
	};
	int used = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		used += scnprintf(text + used, size - used, "%s %llu\n", lines[i].key,
				  (unsigned long long)lines[i].value);
	wear(&drive->nand, &lowest, &highest);
	amplification = div_u64_rem(amplification, 1000, &fraction);
	used += scnprintf(text + used, size - used,
			  "erase_count_min %u\nerase_count_max %u\nwrite_amplification %llu.%03u\n",
			  lowest, highest, (unsigned long long)amplification, fraction);
	return used;
}

void ssd_drive_reset_counters(struct ssd_drive *drive)
{
	struct ssd_nand *nand = &drive->nand;

	memset(&drive->counters, 0, sizeof(drive->counters));
	memset(&drive->ftl->counters, 0, sizeof(drive->ftl->counters));
	nand->reads = 0;
	nand->programs = 0;
	nand->copies = 0;
	nand->erases = 0;
}
