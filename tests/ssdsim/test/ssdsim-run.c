// SPDX-License-Identifier: GPL-2.0-only
/*
 * ssdsim-run: drive the emulated SSD with access patterns or a trace, in userspace and
 * in virtual time, to calibrate a profile in milliseconds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "shape.h"
#include "ssd-drive.h"

long shim_allocations_left = -1;

/*
 * struct pattern - one line of the report.
 * @write: write, else read
 * @random: random offsets within the span, else ascending by @step
 */
struct pattern {
	const char *name;
	bool write;
	bool random;
	u32 bytes;
	u64 step;
};

static const struct pattern patterns[] = {
	{ "sequential read  512 KB", false, false, 524288, 524288 },
	{ "sequential read  128 KB", false, false, 131072, 131072 },
	{ "sequential read    4 KB", false, false, 4096, 4096 },
	{ "sequential write 512 KB", true, false, 524288, 524288 },
	{ "sequential write 128 KB", true, false, 131072, 131072 },
	{ "sequential write   4 KB", true, false, 4096, 4096 },
	{ "random read        4 KB", false, true, 4096, 4096 },
	{ "random read        8 KB", false, true, 8192, 8192 },
	{ "random write       4 KB", true, true, 4096, 4096 },
	{ "random write       8 KB", true, true, 8192, 8192 },
	{ "ordered write  4 KB @ 128 KB", true, false, 4096, 131072 },
	{ "ordered write  8 KB @ 128 KB", true, false, 8192, 131072 },
	{ "ordered write 16 KB @ 128 KB", true, false, 16384, 131072 },
	{ "ordered write 32 KB @ 128 KB", true, false, 32768, 131072 },
	{ "ordered write 64 KB @ 128 KB", true, false, 65536, 131072 },
	{ "rewrite of 4 MB blocks", true, false, 4194304, 4194304 },
};

/* xorshift: the same sequence on every machine. */
static u64 random_state = 88172645463325252ULL;

static u64 random_number(u64 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* The host's own time for a command, as fio in the benchmark machine shows it. */
#define HOST_NS	14000

static u64 run_one(struct ssd_drive *drive, const struct pattern *pattern, u64 now,
		   u64 span, u64 index)
{
	u64 places = span / pattern->step;
	u64 offset = (pattern->random ? random_number(places) : index % places) * pattern->step;
	u32 left = pattern->bytes;

	while (left) {
		u32 piece = min(left, drive->profile.max_request_kb * 1024);

		now += HOST_NS;
		if (pattern->write)
			now = ssd_drive_write(drive, now, offset / 512, piece / 512, false);
		else
			now = ssd_drive_read(drive, now, offset / 512, piece / 512);
		offset += piece;
		left -= piece;
	}
	return now;
}

/* Steady state: a third of the commands go before those that are measured. */
static void run_pattern(struct ssd_drive *drive, const struct pattern *pattern,
			u64 *now, u64 span, u64 commands)
{
	u64 index, start = 0, erases, copies, longest = 0;

	for (index = 0; index < commands / 3; index++)
		*now = run_one(drive, pattern, *now, span, index);
	start = *now;
	erases = drive->nand.erases;
	copies = drive->nand.copies;
	for (; index < commands / 3 + commands; index++) {
		u64 end = run_one(drive, pattern, *now, span, index);

		longest = max(longest, end - *now);
		*now = end;
	}
	printf("%-28s %9.3f MB/s %10.1f us (longest %10.1f) %8.2f copies %6.3f erases\n",
	       pattern->name,
	       (double)pattern->bytes * commands / (*now - start) * 1e3,
	       (double)(*now - start) / commands / 1e3, (double)longest / 1e3,
	       (double)(drive->nand.copies - copies) / commands,
	       (double)(drive->nand.erases - erases) / commands);
	*now = ssd_drive_flush(drive, *now);
}

/* One pass over a trace, whose requests need not wait for one another. */
static u64 replay(struct ssd_drive *drive, const struct trace *trace, u64 begin)
{
	u64 now = begin, i;

	for (i = 0; i < trace->nr; i++) {
		const struct request *request = &trace->list[i];
		u64 sector = request->offset / 512;
		u32 sectors = request->bytes / 512;

		now = max(now, begin + request->arrival);
		if (request->op == TRACE_WRITE)
			ssd_drive_write(drive, now, sector, sectors, false);
		else if (request->op == TRACE_READ)
			ssd_drive_read(drive, now, sector, sectors);
		else
			ssd_drive_flush(drive, now);
	}
	return now;
}

/* A request of a trace goes to the drive as a whole. */
static int check_sizes(const struct ssd_drive *drive, const struct trace *trace, const char *path,
		       struct failure *failure)
{
	u64 i;

	for (i = 0; i < trace->nr; i++)
		if (trace->list[i].bytes > drive->profile.max_request_kb * 1024ULL)
			return fail(failure, -EINVAL, "%s: line %u: more than max_request_kb=%u at once",
				    path, trace->list[i].line, drive->profile.max_request_kb);
	return 0;
}

/* What each pass writes and erases. */
static void replay_passes(struct ssd_drive *drive, const struct trace *trace,
			  unsigned long long passes)
{
	u64 now = 1, bytes, erases;

	while (passes--) {
		bytes = drive->counters.write_bytes;
		erases = drive->nand.erases;
		now = replay(drive, trace, now);
		printf("%llu bytes written, %llu blocks erased\n",
		       drive->counters.write_bytes - bytes, drive->nand.erases - erases);
	}
}

/* As ressd-trace reads it, and gathers its writes. */
static int replay_file(struct ssd_drive *drive, const char *path, u32 bursts,
		       unsigned long long passes)
{
	const struct trace_wanted wanted = { .format = FORMAT_UNKNOWN };
	const struct shape shape = {
		.region_bytes = drive->geometry.sectors * 512ULL, .block = 512,
		.speed = SHAPE_USUAL_SPEED, .burst = bursts, .seed = 1,
	};
	struct failure failure = { };
	struct shaped shaped;
	struct trace trace;
	int ret = trace_load(&trace, path, &wanted, &failure);

	if (!ret)
		ret = shape_trace(&trace, path, &shape, &shaped, &failure);
	if (!ret)
		ret = check_sizes(drive, &trace, path, &failure);
	if (ret)
		fprintf(stderr, "ssdsim-run: %s\n", failure.text);
	else
		replay_passes(drive, &trace, passes);
	trace_free(&trace);
	return ret;
}

static int read_profile(struct ssd_profile *profile, const char *path)
{
	char text[65536], error[256];
	FILE *file = fopen(path, "r");
	size_t length;

	if (!file) {
		fprintf(stderr, "ssdsim-run: cannot open profile %s: %s\n", path, strerror(errno));
		return -1;
	}
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	if (ssd_profile_parse(profile, text, error, sizeof(error))) {
		fprintf(stderr, "ssdsim-run: %s: %s\n", path, error);
		return -1;
	}
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"how to call: ssdsim-run PROFILE [span_mb=N] [commands=N] [only=TEXT] [key=value...]\n"
		"       ssdsim-run PROFILE trace=FILE [bursts=N] [passes=N] [key=value...]\n"
		"Runs access patterns over the first span_mb MiB (default: a 15th of the drive,\n"
		"as 4 GB are of 64) and prints bandwidths. only=\"random write\" selects patterns by name.\n"
		"Of a trace, with its writes 1 to N at once: what each pass over it writes and erases.\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long long span_mb = 0, whole_mb, commands = 20000, passes = 1, bursts = 0;
	struct ssd_profile profile;
	struct ssd_drive *drive;
	const char *only = "", *trace = NULL;
	char error[256];
	u64 now = 0;
	size_t p;
	int i;

	if (argc < 2)
		return usage();
	ssd_profile_init(&profile);
	if (read_profile(&profile, argv[1]))
		return 1;
	for (i = 2; i < argc; i++) {
		if (!strncmp(argv[i], "only=", 5)) {
			only = argv[i] + 5;
			continue;
		}
		if (!strncmp(argv[i], "trace=", 6)) {
			trace = argv[i] + 6;
			continue;
		}
		if (sscanf(argv[i], "span_mb=%llu", &span_mb) == 1 ||
		    sscanf(argv[i], "commands=%llu", &commands) == 1 ||
		    sscanf(argv[i], "bursts=%llu", &bursts) == 1 ||
		    sscanf(argv[i], "passes=%llu", &passes) == 1)
			continue;
		if (ssd_profile_parse(&profile, argv[i], error, sizeof(error))) {
			fprintf(stderr, "ssdsim-run: %s\n", error);
			return 1;
		}
	}
	if (ssd_drive_create(&drive, &profile, NULL, NULL, error, sizeof(error))) {
		fprintf(stderr, "ssdsim-run: %s\n", error);
		return 1;
	}
	whole_mb = drive->geometry.sectors >> 11;
	if (!span_mb)
		span_mb = max(whole_mb / 15, 8ULL);
	if (span_mb > whole_mb || span_mb < 8 || !commands) {
		fprintf(stderr, "ssdsim-run: span_mb must be 8 to %llu and commands at least 1\n",
			whole_mb);
		ssd_drive_destroy(drive);
		return 1;
	}
	printf("# %s: %llu MiB, page %u KB, block %u KB, %u log blocks, span %llu MiB\n",
	       argv[1], whole_mb, drive->geometry.page_sectors / 2,
	       drive->geometry.page_sectors / 2 * drive->geometry.block_pages,
	       drive->geometry.log_blocks, span_mb);
	if (trace && replay_file(drive, trace, bursts, passes)) {
		ssd_drive_destroy(drive);
		return 1;
	}
	for (p = 0; !trace && p < ARRAY_SIZE(patterns); p++)
		if (strstr(patterns[p].name, only))
			run_pattern(drive, &patterns[p], &now, (u64)span_mb << 20, commands);
	i = ssd_drive_check(drive, error, sizeof(error));
	if (i)
		fprintf(stderr, "ssdsim-run: %s\n", error);
	ssd_drive_destroy(drive);
	return i ? 1 : 0;
}
