// SPDX-License-Identifier: GPL-2.0-only
/* The whole emulated drive as its host sees it. See ssd-host.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "ssd-host.h"

static void sectors_arrived(void *context, u64 sector, u32 sectors)
{
	struct ssd_host *host = context;

	host->copy(host->context, sector, sectors, true);
}

static void sectors_programmed(void *context, u64 sector, u32 sectors)
{
	struct ssd_host *host = context;

	ssd_power_programmed(&host->power, sector, sectors, host->drive->nand.programmed_at);
}

static const struct ssd_drive_events arrivals = {
	.arrived = sectors_arrived,
};

static const struct ssd_drive_events arrivals_and_programs = {
	.arrived = sectors_arrived,
	.durable = sectors_programmed,
};

int ssd_host_create(struct ssd_host *host, const struct ssd_profile *profile,
		    void (*copy)(void *context, u64 sector, u32 sectors, bool write),
		    void *context, char *error, size_t size)
{
	const struct ssd_drive_events *events = &arrivals;
	u64 capacity;
	int r;

	if (profile->track_volatile && ssd_power_by_program(profile))
		events = &arrivals_and_programs;
	memset(host, 0, sizeof(*host));
	host->copy = copy;
	host->context = context;
	ssd_noise_init(&host->noise, profile);
	r = ssd_drive_create(&host->drive, profile, events, host, error, size);
	if (r)
		return r;
	capacity = host->drive->geometry.sectors;
	host->store = ssd_store_create(capacity, profile->track_volatile);
	r = host->store ? ssd_power_create(&host->power, profile, host->store, capacity) : -ENOMEM;
	if (r) {
		scnprintf(error, size, "no memory for the contents of a drive of %u MiB; make capacity_mb smaller",
			  profile->capacity_mb);
		ssd_host_destroy(host);
	}
	return r;
}

void ssd_host_destroy(struct ssd_host *host)
{
	ssd_power_destroy(&host->power);
	if (host->store)
		ssd_store_destroy(host->store);
	ssd_drive_destroy(host->drive);
}

int ssd_host_reserve(struct ssd_host *host, const struct ssd_command *command)
{
	if (command->operation != SSD_WRITE || !command->sectors)
		return 0;
	return ssd_store_reserve(host->store, command->sector, command->sectors);
}

/* Is the drive to answer this write or flush only when all is on the NAND? */
static bool waits_for_nand(const struct ssd_host *host, bool fua)
{
	return (fua || !host->drive->profile.write_cache) &&
	       !host->drive->profile.lies_about_flush;
}

static u64 serve_read(struct ssd_host *host, const struct ssd_command *command,
		      const struct ssd_fault_verdict *fault, u64 now)
{
	if (!fault->fail)
		host->copy(host->context, command->sector, command->sectors, false);
	return ssd_drive_read(host->drive, now, command->sector, command->sectors);
}

/* A failing write may do a part of its work; that part is at risk like any other. */
static u64 serve_write(struct ssd_host *host, const struct ssd_command *command,
		       const struct ssd_fault_verdict *fault, u64 now)
{
	bool durable = waits_for_nand(host, command->fua) && !fault->fail;
	u64 end;

	if (!fault->done)
		return ssd_drive_nothing(host->drive, now) + fault->slow_ns;
	ssd_power_write_begins(&host->power, command->sector, fault->done);
	end = ssd_drive_write(host->drive, now, command->sector, fault->done,
			      command->fua && durable);
	end += fault->slow_ns;
	ssd_power_write_ends(&host->power, command->sector, fault->done, end, durable);
	return end;
}

static u64 serve_discard(struct ssd_host *host, const struct ssd_command *command,
			 const struct ssd_fault_verdict *fault, u64 now)
{
	u64 sector = command->sector, sectors = fault->done;
	bool durable;
	u64 end;

	if (!sectors)
		return ssd_drive_nothing(host->drive, now) + fault->slow_ns;
	end = ssd_drive_discard(host->drive, now, sector, sectors) + fault->slow_ns;
	if (!ssd_drive_whole_pages(host->drive, &sector, &sectors))
		return end;
	ssd_power_write_begins(&host->power, sector, sectors);
	ssd_store_discard(host->store, sector, sectors);
	/* It changes the map only, so there is no program that it could wait for. */
	durable = waits_for_nand(host, false) || host->power.by_program;
	ssd_power_write_ends(&host->power, sector, sectors, end, durable && !fault->fail);
	return end;
}

/* A flush that fails or lies covers nothing, and only effect=all makes it do its work. */
static u64 serve_flush(struct ssd_host *host, const struct ssd_fault_verdict *fault, u64 now)
{
	u64 end;

	if (host->drive->profile.lies_about_flush) {
		host->drive->counters.flushes++;
		return ssd_drive_nothing(host->drive, now) + fault->slow_ns;
	}
	if (fault->fail && fault->effect != SSD_FAULT_EFFECT_ALL)
		return ssd_drive_nothing(host->drive, now) + fault->slow_ns;
	end = ssd_drive_flush(host->drive, now) + fault->slow_ns;
	ssd_power_flush(&host->power, end);
	return end;
}

struct ssd_answer ssd_host_serve(struct ssd_host *host, const struct ssd_command *command,
				 u64 now)
{
	struct ssd_answer answer = { .end = now, .failed = true };
	const u64 arrived = ssd_noise_arrive(&host->noise, now);
	struct ssd_fault_verdict fault;

	ssd_power_tick(&host->power, now);
	if (!host->power.on) {
		host->power.counters.refused++;
		return answer;
	}
	ssd_faults_judge(&host->faults, command, &fault);
	switch (command->operation) {
	case SSD_READ:
		answer.end = serve_read(host, command, &fault, arrived) + fault.slow_ns;
		break;
	case SSD_WRITE:
		answer.end = serve_write(host, command, &fault, arrived);
		break;
	case SSD_DISCARD:
		answer.end = serve_discard(host, command, &fault, arrived);
		break;
	default:
		answer.end = serve_flush(host, &fault, arrived);
	}
	answer.end = ssd_noise_complete(&host->noise, now, answer.end);
	answer.failed = fault.fail;
	ssd_power_count(&host->power, command, now);
	return answer;
}

void ssd_host_tick(struct ssd_host *host, u64 now)
{
	/* Background work matters only if it makes something safe. */
	if (host->power.on && host->power.by_program)
		ssd_drive_nothing(host->drive, now);
	ssd_power_tick(&host->power, now);
}

int ssd_host_power_control(struct ssd_host *host, const char *text, u64 now,
			   char *error, size_t size)
{
	ssd_host_tick(host, now);
	return ssd_power_control(&host->power, text, now, error, size);
}

void ssd_host_power_on(struct ssd_host *host, u64 now)
{
	if (host->power.on)
		return;
	ssd_drive_power_cycle(host->drive, host->power.off_since, now);
	ssd_power_restore(&host->power);
}

int ssd_host_print(const struct ssd_host *host, char *text, size_t size)
{
	const struct ssd_power_counters *power = &host->power.counters;
	int used = ssd_drive_print(host->drive, text, size);

	return used + scnprintf(text + used, size - used,
				"power_cuts %llu\npower_refused %llu\npower_aborted_writes %llu\n"
				"power_kept_sectors %llu\npower_lost_sectors %llu\npower_tears %llu\n"
				"fault_errors %llu\nfault_slowed %llu\nstore_bytes %llu\n",
				(unsigned long long)power->cuts,
				(unsigned long long)power->refused,
				(unsigned long long)power->aborted,
				(unsigned long long)power->kept_sectors,
				(unsigned long long)power->lost_sectors,
				(unsigned long long)power->tears,
				(unsigned long long)host->faults.errors,
				(unsigned long long)host->faults.slowed,
				(unsigned long long)ssd_store_bytes(host->store));
}

void ssd_host_reset_counters(struct ssd_host *host)
{
	ssd_drive_reset_counters(host->drive);
	ssd_faults_reset(&host->faults);
	memset(&host->power.counters, 0, sizeof(host->power.counters));
}
