// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shipped profiles against the published measurements of their drives, in
 * virtual time and steady state. The host's share of a command is missing here:
 * HOST_NS stands for it; fio in the benchmark machine is the final judge.
 */
#include "test.h"

#define HOST_NS		14000ULL
#define MIB		1048576ULL

/*
 * struct load - commands over a span; ordered by @step unless @random.
 */
struct load {
	bool write;
	bool random;
	u32 bytes;
	u64 step;
	u64 span;
	u32 commands;
};

static u64 run_commands(struct ssd_drive *drive, const struct load *load, u64 now, u32 commands)
{
	u32 places = load->span / load->step;
	u32 i;

	for (i = 0; i < commands; i++) {
		u64 place = load->random ? random_number(places) : i % places;
		u64 sector = place * load->step / 512;

		now += HOST_NS;
		if (load->write)
			now = ssd_drive_write(drive, now, sector, load->bytes / 512, false);
		else
			now = ssd_drive_read(drive, now, sector, load->bytes / 512);
	}
	return now;
}

/* 10^6 bytes per second, after a warm-up of half as many commands. */
static double bandwidth(struct ssd_drive *drive, const struct load *load, u64 *now)
{
	u64 start = run_commands(drive, load, *now, load->commands / 2);

	*now = run_commands(drive, load, start, load->commands);
	return (double)load->bytes * load->commands * 1000 / (*now - start);
}

static void within(const char *what, double measured, double published)
{
	EXPECT(measured > published * 0.85 && measured < published * 1.15,
	       "%s: %.3f MB/s, published %.3f", what, measured, published);
}

static void measure_samsung(struct ssd_drive *drive)
{
	const u64 span = 256 * MIB;	/* a sixteenth of the 4 GB of RE 4.2 */
	const struct load sequential_read = { false, false, 131072, 131072, span, 3000 };
	const struct load sequential_write = { true, false, 524288, 524288, span, 2000 };
	const struct load random_read = { false, true, 4096, 4096, span, 5000 };
	const struct load random_write = { true, true, 4096, 4096, span, 8000 };
	const struct load random_all = { true, true, 4096, 4096, 3816 * MIB, 8000 };
	const struct load ordered_write = { true, false, 4096, 131072, span, 10240 };
	double random, ordered;
	u64 now = 0;

	within("sequential read (RE, PA)", bandwidth(drive, &sequential_read, &now), 110);
	within("sequential write (RE, PA)", bandwidth(drive, &sequential_write, &now), 85);
	within("random read (RE)", bandwidth(drive, &random_read, &now), 16.3);
	random = bandwidth(drive, &random_write, &now);
	within("random write (RE)", random, 0.421);
	ordered = bandwidth(drive, &ordered_write, &now);
	EXPECT(ordered >= 12 * random, "ordered write %.3f MB/s is %.1f x the random write",
	       ordered, ordered / random);
	within("random write, whole drive (PA)", bandwidth(drive, &random_all, &now), 0.28);
	within("sequential write afterwards", bandwidth(drive, &sequential_write, &now), 85);
}

static void samsung_fits(void)
{
	struct ssd_profile profile;
	struct ssd_drive *drive;
	char error[256];

	load_profile(&profile, "samsung.conf", "capacity_mb=3816");
	EXPECT(!ssd_drive_create(&drive, &profile, NULL, NULL, error, sizeof(error)), "%s", error);
	measure_samsung(drive);
	ssd_drive_destroy(drive);
}

const struct test calibration_tests[] = {
	{ "profile samsung is within 15 % of the published figures", samsung_fits },
	{ NULL, NULL },
};
