// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-thin: runs of a load on a file system on a thin volume, recorded by dm-log-writes, and
 * looks at what its replay leaves.  The help text below says how.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arguments.h"
#include "dm.h"
#include "fsx.h"
#include "output.h"
#include "thin-passing.h"
#include "writes-log.h"

static const char help_text[] =
	"Usage: ressd-thin [OPTION]... TYPE MKFS FSCK\n"
	"\n"
	"On the thin pool /dev/mapper/pool, again and again: a new volume; dm-log-writes on it, with\n"
	"/dev/log as its log; a file system of that TYPE, made by the command MKFS and mounted with\n"
	"discards; a load by several processes (see ressd-fsx), who set marks when they sync. Then\n"
	"the file system recovers from the replay up to a mark, the file must be what it was, and\n"
	"the command FSCK must find nothing: once on snapshots of a second volume, to which the\n"
	"recording goes step by step; and as fstests do it, on the first volume, all from the first\n"
	"entry on, which discards it. Commands are split at blanks.\n"
	"\n"
	"dm-log-writes notes what a flush covers when that has ended. So where a later flush ends\n"
	"first its recording is wrong. What is wrong is therefore replayed on the pool\n"
	"/dev/mapper/plain, too: if that gives the same it is not the fault of what is below the\n"
	"pool, and counts as recorded wrongly.\n"
	"\n"
	"  --runs N         default 1\n"
	"  --seed N         of the first run (default 1); the next one has N + 1\n"
	"  --looks N        in each run, at so many marks, a third of them on snapshots (default 3)\n"
	"  --operations N   of each of the four processes (default 100)\n"
	"  --sectors N      of a volume (default 196608)\n"
	"  --passing        another load: flushes pass others, so that the recording is wrong at the\n"
	"                   second mark or soon after. It must count as such\n"
	"\n"
	"Exit codes: 0 no difference, 1 a difference, 2 trouble.\n";

#define LOG		"/dev/log"
#define FOLDER		"/run/thin-mount"
#define SAVED		"/run/thin-saved"
#define PROCESSES	4
#define MAX_MARKS	4096
#define MAX_WORDS	32

struct mark {
	uint64_t entry;
	char name[32];
};

struct thin {
	const char *type, *make, *check;
	uint64_t runs, seed, looks, operations, sectors;
	struct mark marks[MAX_MARKS];
	unsigned int nr_marks;
	bool passing;
	uint64_t current;		/* seed of this run */
	uint64_t moments;		/* looked at so far, in all runs */
	uint64_t misrecorded;		/* of these, the same on a plain disk, and wrong */
};

/* Runs "@command @last"; returns its exit code. */
static int run_command(const char *command, const char *last)
{
	char text[256], *words[MAX_WORDS], *rest = NULL;
	int nr = 0, status;
	pid_t child = fork();

	if (child < 0)
		die(errno, "no process can be started");
	if (!child) {
		snprintf(text, sizeof(text), "%s %s", command, last);
		words[nr] = strtok_r(text, " ", &rest);
		while (words[nr] && nr < MAX_WORDS - 1)
			words[++nr] = strtok_r(NULL, " ", &rest);
		words[nr] = NULL;
		execvp(words[0], words);
		die(errno, "'%s' cannot be run", words[0]);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return EXIT_TROUBLE;
	return WEXITSTATUS(status);
}

/* --- thin volumes ------------------------------------------------------------------------- */

/* Each is /dev/mapper/NAME. */
struct volume {
	const char *pool, *name;
	unsigned int number;
};

static const struct volume volume = { "pool", "volume", 0 };
static const struct volume copy = { "pool", "copy", 1 };	/* the recording goes there */
static const struct volume view = { "pool", "view", 2 };	/* a snapshot of it */
static const struct volume plain = { "plain", "plain-volume", 0 };

static void pool_message(const char *what, const struct volume *v, const struct volume *origin)
{
	char text[64];

	if (origin)
		snprintf(text, sizeof(text), "%s %u %u", what, v->number, origin->number);
	else
		snprintf(text, sizeof(text), "%s %u", what, v->number);
	dm_message(v->pool, text);
}

static void map_thin(const struct thin *thin, const struct volume *v)
{
	char parameters[64];

	snprintf(parameters, sizeof(parameters), "/dev/mapper/%s %u", v->pool, v->number);
	dm_create(v->name, thin->sectors, "thin", parameters);
}

static void new_thin(const struct thin *thin, const struct volume *v)
{
	pool_message("create_thin", v, NULL);
	map_thin(thin, v);
}

static void delete_thin(const struct volume *v)
{
	dm_remove(v->name);
	pool_message("delete", v, NULL);
}

static void device_of(char path[64], const struct volume *v)
{
	snprintf(path, 64, "/dev/mapper/%s", v->name);
}

/* --- the load ------------------------------------------------------------------------------- */

static bool mount_fs(const struct thin *thin, const char *device)
{
	return !mount(device, FOLDER, thin->type, 0, "discard");
}

static void unmount_fs(void)
{
	if (umount(FOLDER))
		die(errno, FOLDER " cannot be unmounted");
}

/* Several processes, or a flush that is passed; false if a difference was found. */
static bool run_load(const struct thin *thin)
{
	const struct fsx_settings settings = {
		.seed = thin->current, .operations = thin->operations, .processes = PROCESSES,
		.share = true, .recorder = "recorder", .folder = FOLDER, .saved = SAVED,
	};
	int result;

	if (thin->passing) {
		passing_run(FOLDER, SAVED);
		return true;
	}
	result = fsx_run(&settings);
	if (result != EXIT_SAME && result != EXIT_DIFFERENT)
		die(0, "the load has failed");
	return result == EXIT_SAME;
}

/* The load on the volume; false if it has found a difference. */
static bool record(const struct thin *thin)
{
	bool right;

	new_thin(thin, &volume);
	if (thin->passing)
		passing_start(volume.name, thin->sectors);
	dm_create("recorder", thin->sectors, "log-writes",
		  thin->passing ? "/dev/mapper/paths " LOG : "/dev/mapper/volume " LOG);
	if (run_command(thin->make, "/dev/mapper/recorder"))
		die(0, "'%s' has failed", thin->make);
	if (!mount_fs(thin, "/dev/mapper/recorder"))
		die(errno, "the new file system cannot be mounted");
	right = run_load(thin);
	unmount_fs();
	dm_remove("recorder");
	if (thin->passing)
		passing_stop();
	return right;
}

static void list_marks(struct thin *thin)
{
	static struct entry entry;
	struct writes_log log;
	uint64_t number;

	thin->nr_marks = 0;
	writes_log_open(&log, LOG);
	for (number = 0; number < log.entries; number++) {
		writes_log_next(&log, &entry);
		/* The kernel sets one of its own at the end. */
		if (!(entry.flags & ENTRY_MARK) || entry.mark[0] != 'f')
			continue;
		if (thin->nr_marks == MAX_MARKS)
			die(0, "there are more than %u marks", MAX_MARKS);
		thin->marks[thin->nr_marks].entry = number;
		snprintf(thin->marks[thin->nr_marks++].name, sizeof(thin->marks[0].name), "%.31s",
			 entry.mark);
	}
	writes_log_close(&log);
}

/* --- looks ---------------------------------------------------------------------------------- */

/* What is found on a device at a mark. */
struct found {
	bool mounts, readable;	/* readable: the mark's file */
	bool right;		/* that file, and the file system has no faults */
	int faults;		/* exit code of the check */
	char file[64];		/* copy of the file */
};

/* The mark's file on the mounted file system, and what was saved. */
static void paths_of(const struct mark *mark, char file[96], char saved[96])
{
	snprintf(saved, 96, SAVED "/%s", mark->name);
	snprintf(file, 96, FOLDER "/%s", mark->name);
	*strrchr(file, '.') = '\0';
}

static bool file_is_right(const struct mark *mark)
{
	char file[96], saved[96];

	paths_of(mark, file, saved);
	return fsx_check(saved, file) == EXIT_SAME;
}

static bool has_faults(const struct thin *thin, const char *device, int *code)
{
	*code = run_command(thin->check, device);
	if (*code)
		say("DIFFERENCE on %s: '%s' finds faults", device, thin->check);
	return *code;
}

/* A recording that is wrong may give no file at all, or one of any size. */
static bool copy_file(const char *file, const char *to)
{
	struct stat stat_of;
	char command[128];

	snprintf(command, sizeof(command), "cp %s", file);
	if (!run_command(command, to) && !stat(to, &stat_of) && stat_of.st_size <= FSX_FILE_MAX)
		return true;
	say("DIFFERENCE: %s cannot be read, or has more than %u bytes", file, FSX_FILE_MAX);
	return false;
}

static struct found look(const struct thin *thin, const struct volume *v, const struct mark *mark)
{
	char device[64], file[96], saved[96];
	struct found found = { };

	device_of(device, v);
	paths_of(mark, file, saved);
	snprintf(found.file, sizeof(found.file), SAVED "/%s", v->name);
	found.mounts = mount_fs(thin, device);
	if (found.mounts) {
		found.readable = copy_file(file, found.file);
		found.right = found.readable && fsx_check(saved, found.file) == EXIT_SAME;
		unmount_fs();
	} else {
		say("DIFFERENCE on %s: it does not mount: %s", device, strerror(errno));
	}
	found.right &= !has_faults(thin, device, &found.faults);
	return found;
}

static void replay(const struct volume *v, uint64_t first, uint64_t last)
{
	struct writes_log log;
	char device[64];

	device_of(device, v);
	writes_log_open(&log, LOG);
	writes_log_apply(&log, device, first, last, REPLAY_DISCARDS, 0);
	writes_log_close(&log);
}

/* Is it the same on a plain disk?  Then the recording is wrong, or what the file system wrote. */
static bool same_on_plain(struct thin *thin, const struct mark *mark, const struct found *found)
{
	struct found on_plain;
	char command[96];
	bool same;

	new_thin(thin, &plain);
	replay(&plain, 0, mark->entry);
	on_plain = look(thin, &plain, mark);
	delete_thin(&plain);
	snprintf(command, sizeof(command), "cmp %s", on_plain.file);
	same = on_plain.mounts == found->mounts && on_plain.readable == found->readable &&
	       on_plain.faults == found->faults &&
	       (!found->readable || !run_command(command, found->file));
	thin->misrecorded += same;
	return same;
}

/* Of the volume, to which the recording has gone up to the mark. */
static bool is_right(struct thin *thin, const struct volume *v, const struct mark *mark)
{
	struct found found = look(thin, v, mark);
	bool same;

	thin->moments++;
	if (found.right)
		return true;
	say("seed %ju: it was found on %s, replayed up to the mark %s, entry %ju",
	    (uintmax_t)thin->current, v->name, mark->name, (uintmax_t)mark->entry);
	same = same_on_plain(thin, mark, &found);
	say("the same recording gives %s on a plain disk", same ? "the same" : "something else");
	return same;
}

/* Without a replay: the last mark of each file is what it holds at the end of the load. */
static bool look_at_end(struct thin *thin)
{
	bool right = true;
	unsigned int i, file, seen = 0;
	int faults;

	if (!mount_fs(thin, "/dev/mapper/volume")) {
		say("DIFFERENCE: the file system does not mount again: %s", strerror(errno));
		return false;
	}
	for (i = thin->nr_marks; i--;) {
		file = 1U << (thin->marks[i].name[1] - '0');
		if (!(seen & file))
			right &= file_is_right(&thin->marks[i]);
		seen |= file;
	}
	unmount_fs();
	right &= !has_faults(thin, "/dev/mapper/volume", &faults);
	if (!right)
		say("it was found at the end of the load");
	return right;
}

static bool look_at_same(struct thin *thin, const struct mark *mark)
{
	replay(&volume, 0, mark->entry);
	return is_right(thin, &volume, mark);
}

/* From the second mark on, up to one at which the recording is wrong; there must be one. */
static bool look_where_passed(struct thin *thin)
{
	uint64_t before = thin->misrecorded;
	unsigned int i;

	for (i = 1; i < thin->nr_marks; i++) {
		if (!look_at_same(thin, &thin->marks[i]))
			return false;
		if (thin->misrecorded > before)
			return true;
	}
	say("DIFFERENCE: the recording is right though flushes were passed");
	return false;
}

static bool look_at_snapshot(struct thin *thin, const struct mark *mark, uint64_t *replayed)
{
	bool right;

	replay(&copy, *replayed, mark->entry);
	*replayed = mark->entry + 1;
	dm_suspend(copy.name);
	pool_message("create_snap", &view, &copy);
	dm_resume(copy.name);
	map_thin(thin, &view);
	right = is_right(thin, &view, mark);
	delete_thin(&view);
	return right;
}

static bool look_at_snapshots(struct thin *thin, struct fsx *random, uint64_t looks)
{
	uint64_t replayed = 0, left = looks;
	unsigned int i;
	bool right = true;

	new_thin(thin, &copy);
	for (i = 0; i < thin->nr_marks && left; i++) {
		/* So many of those to come, each as likely as any other. */
		if (fsx_random(random, thin->nr_marks - i) >= left)
			continue;
		left--;
		right &= look_at_snapshot(thin, &thin->marks[i], &replayed);
	}
	delete_thin(&copy);
	return right;
}

/* Some of the marks, drawn at random. */
static bool look_at_marks(struct thin *thin)
{
	struct fsx random = { .random = thin->current * 2 + 1 };
	uint64_t i, on_snapshots = thin->looks / 3;
	bool right = true;

	if (on_snapshots)
		right = look_at_snapshots(thin, &random, on_snapshots);
	for (i = on_snapshots; i < thin->looks; i++)
		right &= look_at_same(thin, &thin->marks[fsx_random(&random, thin->nr_marks)]);
	return right;
}

/* --- runs ----------------------------------------------------------------------------------- */

static bool one_run(struct thin *thin, uint64_t seed)
{
	bool right;

	thin->current = seed;
	if (run_command("rm -rf", SAVED) || mkdir(SAVED, 0700))
		die(errno, SAVED " cannot be made");
	right = record(thin);
	list_marks(thin);
	if (!thin->nr_marks)
		die(0, "the recording has no mark");
	/* A load that has found a difference ends between two marks. */
	right = right && look_at_end(thin);
	right &= thin->passing ? look_where_passed(thin) : look_at_marks(thin);
	delete_thin(&volume);
	return right;
}

/* What the processes did at last; all of it is in SAVED until the next run. */
static void print_logs(void)
{
	char path[64];
	int i;

	for (i = 0; i < PROCESSES; i++) {
		snprintf(path, sizeof(path), SAVED "/f%d.log", i);
		say("the end of %s:", path);
		run_command("tail -n 20", path);
	}
}

static void parse(struct thin *thin, int argc, char **argv)
{
	enum { RUNS = 256, SEED, LOOKS, OPERATIONS, SECTORS, PASSING };
	static const struct option options[] = {
		{ "runs", required_argument, NULL, RUNS },
		{ "seed", required_argument, NULL, SEED },
		{ "looks", required_argument, NULL, LOOKS },
		{ "operations", required_argument, NULL, OPERATIONS },
		{ "sectors", required_argument, NULL, SECTORS },
		{ "passing", no_argument, NULL, PASSING },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == RUNS)
			thin->runs = parse_number("--runs", optarg, UINT32_MAX);
		else if (option == SEED)
			thin->seed = parse_number("--seed", optarg, UINT32_MAX);
		else if (option == LOOKS)
			thin->looks = parse_number("--looks", optarg, UINT32_MAX);
		else if (option == OPERATIONS)
			thin->operations = parse_number("--operations", optarg, FSX_MAX_OPERATIONS);
		else if (option == SECTORS)
			thin->sectors = parse_number("--sectors", optarg, UINT32_MAX);
		else if (option == PASSING)
			thin->passing = true;
		else
			die(0, "see ressd-thin --help");
	}
	if (optind != argc - 3)
		die(0, "TYPE, MKFS and FSCK are missing, or there is more; see ressd-thin --help");
	thin->type = argv[optind];
	thin->make = argv[optind + 1];
	thin->check = argv[optind + 2];
}

int main(int argc, char **argv)
{
	static struct thin thin = {
		.runs = 1, .seed = 1, .looks = 3, .operations = 100, .sectors = 196608,
	};
	uint64_t run, different = 0;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help_text, stdout);
		return 0;
	}
	parse(&thin, argc, argv);
	if (mkdir(FOLDER, 0700) && errno != EEXIST)
		die(errno, FOLDER " cannot be made");
	for (run = 0; run < thin.runs; run++) {
		if (one_run(&thin, thin.seed + run))
			continue;
		different++;
		say("seed %ju differs", (uintmax_t)(thin.seed + run));
		print_logs();
	}
	say("%ju runs, %ju moments, %ju recorded wrongly, %ju different", (uintmax_t)thin.runs,
	    (uintmax_t)thin.moments, (uintmax_t)thin.misrecorded, (uintmax_t)different);
	return different ? EXIT_DIFFERENT : EXIT_SAME;
}
