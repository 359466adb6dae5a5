/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that the programs write: always new ones.  A path that is typed wrong, or that names the
 * disk itself, must not cost what is there already.
 */
#ifndef RESSD_NEW_FILE_H
#define RESSD_NEW_FILE_H

#include <stdio.h>
#include "cli/failure.h"

/*
 * Could @path be created?  0, or a negative errno with a sentence that begins with @option, which
 * names the path: -EEXIST if anything is there.  Nothing is created or changed.
 */
int new_file_check(const char *path, const char *option, struct failure *failure);

/* The same for a folder, which may be there if it is empty. */
int new_folder_check(const char *path, const char *option, struct failure *failure);

/* Creates the regular file @path, for writing.  NULL and a sentence if anything is there. */
FILE *new_file_open(const char *path, const char *option, struct failure *failure);

/* Opens the regular file @path for reading; NULL, errno and a sentence else.  Never waits. */
FILE *regular_file_open(const char *path, const char *what, struct failure *failure);

#endif
