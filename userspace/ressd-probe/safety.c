// SPDX-License-Identifier: GPL-2.0-only
/* May the probe write to this device?  See safety.h. */
#include <errno.h>
#include <stdio.h>
#include "cli/confirm.h"
#include "cli/size.h"
#include "log/covers.h"
#include "log/find-logs.h"
#include "safety.h"

/*
 * What is going to be written, and where a log is looked for: the normal areas of the logs that are
 * found elsewhere may well be there.  An empty log, as an earlier probe or a drain leaves it, is
 * nothing to lose.
 */
static int find_log(const struct probe *probe, char *what, struct failure *failure)
{
	const struct ressd_table *table = &probe->line.table;
	const struct byte_range ranges[] = {
		{ probe->planned.offset, probe->planned.bytes },
		{ table->reserved_start * 512, table->reserved_sectors * 512 },
	};
	struct found_logs logs;
	u32 i;
	int found = find_logs(&probe->dev, ranges, probe->arguments.create ? 2 : 1, &logs, failure);

	for (i = 0; !found && i < logs.nr; i++)
		found = found_log_holds(&probe->dev, &logs.list[i], what, failure);
	return found ? found : found_logs_strange(&logs, what);
}

/* 1 and a description when the device holds anything that is known, 0 when not. */
static int find_contents(const struct probe *probe, char *what, size_t size,
			 struct failure *failure)
{
	int found = blkdev_signature(&probe->dev, 0, probe->dev.bytes, what, size, failure);
	char text[COVERS_TEXT];
	struct covers covers;

	if (!found)
		found = find_log(probe, what, failure);
	if (found)
		return found;
	found = covers_find(&probe->dev, 0, probe->dev.bytes / 512, &covers, failure);
	if (found || !covers.sectors)
		return found;
	snprintf(what, size, "%s", covers_print(&covers, text));
	return 1;
}

/* What will happen, before it may. */
static int ask(const struct probe *probe, struct failure *failure)
{
	const struct arguments *arguments = &probe->arguments;
	const char *model = hints_get(&probe->hints, "device/model");
	char question[PATH_MAX + 512], region[SIZE_TEXT], offset[SIZE_TEXT], whole[SIZE_TEXT];

	snprintf(question, sizeof(question), "This %s %s from %s on of %s (%s%s%s)%s%s.",
		 arguments->preserve ? "overwrites" : "destroys",
		 size_print(probe->planned.bytes, region),
		 size_print(probe->planned.offset, offset),
		 probe->dev.path, model ? model : "", model ? ", " : "",
		 size_print(probe->dev.bytes, whole),
		 arguments->create ? ", and makes the whole of it a ressd device" : "",
		 arguments->preserve ?
		 " and restores it at the end; a loss of power meanwhile destroys it" : "");
	return confirm(question, arguments->yes || arguments->yes_destroy, failure);
}

int safety_check(const struct probe *probe, struct failure *failure)
{
	char what[FOUND_LOG_TEXT];
	int found;

	if (probe->hints.zoned)
		return fail(failure, -EPERM,
			    "%s is a zoned device, which cannot be written at random; ressd does not support it",
			    probe->dev.path);
	if (probe->arguments.yes_destroy || probe->arguments.preserve)
		return 0;
	found = find_contents(probe, what, sizeof(what), failure);
	if (found < 0)
		return found;
	if (found)
		return fail(failure, -EEXIST,
			    "%s holds %s; if it may be destroyed, say so twice: --write --yes-destroy %s %s",
			    probe->dev.path, what, probe->arguments.device,
			    probe->arguments.device);
	return 0;
}

int safety_allow_write(const struct probe *probe, struct failure *failure)
{
	const int code = safety_check(probe, failure);

	return code ? code : ask(probe, failure);
}
