/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A drive with a power switch, and an oracle that knows only what its host may rely on.
 */
#ifndef SSDSIM_POWER_RIG_H
#define SSDSIM_POWER_RIG_H

#include "ssd-host.h"

#define MOST_OUTSTANDING 8

/* A command sent whose completion the host has not seen. */
struct outstanding {
	struct ssd_command command;
	struct ssd_answer answer;
	u32 version;
	u32 *covered;
};

/*
 * struct rig - a drive, and what its host knows of each sector.
 * @newest: version sent last; @completed: last one that completed
 * @safe: oldest version that may be found after a cut
 * @zeros: last version that was a discard, which reads as zeros
 */
struct rig {
	struct ssd_host host;
	struct ssd_profile profile;
	u64 capacity;
	u64 now;
	u32 version;
	u32 *newest;
	u32 *completed;
	u32 *safe;
	u32 *zeros;
	u32 count;
	struct outstanding outstanding[MOST_OUTSTANDING];
	u64 digest;
	u64 between;
	u64 old;
};

/** rig_create - a small drive, with the profile words @overrides applied. */
struct rig *rig_create(const char *overrides);
void rig_destroy(struct rig *rig);

/** rig_send - send a command now. Return: false if the power went while it was served. */
bool rig_send(struct rig *rig, enum ssd_operation operation, u64 sector, u64 sectors, bool fua);

/** rig_run - the same, and wait until it completes. */
bool rig_run(struct rig *rig, enum ssd_operation operation, u64 sector, u64 sectors, bool fua);

/** rig_write - run a plain write; its version is the number of writes and discards so far. */
bool rig_write(struct rig *rig, u64 sector, u64 sectors);

/** rig_complete_until - it is now @now, and the host sees what has completed. */
void rig_complete_until(struct rig *rig, u64 now);

/** rig_first_end - when the next command completes. */
u64 rig_first_end(const struct rig *rig);

/** rig_order - give the power switch a command that it must accept. */
void rig_order(struct rig *rig, const char *text);
void rig_power_on(struct rig *rig);

/** rig_cut - a command that cuts at once, then switch on again. */
void rig_cut(struct rig *rig, const char *text);

/** rig_version_of - of a sector in the store, without a command; 0: zeros. */
u32 rig_version_of(struct rig *rig, u64 sector);

/** rig_expect - these sectors have that version. */
void rig_expect(struct rig *rig, u64 sector, u64 sectors, u32 version);

/**
 * rig_check_survivors - each sector is one version from the safe to the newest; that is the
 * one from now on.
 */
void rig_check_survivors(struct rig *rig);

#endif /* SSDSIM_POWER_RIG_H */
