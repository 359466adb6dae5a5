// SPDX-License-Identifier: GPL-2.0-only
/* Files that must be new; see new-file.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/new-file.h"

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFBLK:
		return "a block device";
	case S_IFCHR:
		return "a character device";
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a pipe";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFREG:
		return "a file that is there already";
	default:
		return "something that is there already";
	}
}

static int exists(const char *path, const char *option, mode_t mode, struct failure *failure)
{
	return fail(failure, -EEXIST,
		    "%s names %s, which is %s; name a file that does not exist yet, for nothing is overwritten",
		    option, path, kind_of(mode));
}

/* Can something be made in the folder of @path? */
static int check_parent(const char *path, const char *option, struct failure *failure)
{
	char *copy = strdup(path);
	int code = 0;

	if (!copy)
		return fail(failure, -ENOMEM, "not enough memory for a path");
	if (access(dirname(copy), W_OK | X_OK))
		code = fail(failure, -errno,
			    "%s names %s, which cannot be created: %s; name one in a folder that is there and can be written",
			    option, path, strerror(errno));
	free(copy);
	return code;
}

int new_file_check(const char *path, const char *option, struct failure *failure)
{
	struct stat status;

	if (!lstat(path, &status))
		return exists(path, option, status.st_mode, failure);
	return check_parent(path, option, failure);
}

static bool is_empty(DIR *folder)
{
	struct dirent *entry;

	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			return false;
	return true;
}

int new_folder_check(const char *path, const char *option, struct failure *failure)
{
	struct stat status;
	DIR *folder;
	int code = 0;

	if (stat(path, &status)) {
		if (!lstat(path, &status))
			return exists(path, option, status.st_mode, failure);
		return check_parent(path, option, failure);
	}
	folder = opendir(path);
	if (!folder)
		return S_ISDIR(status.st_mode) ?
		       fail(failure, -errno, "%s names %s, which cannot be read: %s", option, path,
			    strerror(errno)) :
		       fail(failure, -EEXIST,
			    "%s names %s, which is %s; name a folder that is empty or does not exist yet",
			    option, path, kind_of(status.st_mode));
	if (!is_empty(folder))
		code = fail(failure, -EEXIST,
			    "%s names %s, which holds files already; name a folder that is empty or does not exist yet, for nothing is overwritten",
			    option, path);
	closedir(folder);
	return code;
}

FILE *new_file_open(const char *path, const char *option, struct failure *failure)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct stat status;
	FILE *file;

	if (fd < 0 && errno == EEXIST && !lstat(path, &status)) {
		exists(path, option, status.st_mode, failure);
		return NULL;
	}
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		fail(failure, -errno, "%s names %s, which cannot be created: %s", option, path,
		     strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return file;
}

FILE *regular_file_open(const char *path, const char *what, struct failure *failure)
{
	/* Without O_NONBLOCK the open of a pipe waits for somebody who writes to it. */
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const int code = errno;
	struct stat status;

	if (fd < 0) {
		fail(failure, -code, "cannot open %s %s: %s", what, path, strerror(code));
		errno = code;
		return NULL;
	}
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		return fdopen(fd, "r");
	close(fd);
	fail(failure, -EINVAL, "%s is %s, but %s must be a regular file", path,
	     kind_of(status.st_mode), what);
	errno = EINVAL;
	return NULL;
}
