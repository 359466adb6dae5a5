/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The power switch of an emulated drive: what a cut takes and what survives.
 *
 * With power_loss=unflushed (the default) every sector is at risk from the moment
 * its write or discard is sent until a FLUSH that was sent after the write's
 * completion completes itself, or the write completes if it was FUA or the drive
 * has no write cache. Writes still in flight when a flush is sent are not covered
 * by it. With power_loss=buffered sectors are safe as soon as they are programmed,
 * too; if the drive lies about flushes, only then.
 *
 * At a cut each write at risk is kept, lost, or torn at 512-byte sectors, by dice
 * that are a function of the seed, the number of the cut, the number of the write
 * and the sector only. Commands in flight fail; of a write in flight only the first
 * sectors have arrived. A sector that was overwritten while at risk reads as its
 * newest version or one before, back to the one last safe: a drive may make a
 * version durable at any time.
 *
 * Plain C, no locks: the caller serialises. Times are nanoseconds.
 */
#ifndef SSD_POWER_H
#define SSD_POWER_H

#include <linux/types.h>

#include "ssd-command.h"
#include "ssd-profile.h"
#include "ssd-store.h"

#define SSD_POWER_NEVER		(~0ULL)
#define SSD_POWER_FLUSHES	4

/* What a cut takes of the writes at risk. */
enum ssd_power_fate {
	SSD_FATE_MIX,		/* one of the others, drawn for each cut */
	SSD_FATE_LOST,		/* all lost */
	SSD_FATE_KEPT,		/* all kept, but writes in flight only as far as they got */
	SSD_FATE_WRITES,	/* each write kept, torn or lost */
	SSD_FATE_SECTORS,	/* each sector kept or lost */
	SSD_FATE_ORDER,		/* writes up to one kept, that one torn, later ones lost */
};

/* What a waiting cut counts. */
enum ssd_power_trigger {
	SSD_TRIGGER_NONE,
	SSD_TRIGGER_WRITES,	/* the cut is in the N-th write */
	SSD_TRIGGER_BYTES,	/* once N bytes of writes have arrived */
	SSD_TRIGGER_FLUSHES,	/* in the N-th flush */
	SSD_TRIGGER_DISCARDS,	/* in the N-th discard */
	SSD_TRIGGER_COMMANDS,	/* in the N-th command of any kind */
	SSD_TRIGGER_TIME,	/* N microseconds later */
};

/**
 * struct ssd_power_write - a write or discard in flight.
 * @label: its number
 * @end: it completes then
 * @arrived: sectors that a cut found in the drive; SSD_POWER_NEVER = not decided
 * @durable: it is safe when it completes
 * @hides: it was written over versions at risk that the store does not have any more
 */
struct ssd_power_write {
	u64 label;
	u64 sector;
	u64 sectors;
	u64 end;
	u64 arrived;
	bool durable;
	bool hides;
};

/**
 * struct ssd_power_flush - what a flush covers: writes up to a label, except those
 * that were in flight when it was sent.
 * @end: it completes then
 * @newest: last label it covers
 * @except: @except_count labels
 */
struct ssd_power_flush {
	u64 end;
	u64 newest;
	u32 except_count;
	u64 *except;
};

/** struct ssd_power_program - sectors up to label @newest, safe from @end on. */
struct ssd_power_program {
	u64 sector;
	u64 end;
	u64 newest;
	u32 sectors;
};

/**
 * struct ssd_power_counters - of all cuts since the last reset.
 * @cuts: power cuts
 * @refused: commands that came while the power was off
 * @aborted: writes and discards in flight at a cut
 * @kept_sectors, @lost_sectors: at risk at a cut; known once power is back
 * @tears: places inside a write where a kept sector meets a lost one
 */
struct ssd_power_counters {
	u64 cuts;
	u64 refused;
	u64 aborted;
	u64 kept_sectors;
	u64 lost_sectors;
	u64 tears;
};

/**
 * struct ssd_power - the power of one drive.
 * @tracking: the store tracks, so that the power can be cut
 * @by_flush: flushes make sectors safe
 * @by_program: programming does
 * @on: commands are served
 * @cut_number: cuts since the drive was made
 * @off_since: time of the last one
 * @label: of the newest write; @hides: see struct ssd_power_write
 * @writes: @write_count in flight, of @write_slots
 * @flushes: in flight, in the order they were sent
 * @flushed: the newest flush that completed
 * @exceptions: memory of all "except"
 * @programs: ring of programs that have not ended
 * @trigger, @remaining, @deadline: the waiting cut; @first and @end: it counts only
 *	commands that touch these sectors
 * @seed: of the dice; @fate: what the next cut takes
 */
struct ssd_power {
	struct ssd_store *store;
	u64 capacity;
	bool tracking;
	bool by_flush;
	bool by_program;
	bool on;
	u64 cut_number;
	u64 off_since;
	u64 label;
	bool hides;
	u32 write_slots;
	u32 write_count;
	struct ssd_power_write *writes;
	u32 flush_count;
	struct ssd_power_flush flushes[SSD_POWER_FLUSHES];
	struct ssd_power_flush flushed;
	u64 *exceptions;
	u32 program_head;
	u32 program_count;
	struct ssd_power_program *programs;
	enum ssd_power_trigger trigger;
	u64 remaining;
	u64 deadline;
	u64 first;
	u64 end;
	u64 seed;
	enum ssd_power_fate fate;
	struct ssd_power_counters counters;
};

/** ssd_power_by_program - do programs make sectors of such a drive safe? */
static inline bool ssd_power_by_program(const struct ssd_profile *profile)
{
	return profile->lies_about_flush || profile->power_loss == SSD_POWER_LOSS_BUFFERED;
}

/**
 * ssd_power_create - switched on, nothing at risk.
 * @store: the contents; must outlive @power
 * @capacity: sectors
 *
 * Return: 0 or -ENOMEM. Destroy it in both cases.
 */
int ssd_power_create(struct ssd_power *power, const struct ssd_profile *profile,
		     struct ssd_store *store, u64 capacity);
void ssd_power_destroy(struct ssd_power *power);

/** ssd_power_tick - what has completed by @now is so; cut if the time has come. */
void ssd_power_tick(struct ssd_power *power, u64 now);

/** ssd_power_write_begins - before a write or discard changes the store. */
void ssd_power_write_begins(struct ssd_power *power, u64 sector, u64 sectors);

/**
 * ssd_power_write_ends - the same command: it will complete at @end.
 * @durable: it is safe then
 */
void ssd_power_write_ends(struct ssd_power *power, u64 sector, u64 sectors, u64 end,
			  bool durable);

/** ssd_power_flush - a flush sent now that completes at @end. */
void ssd_power_flush(struct ssd_power *power, u64 end);

/** ssd_power_programmed - the newest version of these sectors is on the NAND at @end. */
void ssd_power_programmed(struct ssd_power *power, u64 sector, u32 sectors, u64 end);

/** ssd_power_count - count a command just served; the cut may be in it. */
void ssd_power_count(struct ssd_power *power, const struct ssd_command *command, u64 now);

/** ssd_power_cut - off, now. Nothing if it is off. */
void ssd_power_cut(struct ssd_power *power, u64 now);

/**
 * ssd_power_settle - off: decide what survived. Nothing if it is on. While the
 * power is off nothing else touches the store, so the lock of the commands is not
 * needed, only one against the other calls for control.
 */
void ssd_power_settle(struct ssd_power *power);

/** ssd_power_restore - on again, after ssd_power_settle(). */
void ssd_power_restore(struct ssd_power *power);

/**
 * ssd_power_control - carry out one of
 *	cut now
 *	cut writes|bytes|flushes|discards|commands|us=N|LOW-HIGH [range=FIRST+SECTORS]
 *	cancel
 * and with any cut [seed=N] [fate=mix|lost|kept|writes|sectors|order]. LOW-HIGH draws
 * a number by the seed. A later cut replaces one that waits.
 * @now: for us=
 * @error: on failure one sentence
 *
 * Return: 0, -EINVAL or -EIO (the power is off).
 */
int ssd_power_control(struct ssd_power *power, const char *text, u64 now,
		      char *error, size_t size);

/** ssd_power_print - state and waiting cut. Return: characters written. */
int ssd_power_print(const struct ssd_power *power, char *text, size_t size);

#endif /* SSD_POWER_H */
