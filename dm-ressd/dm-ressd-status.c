// SPDX-License-Identifier: GPL-2.0-only
/* Status and messages. */
#include <linux/kernel.h>

#include "dm-ressd-target.h"

static u64 permille(u64 part, u64 whole)
{
	return whole ? div64_u64(part * 1000, whole) : 0;
}

/* docs/dm-ressd.rst, "Errors", says what each one means. */
static const char *state_word(const struct ressd *ressd)
{
	switch (ressd->log.mode) {
	case RESSD_MODE_FAIL:
		return "Fail";
	case RESSD_MODE_RO:
		return "ro";
	case RESSD_MODE_OFF:
		return "off";
	case RESSD_MODE_RW:
		break;
	}
	if (ressd->errors.bad_blocks)
		return "damaged";
	return ressd->options.route == RESSD_ROUTE_NEVER ? "bypass" : "rw";
}

/* What shape.lock protects, all of one moment. */
struct shaped {
	struct ressd_split_counters split[2];	/* by direction */
	u64 held, most_held, joined, expired;
};

static struct shaped shaped_now(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;
	struct shaped now;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	memcpy(now.split, shape->counters, sizeof(now.split));
	now.held = shape->queue.nr_held;
	now.most_held = shape->queue.most_held;
	now.joined = shape->queue.joined;
	now.expired = shape->queue.expired;
	spin_unlock_irqrestore(&shape->lock, flags);
	return now;
}

static u64 map_bytes(const struct ressd_log *log)
{
	return ressd_map_nodes_bytes(log->geom.nr_blocks) +
	       ressd_map_clean_bytes(log->geom.nr_blocks) +
	       ressd_regions_bytes(log->normal_blocks, log->geom.nr_blocks);
}

static u64 buffer_bytes(const struct ressd *ressd)
{
	const struct ressd_mover *mover = &ressd->mover;
	u32 record_blocks = RESSD_RECORDS * RESSD_MAX_RECORD_BLOCKS;

	return (record_blocks + ressd->memory.max_page) * RESSD_BLOCK_SIZE +
	       (u64)ressd_summary_bytes(&ressd->log.geom) +
	       2ULL * ressd->log.cover_blocks * RESSD_BLOCK_SIZE +
	       (u64)(mover->space.max + mover->next_space.max) *
		       (RESSD_BLOCK_SIZE + sizeof(struct ressd_move)) +
	       num_possible_cpus() * sizeof(struct ressd_seen);
}

/* The fields in front of the words. */
static unsigned int status_blocks(struct ressd *ressd, unsigned int nr_words,
				  char *result, unsigned int maxlen)
{
	const struct ressd_log *log = &ressd->log;
	u32 total = 0, left = 0, movable = 0;
	unsigned int sz = 0;

	/* Else the log is being set up: no geometry, nor a whole map. */
	if (smp_load_acquire(&ressd->life) == RESSD_ACTIVE) {
		total = ressd_log_total_blocks(log);
		left = ressd_log_free_blocks(log);
		movable = ressd_log_nr_movable(log);
	}
	DMEMIT("%u/%u %u/%u %s %u", total - min(total, left), total,
	       movable, log->map.nr_mapped, state_word(ressd), nr_words);
	return sz;
}

/*
 * INFO:
 *	<used>/<total log blocks> <dirty>/<mapped blocks> <state>
 *		<#words> <key> <value>...
 *
 * All values are decimal counts since activation or clear_stats; blocks are 4
 * KiB.  New keys are only ever appended.  docs/dm-ressd.rst says what each one
 * means.
 */
static void status_info(struct ressd *ressd, char *result, unsigned int maxlen)
{
	const struct ressd_log *log = &ressd->log;
	const struct ressd_log_counters *l = &log->counters;
	const struct ressd_counters *c = &ressd->counters;
	const struct shaped shaped = shaped_now(ressd);
	const struct ressd_split_counters *reads = &shaped.split[RESSD_READ];
	const struct ressd_split_counters *writes = &shaped.split[RESSD_WRITE];
	/* What the log has kept or carried is not dead either. */
	u64 again = c->kept_blocks + l->carried;
	u64 accepted = ressd_taken(ressd);
	u64 dead = l->overwrites + l->superseded + l->killed - again;
	const struct {
		const char *key;
		u64 value;
	} words[] = {
		{ "writes", c->writes },
		{ "small_writes", c->small_writes },
		{ "small_permille", permille(c->small_writes, c->writes) },
		{ "bypassed", c->bypassed },
		{ "reads",
		  ressd_reads(ressd) - ressd->counters.uncounted_reads },
		{ "log_reads", c->log_reads },
		{ "moved_blocks", c->moved_blocks },
		{ "moved_runs", c->moved_runs },
		{ "moved_runs_12k", c->moved_runs_12k },
		{ "sweeps", c->sweeps },
		{ "records", l->records },
		{ "record_blocks", l->record_blocks },
		{ "whole_pages", l->whole_pages },
		{ "accepted", accepted },
		{ "overwrites", l->overwrites },
		{ "invalidated_permille", permille(dead, accepted) },
		{ "flushes", c->flushes },
		{ "discards", c->discards },
		{ "unmaps_pending", log->nr_unmaps },
		{ "map_bytes", map_bytes(log) },
		{ "buffer_bytes", buffer_bytes(ressd) },
		{ "drain_left", ressd->mover.draining ? log->map.nr_dirty : 0 },
		{ "recovery_ms", ressd->recovery_ms },
		{ "errors", c->errors },
		{ "write_retries", c->write_retries },
		{ "bad_blocks", ressd->errors.bad_blocks },
		{ "lost_blocks", ressd->errors.lost_blocks },
		{ "filled_blocks", c->filled_blocks },
		{ "small_to_log", ressd->options.route != RESSD_ROUTE_NEVER &&
					  !ressd_route_is_direct(ressd) },
		{ "adaptive_direct", c->adaptive_direct },
		{ "trials", c->trials },
		{ "direct_ns",
		  ressd_route_ns(&ressd_route_case(&ressd->route)->direct) },
		{ "log_ns",
		  ressd_route_ns(&ressd_route_case(&ressd->route)->log) },
		{ "move_ns", ressd_route_ns(&ressd->route.move) },
		{ "route_depth", ressd_route_depth(&ressd->route) },
		{ "route_flushes", ressd->route.flushes },
		{ "small_in_flight",
		  atomic_read(&ressd->meter.small_in_flight) },
		{ "log_discards", c->log_discards },
		{ "kept_blocks", c->kept_blocks },
		{ "reads_aligned", reads->aligned },
		{ "reads_unaligned", reads->unaligned },
		{ "reads_within", reads->within },
		{ "reads_over", reads->over },
		{ "writes_aligned", writes->aligned },
		{ "writes_unaligned", writes->unaligned },
		{ "writes_within", writes->within },
		{ "writes_over", writes->over },
		{ "held", shaped.held },
		{ "most_held", shaped.most_held },
		{ "joined", shaped.joined },
		{ "expired", shaped.expired },
		{ "cover_blocks", log->cover_blocks },
		{ "covered", log->covered },
	};
	unsigned int i, sz;

	sz = status_blocks(ressd, 2 * ARRAY_SIZE(words), result, maxlen);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		DMEMIT(" %s %llu", words[i].key,
		       (unsigned long long)words[i].value);
}

/*
 * TABLE: a line that makes the same device again, options changed by message
 * included.
 */
static void status_table(struct ressd *ressd, char *result, unsigned int maxlen)
{
	unsigned int sz = 0;

	DMEMIT("%s %llu %s %llu %llu ", ressd->normal->name,
	       (unsigned long long)ressd->table.normal_start,
	       ressd->reserved->name,
	       (unsigned long long)ressd->table.reserved_start,
	       (unsigned long long)ressd->table.reserved_sectors);
	ressd_options_print(&ressd->options, result + sz, maxlen - sz);
}

static void status_ima(struct ressd *ressd, char *result, unsigned int maxlen)
{
	unsigned int sz = 0;

	DMEMIT_TARGET_NAME_VERSION(ressd->ti->type);
	DMEMIT(",normal_device_name=%s,normal_start=%llu", ressd->normal->name,
	       (unsigned long long)ressd->table.normal_start);
	DMEMIT(",reserved_device_name=%s,reserved_start=%llu,reserved_sectors=%llu;",
	       ressd->reserved->name,
	       (unsigned long long)ressd->table.reserved_start,
	       (unsigned long long)ressd->table.reserved_sectors);
}

/* Never waits for I/O, so DM_STATUS_NOFLUSH_FLAG needs no attention. */
void ressd_status(struct dm_target *ti, status_type_t type,
		  unsigned int status_flags, char *result, unsigned int maxlen)
{
	struct ressd *ressd = ti->private;

	result[0] = '\0';
	ressd_judge_all_noted(ressd);
	spin_lock(&ressd->lock);
	switch (type) {
	case STATUSTYPE_INFO:
		status_info(ressd, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		status_table(ressd, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		status_ima(ressd, result, maxlen);
		break;
	}
	spin_unlock(&ressd->lock);
}

/* The buffer for a page is as large as the table line wanted it. */
static int check_buffers(const struct ressd *ressd,
			 const struct ressd_options *options, char *error,
			 size_t size)
{
	if (options->log_rewrite == RESSD_ON &&
	    options->log_page_sectors / RESSD_BLOCK_SECTORS >
		    ressd->memory.max_page) {
		snprintf(error, size,
			 "log_rewrite, or with it a larger log_page_sectors, takes a reload: there is a buffer for %u sectors",
			 ressd->memory.max_page * RESSD_BLOCK_SECTORS);
		return -EINVAL;
	}
	return 0;
}

/*
 * What @key = @value takes, before it is set; that it is right is known only
 * then.
 */
static int prepare(struct ressd *ressd, const char *key, const char *value)
{
	char error[RESSD_ERROR_SIZE];
	struct ressd_options options;
	int ret;

	spin_lock(&ressd->lock);
	options = ressd->options;
	spin_unlock(&ressd->lock);
	/* What is wrong with it, if anything, message_set() says. */
	if (ressd_option_set(&options, key, value, error, sizeof(error)))
		return 0;
	ret = ressd_grow_move_space(ressd, options.move_batch_sectors /
						   RESSD_BLOCK_SECTORS);
	if (ret)
		DMERR("%s: there is not enough memory for move_batch_sectors %s; use a smaller value",
		      ressd_name(ressd), value);
	else
		ressd_shape_prepare(ressd, &options);
	return ret;
}

static int message_set(struct ressd *ressd, const char *key, const char *value)
{
	char error[RESSD_ERROR_SIZE];
	struct ressd_options options;
	int ret = prepare(ressd, key, value);

	if (ret)
		return ret;
	spin_lock(&ressd->lock);
	options = ressd->options;
	ret = ressd_option_set(&options, key, value, error, sizeof(error));
	if (!ret)
		ret = check_buffers(ressd, &options, error, sizeof(error));
	if (!ret) {
		if (options.route == RESSD_ROUTE_ADAPTIVE &&
		    (!ressd_route_is_adaptive(ressd) ||
		     options.log_cost_us != ressd->options.log_cost_us))
			ressd_route_init(&ressd->route, options.log_cost_us *
							(u64)NSEC_PER_USEC);
		ressd->options = options;
		ressd_tune_router(ressd);
		ressd_tune_log(ressd);
		ressd_tune_shape(ressd);
	}
	spin_unlock(&ressd->lock);
	if (ret)
		DMERR("%s: %s", ressd_name(ressd), error);
	else if (!strcmp(key, "log_discard"))
		ressd_discard_start(ressd);
	else if (!strcmp(key, "commit_interval_ms"))
		/* Else it would run on for as long as was set before. */
		mod_delayed_work(ressd->workqueue, &ressd->log_io.timer, 0);
	/* A writer may have waited for what is different now. */
	ressd_run_log(ressd);
	ressd_wake(ressd);
	return ret;
}

/*
 * Stores the options that the words name, and no others; those in use stay as
 * they are.
 */
static int message_store(struct ressd *ressd, unsigned int argc, char **argv)
{
	char error[RESSD_ERROR_SIZE];
	struct ressd_options options;
	const char *fixed;

	ressd_options_default(&options);
	if (ressd_options_parse(&options, argc, argv, error, sizeof(error))) {
		DMERR("%s: %s", ressd_name(ressd), error);
		return -EINVAL;
	}
	fixed = ressd_options_fixed(&options);
	if (fixed) {
		DMERR("%s: %s is fixed when the reserved area is formatted, so it is not stored with the options; leave it out",
		      ressd_name(ressd), fixed);
		return -EINVAL;
	}
	if (READ_ONCE(ressd->life) != RESSD_ACTIVE) {
		DMERR("%s: options cannot be stored before the device is active; resume it first",
		      ressd_name(ressd));
		return -EAGAIN;
	}
	return ressd_store_options(ressd, &options);
}

static int message_mover(struct ressd *ressd, const char *word)
{
	bool on = !strcmp(word, "on");

	if (!on && strcmp(word, "off")) {
		DMERR("%s: mover is '%.40s', but must be on or off",
		      ressd_name(ressd), word);
		return -EINVAL;
	}
	spin_lock(&ressd->lock);
	ressd->mover.off = !on;
	spin_unlock(&ressd->lock);
	/* A writer may have waited for it. */
	ressd_run_log(ressd);
	ressd_wake(ressd);
	return 0;
}

static int message_drain(struct ressd *ressd, unsigned int argc, char **argv)
{
	/* Without a mover it would wait for ever, and dm for the message. */
	if (argc == 1 && READ_ONCE(ressd->life) != RESSD_ACTIVE) {
		DMERR("%s: the device is not active, so nothing can be drained; load the table that it had, and resume it first",
		      ressd_name(ressd));
		return -EAGAIN;
	}
	if (argc == 1)
		return ressd_drain(ressd);
	if (strcmp(argv[1], "cancel")) {
		DMERR("%s: drain takes no word but cancel, and not '%.40s'",
		      ressd_name(ressd), argv[1]);
		return -EINVAL;
	}
	spin_lock(&ressd->lock);
	WRITE_ONCE(ressd->mover.draining, false);
	spin_unlock(&ressd->lock);
	ressd_wake(ressd);
	return 0;
}

static void clear_stats(struct ressd *ressd)
{
	ressd_judge_all_noted(ressd);
	spin_lock(&ressd->lock);
	ressd->counters = (struct ressd_counters){
		.uncounted_reads = ressd_reads(ressd),
	};
	ressd->log.counters = (struct ressd_log_counters) { };
	ressd_shape_clear_stats(ressd);
	spin_unlock(&ressd->lock);
}

/*
 * drain [cancel] | recover | mover on|off | set <key> <value> | store [<key>
 * <value>]... | clear_stats
 */
int ressd_message(struct dm_target *ti, unsigned int argc, char **argv,
		  char *result, unsigned int maxlen)
{
	struct ressd *ressd = ti->private;

	if ((argc == 1 || argc == 2) && !strcmp(argv[0], "drain"))
		return message_drain(ressd, argc, argv);
	if (argc == 1 && !strcmp(argv[0], "recover"))
		return ressd_recover_message(ressd);
	if (argc == 2 && !strcmp(argv[0], "mover"))
		return message_mover(ressd, argv[1]);
	if (argc == 3 && !strcmp(argv[0], "set"))
		return message_set(ressd, argv[1], argv[2]);
	if (argc && !strcmp(argv[0], "store"))
		return message_store(ressd, argc - 1, argv + 1);
	if (argc == 1 && !strcmp(argv[0], "clear_stats")) {
		clear_stats(ressd);
		return 0;
	}
	DMERR("%s: the message '%.40s' with %u words is not known; use drain [cancel], recover, mover on|off, set <key> <value>, store [<key> <value>]... or clear_stats",
	      ressd_name(ressd), argc ? argv[0] : "", argc);
	return -EINVAL;
}
