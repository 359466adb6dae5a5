/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies between a drive and whoever takes its time: spread of every command's time, and
 * delays of some by something else.
 *
 * The drive lives on a clock of its own, which stands still while a command takes longer than the
 * drive needed, and leaps when it takes less. So one command is shown longer or shorter without
 * its drive being idle or busy for it, and what comes next finds the drive as it left it.
 *
 * Plain C, integers only: compiled into the kernel module and in userspace. No locks.
 */
#ifndef SSD_NOISE_H
#define SSD_NOISE_H

#include <linux/types.h>

#include "ssd-profile.h"

/**
 * struct ssd_noise - the state.
 * @spread_ppm: standard deviation of the logarithm of a command's time, millionths; 0 = none
 * @delayed_ppm: share of the commands that something else delays
 * @delay_ns: mean of these delays, whose lengths are exponentially distributed
 * @seed: of all draws
 * @commands: commands until now
 * @lag: the drive's clock is behind the host's by this, ns
 * @drive_now: the drive's clock when the last command arrived; it never goes back
 */
struct ssd_noise {
	u32 spread_ppm;
	u32 delayed_ppm;
	u64 delay_ns;
	u32 seed;
	u64 commands;
	s64 lag;
	u64 drive_now;
};

/** ssd_noise_init - as @profile says; the two clocks agree. */
void ssd_noise_init(struct ssd_noise *noise, const struct ssd_profile *profile);

/** ssd_noise_show - how long a command is seen to take that took @took ns, drawn anew each time. */
u64 ssd_noise_show(struct ssd_noise *noise, u64 took);

/** ssd_noise_arrive - a command arrives when the host's clock says @now. Return: the drive's. */
u64 ssd_noise_arrive(struct ssd_noise *noise, u64 now);

/**
 * ssd_noise_complete - that command is done when the drive's clock says @end.
 * @now: as given to ssd_noise_arrive()
 *
 * Without noise the clocks are one. With several commands under way the drive's clock follows the
 * one that came last.
 *
 * Return: when it is done by the host's clock.
 */
u64 ssd_noise_complete(struct ssd_noise *noise, u64 now, u64 end);

#endif /* SSD_NOISE_H */
