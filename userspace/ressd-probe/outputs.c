// SPDX-License-Identifier: GPL-2.0-only
/* What the probe writes besides the device; see outputs.h. */
#include <errno.h>
#include <sys/stat.h>
#include "cli/new-file.h"
#include "outputs.h"

/* The file of an earlier run is what --resume is for. */
static int check_resume(const char *path, struct failure *failure)
{
	struct stat status;

	if (stat(path, &status) || S_ISREG(status.st_mode))
		return 0;
	return fail(failure, -EEXIST,
		    "--resume names %s, which is no regular file; name the file of an earlier run, or one that does not exist yet",
		    path);
}

int outputs_check(const struct arguments *arguments, struct failure *failure)
{
	int code = 0;

	if (arguments->raw)
		code = new_file_check(arguments->raw, "--raw", failure);
	if (!code && arguments->save_file)
		code = new_file_check(arguments->save_file, "--save-file", failure);
	if (!code && arguments->report)
		code = new_folder_check(arguments->report, "--report", failure);
	if (!code && arguments->resume)
		code = check_resume(arguments->resume, failure);
	return code;
}
