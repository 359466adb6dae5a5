// SPDX-License-Identifier: GPL-2.0-only
/* The result of a replay as JSON; its members are in ressd-trace(8). */
#include <stdio.h>
#include "cli/json-stream.h"
#include "summary.h"

static void put_latency(const char *key, const struct latency *latency)
{
	u32 i;

	json_open(key, '{');
	json_number("mean_ns", latency->mean);
	json_number("p50_ns", latency->p50);
	json_number("p99_ns", latency->p99);
	json_number("p999_ns", latency->p999);
	json_number("worst_ns", latency->worst);
	json_number("max_ns", latency->max);
	json_open("histogram", '[');
	for (i = 0; i < LATENCY_BUCKETS; i++) {
		if (!latency->bucket[i])
			continue;
		json_open(NULL, '{');
		json_number("from_ns", i ? 1ULL << i : 0);
		json_number("count", latency->bucket[i]);
		json_close();
	}
	json_close();
	json_close();
}

static void put_summary(const struct result *result, const char *key, u32 kind)
{
	const struct summary *summary = &result->summary[kind];
	const u64 ns = result->replay->ns;

	if (!summary->response.nr)
		return;
	json_open(key, '{');
	json_number("requests", summary->response.nr);
	json_number("bytes", summary->bytes);
	json_number("bytes_per_second", ns ? summary->bytes * 1e9 / ns : 0);
	put_latency("response", &summary->response);
	put_latency("service", &summary->service);
	json_close();
}

static void put_trace(const struct result *result)
{
	const struct trace *trace = result->replay->trace;

	json_open("trace", '{');
	json_string("file", result->arguments->trace);
	json_string("format", trace_format_name(trace->format));
	json_number("disks", trace->nr_sources);
	json_number("requests", trace->nr);
	json_number("duration_ns", trace->list[trace->nr - 1].arrival);
	json_number("left_out", result->shaped->left_out);
	json_number("discards", trace->discards);
	json_number("other_disks", trace->others);
	json_number("rounded", result->shaped->rounded);
	json_number("folded", result->shaped->folded);
	json_close();
}

static void put_settings(const struct result *result)
{
	json_number("speed_permille", result->shape->speed);
	json_number("bursts", result->shape->burst);
	json_number("in_flight", result->replay->in_flight);
	json_open("device", '{');
	json_string("path", result->replay->dev->path);
	json_number("bytes", result->replay->dev->bytes);
	json_number("block_bytes", result->shape->block);
	json_bool("direct", result->replay->dev->direct);
	json_close();
}

void result_print_json(const struct result *result)
{
	json_open(NULL, '{');
	json_number("version", 1);
	put_trace(result);
	put_settings(result);
	json_bool("interrupted", result->interrupted);
	json_number("replay_ns", result->replay->ns);
	json_number("completed", result->replay->nr_completed);
	json_open("late", '{');
	json_number("threshold_ns", result->arguments->late_ns);
	json_number("late_requests", result->late);
	json_number("late_mean_ns", result->late_mean);
	json_number("late_max_ns", result->late_max);
	json_number("waited", result->replay->waited);
	json_close();
	put_summary(result, "read", TRACE_READ);
	put_summary(result, "write", TRACE_WRITE);
	put_summary(result, "flush", TRACE_FLUSH);
	put_summary(result, "all", SUMMARY_ALL);
	json_close();
}
