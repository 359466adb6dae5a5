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

/* One long transfer as the kernel sends it: in commands of 512 KB. */
static u64 transfer(struct ssd_drive *drive, u64 now, bool write, u64 offset, u64 bytes)
{
	while (bytes) {
		u32 piece = min_t(u64, bytes, 524288);

		now += HOST_NS;
		if (write)
			now = ssd_drive_write(drive, now, offset / 512, piece / 512, false);
		else
			now = ssd_drive_read(drive, now, offset / 512, piece / 512);
		offset += piece;
		bytes -= piece;
	}
	return now;
}

/* PA's ProbeClusteredPage: a flushed write of this size takes so long, on average. */
static u64 flushed_write_ns(struct ssd_drive *drive, u32 kilobytes, u64 *now)
{
	u64 start = *now;
	int i;

	for (i = 0; i < 64; i++)
		*now = ssd_drive_flush(drive, transfer(drive, *now, true, 0, kilobytes * 1024));
	return (*now - start) / 64;
}

/* PA's ProbeClusteredBlock: random over sequential time of writes of this size. */
static double random_over_sequential(struct ssd_drive *drive, u64 bytes, u64 *now)
{
	const u64 span = 2048 * MIB;
	u64 start = *now, sequential, i;

	for (i = 0; i < span / bytes; i++)
		*now = transfer(drive, *now, true, i * bytes, bytes);
	sequential = *now - start;
	start = *now;
	for (i = 0; i < span / bytes; i++)
		*now = transfer(drive, *now, true, random_number(span / bytes) * bytes, bytes);
	return (double)(*now - start) / sequential;
}

/* PA's ProbeReadBuffer: time of a second read of @kilobytes over that of the first. */
static double second_read_over_first(struct ssd_drive *drive, u32 kilobytes, u64 *now)
{
	u64 first, second;

	*now = transfer(drive, *now, false, 1024 * MIB, 16 * MIB);
	first = transfer(drive, *now, false, 0, kilobytes * 1024) - *now;
	*now += first;
	second = transfer(drive, *now, false, 0, kilobytes * 1024) - *now;
	*now += second;
	return (double)second / first;
}

/* PA's ProbeWriteBuffer: time to write @kilobytes into an empty buffer. */
static u64 buffered_write_ns(struct ssd_drive *drive, u32 kilobytes, u64 *now)
{
	u64 start = ssd_drive_flush(drive, *now);

	*now = transfer(drive, start, true, 512 * MIB, kilobytes * 1024);
	return *now - start;
}

static void probe_samsung(struct ssd_drive *drive)
{
	u64 now = 0, previous = 0, step;
	u32 size;

	now = transfer(drive, now, true, 0, 2048 * MIB);
	for (size = 4; size <= 64; size += 4) {
		u64 time = flushed_write_ns(drive, size, &now);

		EXPECT((size % 16 == 0) == (time + 50000 < previous),
		       "a flushed write of %u KB takes %llu ns, of %u KB %llu ns: is the page 16 KB?",
		       size, (unsigned long long)time, size - 4, (unsigned long long)previous);
		previous = time;
	}
	EXPECT(random_over_sequential(drive, 2 * MIB, &now) > 1.2 &&
	       random_over_sequential(drive, 4 * MIB, &now) < 1.1 &&
	       random_over_sequential(drive, 8 * MIB, &now) < 1.1, "the block is not 4 MB");
	EXPECT(second_read_over_first(drive, 240, &now) < 0.6 &&
	       second_read_over_first(drive, 256, &now) < 0.6 &&
	       second_read_over_first(drive, 272, &now) > 0.95, "the read buffer is not 256 KB");
	step = buffered_write_ns(drive, 255, &now) - buffered_write_ns(drive, 254, &now);
	EXPECT(step < 10000, "the last KB of the write buffer takes %llu ns",
	       (unsigned long long)step);
	step = buffered_write_ns(drive, 256, &now) - buffered_write_ns(drive, 255, &now);
	EXPECT(step > 100000, "a KB more than the write buffer takes %llu ns",
	       (unsigned long long)step);
}

static void measure_supertalent(struct ssd_drive *drive)
{
	const u64 span = 256 * MIB;
	const struct load sequential_read = { false, false, 524288, 524288, span, 500 };
	const struct load sequential_write = { true, false, 524288, 524288, span, 1000 };
	const struct load random_read = { false, true, 4096, 4096, span, 2000 };
	const struct load random_write = { true, true, 4096, 4096, span, 3000 };
	const struct load random_all = { true, true, 4096, 4096, 3568 * MIB, 2000 };
	const struct load ordered_write = { true, false, 4096, 131072, span, 8192 };
	double sequential, random, ordered, all;
	u64 now = 0;

	within("sequential read (RE, PA)", bandwidth(drive, &sequential_read, &now), 117);
	sequential = bandwidth(drive, &sequential_write, &now);
	within("sequential write (RE)", sequential, 79);
	within("random read (RE)", bandwidth(drive, &random_read, &now), 8.51);
	random = bandwidth(drive, &random_write, &now);
	within("random write (RE)", random, 0.018);
	ordered = bandwidth(drive, &ordered_write, &now);
	EXPECT(ordered >= 86 * random, "ordered write is %.1f x the random write",
	       ordered / random);
	within("sequential over random write (RE)", sequential / random, 4300);
	all = bandwidth(drive, &random_all, &now);
	EXPECT(all > 0.005 && all < 0.015, "random write, whole drive: %.4f, PA: 0.01", all);
}

static void measure_transcend(struct ssd_drive *drive)
{
	const u64 span = 256 * MIB;
	const struct load sequential_read = { false, false, 524288, 524288, span, 500 };
	const struct load sequential_write = { true, false, 524288, 524288, span, 1000 };
	const struct load random_read = { false, true, 4096, 4096, span, 2000 };
	const struct load random_all = { true, true, 4096, 4096, 3792 * MIB, 1000 };
	u64 now = 0;
	double all;

	within("sequential read (PA)", bandwidth(drive, &sequential_read, &now), 142);
	within("sequential write (PA)", bandwidth(drive, &sequential_write, &now), 91);
	within("random read (PA)", bandwidth(drive, &random_read, &now), 9.22);
	all = bandwidth(drive, &random_all, &now);
	EXPECT(all > 0.005 && all < 0.015, "random write, whole drive: %.4f, PA: 0.01", all);
}

static void measure_ocz(struct ssd_drive *drive)
{
	const u64 span = 256 * MIB;
	const struct load sequential_read = { false, false, 524288, 524288, span, 500 };
	const struct load sequential_write = { true, false, 524288, 524288, span, 1000 };
	const struct load random_read = { false, true, 4096, 4096, span, 2000 };
	const struct load random_write = { true, true, 4096, 4096, span, 20000 };
	const struct load ordered_write = { true, false, 4096, 131072, span, 8192 };
	double random;
	u64 now = 0;

	within("sequential read (RE)", bandwidth(drive, &sequential_read, &now), 220);
	within("sequential write (RE)", bandwidth(drive, &sequential_write, &now), 129);
	within("random read (RE)", bandwidth(drive, &random_read, &now), 20.2);
	random = bandwidth(drive, &random_write, &now);
	within("random write (RE)", random, 6.54);
	within("ordered over random write (RE)",
	       bandwidth(drive, &ordered_write, &now) / random, 2);
}

static void measure_intel(struct ssd_drive *drive)
{
	const u64 span = 952 * MIB;
	const struct load sequential_read = { false, false, 524288, 524288, span, 500 };
	const struct load sequential_write = { true, false, 524288, 524288, span, 1600 };
	const struct load random_read = { false, true, 4096, 4096, span, 2000 };
	const struct load random_write = { true, true, 4096, 4096, span, 300000 };
	u64 now = 0;

	within("sequential read (PA)", bandwidth(drive, &sequential_read, &now), 254);
	within("sequential write (PA)", bandwidth(drive, &sequential_write, &now), 78);
	within("random read (PA)", bandwidth(drive, &random_read, &now), 23.59);
	within("random write (PA)", bandwidth(drive, &random_write, &now), 11.25);
}

/* SC gives times: a page is read in 500 us + 4096 x 25 ns and written in 900 us + the same. */
static void measure_sc(struct ssd_drive *drive)
{
	const u64 span = 256 * MIB;
	const struct load random_read = { false, true, 4096, 4096, span, 2000 };
	const struct load random_write = { true, true, 4096, 4096, span, 20000 };
	u64 now = 0;

	within("random read", bandwidth(drive, &random_read, &now), 4096 / (602.4 + 14));
	within("random write", bandwidth(drive, &random_write, &now), 4096 / (1002.4 + 14));
}

/* Bandwidth of writes of 256 KB that go to allocation units in turn. */
static double stream_bandwidth(struct ssd_drive *drive, u32 units, u64 *now)
{
	u64 start = *now;
	u32 step, unit;

	for (step = 0; step < 64; step++) {
		for (unit = 0; unit < units; unit++) {
			u64 offset = (step / 16 * units + unit) * 4 * MIB + step % 16 * 262144;

			*now = ssd_drive_write(drive, *now + HOST_NS, offset / 512, 512, false);
		}
	}
	return 64.0 * units * 262144 * 1000 / (*now - start);
}

static void measure_sdcard(struct ssd_drive *drive)
{
	const struct load random_write = { true, true, 4096, 4096, 64 * MIB, 300 };
	u64 now = 0;
	double two = stream_bandwidth(drive, 2, &now), three = stream_bandwidth(drive, 3, &now);
	double random = bandwidth(drive, &random_write, &now);

	within("three open units (flashbench)", three, 0.9);
	EXPECT(two > 5 * three, "two open units: %.2f MB/s, three: %.2f", two, three);
	EXPECT(random > 0.008 && random < 0.907, "random write: %.3f MB/s", random);
}

/* Commands of a real drive's size: what fio or iozone sent to it over a file of so many MiB. */
static void measure_small(struct ssd_drive *drive, u64 span, u32 iops_read, u32 iops_write)
{
	const struct load random_read = { false, true, 4096, 4096, span * MIB, 1000 };
	const struct load random_write = { true, true, 4096, 4096, span * MIB, 4000 };
	u64 now = 0;

	within("random write", bandwidth(drive, &random_write, &now), iops_write * 4096 / 1e6);
	within("random read", bandwidth(drive, &random_read, &now), iops_read * 4096 / 1e6);
}

static void measure_large(struct ssd_drive *drive, u64 span, double read, double write)
{
	const struct load sequential_read = { false, false, 524288, 524288, span * MIB, 200 };
	const struct load sequential_write = { true, false, 524288, 524288, span * MIB, 128 };
	u64 now = 0;

	within("sequential write", bandwidth(drive, &sequential_write, &now), write);
	if (read)
		within("sequential read", bandwidth(drive, &sequential_read, &now), read);
}

/* Raspberry Pi's card test: 64 MiB, 866 to 928 writes. */
static void measure_a1(struct ssd_drive *drive)
{
	measure_large(drive, 64, 0, 20);
	measure_small(drive, 64, 1876, 897);
}

/* Behind the pseudo-SLC area, flashbench on a SanDisk Ultra. */
static void measure_a1_direct(struct ssd_drive *drive)
{
	const struct load fill = { true, false, 524288, 524288, 512 * MIB, 512 };
	u64 now = 0;

	now = run_commands(drive, &fill, now, fill.commands);
	within("behind the pseudo-SLC area", bandwidth(drive, &fill, &now), 15.9);
}

static void measure_a2(struct ssd_drive *drive)
{
	measure_large(drive, 96, 67, 51);
	measure_small(drive, 96, 1670, 597);
}

static void measure_emmc(struct ssd_drive *drive)
{
	measure_large(drive, 96, 129, 46.7);
	measure_small(drive, 96, 4942, 2276);
}

/* Each write of 16 KB to 1 MB costs a merge. */
static void measure_slow(struct ssd_drive *drive)
{
	const struct load random_read = { false, true, 4096, 4096, 96 * MIB, 1000 };
	const struct load random_128k = { true, true, 131072, 131072, 96 * MIB, 300 };
	const struct load random_512k = { true, true, 524288, 524288, 96 * MIB, 300 };
	u64 now = 0;

	measure_large(drive, 96, 43.7, 10.6);
	within("random read", bandwidth(drive, &random_read, &now), 6.96);
	within("random write 128 KB", bandwidth(drive, &random_128k, &now), 0.307 * 1.024);
	within("random write 512 KB", bandwidth(drive, &random_512k, &now), 1.230 * 1.024);
}

static void measure_usbstick(struct ssd_drive *drive)
{
	const struct load read_1k = { false, true, 1024, 4096, 1024 * MIB, 1000 };
	const struct load write = { true, true, 4096, 4096, 1024 * MIB, 200 };
	u64 now = 0;

	within("read 1 KB (0.66 ms)", bandwidth(drive, &read_1k, &now), 1.024 / 0.66);
	within("random write (1.15 s)", bandwidth(drive, &write, &now), 0.004096 / 1.15);
}

/* Its writes go through commands of 120 KB. */
static void measure_usbstick_large(struct ssd_drive *drive)
{
	const struct load read = { false, false, 122880, 122880, 96 * MIB, 800 };
	const struct load write = { true, false, 122880, 122880, 96 * MIB, 800 };
	u64 now = 0;

	within("sequential read", bandwidth(drive, &read, &now), 31.8);
	within("sequential write", bandwidth(drive, &write, &now), 7.73);
}

static void measure_tlc(struct ssd_drive *drive)
{
	const struct load write = { true, false, 524288, 524288, 2048 * MIB, 3000 };
	const struct load read = { false, false, 524288, 524288, 256 * MIB, 500 };
	u64 now = 0;

	/* First: reads that come while the area is folded are slower. */
	within("sequential read", bandwidth(drive, &read, &now), 540);
	within("sequential write", bandwidth(drive, &write, &now), 238);
}

static void measure_tlc_direct(struct ssd_drive *drive)
{
	const struct load write = { true, false, 524288, 524288, 2048 * MIB, 3500 };
	u64 now = 0;

	within("behind the pseudo-SLC area", bandwidth(drive, &write, &now), 81);
}

static void with_profile(const char *name, const char *overrides,
			 void (*measure)(struct ssd_drive *drive))
{
	struct ssd_profile profile;
	struct ssd_drive *drive;
	char error[256];

	load_profile(&profile, name, overrides);
	EXPECT(!ssd_drive_create(&drive, &profile, NULL, NULL, error, sizeof(error)), "%s", error);
	measure(drive);
	ssd_drive_destroy(drive);
}

/* Cards and sticks of today, docs/ssdsim.md. */
static void drives_of_today_fit(void)
{
	with_profile("sdcard-a1.conf", "", measure_a1);
	with_profile("sdcard-a1.conf", "scale=16", measure_a1_direct);
	with_profile("sdcard-a2.conf", "", measure_a2);
	with_profile("emmc.conf", "", measure_emmc);
	with_profile("sdcard-slow.conf", "", measure_slow);
	with_profile("usbstick.conf", "", measure_usbstick);
	with_profile("usbstick.conf", "", measure_usbstick_large);
	with_profile("tlc.conf", "", measure_tlc);
	with_profile("tlc.conf", "scale=16", measure_tlc_direct);
}

static void samsung_fits(void)
{
	with_profile("samsung.conf", "scale=16", measure_samsung);
}

static void samsung_is_recognised(void)
{
	with_profile("samsung.conf", "scale=16", probe_samsung);
}

static void supertalent_fits(void)
{
	with_profile("supertalent.conf", "scale=16", measure_supertalent);
}

static void transcend_fits(void)
{
	with_profile("transcend.conf", "scale=16", measure_transcend);
}

static void ocz_fits(void)
{
	with_profile("ocz.conf", "scale=16", measure_ocz);
}

static void intel_fits(void)
{
	with_profile("intel.conf", "scale=64 queue_depth=1", measure_intel);
}

static void sc_fits(void)
{
	with_profile("ssdsim-sc.conf", "", measure_sc);
}

static void sdcard_fits(void)
{
	with_profile("sdcard.conf", "scale=8", measure_sdcard);
}

const struct test calibration_tests[] = {
	{ "profile samsung is within 15 % of the published figures", samsung_fits },
	{ "profile supertalent is within 15 % of the published figures", supertalent_fits },
	{ "profile transcend is within 15 % of the published figures", transcend_fits },
	{ "profile ocz is within 15 % of the published figures", ocz_fits },
	{ "profile intel is within 15 % of the published figures", intel_fits },
	{ "profile ssdsim-sc takes the time of its parameters", sc_fits },
	{ "profile sdcard collapses with a third open unit", sdcard_fits },
	{ "cards and sticks of today are within 15 % of what was published", drives_of_today_fit },
	{ "the probes of PA find samsung's page, block and buffers", samsung_is_recognised },
	{ NULL, NULL },
};
