/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table options that a superblock keeps.  They come from a disk, so anything may stand there:
 * what is no list of options that the target takes is refused with a sentence.
 */
#ifndef RESSD_STORED_OPTIONS_H
#define RESSD_STORED_OPTIONS_H

#include "cli/failure.h"
#include "ressd-record.h"

/*
 * Reads the options that @info has, over the defaults.  0, or -EINVAL with a sentence that names
 * the device @path and the way to open it all the same.
 */
int stored_options_read(const struct ressd_super_info *info, const char *path,
			struct ressd_options *options, struct failure *failure);

/* True if the options stand there as text, which can be shown as it is. */
bool stored_options_are_text(const struct ressd_super_info *info);

#endif
