// SPDX-License-Identifier: GPL-2.0-only
/* Device-mapper through libdevmapper; see ressd-dm.h. */
#include <errno.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dm/kernel-log.h"
#include "dm/ressd-dm.h"

#define MAX_NAME	127	/* DM_NAME_LEN - 1 */

/* What libdevmapper said last; it becomes a part of our own sentence. */
static char library_words[256];

static void keep_words(int level, const char *file, int line, int code, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void keep_words(int level, const char *file, int line, int code, const char *format, ...)
{
	va_list arguments;
	size_t end;

	(void)file;
	(void)line;
	(void)code;
	if ((level & 7) > 3)	/* less than an error */
		return;
	va_start(arguments, format);
	vsnprintf(library_words, sizeof(library_words), format, arguments);
	va_end(arguments);
	/* It may be a sentence, which ends in ours. */
	end = strlen(library_words);
	if (end && library_words[end - 1] == '.')
		library_words[end - 1] = '\0';
}

const char *ressd_dm_name(const char *word)
{
	static const char folder[] = "/dev/mapper/";

	if (!strncmp(word, folder, strlen(folder)))
		return word + strlen(folder);
	return strchr(word, '/') ? NULL : word;
}

static void set_up_library(void)
{
	static bool done;

	if (done)
		return;
	dm_log_with_errno_init(keep_words);
	if (getenv("DM_DISABLE_UDEV") || access("/run/udev/control", F_OK))
		dm_udev_set_sync_support(0);
	done = true;
}

int ressd_dm_check_name(const char *name, struct failure *failure)
{
	if (!*name || strlen(name) > MAX_NAME || strchr(name, '/') || !strcmp(name, ".") ||
	    !strcmp(name, ".."))
		return fail(failure, -EINVAL,
			    "the name '%.40s' is no device-mapper name; use 1 to %d characters without '/', but not '.' or '..'",
			    name, MAX_NAME);
	return 0;
}

/* Makes a task for @name, to be released with dm_task_destroy(). */
static int new_task(struct dm_task **task, int type, const char *name, struct failure *failure)
{
	if (ressd_dm_check_name(name, failure))
		return -EINVAL;
	set_up_library();
	library_words[0] = '\0';
	*task = dm_task_create(type);
	if (*task && dm_task_set_name(*task, name))
		return 0;
	if (*task)
		dm_task_destroy(*task);
	return fail(failure, -ENODEV,
		    "device-mapper is not available (%s); run as root, and load the module dm-mod",
		    library_words[0] ? library_words : "no answer");
}

static int run(struct dm_task *task)
{
	if (dm_task_run(task))
		return 0;
	return dm_task_get_errno(task) ? -dm_task_get_errno(task) : -EIO;
}

/* Runs a task that makes or removes a node, and waits for udev. */
static int run_with_udev(struct dm_task *task)
{
	uint32_t cookie = 0;
	int code;

	if (!dm_task_set_cookie(task, &cookie, 0))
		return -EIO;
	code = run(task);
	dm_udev_wait(cookie);
	return code;
}

static void remove_unfinished(const char *name)
{
	struct dm_info info;
	struct failure ignored;
	struct dm_task *task;
	bool unfinished;

	if (new_task(&task, DM_DEVICE_INFO, name, &ignored))
		return;
	unfinished = !run(task) && dm_task_get_info(task, &info) && info.exists &&
		     (!info.live_table || info.suspended);
	dm_task_destroy(task);
	if (!unfinished || new_task(&task, DM_DEVICE_REMOVE, name, &ignored))
		return;
	run_with_udev(task);
	dm_task_destroy(task);
}

/*
 * Ctrl-C ends a long recovery, and this program: a child takes away the device, which has no table
 * then, or one that is suspended.  It waits for *@end to be closed, and is killed if all went well.
 */
static pid_t guard_creation(const char *name, int *end)
{
	sigset_t all, before;
	int ends[2];
	pid_t child;
	char byte;

	*end = -1;
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = fork();
	if (!child) {
		close(ends[1]);
		if (!read(ends[0], &byte, 1))
			remove_unfinished(name);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	*end = ends[1];
	return child;
}

static void end_guard(pid_t child, int end)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	if (end >= 0)
		close(end);
}

static bool has_target(void)
{
	struct dm_task *task = dm_task_create(DM_DEVICE_LIST_VERSIONS);
	struct dm_versions *target, *last;
	bool found = false;

	if (task && dm_task_run(task)) {
		target = dm_task_get_versions(task);
		do {
			last = target;
			found = found || !strcmp(target->name, "ressd");
			target = (void *)((char *)target + target->next);
		} while (last->next);
	}
	if (task)
		dm_task_destroy(task);
	return found;
}

static int no_target(struct failure *failure)
{
	return fail(failure, -ENODEV,
		    "the kernel has no target 'ressd'; load it with: modprobe dm-ressd");
}

static int create_failure(const char *name, int mark, int code, struct failure *failure)
{
	char sentence[sizeof(failure->text)];

	if (kernel_log_sentence(mark, sentence, sizeof(sentence)))
		return fail(failure, code, "%s", sentence);
	if (!has_target())
		return no_target(failure);
	return fail(failure, code, "device-mapper cannot create %s: %s (%s)", name, strerror(-code),
		    library_words[0] ? library_words : "see dmesg");
}

static int check_name_free(const char *name, struct failure *failure)
{
	struct dm_info info = { .exists = 0 };
	struct dm_task *task;
	int code = new_task(&task, DM_DEVICE_INFO, name, failure);

	if (code)
		return code;
	code = run(task);
	if (!code)
		dm_task_get_info(task, &info);
	dm_task_destroy(task);
	if (code && code != -ENXIO)
		return fail(failure, code, "device-mapper does not answer: %s (%s)",
			    strerror(-code), library_words);
	if (info.exists)
		return fail(failure, -EEXIST,
			    "a device-mapper device %s exists already; close it, or choose another name",
			    name);
	return 0;
}

/* Who has the device-mapper UUID: this log, or that of a device that was taken out since. */
static int check_uuid_free(const char *full, struct failure *failure)
{
	struct dm_task *task = dm_task_create(DM_DEVICE_INFO);
	struct dm_info info;
	int code = 0;

	if (task && dm_task_set_uuid(task, full) && !run(task) && dm_task_get_info(task, &info) &&
	    info.exists)
		code = fail(failure, -EBUSY,
			    "the log, or the one that it is a copy of, is open already, as /dev/mapper/%s; use that, or close it first: ressdctl close %s",
			    dm_task_get_name(task), dm_task_get_name(task));
	if (task)
		dm_task_destroy(task);
	return code;
}

/* The kernel loads a target by itself when a table names it; here it is wanted earlier. */
static void load_target(void)
{
	char *const words[] = { "modprobe", "-q", "dm-ressd", NULL };
	pid_t child;

	if (!posix_spawnp(&child, words[0], NULL, NULL, words, environ))
		waitpid(child, NULL, 0);
}

int ressd_dm_can_create(const char *name, struct failure *failure)
{
	int code = check_name_free(name, failure);

	if (code)
		return code;
	if (!has_target())
		load_target();
	return has_target() ? 0 : no_target(failure);
}

int ressd_dm_create(const char *name, const char *uuid, const struct table_line *line,
		    struct failure *failure)
{
	char parameters[TABLE_LINE_TEXT], full[sizeof(DM_UUID_PREFIX) + 64];
	struct dm_task *task;
	int mark, end, code = check_name_free(name, failure);
	pid_t guard;

	snprintf(full, sizeof(full), DM_UUID_PREFIX "%.60s", uuid ? uuid : "");
	if (!code && uuid)
		code = check_uuid_free(full, failure);
	if (!code)
		code = new_task(&task, DM_DEVICE_CREATE, name, failure);
	if (code)
		return code;
	code = -ENOMEM;
	mark = kernel_log_mark();
	guard = guard_creation(name, &end);
	if (dm_task_add_target(task, 0, line->table.len, "ressd",
			       table_line_parameters(line, parameters)) &&
	    (!uuid || dm_task_set_uuid(task, full)))
		code = run_with_udev(task);
	end_guard(guard, end);
	if (code)
		code = create_failure(name, mark, code, failure);
	else if (mark >= 0)
		close(mark);
	dm_task_destroy(task);
	return code;
}

int ressd_dm_uuid(const char *name, char *uuid, size_t size, struct failure *failure)
{
	const size_t prefix = strlen(DM_UUID_PREFIX);
	struct dm_task *task;
	const char *full;
	int code = new_task(&task, DM_DEVICE_INFO, name, failure);

	if (code)
		return code;
	code = run(task);
	full = code ? NULL : dm_task_get_uuid(task);
	if (full && !strncmp(full, DM_UUID_PREFIX, prefix))
		snprintf(uuid, size, "%s", full + prefix);
	else
		*uuid = '\0';
	dm_task_destroy(task);
	return code ? fail(failure, code, "device-mapper does not tell the UUID of %s: %s", name,
			   strerror(-code)) : 0;
}

int ressd_dm_set_uuid(const char *name, const char *uuid, struct failure *failure)
{
	char full[sizeof(DM_UUID_PREFIX) + 64];
	struct dm_task *task;
	int code = new_task(&task, DM_DEVICE_RENAME, name, failure);

	if (code)
		return code;
	code = -ENOMEM;
	snprintf(full, sizeof(full), DM_UUID_PREFIX "%.60s", uuid);
	if (dm_task_set_newuuid(task, full))
		code = run_with_udev(task);
	if (code)
		fail(failure, code, "device-mapper cannot give %s the UUID %s: %s", name, full,
		     strerror(-code));
	dm_task_destroy(task);
	return code;
}

/* Is it one of ours, and is it free? */
static int check_unused(const char *name, struct failure *failure)
{
	char text[TABLE_LINE_TEXT];
	struct dm_info info;
	struct dm_task *task;
	int code = ressd_dm_table(name, text, failure);

	if (!code)
		code = new_task(&task, DM_DEVICE_INFO, name, failure);
	if (code)
		return code;
	code = run(task);
	if (!code && dm_task_get_info(task, &info) && info.open_count)
		code = fail(failure, -EBUSY,
			    "/dev/mapper/%s is in use (open count %d); unmount it and end its users first",
			    name, info.open_count);
	dm_task_destroy(task);
	return code;
}

int ressd_dm_check_removable(const char *name, struct failure *failure)
{
	int code, tries;

	/* udev may look into a device for a moment after its last user has closed it. */
	for (tries = 0; ; tries++) {
		code = check_unused(name, failure);
		if (code != -EBUSY || tries == 10)
			return code;
		usleep(100000);
	}
}

/*
 * What a suspend writes at the end may fail, and nobody is told then.  In the state Fail that was
 * told, and to close the device is the way out of it.
 */
static int flush(const char *name)
{
	struct dm_info info = { .exists = 0 };
	struct ressd_status status;
	struct failure ignored;
	struct dm_task *task;
	char path[32];
	int fd, code = 0;

	if (new_task(&task, DM_DEVICE_INFO, name, &ignored))
		return 0;
	if (!run(task))
		dm_task_get_info(task, &info);
	dm_task_destroy(task);
	if (!info.exists || info.suspended || ressd_dm_status(name, &status, &ignored) ||
	    !strcmp(status.state, "Fail"))
		return 0;
	snprintf(path, sizeof(path), "/dev/dm-%u", info.minor);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fsync(fd))
		code = -errno;
	if (fd >= 0)
		close(fd);
	return code;
}

int ressd_dm_remove(const char *name, struct failure *failure)
{
	struct dm_task *task;
	int code = ressd_dm_check_removable(name, failure), flushed;

	if (!code)
		code = new_task(&task, DM_DEVICE_REMOVE, name, failure);
	if (code)
		return code;
	flushed = flush(name);
	code = run_with_udev(task);
	if (code)
		fail(failure, code, "device-mapper cannot remove %s: %s", name, strerror(-code));
	else if (flushed)
		code = fail(failure, -EIO,
			    "%s is closed, but what was written to it last may be lost: %s; check its file system once the device is well",
			    name, strerror(-flushed));
	dm_task_destroy(task);
	return code;
}

int ressd_dm_message(const char *name, const char *message, struct failure *failure)
{
	char sentence[sizeof(failure->text)];
	struct dm_task *task;
	int mark, code = new_task(&task, DM_DEVICE_TARGET_MSG, name, failure);

	if (code)
		return code;
	code = -ENOMEM;
	mark = kernel_log_mark();
	if (dm_task_set_sector(task, 0) && dm_task_set_message(task, message))
		code = run(task);
	if (code && kernel_log_sentence(mark, sentence, sizeof(sentence)))
		fail(failure, code, "%s", sentence);
	else if (code)
		fail(failure, code, "%s does not accept the message '%s': %s", name, message,
		     strerror(-code));
	else if (mark >= 0)
		close(mark);
	dm_task_destroy(task);
	return code;
}

/* Table or status of the one target of @name; @length gets its sectors, @words its text. */
static int read_target(int type, const char *name, u64 *length, char *words, size_t size,
		       struct failure *failure)
{
	struct dm_task *task;
	uint64_t start, sectors;
	char *target = NULL, *parameters = NULL;
	struct dm_info info;
	void *next;
	int code = new_task(&task, type, name, failure);

	if (code)
		return code;
	code = run(task);
	if (code == -ENXIO || (!code && dm_task_get_info(task, &info) && !info.exists)) {
		code = fail(failure, -ENXIO,
			    "there is no device-mapper device %s; dmsetup ls --target ressd lists those of ressd",
			    name);
	} else if (code) {
		fail(failure, code, "device-mapper tells nothing about %s: %s (%s)", name,
		     strerror(-code), library_words);
	} else {
		next = dm_get_next_target(task, NULL, &start, &sectors, &target, &parameters);
		if (next || !target || strcmp(target, "ressd"))
			code = fail(failure, -EINVAL, "%s is not a device of ressd but of '%s'",
				    name, target ? target : "nothing");
	}
	if (!code) {
		*length = sectors;
		snprintf(words, size, "%s", parameters ? parameters : "");
	}
	dm_task_destroy(task);
	return code;
}

int ressd_dm_table(const char *name, char *text, struct failure *failure)
{
	char words[TABLE_LINE_TEXT - 40];
	u64 length;
	int code = read_target(DM_DEVICE_TABLE, name, &length, words, sizeof(words), failure);

	if (!code)
		snprintf(text, TABLE_LINE_TEXT, "0 %llu ressd %s", (unsigned long long)length,
			 words);
	return code;
}

int ressd_dm_status(const char *name, struct ressd_status *status, struct failure *failure)
{
	char words[4096];
	u64 length;
	int code = read_target(DM_DEVICE_STATUS, name, &length, words, sizeof(words), failure);

	return code ? code : ressd_status_parse(status, words, failure);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Copies the names of the devices; NULL and a negative errno in *@code, or *@nr of them. */
static char **copy_names(struct dm_task *task, size_t *nr, int *code)
{
	struct dm_names *entry = dm_task_get_names(task);
	char **names = NULL, **more;
	u32 next = 0;

	*nr = 0;
	*code = 0;
	/* An entry without a device ends an empty list. */
	if (!entry || !entry->dev)
		return NULL;
	do {
		entry = (void *)((char *)entry + next);
		next = entry->next;
		more = realloc(names, (*nr + 1) * sizeof(*names));
		if (more)
			more[*nr] = strdup(entry->name);
		names = more ? more : names;
		if (!more || !more[*nr]) {
			*code = -ENOMEM;
			break;
		}
		++*nr;
	} while (next);
	return names;
}

int ressd_dm_list(void (*visit)(void *context, const char *name), void *context,
		  struct failure *failure)
{
	char text[TABLE_LINE_TEXT], **names = NULL;
	struct failure other;
	struct dm_task *task;
	size_t nr = 0, i;
	int code = -ENOMEM;

	set_up_library();
	library_words[0] = '\0';
	task = dm_task_create(DM_DEVICE_LIST);
	if (task)
		code = run(task);
	if (!code)
		names = copy_names(task, &nr, &code);
	if (task)
		dm_task_destroy(task);
	if (code)
		fail(failure, code,
		     "device-mapper does not list its devices (%s); run as root, and load the module dm-mod",
		     library_words[0] ? library_words : strerror(-code));
	else if (nr)
		qsort(names, nr, sizeof(*names), compare_names);
	for (i = 0; i < nr; i++) {
		if (!code && !ressd_dm_table(names[i], text, &other))
			visit(context, names[i]);
		free(names[i]);
	}
	free(names);
	return code;
}

int ressd_dm_targets(dev_t number,
		     void (*visit)(void *context, u64 start, u64 bytes, const char *type,
				   const char *parameters), void *context)
{
	uint64_t start, sectors;
	char *type, *parameters;
	struct dm_task *task;
	void *next = NULL;
	int code = -EIO;

	set_up_library();
	task = dm_task_create(DM_DEVICE_TABLE);
	if (task && dm_task_set_major(task, major(number)) &&
	    dm_task_set_minor(task, minor(number)))
		code = run(task);
	while (!code) {
		next = dm_get_next_target(task, next, &start, &sectors, &type, &parameters);
		if (type)
			visit(context, start * 512, sectors * 512, type, parameters);
		if (!next)
			break;
	}
	if (task)
		dm_task_destroy(task);
	return code;
}
