// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which writes go to the log: core's router and route adaptive, and what they are told of the
 * drive, as dm-ressd-io.c and dm-ressd-meter.c do it.
 */
#include "model-threads.h"

void model_route_init(struct threads *threads)
{
	const struct settings *set = &threads->model->set;
	const struct ressd_pattern_options options = {
		.streams = 16, .small_sectors = set->small_kb * 2, .open_units = set->open_units,
		.unit_sectors = set->visit * RESSD_BLOCK_SECTORS,
		.page_sectors = set->page * RESSD_BLOCK_SECTORS,
		.log_sectors = (u64)log_of(threads)->geom.nr_blocks * RESSD_BLOCK_SECTORS,
	};

	ressd_pattern_init(&threads->pattern);
	ressd_pattern_set(&threads->pattern, &options);
}

static bool is_adaptive(const struct threads *threads)
{
	return threads->model->set.adaptive && !threads->model->set.bare;
}

static void read_clock(struct route_meter *meter, u64 now)
{
	if (meter->in_flight)
		meter->ns += now - meter->since;
	meter->since = now;
}

/* What direct writes have taken, if that is wanted. */
static void pass_on_meter(struct threads *threads)
{
	struct route_meter *meter = &threads->meter;

	if (!ressd_route_times_direct(&threads->model->route))
		return;
	read_clock(meter, now_of(threads));
	if (meter->ns)
		ressd_route_direct_done(&threads->model->route, meter->ns, meter->blocks);
	meter->ns = 0;
	meter->blocks = 0;
}

static bool adaptive_to_log(struct threads *threads, struct routed *routed, u32 blocks)
{
	routed->small = true;
	threads->meter.small++;
	pass_on_meter(threads);
	return ressd_route_small(&threads->model->route, blocks, threads->meter.small - 1,
				 now_of(threads));
}

bool model_route_to_log(struct threads *threads, struct routed *routed, u64 sector, u32 sectors)
{
	if (!ressd_pattern_write(&threads->pattern, sector, sectors, threads->model->sweeping))
		return false;
	if (!is_adaptive(threads) ||
	    adaptive_to_log(threads, routed, sectors / RESSD_BLOCK_SECTORS))
		return true;
	model_route_time(threads, routed);
	return false;
}

void model_route_time(struct threads *threads, struct routed *routed)
{
	if (!is_adaptive(threads) || threads->move_ios ||
	    !ressd_route_times_direct(&threads->model->route))
		return;
	read_clock(&threads->meter, now_of(threads));
	threads->meter.in_flight++;
	routed->timed = true;
}

void model_route_ended(struct threads *threads, const struct routed *routed, u32 blocks)
{
	threads->meter.small -= routed->small;
	if (!routed->timed)
		return;
	read_clock(&threads->meter, now_of(threads));
	threads->meter.in_flight--;
	threads->meter.blocks += blocks;
}

bool model_route_is_direct(const struct threads *threads)
{
	return is_adaptive(threads) && !ressd_route_takes_log(&threads->model->route);
}

void model_route_flush(struct threads *threads)
{
	ressd_pattern_flush(&threads->pattern);
	if (ressd_log_unmaps_pending(log_of(threads)))
		ressd_pattern_record(&threads->pattern);
	if (is_adaptive(threads))
		ressd_route_flush(&threads->model->route);
}

bool model_route_holds_log(struct threads *threads)
{
	struct ressd_log *log = log_of(threads);

	if (!is_adaptive(threads) ||
	    !ressd_route_wants_write(&threads->model->route, ressd_log_open_blocks(log),
				     ressd_log_blocks_in_flight(log)))
		return false;
	ressd_log_write_soon(log);
	return true;
}

bool model_route_tries_direct(const struct threads *threads)
{
	return is_adaptive(threads) && threads->model->route.phase == RESSD_ROUTE_TRY_DIRECT;
}

bool model_route_asks_move(const struct threads *threads)
{
	return is_adaptive(threads) && ressd_route_wants_move(&threads->model->route);
}

void model_route_logged(struct threads *threads, u64 ns, u32 blocks)
{
	ressd_route_end(&threads->model->route, now_of(threads));
	if (is_adaptive(threads))
		ressd_route_log_done(&threads->model->route, ns, blocks);
}

void model_route_moved(struct threads *threads, u64 ns, u32 blocks)
{
	ressd_route_end(&threads->model->route, now_of(threads));
	if (is_adaptive(threads))
		ressd_route_move_done(&threads->model->route, ns, blocks);
}
