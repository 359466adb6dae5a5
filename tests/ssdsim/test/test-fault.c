// SPDX-License-Identifier: GPL-2.0-only
/* Error injection: rules hit exactly what they name, and do exactly what they say. */
#include <stdlib.h>
#include <string.h>

#include "ssd-host.h"
#include "test.h"

#define CAPACITY	16384

static u8 fill_byte;

static void control(struct ssd_faults *faults, const char *text)
{
	char error[256];

	EXPECT(!ssd_faults_control(faults, CAPACITY, text, error, sizeof(error)), "'%s': %s", text,
	       error);
}

static void add(struct ssd_faults *faults, const char *rule)
{
	char text[256];

	snprintf(text, sizeof(text), "%s %s", "add", rule);
	control(faults, text);
}

static struct ssd_fault_verdict judge(struct ssd_faults *faults, enum ssd_operation operation,
				      u64 sector, u64 sectors)
{
	struct ssd_command command = { operation, sector, sectors, false };
	struct ssd_fault_verdict verdict;

	ssd_faults_judge(faults, &command, &verdict);
	return verdict;
}

/* Which of the first 20 writes fail, as a string. */
static void expect_pattern(const char *rule, const char *pattern)
{
	struct ssd_faults faults = { 0 };
	u64 errors = 0;
	u32 i;

	add(&faults, rule);
	for (i = 0; pattern[i]; i++) {
		bool fails = judge(&faults, SSD_WRITE, i * 8, 8).fail;

		errors += fails;
		EXPECT(fails == (pattern[i] == 'x'), "'%s': write %u %s", rule, i + 1,
		       fails ? "fails" : "does not fail");
	}
	EXPECT(faults.errors == errors, "%llu counted", (unsigned long long)faults.errors);
	EXPECT(!faults.rules[0].fail || faults.rules[0].hits == errors, "%llu hits",
	       (unsigned long long)faults.rules[0].hits);
}

static void exact_counts(void)
{
	expect_pattern("write", "xxxxxxxxxx");
	expect_pattern("read", "..........");
	expect_pattern("any", "xxxxxxxxxx");
	expect_pattern("read,write times=2", "xx........");
	expect_pattern("write after=3 times=2", "...xx.....");
	expect_pattern("write every=3", "..x..x..x.");
	expect_pattern("write after=2 every=3 times=2", "....x..x......");
	/* Write i covers sectors 8i to 8i + 7. */
	expect_pattern("write range=16+1", "..x.......");
	expect_pattern("write range=23+2", "..xx......");
	expect_pattern("write range=16+8 after=1", "..........");
	expect_pattern("write slow_us=5", "..........");
	expect_pattern("write slow_us=5 error times=1", "x.........");
}

static void exact_ranges(void)
{
	struct ssd_faults faults = { 0 };

	add(&faults, "read,discard range=1000+10");
	EXPECT(!judge(&faults, SSD_READ, 992, 8).fail, "before the range");
	EXPECT(judge(&faults, SSD_READ, 992, 9).fail, "at its start");
	EXPECT(judge(&faults, SSD_READ, 1009, 1).fail, "at its end");
	EXPECT(!judge(&faults, SSD_READ, 1010, 8).fail, "behind it");
	EXPECT(judge(&faults, SSD_READ, 0, 2000).fail, "around it");
	EXPECT(judge(&faults, SSD_DISCARD, 1004, 2).fail, "inside it");
	EXPECT(!judge(&faults, SSD_WRITE, 1004, 2).fail, "another operation");
	EXPECT(!judge(&faults, SSD_FLUSH, 0, 0).fail, "a flush");
	EXPECT(faults.rules[0].seen == 4, "it saw %llu", (unsigned long long)faults.rules[0].seen);
	add(&faults, "flush times=1");
	EXPECT(judge(&faults, SSD_FLUSH, 0, 0).fail, "the first flush");
	EXPECT(!judge(&faults, SSD_FLUSH, 0, 0).fail, "the second flush");
}

static void seeded_rate(void)
{
	struct ssd_faults one = { 0 }, same = { 0 }, other = { 0 };
	u32 i, different = 0;

	add(&one, "write ppm=100000 seed=7");
	add(&same, "write ppm=100000 seed=7");
	add(&other, "write ppm=100000 seed=8");
	for (i = 0; i < 20000; i++) {
		bool fails = judge(&one, SSD_WRITE, i % 1000, 8).fail;

		EXPECT(fails == judge(&same, SSD_WRITE, i % 1000, 8).fail, "not reproducible");
		different += fails != judge(&other, SSD_WRITE, i % 1000, 8).fail;
	}
	EXPECT(one.errors > 1800 && one.errors < 2200, "%llu of 2000 errors",
	       (unsigned long long)one.errors);
	EXPECT(different > 3000, "the seed changes %u", different);
}

static void delays_add_up(void)
{
	struct ssd_faults faults = { 0 };

	add(&faults, "write slow_us=5");
	add(&faults, "any slow_us=7 every=2");
	EXPECT(judge(&faults, SSD_WRITE, 0, 8).slow_ns == 5000, "the first");
	EXPECT(judge(&faults, SSD_WRITE, 0, 8).slow_ns == 12000, "the second");
	EXPECT(judge(&faults, SSD_READ, 0, 8).slow_ns == 0, "the third");
	EXPECT(faults.slowed == 2, "%llu slowed", (unsigned long long)faults.slowed);
}

static void list_and_remove(void)
{
	struct ssd_faults faults = { 0 };
	char text[4096], error[256];
	int i, length;

	add(&faults, "write,flush error slow_us=3 after=1 every=2 times=4 ppm=500 seed=9 effect=part");
	add(&faults, "read range=8+16");
	judge(&faults, SSD_READ, 0, 9);
	ssd_faults_print(&faults, text, sizeof(text));
	EXPECT(!strcmp(text, "1: write,flush error effect=part slow_us=3 after=1 every=2 times=4 ppm=500 seed=9 (seen 0, hit 0)\n"
		       "2: read error effect=none range=8+16 (seen 1, hit 1)\n"), "%s", text);
	control(&faults, "remove 1\n");
	EXPECT(faults.count == 1 && faults.rules[0].number == 2, "the wrong one is gone");
	control(&faults, "clear");
	EXPECT(!faults.count && !judge(&faults, SSD_READ, 0, 9).fail, "not cleared");
	for (i = 0; i < SSD_FAULT_RULES; i++)
		add(&faults, "any error slow_us=3600000000 range=16383+1 after=1000000000000 every=1000000000000 times=1000000000000 ppm=999999 seed=1000000000000000");
	EXPECT(ssd_faults_control(&faults, CAPACITY, "add any", error, sizeof(error)) &&
	       strstr(error, "remove one"), "said '%s'", error);
	length = ssd_faults_print(&faults, text, sizeof(text));
	EXPECT(length < 4095 && text[length - 1] == '\n', "the list does not fit");
}

static void refusals(void)
{
	static const char * const cases[][2] = {
		{ "", "use add, remove or clear" },
		{ "ad read", "use add, remove or clear" },
		{ "add", "is no operation" },
		{ "add rea", "'rea' is no operation" },
		{ "add read,", "is no operation" },
		{ "add read=1", "is no operation" },
		{ "add read after", "out of range" },
		{ "add read after=x", "out of range" },
		{ "add read every=0", "1 to" },
		{ "add read times=0", "1 to" },
		{ "add read ppm=1000001", "1 to 1000000" },
		{ "add read slow_us=0", "1 to 3600000000" },
		{ "add read range=16384+1", "16384 sectors" },
		{ "add read range=5", "FIRST+SECTORS" },
		{ "add read range=5+0", "FIRST+SECTORS" },
		{ "add read effect=some", "none part all" },
		{ "add read errors", "not a key of a fault" },
		{ "add flush range=0+8", "leave out range=" },
		{ "add write slow_us=5 effect=all", "add the word error" },
		{ "remove", "no fault ''" },
		{ "remove 1", "no fault '1'" },
		{ "remove x", "no fault 'x'" },
	};
	struct ssd_faults faults = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char error[256] = "";

		EXPECT(ssd_faults_control(&faults, CAPACITY, cases[i][0], error, sizeof(error)),
		       "'%s' was accepted", cases[i][0]);
		EXPECT(strstr(error, cases[i][1]), "'%s' said '%s'", cases[i][0], error);
		EXPECT(!faults.count, "'%s' left a rule", cases[i][0]);
	}
}

static void copy(void *context, u64 sector, u32 sectors, bool write)
{
	struct ssd_host *host = context;
	u8 data[512];

	memset(data, fill_byte, sizeof(data));
	for (; sectors--; sector++) {
		if (write)
			ssd_store_write(host->store, sector, 1, data);
		else
			ssd_store_read(host->store, sector, 1, data);
	}
}

static struct ssd_answer serve(struct ssd_host *host, enum ssd_operation operation, u64 sector,
			       u64 sectors, u8 fill)
{
	static u64 now;
	struct ssd_command command = { operation, sector, sectors, false };

	fill_byte = fill;
	now += 1000000000;
	EXPECT(!ssd_host_reserve(host, &command), "no memory");
	return ssd_host_serve(host, &command, now);
}

/* How many sectors from @sector on are filled with a byte. */
static u32 filled(struct ssd_host *host, u64 sector, u8 fill)
{
	u32 count = 0;
	u8 data[512];

	for (;; sector++, count++) {
		ssd_store_read(host->store, sector, 1, data);
		if (data[0] != fill || data[511] != fill)
			return count;
	}
}

static void effects(void)
{
	struct ssd_profile profile;
	struct ssd_host host;
	char error[256];
	u32 i, parts = 0;

	ssd_profile_init(&profile);
	profile.capacity_mb = 8;
	profile.track_volatile = 1;
	EXPECT(!ssd_host_create(&host, &profile, copy, &host, error, sizeof(error)), "%s", error);
	add(&host.faults, "write times=1");
	EXPECT(serve(&host, SSD_WRITE, 0, 32, 1).failed && filled(&host, 0, 1) == 0, "none");
	EXPECT(!serve(&host, SSD_WRITE, 0, 32, 1).failed && filled(&host, 0, 1) == 32, "no fault");
	add(&host.faults, "write times=1 effect=all");
	EXPECT(serve(&host, SSD_WRITE, 0, 32, 2).failed && filled(&host, 0, 2) == 32, "all");
	add(&host.faults, "write effect=part");
	for (i = 0; i < 50; i++) {
		u32 before = filled(&host, i * 32 + 3200, 3);

		EXPECT(serve(&host, SSD_WRITE, i * 32 + 3200, 32, 3).failed && !before, "part");
		EXPECT(filled(&host, i * 32 + 3200, 3) < 32, "the whole of it");
		parts += filled(&host, i * 32 + 3200, 3) > 0;
	}
	EXPECT(parts > 30, "%u writes had an effect", parts);
	control(&host.faults, "clear");

	/* A flush that fails covers nothing. */
	serve(&host, SSD_FLUSH, 0, 0, 0);
	serve(&host, SSD_WRITE, 0, 32, 4);
	add(&host.faults, "flush times=1");
	EXPECT(serve(&host, SSD_FLUSH, 0, 0, 0).failed, "the flush");
	EXPECT(!ssd_host_power_control(&host, "cut now fate=lost", ~0ULL >> 1, error,
				       sizeof(error)), "%s", error);
	ssd_power_settle(&host.power);
	ssd_host_power_on(&host, ~0ULL >> 1);
	EXPECT(filled(&host, 0, 2) == 32, "a flush that failed covers writes");
	ssd_host_destroy(&host);
}

static void slow_commands(void)
{
	static const enum ssd_operation operations[] = {
		SSD_READ, SSD_WRITE, SSD_FLUSH, SSD_DISCARD,
	};
	struct ssd_profile profile;
	struct ssd_host host;
	char error[256];
	u32 i;

	ssd_profile_init(&profile);
	profile.capacity_mb = 8;
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		u64 sectors = operations[i] == SSD_FLUSH ? 0 : 32;
		struct ssd_answer first, second;

		EXPECT(!ssd_host_create(&host, &profile, copy, &host, error, sizeof(error)), "%s",
		       error);
		/* Each comes 1 s after the one before, to an idle drive. */
		serve(&host, operations[i], 0, sectors, 1);
		first = serve(&host, operations[i], 64, sectors, 1);
		add(&host.faults, "any slow_us=2500");
		second = serve(&host, operations[i], 128, sectors, 1);
		EXPECT(second.end - first.end == 1000000000 + 2500000 && !second.failed,
		       "operation %u takes %llu ns more", i,
		       (unsigned long long)(second.end - first.end - 1000000000));
		ssd_host_destroy(&host);
	}
}

static void counters(void)
{
	struct ssd_profile profile;
	struct ssd_host host;
	char error[256], text[4096];

	ssd_profile_init(&profile);
	profile.capacity_mb = 8;
	profile.track_volatile = 1;
	EXPECT(!ssd_host_create(&host, &profile, copy, &host, error, sizeof(error)), "%s", error);
	add(&host.faults, "read error slow_us=1");
	serve(&host, SSD_READ, 0, 8, 0);
	serve(&host, SSD_WRITE, 0, 8, 5);
	EXPECT(!ssd_host_power_control(&host, "cut now fate=kept", ~0ULL >> 1, error,
				       sizeof(error)), "%s", error);
	serve(&host, SSD_READ, 0, 8, 0);
	ssd_power_settle(&host.power);
	ssd_host_power_on(&host, ~0ULL >> 1);
	ssd_host_print(&host, text, sizeof(text));
	EXPECT(strstr(text, "power_cuts 1\npower_refused 1\npower_aborted_writes 0\n"
		      "power_kept_sectors 8\npower_lost_sectors 0\npower_tears 0\n"
		      "fault_errors 1\nfault_slowed 1\nstore_bytes "), "%s", text);
	ssd_host_reset_counters(&host);
	ssd_host_print(&host, text, sizeof(text));
	EXPECT(strstr(text, "power_cuts 0\npower_refused 0\npower_aborted_writes 0\n"
		      "power_kept_sectors 0\npower_lost_sectors 0\npower_tears 0\n"
		      "fault_errors 0\nfault_slowed 0\nstore_bytes "), "%s", text);
	EXPECT(strstr(text, "host_write_bytes 0\n") && strstr(text, "write_amplification 0"),
	       "%s", text);
	ssd_host_destroy(&host);
}

static void creation_survives_lack_of_memory(void)
{
	struct ssd_profile profile;
	struct ssd_host host;
	char error[256];
	int allowed, failures = 0;

	ssd_profile_init(&profile);
	profile.capacity_mb = 8;
	for (allowed = 0; allowed < 40; allowed++) {
		int r;

		shim_allocations_left = allowed;
		r = ssd_host_create(&host, &profile, copy, &host, error, sizeof(error));
		shim_allocations_left = -1;
		failures += r != 0;
		if (!r)
			ssd_host_destroy(&host);
		else
			EXPECT(strstr(error, "no memory"), "said '%s'", error);
	}
	EXPECT(failures > 4 && failures < 40, "%d failures", failures);
}

const struct test fault_tests[] = {
	{ "faults hit exactly the commands they count", exact_counts },
	{ "faults hit exactly the ranges they name", exact_ranges },
	{ "a random rate of faults follows its seed", seeded_rate },
	{ "delays of several faults add up", delays_add_up },
	{ "faults are listed and removed", list_and_remove },
	{ "bad faults are refused with a sentence", refusals },
	{ "a failing command has its effect and no other", effects },
	{ "a slow command takes exactly that much longer", slow_commands },
	{ "power and fault counters are printed and start again", counters },
	{ "creation of the whole drive survives lack of memory", creation_survives_lack_of_memory },
	{ NULL, NULL },
};
