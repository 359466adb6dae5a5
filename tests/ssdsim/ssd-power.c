// SPDX-License-Identifier: GPL-2.0-only
/* What a power cut takes and what survives. See ssd-power.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-power.h"
#include "ssd-words.h"

#define PROGRAM_SLOTS	1024U

/* More writes in flight than the queue holds: those whose answer is on its way. */
#define MORE_WRITES	16

/* What the dice are thrown for. */
enum {
	DICE_ARRIVED,
	DICE_ADVANCE,
	DICE_FATE,
	DICE_PIVOT,
	DICE_WRITE,
	DICE_GRAIN,
};

int ssd_power_create(struct ssd_power *power, const struct ssd_profile *profile,
		     struct ssd_store *store, u64 capacity)
{
	u32 i;

	*power = (struct ssd_power) {
		.store = store,
		.capacity = capacity,
		.tracking = profile->track_volatile,
		.by_flush = !profile->lies_about_flush,
		.by_program = ssd_power_by_program(profile),
		.on = true,
		.write_slots = profile->queue_depth + MORE_WRITES,
		.deadline = SSD_POWER_NEVER,
		.end = capacity,
		.seed = 1,
	};
	power->writes = kvcalloc(power->write_slots, sizeof(*power->writes), GFP_KERNEL);
	power->programs = kvcalloc(PROGRAM_SLOTS, sizeof(*power->programs), GFP_KERNEL);
	power->exceptions = kvcalloc((SSD_POWER_FLUSHES + 1) * power->write_slots,
				     sizeof(u64), GFP_KERNEL);
	if (!power->writes || !power->programs || !power->exceptions)
		return -ENOMEM;
	power->flushed.except = power->exceptions;
	for (i = 0; i < SSD_POWER_FLUSHES; i++)
		power->flushes[i].except = power->exceptions + (i + 1) * power->write_slots;
	return 0;
}

void ssd_power_destroy(struct ssd_power *power)
{
	kvfree(power->writes);
	kvfree(power->programs);
	kvfree(power->exceptions);
}

static bool covers(const struct ssd_power_flush *flush, u64 label)
{
	u32 i;

	if (label > flush->newest)
		return false;
	for (i = 0; i < flush->except_count; i++) {
		if (flush->except[i] == label)
			return false;
	}
	return true;
}

/* Make sectors of a range safe whose newest version has a label in [oldest, newest]. */
static void commit_labels(struct ssd_power *power, u64 sector, u64 sectors, u64 oldest,
			  u64 newest)
{
	u64 end = sector + sectors;

	for (sector = ssd_store_volatile_before(power->store, sector, end); sector < end;
	     sector = ssd_store_volatile_before(power->store, sector + 1, end)) {
		u64 label = ssd_store_volatile_label(power->store, sector);

		if (label >= oldest && label <= newest)
			ssd_store_commit(power->store, sector, 1);
	}
}

static void end_write(struct ssd_power *power, u32 index)
{
	struct ssd_power_write *write = &power->writes[index];

	if (write->durable)
		commit_labels(power, write->sector, write->sectors, write->label, write->label);
	*write = power->writes[--power->write_count];
}

static void swap_flushes(struct ssd_power_flush *a, struct ssd_power_flush *b)
{
	struct ssd_power_flush kept = *a;

	*a = *b;
	*b = kept;
}

/*
 * A flush has completed. It covers all that those sent before it cover, so they are
 * of no interest any more.
 */
static void end_flush(struct ssd_power *power, u32 index)
{
	u32 i, later = power->flush_count - index - 1;

	swap_flushes(&power->flushed, &power->flushes[index]);
	for (i = 0; i < later; i++)
		swap_flushes(&power->flushes[i], &power->flushes[index + 1 + i]);
	power->flush_count = later;
}

static void end_program(struct ssd_power *power)
{
	struct ssd_power_program *program = &power->programs[power->program_head];

	commit_labels(power, program->sector, program->sectors, 0, program->newest);
	power->program_head = (power->program_head + 1) % PROGRAM_SLOTS;
	power->program_count--;
}

/* What has completed by @now. */
static void end_all(struct ssd_power *power, u64 now)
{
	u32 i;

	while (power->program_count && power->programs[power->program_head].end <= now)
		end_program(power);
	for (i = power->flush_count; i--;) {
		if (power->flushes[i].end <= now) {
			end_flush(power, i);
			break;
		}
	}
	for (i = power->write_count; i--;) {
		if (power->writes[i].end <= now)
			end_write(power, i);
	}
}

void ssd_power_tick(struct ssd_power *power, u64 now)
{
	if (!power->on || !power->tracking)
		return;
	end_all(power, now);
	if (power->deadline <= now)
		ssd_power_cut(power, now);
}

/* Is this version of a sector certain to be safe soon, whatever is written over it? */
static bool is_promised(const struct ssd_power *power, u64 sector, u64 label)
{
	u32 i;

	if (covers(&power->flushed, label))
		return true;
	for (i = 0; i < power->flush_count; i++) {
		if (covers(&power->flushes[i], label))
			return true;
	}
	for (i = 0; i < power->write_count; i++) {
		if (power->writes[i].durable && power->writes[i].label == label)
			return true;
	}
	for (i = 0; i < power->program_count; i++) {
		const struct ssd_power_program *program =
			&power->programs[(power->program_head + i) % PROGRAM_SLOTS];

		if (sector >= program->sector && sector < program->sector + program->sectors &&
		    label <= program->newest)
			return true;
	}
	return false;
}

/*
 * The store has room for one old version of a sector. The versions that are about to
 * be overwritten become that one if they must not get lost; else the dice say for
 * all of them whether the drive has made them durable by now, as it may.
 */
void ssd_power_write_begins(struct ssd_power *power, u64 sector, u64 sectors)
{
	u64 end = sector + sectors;
	bool advance;

	if (!power->tracking)
		return;
	power->label++;
	power->hides = false;
	advance = ssd_dice(power->seed, power->label, DICE_ADVANCE) & 1;
	for (sector = ssd_store_volatile_before(power->store, sector, end); sector < end;
	     sector = ssd_store_volatile_before(power->store, sector + 1, end)) {
		u64 label = ssd_store_volatile_label(power->store, sector);

		if (advance || is_promised(power, sector, label))
			ssd_store_commit(power->store, sector, 1);
		else
			power->hides = true;
	}
	ssd_store_label(power->store, power->label);
}

/* No room for one more in flight: that which ends first has ended, which is allowed. */
static void end_first_write(struct ssd_power *power)
{
	u32 i, first = 0;

	for (i = 1; i < power->write_count; i++) {
		if (power->writes[i].end < power->writes[first].end)
			first = i;
	}
	end_write(power, first);
}

void ssd_power_write_ends(struct ssd_power *power, u64 sector, u64 sectors, u64 end,
			  bool durable)
{
	if (!power->tracking)
		return;
	if (power->write_count == power->write_slots)
		end_first_write(power);
	power->writes[power->write_count++] = (struct ssd_power_write) {
		.label = power->label,
		.sector = sector,
		.sectors = sectors,
		.end = end,
		.arrived = SSD_POWER_NEVER,
		.durable = durable,
		.hides = power->hides,
	};
}

void ssd_power_flush(struct ssd_power *power, u64 end)
{
	struct ssd_power_flush *flush;
	u32 i;

	if (!power->tracking || !power->by_flush)
		return;
	if (power->flush_count == SSD_POWER_FLUSHES)
		end_flush(power, 0);
	flush = &power->flushes[power->flush_count++];
	flush->end = end;
	flush->newest = power->label;
	flush->except_count = 0;
	for (i = 0; i < power->write_count; i++) {
		/*
		 * The versions below may be ones that the flush must keep. They are gone,
		 * so it keeps the newer one instead, as it may.
		 */
		if (!power->writes[i].hides)
			flush->except[flush->except_count++] = power->writes[i].label;
	}
}

void ssd_power_programmed(struct ssd_power *power, u64 sector, u32 sectors, u64 end)
{
	u64 next, newest = 0;
	u32 slot;

	if (!power->tracking || !power->by_program)
		return;
	/* A write being served may yet overwrite them, so its label would be too new. */
	for (next = ssd_store_volatile_before(power->store, sector, sector + sectors);
	     next < sector + sectors;
	     next = ssd_store_volatile_before(power->store, next + 1, sector + sectors))
		newest = max(newest, ssd_store_volatile_label(power->store, next));
	if (power->program_count == PROGRAM_SLOTS)
		end_program(power);
	slot = (power->program_head + power->program_count++) % PROGRAM_SLOTS;
	power->programs[slot] = (struct ssd_power_program) {
		.sector = sector,
		.sectors = sectors,
		.end = end,
		.newest = newest,
	};
}

/* By how much a command brings the waiting cut nearer. */
static u64 progress(const struct ssd_power *power, const struct ssd_command *command)
{
	if (command->operation != SSD_FLUSH &&
	    (command->sector >= power->end ||
	     command->sector + command->sectors <= power->first))
		return 0;
	switch (power->trigger) {
	case SSD_TRIGGER_WRITES:
		return command->operation == SSD_WRITE;
	case SSD_TRIGGER_BYTES:
		return command->operation == SSD_WRITE ?
		       command->sectors << SSD_SECTOR_SHIFT : 0;
	case SSD_TRIGGER_FLUSHES:
		return command->operation == SSD_FLUSH;
	case SSD_TRIGGER_DISCARDS:
		return command->operation == SSD_DISCARD;
	case SSD_TRIGGER_COMMANDS:
		return 1;
	default:
		return 0;
	}
}

void ssd_power_count(struct ssd_power *power, const struct ssd_command *command, u64 now)
{
	u64 step;

	if (!power->on || !power->remaining)
		return;
	step = progress(power, command);
	if (step < power->remaining) {
		power->remaining -= step;
		return;
	}
	/* Exactly that many bytes have arrived. */
	if (power->trigger == SSD_TRIGGER_BYTES && power->write_count) {
		struct ssd_power_write *write = &power->writes[power->write_count - 1];

		if (write->label == power->label && write->sector == command->sector)
			write->arrived = power->remaining >> SSD_SECTOR_SHIFT;
	}
	ssd_power_cut(power, now);
}

void ssd_power_cut(struct ssd_power *power, u64 now)
{
	u32 i;

	if (!power->on)
		return;
	end_all(power, now);
	power->on = false;
	power->cut_number++;
	power->off_since = now;
	power->trigger = SSD_TRIGGER_NONE;
	power->remaining = 0;
	power->deadline = SSD_POWER_NEVER;
	power->counters.cuts++;
	power->counters.aborted += power->write_count;
	for (i = 0; i < power->write_count; i++) {
		struct ssd_power_write *write = &power->writes[i];
		u64 dice = ssd_dice(power->seed, write->label, DICE_ARRIVED);

		if (write->arrived == SSD_POWER_NEVER)
			div64_u64_rem(dice, write->sectors + 1, &write->arrived);
	}
}

/* The circumstances of one cut, by which the fate of each sector is decided. */
struct verdict {
	enum ssd_power_fate fate;
	u64 seed;
	u64 pivot;
};

static void prepare_verdict(const struct ssd_power *power, struct verdict *verdict)
{
	static const enum ssd_power_fate mix[] = {
		SSD_FATE_LOST, SSD_FATE_KEPT, SSD_FATE_WRITES, SSD_FATE_WRITES,
		SSD_FATE_WRITES, SSD_FATE_SECTORS, SSD_FATE_ORDER, SSD_FATE_ORDER,
	};
	u64 at_risk = power->label - power->flushed.newest;
	u64 offset;

	verdict->fate = power->fate;
	verdict->seed = ssd_dice(power->seed, power->cut_number, DICE_FATE);
	if (power->fate == SSD_FATE_MIX)
		verdict->fate = mix[ssd_dice(verdict->seed, 0, DICE_FATE) % ARRAY_SIZE(mix)];
	div64_u64_rem(ssd_dice(verdict->seed, 0, DICE_PIVOT), at_risk + 1, &offset);
	verdict->pivot = power->flushed.newest + offset;
}

/* One side of a tear; some tears are fine, some coarse. */
static bool torn_part_survives(const struct verdict *verdict, u64 sector, u64 label)
{
	static const u8 grain_shift[] = { 0, 0, 1, 3 };
	u64 grain = ssd_dice(verdict->seed, label, DICE_GRAIN) % ARRAY_SIZE(grain_shift);
	u64 part = sector >> grain_shift[grain];

	return ssd_dice(verdict->seed ^ label, part, DICE_GRAIN) & 1;
}

static bool survives(const struct ssd_power *power, const struct verdict *verdict,
		     u64 sector, u64 label)
{
	u32 i, roll;

	for (i = 0; i < power->write_count; i++) {
		const struct ssd_power_write *write = &power->writes[i];

		if (write->label == label && sector - write->sector >= write->arrived)
			return false;
	}
	switch (verdict->fate) {
	case SSD_FATE_LOST:
		return false;
	case SSD_FATE_KEPT:
		return true;
	case SSD_FATE_SECTORS:
		return ssd_dice(verdict->seed, sector, DICE_WRITE) & 1;
	case SSD_FATE_ORDER:
		if (label != verdict->pivot)
			return label < verdict->pivot;
		return torn_part_survives(verdict, sector, label);
	default:
		roll = ssd_dice(verdict->seed, label, DICE_WRITE) & 7;
		return roll < 3 || (roll < 6 && torn_part_survives(verdict, sector, label));
	}
}

static void decide_all(struct ssd_power *power)
{
	u64 sector, last_sector = SSD_POWER_NEVER, last_label = 0;
	struct verdict verdict;
	bool last_kept = false;

	prepare_verdict(power, &verdict);
	for (sector = ssd_store_volatile_next(power->store, 0); sector < power->capacity;
	     sector = ssd_store_volatile_next(power->store, sector + 1)) {
		u64 label = ssd_store_volatile_label(power->store, sector);
		bool safe = covers(&power->flushed, label);
		bool kept = safe || survives(power, &verdict, sector, label);

		if (kept)
			ssd_store_commit(power->store, sector, 1);
		else
			ssd_store_revert(power->store, sector);
		if (safe)
			continue;
		power->counters.kept_sectors += kept;
		power->counters.lost_sectors += !kept;
		power->counters.tears += sector == last_sector + 1 && label == last_label &&
					 kept != last_kept;
		last_sector = sector;
		last_label = label;
		last_kept = kept;
	}
}

void ssd_power_settle(struct ssd_power *power)
{
	if (power->on || !power->tracking)
		return;
	decide_all(power);
	power->write_count = 0;
	power->flush_count = 0;
	power->program_count = 0;
	power->flushed.newest = power->label;
	power->flushed.except_count = 0;
}

void ssd_power_restore(struct ssd_power *power)
{
	power->on = true;
}
