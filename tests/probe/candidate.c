// SPDX-License-Identifier: GPL-2.0-only
/* Drives to look at; see candidate.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "candidate.h"
#include "random-drive.h"

/* Kept free behind a profile for the words that are added. */
#define MORE_WORDS	256

static const struct {
	const char *name;
	const char *size;
} named[] = {
	{ "samsung", "capacity_mb=3816" },
	{ "supertalent", "capacity_mb=3580" },
	{ "intel", "capacity_mb=1192 queue_depth=1" },
	{ "transcend", "capacity_mb=3808" },
	{ "ocz", "capacity_mb=3577" },
	{ "sdcard", "capacity_mb=7600" },
	{ "ssdsim-sc", "capacity_mb=1024" },
	{ "sdcard-a1", "scale=8" },
	{ "sdcard-a2", "scale=16" },
	{ "sdcard-slow", "" },
	{ "emmc", "scale=2" },
	{ "usbstick", "scale=4" },
	{ "tlc", "scale=16 queue_depth=1" },
};

static const char named_noise[] =
	"noise_ppm=30000 interference_ppm=5000 interference_us=5000 noise_seed=1";

const char *candidate_name(unsigned int index)
{
	return index < sizeof(named) / sizeof(named[0]) ? named[index].name : NULL;
}

bool candidate_named(struct candidate *candidate, const char *folder, unsigned int index)
{
	char path[4096];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.conf", folder, named[index].name);
	file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "probe-score: cannot open %s: %s\n", path, strerror(errno));
		return false;
	}
	snprintf(candidate->name, sizeof(candidate->name), "%s", named[index].name);
	length = fread(candidate->profile, 1, CANDIDATE_TEXT - MORE_WORDS, file);
	fclose(file);
	snprintf(candidate->profile + length, MORE_WORDS, "\n%s %s\n", named[index].size,
		 named_noise);
	candidate->host = (struct host){ .host_ns = 14000 };
	return true;
}

void candidate_random(struct candidate *candidate, uint64_t seed, unsigned int number)
{
	_Static_assert(RANDOM_DRIVE_TEXT <= CANDIDATE_TEXT, "a drawn drive fits");

	snprintf(candidate->name, sizeof(candidate->name), "random-%u", number);
	random_drive(seed, number, candidate->profile, &candidate->host);
}

void candidate_print(const struct candidate *candidate)
{
	const char *at = candidate->profile;

	printf("%s %llu", candidate->name, (unsigned long long)candidate->host.offset);
	while (*at) {
		size_t length;

		at += strspn(at, " \t\n");
		if (*at == '#') {
			at += strcspn(at, "\n");
			continue;
		}
		length = strcspn(at, " \t\n#");
		if (length)
			printf(" %.*s", (int)length, at);
		at += length;
	}
	putchar('\n');
}

/* Of a drive like that without noise. */
static double slowdown_of(const struct candidate *candidate)
{
	static const char silent[] = "noise_ppm=0 interference_ppm=0";
	const struct host host = { 0 };
	char profile[CANDIDATE_TEXT + sizeof(silent) + 1], error[256];
	struct emulated *emulated;
	double slowdown;

	snprintf(profile, sizeof(profile), "%s\n%s", candidate->profile, silent);
	emulated = emulated_create(profile, &host, error, sizeof(error));
	if (!emulated)
		return 1;
	slowdown = emulated_slowdown(emulated);
	emulated_destroy(emulated);
	return slowdown;
}

int candidate_truth(const struct candidate *candidate, struct truth *truth)
{
	char error[256];
	struct emulated *emulated = emulated_create(candidate->profile, &candidate->host, error,
						    sizeof(error));

	if (!emulated) {
		fprintf(stderr, "probe-score: %s: %s\n", candidate->name, error);
		return 1;
	}
	emulated_truth(emulated, truth);
	emulated_destroy(emulated);
	truth->slowdown = slowdown_of(candidate);
	return 0;
}
