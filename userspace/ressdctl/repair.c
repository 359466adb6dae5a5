// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressdctl repair: rebuilds a damaged superblock copy, and cuts a broken log (lib/log/cut.h).
 *
 * It shows what it would do; with --backup FILE it does it, after everything that it is going to
 * overwrite is durable in that file.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/confirm.h"
#include "cli/words.h"
#include "log/backup.h"
#include "log/check.h"
#include "log/cut.h"
#include "offline.h"
#include "ressdctl.h"

#define STALE_SHOWN	16	/* normal blocks that are listed by number */

struct repair {
	struct offline_arguments where;
	const char *backup;	/* NULL: only show the plan */
	const char *undo;	/* NULL: repair */
	bool yes;

	struct offline_area area;
	struct log_cut cut;
	bool cutting;
	struct ressd_super super;	/* to be written */
	int super_copy;			/* 0 or 1; -1: both are good */

	struct planned_write *writes;	/* in this order */
	size_t nr_writes;
};

/* By another line than the log's, what is taken for a superblock may be a block of the log. */
static int check_place(const struct repair *repair, u32 copy, struct failure *failure)
{
	const struct offline_area *area = &repair->area;
	const struct super_copy *super = &area->supers.copies[copy];
	const struct ressd_table *table = &super->info.table;

	if (!super->readable || super->verdict != RESSD_SUPER_GOOD ||
	    (table->reserved_start == area->start && table->reserved_sectors == area->sectors))
		return 0;
	return fail(failure, -EINVAL,
		    "superblock copy %u of %s describes a reserved area at sector %llu + %llu, but the line has %llu + %llu; use the numbers of the superblock",
		    copy, area->dev.path, table->reserved_start, table->reserved_sectors,
		    area->start, area->sectors);
}

/* One good copy, and one that was ours or that something else has overwritten. */
static int plan_super(struct repair *repair, struct failure *failure)
{
	const struct super_pair *supers = &repair->area.supers;
	u32 i;
	int code = check_place(repair, 0, failure);

	if (!code)
		code = check_place(repair, 1, failure);
	if (code)
		return code;
	repair->super_copy = -1;
	for (i = 0; i < 2; i++) {
		const struct super_copy *bad = &supers->copies[i], *good = &supers->copies[!i];

		if (!good->readable || good->verdict != RESSD_SUPER_GOOD ||
		    (bad->readable && bad->verdict == RESSD_SUPER_GOOD))
			continue;
		if (bad->readable && bad->verdict == RESSD_SUPER_FOREIGN &&
		    bad->raw.magic == cpu_to_le64(RESSD_SUPER_MAGIC))
			return fail(failure, -EPERM,
				    "superblock copy %u is intact, but of something else (%s), so it is not overwritten",
				    i, bad->error);
		repair->super_copy = i;
		ressd_super_encode(&repair->super, &good->info, i);
		repair->area.supers.info = good->info;
		return 0;
	}
	if (supers->choice == -ENODATA)
		return fail(failure, -ENODATA,
			    "the area has no superblock at all, so there is nothing to repair");
	if (supers->choice)
		return fail(failure, -ENODATA,
			    "%s; without one good superblock nothing can be repaired, and if both are good nobody knows which to believe",
			    supers->error);
	return 0;
}

static int plan_cut(struct repair *repair, struct failure *failure)
{
	struct log_source source = offline_source(&repair->area);
	struct log_image image;
	int code = log_image_open(&image, &repair->area.supers.info, &source, failure);

	if (!code)
		code = log_cut_plan(&repair->cut, &image, failure);
	log_image_close(&image);
	repair->cutting = code > 0;
	return code > 0 ? 0 : code;
}

static void add_write(struct repair *repair, u64 log_block, const void *data, bool flush)
{
	repair->writes[repair->nr_writes++] = (struct planned_write) {
		.offset = repair->area.start * 512 + log_block * RESSD_BLOCK_SIZE,
		.data = data,
		.flush = flush,
	};
}

static int list_writes(struct repair *repair, struct failure *failure)
{
	const u32 nr = repair->cutting ? log_cut_nr_writes(&repair->cut) : 0;
	u32 i;

	repair->writes = calloc(1 + nr, sizeof(*repair->writes));
	if (!repair->writes)
		return fail(failure, -ENOMEM, "there is not enough memory to plan the repair");
	if (repair->super_copy >= 0)
		add_write(repair, super_copy_offset(repair->super_copy, repair->area.sectors) /
			  RESSD_BLOCK_SIZE, &repair->super, false);
	for (i = 0; i < nr; i++) {
		const struct cut_write write = log_cut_write(&repair->cut, i);

		add_write(repair, write.block, write.data, write.flush);
	}
	return 0;
}

static void show_stale(const struct block_list *stale)
{
	size_t i;

	if (!stale->nr)
		return;
	printf("  %zu normal block%s had newer contents in those records, and will hold older contents:",
	       stale->nr, plural(stale->nr));
	for (i = 0; i < stale->nr && i < STALE_SHOWN; i++)
		printf("%s %u", i ? "," : "", stale->list[i]);
	printf("%s\n", i < stale->nr ? " ... (ressdctl dump shows all)" : "");
}

static void show_cut(const struct log_cut *cut)
{
	printf("cut the log behind record %llu: at log block %u there is %s\n", cut->chain.link.seq,
	       cut->chain.block, log_stop_words(cut->chain.stop));
	printf("  kept: %llu record%s with %llu block%s of 4 KiB that count\n", cut->chain.records,
	       plural(cut->chain.records), cut->kept_blocks, plural(cut->kept_blocks));
	printf("  lost: %llu record%s that had been acknowledged as durable; of these, %llu cannot be read\n",
	       cut->lost_records, plural(cut->lost_records), cut->unknown_records);
	show_stale(&cut->stale);
	if (cut->nr_copies)
		printf("  copied from those records: %u of the first blocks, of which the disk has covers only\n",
		       cut->nr_copies);
	if (cut->lost_copies)
		printf("  lost: %u of the first blocks; the disk has covers only, and these will be read\n",
		       cut->lost_copies);
	if (cut->unreadable)
		printf("  overwritten: %llu block%s that cannot be read, and of which nothing that is kept is needed; whether acknowledged records stood there nobody knows\n",
		       cut->unreadable, plural(cut->unreadable));
	if (cut->unknown_records)
		printf("  Nobody knows what the unreadable records held: any normal block written lately may be older than it should be. Check the file system before it is used.\n");
	if (cut->unmapped)
		printf("  %llu of the kept blocks have newer contents in the normal area, and give way to them\n",
		       cut->unmapped);
	if (cut->unmaps_left_out)
		printf("  %llu more should, but there is no room to say so: they will hold older contents\n",
		       cut->unmaps_left_out);
}

static void show_plan(const struct repair *repair)
{
	if (repair->super_copy >= 0)
		printf("write superblock copy %d anew, from copy %d (it is %s)\n",
		       repair->super_copy, !repair->super_copy,
		       super_copy_word(&repair->area.supers.copies[repair->super_copy]));
	if (repair->cutting)
		show_cut(&repair->cut);
	if (repair->nr_writes)
		printf("%zu block%s of %s would be overwritten\n", repair->nr_writes,
		       plural(repair->nr_writes), repair->area.dev.path);
	else
		printf("nothing to repair\n");
}

static int write_block(const struct repair *repair, const struct planned_write *write, u8 *buffer,
		       struct failure *failure)
{
	int code = write->flush ? blkdev_flush(&repair->area.dev, failure) : 0;

	if (write->data)
		memcpy(buffer, write->data, RESSD_BLOCK_SIZE);
	else
		memset(buffer, 0, RESSD_BLOCK_SIZE);
	return code ? code : blkdev_write(&repair->area.dev, write->offset, buffer,
					  RESSD_BLOCK_SIZE, failure);
}

/* Ctrl-C between two writes would do no harm, but would have to be explained. */
static int write_all(const struct repair *repair, struct failure *failure)
{
	u8 *buffer = blkdev_buffer(RESSD_BLOCK_SIZE);
	sigset_t all, before;
	size_t i;
	int code = 0;

	if (!buffer)
		return fail(failure, -ENOMEM, "there is not enough memory for a block");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (i = 0; !code && i < repair->nr_writes; i++)
		code = write_block(repair, &repair->writes[i], buffer, failure);
	if (!code)
		code = blkdev_flush(&repair->area.dev, failure);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(buffer);
	return code;
}

/* What was written must be what the kernel accepts. */
static int check_repaired(struct repair *repair, struct failure *failure)
{
	struct log_source source = offline_source(&repair->area);
	struct log_check check = { .refused = false };
	struct log_image image;
	int code;

	super_pair_read(&repair->area.supers, &repair->area.dev, repair->area.start,
			repair->area.sectors);
	log_check_supers(&check, &repair->area.supers, NULL, NULL);
	code = log_image_open(&image, &repair->area.supers.info, &source, failure);
	if (!code)
		code = log_check_log(&check, &image, failure);
	log_image_close(&image);
	if (!code && check.refused)
		code = fail(failure, -EUCLEAN,
			    "the area is still refused after the repair; undo it with: ressdctl repair --undo %s %s",
			    repair->backup, repair->area.dev.path);
	if (!code && check.findings.counts[FINDING_WARNING] + check.findings.counts[FINDING_DAMAGE])
		printf("the kernel accepts it now; ressdctl check shows what is still damaged\n");
	log_check_free(&check);
	return code;
}

static int do_plan(struct repair *repair, struct failure *failure)
{
	char question[PATH_MAX + 128];
	int code;

	snprintf(question, sizeof(question), "This overwrites %zu block%s of %s.",
		 repair->nr_writes, plural(repair->nr_writes), repair->area.dev.path);
	code = confirm(question, repair->yes, failure);
	if (!code)
		code = backup_save(repair->backup, &repair->area.dev,
				   &repair->area.supers.info, repair->writes,
				   repair->nr_writes, failure);
	if (!code)
		code = write_all(repair, failure);
	if (!code)
		code = check_repaired(repair, failure);
	if (code)
		return code;
	printf("repaired; to undo it, before the device is used: ressdctl repair --undo %s %s\n",
	       repair->backup, repair->area.dev.path);
	return 0;
}

static int run_repair(struct repair *repair, struct failure *failure)
{
	int code = plan_super(repair, failure);

	if (!code)
		code = plan_cut(repair, failure);
	if (!code)
		code = list_writes(repair, failure);
	if (code)
		return code;
	show_plan(repair);
	if (!repair->nr_writes)
		return 0;
	if (repair->backup)
		return do_plan(repair, failure);
	return fail(failure, -EUCLEAN,
		    "nothing was changed; to do it, add --backup FILE, which gets what is overwritten");
}

static int run_undo(struct repair *repair, struct failure *failure)
{
	struct blkdev dev;
	u64 blocks;
	int code = blkdev_open(&dev, repair->where.device, BLKDEV_WRITE, failure);

	if (code)
		return code;
	code = backup_restore(repair->undo, &dev, &blocks, failure);
	if (!code)
		printf("%s is as before the repair: %llu block%s written back\n", dev.path,
		       blocks, blocks == 1 ? " was" : "s were");
	blkdev_close(&dev);
	return code;
}

static int check_arguments(struct repair *repair, int argc, char **argv, struct failure *failure)
{
	if (repair->undo &&
	    (argc != 1 || repair->backup || repair->where.table || repair->where.search))
		return fail(failure, -EINVAL,
			    "--undo takes the backup file and the device, nothing else");
	if (repair->where.in_use)
		return fail(failure, -EINVAL,
			    "--in-use is for looking; a device in use cannot be repaired");
	return offline_words(&repair->where, "repair", argc, argv, failure);
}

static int parse(struct repair *repair, int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		OFFLINE_OPTIONS,
		{ "backup", required_argument, NULL, 'b' },
		{ "undo", required_argument, NULL, 'U' },
		{ "yes", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ":yh", options, NULL)) != -1) {
		if (option == 'b')
			repair->backup = optarg;
		else if (option == 'U')
			repair->undo = optarg;
		else if (option == 'y')
			repair->yes = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else if (!offline_option(&repair->where, option))
			return bad_option(argv, option, failure);
	}
	return check_arguments(repair, argc - optind, argv + optind, failure);
}

int command_repair(int argc, char **argv, struct failure *failure)
{
	static struct repair repair;
	int code;

	memset(&repair, 0, sizeof(repair));
	code = parse(&repair, argc, argv, failure);
	if (code)
		return code;
	if (repair.undo)
		return run_undo(&repair, failure);
	code = offline_open(&repair.area, &repair.where, repair.backup, failure);
	if (code)
		return code;
	code = offline_check_end(&repair.area, failure);
	if (!code)
		code = run_repair(&repair, failure);
	log_cut_free(&repair.cut);
	free(repair.writes);
	offline_close(&repair.area);
	return code;
}
