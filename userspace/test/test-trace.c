// SPDX-License-Identifier: GPL-2.0-only
/* Traces: what each format means, what is refused and how, and what shape_trace() makes of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "harness.h"
#include "latency.h"
#include "shape.h"
#include "trace.h"

const char test_suite[] = "trace";

static char path[] = "/tmp/ressd-trace-test-XXXXXX";
static struct trace trace;
static struct failure failure;

/* Loads @bytes of @text as if they were in a file. */
static int load_bytes(const char *text, size_t bytes, const struct trace_wanted *wanted)
{
	const int fd = mkstemp(path);
	int code;

	CHECK(fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes, "no file");
	close(fd);
	trace_free(&trace);
	failure.text[0] = 0;
	code = trace_load(&trace, path, wanted, &failure);
	unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	return code;
}

static int load_wanted(const char *text, const struct trace_wanted *wanted)
{
	return load_bytes(text, strlen(text), wanted);
}

static int load(const char *text)
{
	const struct trace_wanted wanted = { .limit = 0 };

	return load_wanted(text, &wanted);
}

static void check_request(u64 i, u64 arrival, enum trace_op op, u64 offset, u32 bytes, u32 line)
{
	const struct request *request = &trace.list[i];

	CHECK_EQ(request->arrival, arrival);
	CHECK_EQ(request->op, op);
	CHECK_EQ(request->offset, offset);
	CHECK_EQ(request->bytes, bytes);
	CHECK_EQ(request->line, line);
}

TEST(msr)
{
	CHECK(!load("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
		    "128166372003061629,hm,1,Read,383496192,32768,413\r\n"
		    "128166372003061639,hm,1,write,512,1024,5\n"
		    "\n# a comment\n"
		    "128166372013061629,hm,0,Write,0,16777216,5"), "%s", failure.text);
	CHECK_EQ(trace.format, FORMAT_MSR);
	CHECK_EQ(trace.nr, 3);
	CHECK_EQ(trace.nr_sources, 2);
	CHECK_STR(trace.sources[1], "hm_0");
	check_request(0, 0, TRACE_READ, 383496192, 32768, 2);
	check_request(1, 1000, TRACE_WRITE, 512, 1024, 3);
	check_request(2, 1000000000, TRACE_WRITE, 0, 16777216, 6);
	CHECK_EQ(trace.count[TRACE_WRITE], 2);
}

TEST(spc)
{
	CHECK(!load("0,20941264,8192,W,0.551706,Alpha/NT\n"
		    "1,0,512,r,0.55170712345678\n"
		    "0,1,3584,R,12"), "%s", failure.text);
	CHECK_EQ(trace.format, FORMAT_SPC);
	check_request(0, 0, TRACE_WRITE, 20941264 * 512ULL, 8192, 1);
	check_request(1, 1123, TRACE_READ, 0, 512, 2);
	check_request(2, 11448294000, TRACE_READ, 512, 3584, 3);
}

static const char blkparse_text[] =
	"  8,0    1        1     0.000000000  1234  A  WS 2048 + 8 <- (8,1) 0\n"
	"  8,0    1        2     0.000000100  1234  Q  WS 2048 + 8 [a name]\n"
	"  8,0    1        3     0.000000200  1234  G  WS 2048 + 8 [a name]\n"
	"  8,0    1        0     0.000000250     0  m   N cfq workload slice:40\n"
	"  8,0    1        4     0.000000300  1234  P   N [a name]\n"
	"  8,16   1        5     0.000000400  1234  Q  RA 4096 + 16 [a name]\n"
	"  8,0    1        6     0.000000500  1234  Q FWFSM 8 + 8 [jbd2]\n"
	"  8,0    1        7     0.000000600  1234  Q FWS [jbd2]\n"
	"  8,0    1        8     0.000000700  1234  Q  DS 0 + 1024 [fstrim]\n"
	"  8,0    1        9     0.000000800     0  C  WS 2048 + 8 [0]\n"
	"CPU0 (8,0):\n"
	" Reads Queued:           1,        8KiB\t Writes Queued:           2\n";

TEST(blkparse)
{
	CHECK(!load(blkparse_text), "%s", failure.text);
	CHECK_EQ(trace.format, FORMAT_BLKPARSE);
	CHECK_EQ(trace.nr, 5);
	CHECK_EQ(trace.discards, 1);
	check_request(0, 0, TRACE_WRITE, 2048 * 512, 4096, 2);
	check_request(1, 300, TRACE_READ, 4096 * 512, 8192, 6);
	check_request(2, 400, TRACE_FLUSH, 0, 0, 7);
	check_request(3, 400, TRACE_WRITE, 8 * 512, 4096, 7);
	check_request(4, 500, TRACE_FLUSH, 0, 0, 8);
	CHECK(trace.list[3].durable && !trace.list[0].durable, "FUA");
	CHECK_STR(trace.sources[1], "8,16");
}

TEST(fio)
{
	CHECK(!load("fio version 2 iolog\n/dev/sda add\n/dev/sda open\n"
		    "/dev/sda write 8192 4096\n/dev/sda wait 250 0\n/dev/sda wait 50 0\n"
		    "/dev/sda read 0 512\n/dev/sda datasync 0 0\n/dev/sda trim 0 4096\n"
		    "/dev/sda close\n"), "%s", failure.text);
	CHECK_EQ(trace.nr, 3);
	check_request(0, 0, TRACE_WRITE, 8192, 4096, 4);
	check_request(1, 300000, TRACE_READ, 0, 512, 7);
	check_request(2, 300000, TRACE_FLUSH, 0, 0, 8);
	CHECK_EQ(trace.discards, 1);
	CHECK(!load("fio version 3 iolog\n17 img add\n161 img open\n165 img write 1011712 4096\n"
		    "103395 img write 12419072 4096\n300188 img datasync 7884800 0\n"
		    "907090 img close\n"), "%s", failure.text);
	CHECK_EQ(trace.nr, 3);
	check_request(1, 103230000, TRACE_WRITE, 12419072, 4096, 5);
}

/* What no disk could have been asked for; the sentence names file, line, value and limit. */
TEST(hostile_lines)
{
	static const struct {
		const char *text;
		const char *sentence;
	} cases[] = {
		{ "0,-1,4096,W,0\n", ":1: the place is '-1', but must be a whole number" },
		{ "0,0,-4096,W,0\n", ":1: the size is '-4096', but must be" },
		{ "0,0,4096,W,0\n0,0,0,W,1\n", ":2: the size is 0" },
		{ "0,0,99999999999999999999,W,0\n", "but may be 16777216 at most" },
		{ "0,0,16777217,W,0\n", "but may be 16777216 at most" },
		{ "0,18446744073709551615,512,W,0\n", "but may be 2251799813685248 at most" },
		{ "0,0x10,512,W,0\n", "the place is '0x10'" },
		{ "0,0,512,W,nan\n", ":1: the time is 'nan', but must be seconds" },
		{ "0,0,512,W,-1\n", "the time is '-1'" },
		{ "0,0,512,W,inf\n", "the time is 'inf'" },
		{ "0,0,512,W,1e5\n", "the time is '1e5'" },
		{ "0,0,512,W,1.\n", "the time is '1.'" },
		{ "0,0,512,W,.5\n", "the time is '.5'" },
		{ "0,0,512,W,99999999999\n", "which is too large" },
		{ "0,0,512,W,0\n0,0,512,W,31536001\n", ":2: it arrives 31536001 s after" },
		{ "0,0,512,W,5\n0,0,512,W,4\n",
		  ":2: it arrives 1.000000 s before the request of line 1; give --sort" },
		{ "0,0,512,x,0\n", "'x' is neither r nor w" },
		{ "0,0,512,W,0\n0,0,512\n", ":2: a line of this format has 5 words" },
		{ ",0,512,W,0\n", "the name of the disk has 0 characters" },
		{ "1,hm,0,Read,-5,512,1\n", "the place is '-5'" },
		{ "-1,hm,0,Read,5,512,1\n", "the time is '-1'" },
		{ "1,hm,0,Read,0,512,1\n1,hm,0,Trim,0,512,1\n",
		  "'Trim' is neither Read nor Write" },
		{ "8,0 1 1 0.5 9 Q W 0 + 8\n8,0 1 1 0.4 9 Q W 0 + 8\n",
		  ":2: it arrives 0.100000 s before" },
		{ "8,0 1 1 0.5 9 Q W -8 + 8\n", "the place is '-8'" },
		{ "8,0 1 1 0.5 9 Q W 8 - 8\n", "has a place such as 2048 + 8" },
		{ "8,0 1 1 0.5 9 Q W 8\n", "has a place such as 2048 + 8" },
		{ "8,0 1 1 0.5 9 Q w 8 + 8\n", "'w' is no kind of request" },
		{ "8,0 1 1 0.5 9 Q\n", "ends before the kind" },
		{ "8,0 1 1 0.5\n", "this is no line that blkparse prints" },
		{ "8,0 1 1 0.5 9 Q W 8 + 0\n", "the size is 0" },
		{ "fio version 1 iolog\n", "'fio version 2 iolog' or 'fio version 3 iolog'" },
		{ "fio version 2 iolog\na wait -5 0\n", ":2: the time to wait is '-5'" },
		{ "fio version 2 iolog\na eat 5 0\n", "'eat' is no action" },
		{ "fio version 2 iolog\na write\n", "has no offset and length" },
		{ "fio version 2 iolog\na write 5\n", "has no length behind its offset" },
		{ "fio version 3 iolog\n-1 a write 5 512\n", "the time is '-1'" },
		{ "fio version 3 iolog\n1 a write 5 512 6\n",
		  "a line of version 3 has time, file" },
		{ "hello\n",
		  ":1: this is no trace that is known; say which format it has: --format" },
		{ "", "has no read, write or flush" },
		{ "\n\n# nothing\n", "has no read, write or flush" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int code = load(cases[i].text);

		CHECK(code == -EINVAL, "case %zu: %d", i, code);
		CHECK_HAS(failure.text, cases[i].sentence);
		CHECK_HAS(failure.text, "/tmp/ressd-trace-test-");
	}
}

TEST(hostile_files)
{
	const struct trace_wanted wanted = { .limit = 0 }, spc = { .format = FORMAT_SPC };
	static const char zero[] = "0,0,512,W,0\n0,0,\0 512,W,0\n";
	char text[3 * TRACE_MAX_LINE];
	u32 i;

	CHECK_EQ(-load_bytes(zero, sizeof(zero) - 1, &wanted), EINVAL);
	CHECK_HAS(failure.text, ":2: the line has more than 4095 characters, or a zero byte");
	memset(text, '7', sizeof(text));
	CHECK_EQ(-load_bytes(text, sizeof(text), &wanted), EINVAL);
	CHECK_HAS(failure.text, ":1: the line has more than 4095 characters");
	/* Whatever the bytes are, there is a sentence or a trace, and no sanitizer complains. */
	for (i = 0; i < 2000; i++) {
		static const char *const starts[] = { "0,0,512,W,0\n", "8,0 1 1 0.5 9 Q W 0 + 8\n",
						      "fio version 3 iolog\n1 a read 0 512\n",
						      "1,hm,0,Read,0,512,1\n" };
		size_t length = sprintf(text, "%s%s", starts[i % 4], starts[i % 4]), flips = i % 7;

		while (flips--)
			text[test_below(length)] = test_random();
		if (load_bytes(text, length, i % 5 ? &wanted : &spc))
			CHECK(failure.text[0], "no sentence for mutation %u", i);
	}
}

TEST(too_many_disks)
{
	static char text[TRACE_MAX_SOURCES * 32 + 64];
	int n = 0, i;

	for (i = 0; i <= TRACE_MAX_SOURCES; i++)
		n += sprintf(text + n, "%d,0,512,W,0\n", i);
	CHECK_EQ(-load(text), EINVAL);
	CHECK_HAS(failure.text, ":257: the trace has more than 256 disks; choose one with --only");
}

TEST(wanted)
{
	struct trace_wanted wanted = { .source = "8,0", .limit = 2 };

	CHECK(!load_wanted(blkparse_text, &wanted), "%s", failure.text);
	CHECK_EQ(trace.nr, 3);		/* a flush and its write are not separated */
	CHECK_EQ(trace.others, 1);
	CHECK_EQ(trace.nr_sources, 1);
	wanted = (struct trace_wanted) { .source = "9,9" };
	CHECK_EQ(-load_wanted(blkparse_text, &wanted), EINVAL);
	CHECK_HAS(failure.text, "has no read, write or flush of 9,9");
	wanted = (struct trace_wanted) { .sort = true };
	CHECK(!load_wanted("0,0,512,W,5\n0,8,512,R,4\n0,16,512,R,4\n", &wanted), "%s",
	      failure.text);
	check_request(0, 0, TRACE_READ, 8 * 512, 512, 2);
	check_request(1, 0, TRACE_READ, 16 * 512, 512, 3);
	check_request(2, 1000000000, TRACE_WRITE, 0, 512, 1);
}

static struct shape whole(u64 bytes)
{
	return (struct shape) { .region_bytes = bytes, .block = 4096, .speed = SHAPE_USUAL_SPEED };
}

TEST(aligned_and_placed)
{
	struct shape shape = whole(1 << 20);
	struct shaped shaped;

	CHECK(!load("0,1,512,W,0\n0,8,4096,W,1\n0,15,1024,R,2\n"), "%s", failure.text);
	shape.region_start = 8192;
	CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
	check_request(0, 0, TRACE_WRITE, 8192, 4096, 1);
	check_request(1, 1000000000, TRACE_WRITE, 8192 + 4096, 4096, 2);
	check_request(2, 2000000000, TRACE_READ, 8192 + 4096, 8192, 3);
	CHECK_EQ(shaped.rounded, 2);
	CHECK_EQ(shaped.span, 12288);
}

TEST(beyond_the_device)
{
	static const char text[] = "0,0,4096,W,0\n0,32,16384,R,1\n0,56,4096,W,2\n";
	struct shape shape = whole(24576);
	struct shaped shaped;

	load(text);
	CHECK_EQ(-shape_trace(&trace, "file", &shape, &shaped, &failure), EINVAL);
	CHECK_STR(failure.text,
		  "file:2: the request ends at byte 32768, but the region has only 24576 bytes; give --fit fold or --fit pack");
	load(text);
	shape.fit = FIT_FOLD;
	CHECK(!shape_trace(&trace, "file", &shape, &shaped, &failure), "%s", failure.text);
	CHECK_EQ(trace.list[1].offset, 8192);	/* up to the end, not across it */
	CHECK_EQ(trace.list[2].offset, 4096);
	CHECK_EQ(shaped.folded, 2);
	load("0,0,32768,W,0\n");
	CHECK_EQ(-shape_trace(&trace, "file", &shape, &shaped, &failure), EINVAL);
	CHECK_HAS(failure.text, "file:1: the request of 32768 bytes is larger than the region");
}

/* Neighbours stay neighbours, also over the border of a MiB; no two places become one. */
TEST(packed)
{
	struct shape shape = whole(8 << 20);
	struct shaped shaped;

	CHECK(!load("0,20480000,4096,W,0\n0,40957952,1048576,R,1\n0,40959992,16384,W,2\n0,8,4096,R,3\n"
		    "1,8,4096,R,4\n"), "%s", failure.text);
	shape.fit = FIT_PACK;
	CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
	CHECK_EQ(trace.list[3].offset, 4096);
	CHECK_EQ(trace.list[0].offset, 1 << 20);
	CHECK_EQ(trace.list[1].offset, 2 << 20);
	CHECK_EQ(trace.list[2].offset, (3 << 20) - 4096);
	CHECK_EQ(trace.list[4].offset, (4 << 20) + 4096);
	CHECK_EQ(shaped.folded, 0);
}

TEST(reads_only)
{
	struct shape shape = whole(1 << 20);
	struct shaped shaped;

	load(blkparse_text);
	shape.reads_only = true;
	shape.fit = FIT_FOLD;
	CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
	CHECK_EQ(trace.nr, 1);
	CHECK_EQ(trace.count[TRACE_WRITE] + trace.count[TRACE_FLUSH], 0);
	CHECK_EQ(shaped.left_out, 4);
	load("0,0,4096,W,0\n");
	CHECK_EQ(-shape_trace(&trace, "t", &shape, &shaped, &failure), EINVAL);
	CHECK_HAS(failure.text, "t has no reads");
}

static void load_writes(u32 nr)
{
	char *text = malloc(nr * 48);
	u32 i, n = 0;

	for (i = 0; i < nr; i++)
		n += sprintf(text + n, "0,%u,4096,%s,%u.%06u\n", i * 8, i % 4 ? "W" : "R", i / 1000,
			     i % 1000 * 1000 + (i * 7) % 900);
	CHECK(!load(text), "%s", failure.text);
	free(text);
}

/* What the writes of the trace come to. */
struct bursts {
	u64 writes;
	u64 groups;
	u64 largest;
	u64 last;		/* arrival of the last one */
};

static struct bursts count_bursts(void)
{
	struct bursts bursts = { .last = ~0ULL };
	u64 i, group = 0;

	for (i = 0; i < trace.nr; i++) {
		const struct request *request = &trace.list[i];

		CHECK(!i || request->arrival >= request[-1].arrival, "order at %llu", i);
		if (request->op != TRACE_WRITE)
			continue;
		bursts.writes++;
		group = request->arrival == bursts.last ? group + 1 : 1;
		bursts.groups += group == 1;
		bursts.largest = group > bursts.largest ? group : bursts.largest;
		bursts.last = request->arrival;
	}
	return bursts;
}

/* SC: the same requests, reads at their times, the mean interval of writes as before. */
TEST(bursts)
{
	static const u32 sizes[] = { 1, 4, 16, 64 };
	const u32 nr = 40000;
	struct shape shape = whole(1 << 30);
	struct shaped shaped;
	struct bursts found;
	u64 reads[10000], i, k, singles;

	for (k = 0; k < 4; k++) {
		load_writes(nr);
		for (i = 0; i < nr / 4; i++)
			reads[i] = trace.list[4 * i].arrival;
		shape.burst = sizes[k];
		CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
		CHECK_EQ(trace.nr, nr);
		for (i = 0; i < nr; i++)
			if (trace.list[i].op == TRACE_READ)
				CHECK_EQ(trace.list[i].arrival,
					 reads[(trace.list[i].line - 1) / 4]);
		found = count_bursts();
		CHECK_EQ(found.writes, nr / 4 * 3);
		CHECK_EQ(found.largest, sizes[k]);
		/* Sizes from 1 to N are (N + 1) / 2 in the mean; 10 % are 5 standard errors. */
		singles = found.groups * (sizes[k] + 1) / 2;
		CHECK(singles > found.writes * 9 / 10 && singles < found.writes * 11 / 10,
		      "%llu groups of up to %u", found.groups, sizes[k]);
		CHECK(found.last > 38000000000ULL && found.last < 40000000000ULL,
		      "last write at %llu", found.last);
	}
}

TEST(speed)
{
	struct shape shape = whole(1 << 30);
	struct shaped shaped;

	load_writes(10);
	shape.speed = 2500;
	CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
	CHECK(trace.list[9].arrival - 9063000 / 5 * 2 < 1000, "%llu", trace.list[9].arrival);
	load("0,0,512,W,0\n0,0,512,W,31535999\n");
	shape.speed = 10;
	CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
	CHECK_EQ(trace.list[1].arrival, 3153599900000000000ULL);
	load_writes(10);
	shape.speed = 0;
	CHECK(!shape_trace(&trace, "t", &shape, &shaped, &failure), "%s", failure.text);
	CHECK_EQ(trace.list[9].arrival, 0);
}

TEST(figures)
{
	u64 times[20000];
	struct latency latency;
	u32 i;

	for (i = 0; i < 20000; i++)
		times[i] = 20000 - i;
	latency_of(times, 20000, &latency);
	CHECK_EQ(latency.mean, 10001);
	CHECK_EQ(latency.p50, 10000);
	CHECK_EQ(latency.p99, 19800);
	CHECK_EQ(latency.p999, 19980);
	CHECK_EQ(latency.worst, 20000);		/* of 20000 and 19999, rounded */
	CHECK_EQ(latency.max, 20000);
	CHECK_EQ(latency.bucket[0], 1);
	CHECK_EQ(latency.bucket[13], 8192);
	CHECK_EQ(latency.bucket[14], 20001 - 16384);
	times[0] = 7;
	latency_of(times, 1, &latency);
	CHECK_EQ(latency.p50 + latency.p999 + latency.worst, 21);
	latency_of(times, 0, &latency);
	CHECK_EQ(latency.nr + latency.max, 0);
}
