// SPDX-License-Identifier: GPL-2.0-only
/* Offline check of the superblocks, and of an area that has none; see check.h. */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include "cli/words.h"
#include "log/check.h"
#include "log/stored-options.h"

#define REMEDY_COPY \
	"ressdctl repair --backup FILE rebuilds the copy from the other one"
#define REMEDY_NONE \
	"without a good superblock nothing in the log can be found; if it may go, use ressdctl format --force"
#define REMEDY_TABLE "use the table line that the area was formatted with"

static void check_copies(struct log_check *check, const struct super_pair *supers)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct super_copy *copy = &supers->copies[i];
		bool other = supers->copies[!i].readable &&
			     supers->copies[!i].verdict == RESSD_SUPER_GOOD;

		if (copy->readable && copy->verdict == RESSD_SUPER_GOOD)
			continue;
		findings_add(&check->findings, FINDING_WARNING, "superblock", FINDING_PLACE_NONE,
			     other ? REMEDY_COPY : REMEDY_NONE, "superblock copy %u is %s%s%s", i,
			     super_copy_word(copy), copy->readable && !copy->error[0] ? "" : ": ",
			     copy->readable ? copy->error : copy->failure.text);
	}
}

/* The kernel does not look at them; ressdctl open does. */
static void check_options(struct log_check *check, const struct super_pair *supers)
{
	struct ressd_options options;
	struct failure failure;

	if (super_pair_options_differ(supers))
		findings_add(&check->findings, FINDING_NOTE, "options", FINDING_PLACE_NONE, NULL,
			     "storing options was cut short; those of superblock copy 0 count");
	if (stored_options_read(&supers->info, "this area", &options, &failure))
		findings_add(&check->findings, FINDING_WARNING, "options", FINDING_PLACE_NONE,
			     "ressdctl tune --reset makes them the defaults", "%s", failure.text);
}

void log_check_supers(struct log_check *check, const struct super_pair *supers,
		      const struct ressd_table *table, const struct ressd_options *options)
{
	char error[RESSD_ERROR_SIZE];

	check->blank = supers->choice == -ENODATA;
	if (check->blank)
		return;
	check_copies(check, supers);
	if (supers->choice) {
		check->refused = true;
		findings_add(&check->findings, FINDING_REFUSED, "superblocks", FINDING_PLACE_NONE,
			     NULL, "the kernel refuses the superblocks: %s", supers->error);
		return;
	}
	if (supers->copies[0].verdict == RESSD_SUPER_GOOD &&
	    supers->copies[1].verdict == RESSD_SUPER_GOOD && !super_pair_equal(supers))
		findings_add(&check->findings, FINDING_DAMAGE, "superblocks", FINDING_PLACE_NONE,
			     "ressdctl dump shows both; copy 0 is the one that is used",
			     "the superblock copies have the same UUID, but do not say the same");
	else if (supers->info.uneven)
		findings_add(&check->findings, FINDING_NOTE, "growth", FINDING_PLACE_NONE, NULL,
			     "growing the normal area was cut short; both lengths are accepted, and %llu sectors were in use",
			     (unsigned long long)supers->info.table.len);
	check_options(check, supers);
	if (table && ressd_super_matches(&supers->info, table, options, error, sizeof(error))) {
		check->refused = true;
		findings_add(&check->findings, FINDING_REFUSED, "table", FINDING_PLACE_NONE,
			     REMEDY_TABLE, "%s", error);
	}
}

/* What an area that should be blank holds. */
struct contents {
	u32 unread;			/* blocks that cannot be read */
	struct failure first_unread;
	u32 data;			/* the first block with data, if there is one */
	bool has_data;
};

/* Block by block where not all of them can be read. */
static void look_for_data(struct contents *contents, const struct log_source *source, u32 block,
			  u32 nr, void *buffer)
{
	struct failure why;
	u32 i;

	if (!source->read(source->context, block, nr, buffer, &why) &&
	    ressd_is_zero(buffer, (size_t)nr * RESSD_BLOCK_SIZE))
		return;
	for (i = 0; i < nr; i++) {
		if (source->read(source->context, block + i, 1, buffer, &why)) {
			if (!contents->unread++)
				contents->first_unread = why;
		} else if (!contents->has_data && !ressd_is_zero(buffer, RESSD_BLOCK_SIZE)) {
			contents->has_data = true;
			contents->data = block + i;
		}
	}
}

int log_check_blank(struct log_check *check, const struct log_source *source, u32 nr_blocks,
		    struct failure *failure)
{
	const u32 chunk = 256;
	void *buffer = blkdev_buffer((size_t)chunk * RESSD_BLOCK_SIZE);
	struct contents contents = { .unread = 0 };
	struct finding_place place = FINDING_PLACE_NONE;
	u32 block;

	if (!buffer)
		return fail(failure, -ENOMEM, "there is not enough memory to read the area");
	for (block = 0; block < nr_blocks && !contents.has_data; block += chunk) {
		look_for_data(&contents, source, block, min_t(u32, nr_blocks - block, chunk),
			      buffer);
		if (check->progress)
			check->progress(check->context, block, nr_blocks);
	}
	free(buffer);
	check->unreadable_blocks = contents.unread;
	check->refused = contents.has_data || contents.unread;
	if (contents.unread)
		findings_add(&check->findings, FINDING_REFUSED, "unreadable", place,
			     "replace the medium, or overwrite these blocks with zeroes",
			     "the area has no superblock, and the kernel will not format it, for %u block%s of it cannot be read, the first: %.200s",
			     contents.unread, plural(contents.unread), contents.first_unread.text);
	place.log_block = contents.data;
	if (contents.has_data)
		findings_add(&check->findings, FINDING_REFUSED, "not-blank", place, REMEDY_NONE,
			     "the area has no superblock but is not blank, so the kernel will not format it: this is the first data");
	return 0;
}
