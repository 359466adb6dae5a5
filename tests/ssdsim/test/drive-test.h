/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of one drive each. Included after the file's own test_profile[], which is the drive that
 * every test of that file starts from.
 */
#ifndef SSDSIM_DRIVE_TEST_H
#define SSDSIM_DRIVE_TEST_H

static struct ssd_drive *make_drive(const char *overrides)
{
	struct ssd_profile profile;
	struct ssd_drive *drive;
	char error[256];

	ssd_profile_init(&profile);
	EXPECT(!ssd_profile_parse(&profile, test_profile, error, sizeof(error)), "%s", error);
	EXPECT(!ssd_profile_parse(&profile, overrides, error, sizeof(error)), "%s", error);
	EXPECT(!ssd_drive_create(&drive, &profile, NULL, NULL, error, sizeof(error)),
	       "%s", error);
	return drive;
}

static void finish(struct ssd_drive *drive)
{
	char error[256];

	EXPECT(!ssd_drive_check(drive, error, sizeof(error)), "%s", error);
	ssd_drive_destroy(drive);
}

/* Make a drive, run the body on it, verify its invariants and destroy it. */
#define DRIVE_TEST(function, overrides)						\
	static void function##_body(struct ssd_drive *drive);			\
	static void function(void)						\
	{									\
		struct ssd_drive *drive = make_drive(overrides);		\
										\
		function##_body(drive);						\
		finish(drive);							\
	}									\
	static void function##_body(struct ssd_drive *drive)

/* Long after all background work. */
static u64 later(u64 time)
{
	return time + 1000000 * US;
}

#endif /* SSDSIM_DRIVE_TEST_H */
