// SPDX-License-Identifier: GPL-2.0-only
/* May the probe write to this device?  See safety.h. */
#include <errno.h>
#include <stdio.h>
#include "area.h"
#include "confirm.h"
#include "log-contents.h"
#include "safety.h"
#include "size.h"

/* An empty log, as an earlier probe or a drain leaves it, is nothing to lose. */
static int find_log(const struct probe *probe, char *what, size_t size, struct failure *failure)
{
	struct ressd_super_info info;
	u64 blocks = 0;
	int code = area_find_at_end(&probe->dev, &info, failure);

	if (code <= 0)
		return code;
	code = log_contents(&probe->dev, &info, &blocks, failure);
	if (code && code != -EUCLEAN)
		return code;
	snprintf(what, size, "a reserved area of ressd with %llu blocks not yet moved", blocks);
	if (code)
		snprintf(what, size, "a damaged reserved area of ressd");
	return code || blocks;
}

/* 1 and a description when the device holds anything that is known, 0 when not. */
static int find_contents(const struct probe *probe, char *what, size_t size,
			 struct failure *failure)
{
	int found = blkdev_signature(&probe->dev, 0, probe->dev.bytes, what, size, failure);

	return found ? found : find_log(probe, what, size, failure);
}

/* What will happen, before it may. */
static int ask(const struct probe *probe, struct failure *failure)
{
	const struct arguments *arguments = &probe->arguments;
	const char *model = hints_get(&probe->hints, "device/model");
	char question[PATH_MAX + 512], region[SIZE_TEXT], offset[SIZE_TEXT], whole[SIZE_TEXT];

	snprintf(question, sizeof(question), "This %s %s from %s on of %s (%s%s%s)%s%s.",
		 arguments->preserve ? "overwrites" : "destroys",
		 size_print(probe->region.bytes, region), size_print(probe->region.offset, offset),
		 probe->dev.path, model ? model : "", model ? ", " : "",
		 size_print(probe->dev.bytes, whole),
		 arguments->create ? ", and makes the whole of it a ressd device" : "",
		 arguments->preserve ?
		 " and restores it at the end; a loss of power meanwhile destroys it" : "");
	return confirm(question, arguments->yes || arguments->yes_destroy, failure);
}

int safety_allow_write(const struct probe *probe, struct failure *failure)
{
	char what[192];
	int found;

	if (probe->hints.zoned)
		return fail(failure, -EPERM,
			    "%s is a zoned device, which cannot be written at random; ressd does not support it",
			    probe->dev.path);
	found = find_contents(probe, what, sizeof(what), failure);
	if (found < 0)
		return found;
	if (found && !probe->arguments.yes_destroy && !probe->arguments.preserve)
		return fail(failure, -EEXIST,
			    "%s holds %s; if it may be destroyed, say so twice: --write --yes-destroy %s %s",
			    probe->dev.path, what, probe->arguments.device,
			    probe->arguments.device);
	return ask(probe, failure);
}
