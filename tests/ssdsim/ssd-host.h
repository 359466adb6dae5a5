/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole emulated drive as its host sees it: timing, contents, power switch and
 * injected errors behind one call.
 *
 * Plain C, no locks: the caller serialises. Times are nanoseconds on one clock.
 */
#ifndef SSD_HOST_H
#define SSD_HOST_H

#include <linux/types.h>

#include "ssd-command.h"
#include "ssd-drive.h"
#include "ssd-fault.h"
#include "ssd-noise.h"
#include "ssd-power.h"
#include "ssd-store.h"

/**
 * struct ssd_host - one drive and all that belongs to it.
 * @copy: moves data between the command being served and the store, by
 *	ssd_store_write() or ssd_store_read(); the calls for one command follow
 *	each other in ascending order without gaps, but need not reach its end
 * @context: handed to @copy
 */
struct ssd_host {
	struct ssd_drive *drive;
	struct ssd_store *store;
	struct ssd_power power;
	struct ssd_faults faults;
	struct ssd_noise noise;
	void (*copy)(void *context, u64 sector, u32 sectors, bool write);
	void *context;
};

/**
 * struct ssd_answer - what becomes of a command.
 * @end: it completes then, unless the power is cut before
 * @failed: with an error
 */
struct ssd_answer {
	u64 end;
	bool failed;
};

/**
 * ssd_host_create - a drive as described, switched on.
 * @host: filled in; must stay where it is
 * @error: on failure one sentence; nothing is left to destroy then
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int ssd_host_create(struct ssd_host *host, const struct ssd_profile *profile,
		    void (*copy)(void *context, u64 sector, u32 sectors, bool write),
		    void *context, char *error, size_t size);
void ssd_host_destroy(struct ssd_host *host);

/** ssd_host_reserve - take the memory a command may need. Return: 0 or -ENOMEM. */
int ssd_host_reserve(struct ssd_host *host, const struct ssd_command *command);

/**
 * ssd_host_serve - carry out one command that arrives at @now. The power may be cut
 * in it: see power.cut_number. All commands that have not completed when this number
 * grows fail, whatever they were answered.
 */
struct ssd_answer ssd_host_serve(struct ssd_host *host, const struct ssd_command *command,
				 u64 now);

/** ssd_host_tick - time has passed without a command; a waiting cut may be due. */
void ssd_host_tick(struct ssd_host *host, u64 now);

/** ssd_host_power_control - see ssd_power_control(). */
int ssd_host_power_control(struct ssd_host *host, const char *text, u64 now,
			   char *error, size_t size);

/** ssd_host_power_on - after ssd_power_settle(): the power returns at @now. */
void ssd_host_power_on(struct ssd_host *host, u64 now);

/** ssd_host_print - all counters, "key value" lines. Return: characters written. */
int ssd_host_print(const struct ssd_host *host, char *text, size_t size);

/** ssd_host_reset_counters - they start from zero. */
void ssd_host_reset_counters(struct ssd_host *host);

#endif /* SSD_HOST_H */
