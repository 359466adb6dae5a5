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
#include "thin-jitter.h"
#include "writes-log.h"
#include "writes-order.h"

static const char help_text[] =
	"Usage: ressd-thin [OPTION]... TYPE MKFS FSCK\n"
	"\n"
	"On the thin pool /dev/mapper/pool, again and again: a new volume; dm-log-writes on it, with\n"
	"/dev/log as its log; a file system of that TYPE, made by the command MKFS and mounted with\n"
	"discards; a load by several processes (see ressd-fsx), who set marks when they sync. Then\n"
	"the file system recovers from the replay up to a mark, and the file must be what it was:\n"
	"once on snapshots of a second volume, to which the recording goes step by step; and as\n"
	"fstests do it, on the first volume, all from the first entry on, which discards it. At the\n"
	"end the command FSCK must find nothing. Commands are split at blanks.\n"
	"\n"
	"  --runs N         default 1\n"
	"  --seed N         of the first run (default 1); the next one has N + 1\n"
	"  --looks N        in each run, at so many marks, a third of them on snapshots (default 3)\n"
	"  --operations N   of each of the four processes (default 100)\n"
	"  --sectors N      of a volume (default 196608)\n"
	"  --jitter         below the recorder flushes pass each other, and a second one below that,\n"
	"                   with /dev/order as its log, records in which order they reach the volume.\n"
	"                   Both are replayed up to the marks at which the first one has most sectors\n"
	"                   that are older than in the second one. It may be wrong there; the second\n"
	"                   one must be right.\n"
	"\n"
	"Exit codes: 0 no difference, 1 a difference, 2 trouble.\n";

#define POOL		"pool"
#define LOG		"/dev/log"
#define ORDER		"/dev/order"
#define FOLDER		"/run/thin-mount"
#define SAVED		"/run/thin-saved"
#define PROCESSES	4
#define MAX_MARKS	4096
#define MAX_WORDS	32

/* Thin volumes, by their numbers. */
enum { VOLUME, COPY, VIEW };

struct mark {
	uint64_t entry;
	char name[32];
};

struct thin {
	const char *type, *make, *check;
	uint64_t runs, seed, looks, operations, sectors;
	struct mark marks[MAX_MARKS];
	unsigned int nr_marks;
	bool jitter;
	uint64_t current;		/* seed of this run */
	uint64_t moments;		/* looked at so far, in all runs */
	uint64_t misrecorded;		/* with jitter: of these, wrong by the recording alone */
	uint64_t misordered;		/* marks by which a newer version stands before an old */
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

static void pool_message(const char *what, unsigned int number, int origin)
{
	char text[64];

	if (origin >= 0)
		snprintf(text, sizeof(text), "%s %u %d", what, number, origin);
	else
		snprintf(text, sizeof(text), "%s %u", what, number);
	dm_message(POOL, text);
}

static void map_thin(const struct thin *thin, const char *name, unsigned int number)
{
	char parameters[64];

	snprintf(parameters, sizeof(parameters), "/dev/mapper/" POOL " %u", number);
	dm_create(name, thin->sectors, "thin", parameters);
}

static void new_thin(const struct thin *thin, const char *name, unsigned int number)
{
	pool_message("create_thin", number, -1);
	map_thin(thin, name, number);
}

static void delete_thin(const char *name, unsigned int number)
{
	dm_remove(name);
	pool_message("delete", number, -1);
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

/* The load on VOLUME; false if it has found a difference. */
static bool record(const struct thin *thin, uint64_t seed)
{
	const struct fsx_settings settings = {
		.seed = seed, .operations = thin->operations, .processes = PROCESSES, .share = true,
		.recorders = { "recorder", thin->jitter ? "order" : NULL },
		.folder = FOLDER, .saved = SAVED,
	};
	int result;

	new_thin(thin, "volume", VOLUME);
	if (thin->jitter) {
		dm_create("order", thin->sectors, "log-writes", "/dev/mapper/volume " ORDER);
		jitter_start("order", thin->sectors, seed);
	}
	dm_create("recorder", thin->sectors, "log-writes",
		  thin->jitter ? "/dev/mapper/jitter " LOG : "/dev/mapper/volume " LOG);
	if (run_command(thin->make, "/dev/mapper/recorder"))
		die(0, "'%s' has failed", thin->make);
	if (!mount_fs(thin, "/dev/mapper/recorder"))
		die(errno, "the new file system cannot be mounted");
	result = fsx_run(&settings);
	unmount_fs();
	dm_remove("recorder");
	if (thin->jitter) {
		jitter_stop();
		dm_remove("order");
	}
	if (result != EXIT_SAME && result != EXIT_DIFFERENT)
		die(0, "the load has failed");
	return result == EXIT_SAME;
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

/* Is the mark's file on the mounted file system what was saved? */
static bool file_is_right(const struct mark *mark)
{
	char saved[96], file[96];

	snprintf(saved, sizeof(saved), SAVED "/%s", mark->name);
	snprintf(file, sizeof(file), FOLDER "/%s", mark->name);
	*strrchr(file, '.') = '\0';
	return fsx_check(saved, file) == EXIT_SAME;
}

static bool look(struct thin *thin, const char *device, const struct mark *mark)
{
	bool right;

	thin->moments++;
	right = mount_fs(thin, device);
	if (right) {
		right = file_is_right(mark);
		unmount_fs();
	} else {
		say("DIFFERENCE on %s: it does not mount: %s", device, strerror(errno));
	}
	if (!right)
		say("it was found on %s, replayed up to the mark %s, entry %ju", device, mark->name,
		    (uintmax_t)mark->entry);
	return right;
}

/* Without a replay: the last mark of each file is what it holds at the end of the load. */
static bool look_at_end(struct thin *thin)
{
	bool right = true;
	unsigned int i, file, seen = 0;

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
	if (!right)
		say("it was found at the end of the load");
	return right;
}

static void replay(const char *path, const char *device, uint64_t first, uint64_t last)
{
	struct writes_log log;

	writes_log_open(&log, path);
	writes_log_apply(&log, device, first, last, true);
	writes_log_close(&log);
}

static bool look_at_same(struct thin *thin, const struct mark *mark)
{
	replay(LOG, "/dev/mapper/volume", 0, mark->entry);
	return look(thin, "/dev/mapper/volume", mark);
}

/* Where the other recording has the mark. */
static uint64_t entry_in_order(const struct mark *mark)
{
	static struct entry entry;
	struct writes_log log;
	uint64_t number;

	writes_log_open(&log, ORDER);
	for (number = 0; number < log.entries; number++) {
		writes_log_next(&log, &entry);
		if (entry.flags & ENTRY_MARK && !strcmp(entry.mark, mark->name)) {
			writes_log_close(&log);
			return number;
		}
	}
	die(0, ORDER " has no mark %s", mark->name);
}

/*
 * With jitter: the first recording may be wrong, but not without a reason and each time it is
 * replayed; and the second one not.
 */
static bool look_at_both(struct thin *thin, const struct mark *mark, const struct stale *stale)
{
	bool right = look_at_same(thin, mark);

	if (!right) {
		say("seed %ju: up to there " LOG " has %ju sectors that are older than in " ORDER
		    ", %ju of them behind a newer version", (uintmax_t)thin->current,
		    (uintmax_t)stale->sectors, (uintmax_t)stale->misordered);
		right = stale->sectors && !look_at_same(thin, mark);
		thin->misrecorded += right;
	}
	replay(ORDER, "/dev/mapper/volume", 0, entry_in_order(mark));
	return look(thin, "/dev/mapper/volume", mark) && right;
}

static int by_staleness(const void *a, const void *b)
{
	const struct stale *one = a, *other = b;

	if (one->misordered != other->misordered)
		return one->misordered < other->misordered ? 1 : -1;
	return (one->sectors < other->sectors) - (one->sectors > other->sectors);
}

static const struct mark *mark_of(const struct thin *thin, const char *name)
{
	unsigned int i;

	for (i = 0; strcmp(thin->marks[i].name, name); i++)
		;
	return &thin->marks[i];
}

/* The marks at which most sectors of the first recording are too old, if any are. */
static bool look_where_misrecorded(struct thin *thin)
{
	static struct stale stale[MAX_MARKS];
	unsigned int i, nr = writes_order_compare(LOG, ORDER, stale, MAX_MARKS);
	bool right = true;

	qsort(stale, nr, sizeof(stale[0]), by_staleness);
	for (i = 0; i < nr && i < thin->looks; i++) {
		if (stale[i].mark[0] != 'f')
			continue;
		right &= look_at_both(thin, mark_of(thin, stale[i].mark), &stale[i]);
	}
	for (i = 0; i < nr; i++)
		thin->misordered += !!stale[i].misordered;
	return right;
}

static bool look_at_snapshot(struct thin *thin, const struct mark *mark, uint64_t *replayed)
{
	bool right;

	replay(LOG, "/dev/mapper/copy", *replayed, mark->entry);
	*replayed = mark->entry + 1;
	dm_suspend("copy");
	pool_message("create_snap", VIEW, COPY);
	dm_resume("copy");
	map_thin(thin, "view", VIEW);
	right = look(thin, "/dev/mapper/view", mark);
	delete_thin("view", VIEW);
	return right;
}

static bool look_at_snapshots(struct thin *thin, struct fsx *random, uint64_t looks)
{
	uint64_t replayed = 0, left = looks;
	unsigned int i;
	bool right = true;

	new_thin(thin, "copy", COPY);
	for (i = 0; i < thin->nr_marks && left; i++) {
		/* So many of those to come, each as likely as any other. */
		if (fsx_random(random, thin->nr_marks - i) >= left)
			continue;
		left--;
		right &= look_at_snapshot(thin, &thin->marks[i], &replayed);
	}
	delete_thin("copy", COPY);
	return right;
}

/* --- runs ----------------------------------------------------------------------------------- */

static bool one_run(struct thin *thin, uint64_t seed)
{
	struct fsx random = { .random = seed * 2 + 1 };
	uint64_t i, on_snapshots = thin->jitter ? 0 : thin->looks / 3;
	bool right;

	thin->current = seed;
	if (run_command("rm -rf", SAVED) || mkdir(SAVED, 0700))
		die(errno, SAVED " cannot be made");
	right = record(thin, seed);
	list_marks(thin);
	if (!thin->nr_marks)
		die(0, "the recording has no mark");
	/* A load that has found a difference ends between two marks. */
	right = right && look_at_end(thin);
	if (on_snapshots)
		right &= look_at_snapshots(thin, &random, on_snapshots);
	if (thin->jitter)
		right &= look_where_misrecorded(thin);
	for (i = on_snapshots; !thin->jitter && i < thin->looks; i++)
		right &= look_at_same(thin, &thin->marks[fsx_random(&random, thin->nr_marks)]);
	if (run_command(thin->check, "/dev/mapper/volume")) {
		say("DIFFERENCE: '%s' finds faults", thin->check);
		right = false;
	}
	delete_thin("volume", VOLUME);
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
	enum { RUNS = 256, SEED, LOOKS, OPERATIONS, SECTORS, JITTER };
	static const struct option options[] = {
		{ "runs", required_argument, NULL, RUNS },
		{ "seed", required_argument, NULL, SEED },
		{ "looks", required_argument, NULL, LOOKS },
		{ "operations", required_argument, NULL, OPERATIONS },
		{ "sectors", required_argument, NULL, SECTORS },
		{ "jitter", no_argument, NULL, JITTER },
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
		else if (option == JITTER)
			thin->jitter = true;
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
	if (thin.jitter)
		say("%ju moments were recorded wrongly; a newer version stands before an older one at %ju marks",
		    (uintmax_t)thin.misrecorded, (uintmax_t)thin.misordered);
	say("%ju runs, %ju moments, %ju different", (uintmax_t)thin.runs, (uintmax_t)thin.moments,
	    (uintmax_t)different);
	return different ? EXIT_DIFFERENT : EXIT_SAME;
}
