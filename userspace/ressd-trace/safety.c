// SPDX-License-Identifier: GPL-2.0-only
/* Before a trace is written; see safety.h. */
#include <errno.h>
#include <linux/blkzoned.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include "cli/confirm.h"
#include "cli/size.h"
#include "cli/words.h"
#include "log/covers.h"
#include "log/find-logs.h"
#include "safety.h"

/* Writes that are nearer to each other than that are one range. */
#define GAP_BYTES	(8ULL << 20)

struct written {
	struct byte_range *ranges;	/* ascending */
	u32 nr;
	u64 bytes;			/* of all writes, also where they overlap */
};

static int compare(const void *a, const void *b)
{
	const struct byte_range *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

static void merge(struct written *written)
{
	u32 i, kept = 0;

	qsort(written->ranges, written->nr, sizeof(written->ranges[0]), compare);
	for (i = 1; i < written->nr; i++) {
		struct byte_range *last = &written->ranges[kept];
		const struct byte_range *next = &written->ranges[i];
		const u64 end = last->start + last->bytes, next_end = next->start + next->bytes;

		if (next->start > end + GAP_BYTES)
			written->ranges[++kept] = *next;
		else if (next_end > end)
			last->bytes = next_end - last->start;
	}
	written->nr = written->nr ? kept + 1 : 0;
}

static int find_written(const struct trace *trace, struct written *written, struct failure *failure)
{
	u64 i;

	*written = (struct written) { .nr = 0 };
	if (!trace->count[TRACE_WRITE])
		return 0;
	written->ranges = calloc(trace->count[TRACE_WRITE], sizeof(written->ranges[0]));
	if (!written->ranges)
		return fail(failure, -ENOMEM,
			    "not enough memory for %llu writes; take fewer requests with --limit",
			    trace->count[TRACE_WRITE]);
	for (i = 0; i < trace->nr; i++) {
		const struct request *request = &trace->list[i];

		if (request->op != TRACE_WRITE)
			continue;
		written->ranges[written->nr++] = (struct byte_range) { request->offset,
								       request->bytes };
		written->bytes += request->bytes;
	}
	merge(written);
	return 0;
}

/* An empty log, as a probe or a drain leaves it, is nothing to lose. */
static int find_log(const struct blkdev *dev, const struct trace *trace, char *what,
		    struct failure *failure)
{
	struct written written;
	struct found_logs logs;
	u32 i;
	int found = find_written(trace, &written, failure);

	if (!found)
		found = find_logs(dev, written.ranges, written.nr, &logs, failure);
	free(written.ranges);
	if (found)
		return found;
	for (i = 0; !found && i < logs.nr; i++)
		found = found_log_holds(dev, &logs.list[i], what, failure);
	return found ? found : found_logs_strange(&logs, what);
}

static bool is_zoned(const struct blkdev *dev)
{
	__u32 sectors = 0;

	return !dev->is_file && !ioctl(dev->fd, BLKGETZONESZ, &sectors) && sectors;
}

int safety_check(const struct blkdev *dev, const struct trace *trace,
		 const struct arguments *arguments, struct failure *failure)
{
	char what[FOUND_LOG_TEXT], text[COVERS_TEXT];
	struct covers covers;
	int found;

	if (is_zoned(dev))
		return fail(failure, -EPERM,
			    "%s is a zoned device, which cannot be written at random; ressd does not support it",
			    dev->path);
	if (arguments->yes_destroy)
		return 0;
	found = blkdev_signature(dev, 0, dev->bytes, what, sizeof(what), failure);
	if (!found)
		found = find_log(dev, trace, what, failure);
	if (!found)
		found = covers_find(dev, 0, dev->bytes / 512, &covers, failure);
	if (!found && covers.sectors)
		found = snprintf(what, sizeof(what), "%s", covers_print(&covers, text));
	if (found < 0)
		return found;
	if (found)
		return fail(failure, -EEXIST,
			    "%s holds %s; if it may be destroyed, say so twice: --write --yes-destroy %s %s",
			    dev->path, what, arguments->device, arguments->device);
	return 0;
}

int safety_allow_write(const struct blkdev *dev, const struct trace *trace,
		       const struct arguments *arguments, struct failure *failure)
{
	char question[PATH_MAX + 256], whole[SIZE_TEXT], size[SIZE_TEXT];
	struct written written;
	int code = safety_check(dev, trace, arguments, failure);

	if (!code)
		code = find_written(trace, &written, failure);
	if (code)
		return code;
	free(written.ranges);
	snprintf(question, sizeof(question),
		 "This destroys what is on %s (%s) where the trace writes: %llu write%s, %s.",
		 dev->path, size_print(dev->bytes, whole), trace->count[TRACE_WRITE],
		 plural(trace->count[TRACE_WRITE]), size_print(written.bytes, size));
	return confirm(question, arguments->yes || arguments->yes_destroy, failure);
}
