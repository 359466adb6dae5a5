// SPDX-License-Identifier: GPL-2.0-only
/* A run of ressd-fsx: its processes, and what is saved and marked at each fsync. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dm.h"
#include "fsx.h"
#include "output.h"

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		die(errno, "there is no memory for %zu bytes", bytes);
	return memory;
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		die(errno, "'%s' cannot be opened", path);
	return fd;
}

/*
 * Syncs the file, sets the mark and saves what the file holds.  Then reads it, now and then from
 * the disk: so what is wrong at the mark in a replay was right here.
 */
static void sync_and_mark(const struct fsx_settings *settings, struct fsx *fsx, unsigned int mark)
{
	char name[32], path[4096];
	int fd;

	snprintf(name, sizeof(name), "%s.%u", fsx->name, mark);
	fprintf(fsx->log, "%u fsync, mark %s\n", fsx->operation, name);
	if (fsync(fsx->fd))
		die(errno, "%s: fsync failed", fsx->name);
	snprintf(path, sizeof(path), "mark %s", name);
	if (settings->recorder)
		dm_message(settings->recorder, path);
	snprintf(path, sizeof(path), "%s/%s", settings->saved, name);
	fd = open_or_die(path, O_WRONLY | O_CREAT | O_TRUNC);
	if (write(fd, fsx->good, fsx->size) != (ssize_t)fsx->size || close(fd))
		die(errno, "'%s' cannot be written", path);
	if (fsx_random(fsx, 2))
		posix_fadvise(fsx->fd, 0, 0, POSIX_FADV_DONTNEED);
	fsx_verify(fsx, 0, fsx->size);
}

static void open_files(const struct fsx_settings *settings, struct fsx *fsx)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", settings->folder, fsx->name);
	fsx->fd = open_or_die(path, O_RDWR | O_CREAT | O_TRUNC);
	snprintf(path, sizeof(path), "%s/%s.log", settings->saved, fsx->name);
	fsx->log = fopen(path, "w");
	if (!fsx->log)
		die(errno, "'%s' cannot be opened", path);
	setvbuf(fsx->log, NULL, _IOLBF, 0);
}

/* One process: the load on one file, from the first operation to the last. */
static void work(const struct fsx_settings *settings, unsigned int number)
{
	char name[16];
	unsigned int marks = 0;
	struct fsx fsx = {
		.name = name,
		.random = (settings->seed + 1) * 0x9e3779b97f4a7c15ULL ^ (number + 1) << 20,
		.good = allocate(FSX_FILE_MAX),
		.scratch = allocate(FSX_FILE_MAX),
		.share = settings->share,
	};

	snprintf(name, sizeof(name), "f%u", number);
	open_files(settings, &fsx);
	while (fsx.operation < settings->operations)
		if (fsx_operate(&fsx))
			sync_and_mark(settings, &fsx, marks++);
	sync_and_mark(settings, &fsx, marks);
	posix_fadvise(fsx.fd, 0, 0, POSIX_FADV_DONTNEED);
	fsx_verify(&fsx, 0, fsx.size);
	exit(EXIT_SAME);
}

int fsx_run(const struct fsx_settings *settings)
{
	int status, worst = EXIT_SAME;
	unsigned int i;
	pid_t child;

	for (i = 0; i < settings->processes; i++) {
		child = fork();
		if (child < 0)
			die(errno, "no process can be started");
		if (!child)
			work(settings, i);
	}
	while (wait(&status) > 0) {
		status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_TROUBLE;
		if (status > worst)
			worst = status;
	}
	return worst;
}

static uint32_t load(const char *path, uint8_t *data)
{
	int fd = open_or_die(path, O_RDONLY);
	struct stat stat;
	ssize_t got = -1;

	if (!fstat(fd, &stat) && stat.st_size <= FSX_FILE_MAX)
		got = read(fd, data, FSX_FILE_MAX);
	if (got < 0 || got != stat.st_size)
		die(errno, "'%s' cannot be read, or has more than %u bytes", path, FSX_FILE_MAX);
	close(fd);
	return (uint32_t)got;
}

int fsx_check(const char *saved, const char *file)
{
	uint8_t *wanted = allocate(FSX_FILE_MAX), *found = allocate(FSX_FILE_MAX);
	uint32_t size = load(saved, wanted), found_size = load(file, found);
	bool same = fsx_same(file, wanted, found, 0, size) && size == found_size;

	if (size != found_size)
		say("DIFFERENCE in %s: it has %u bytes and must have %u", file, found_size, size);
	free(wanted);
	free(found);
	return same ? EXIT_SAME : EXIT_DIFFERENT;
}
