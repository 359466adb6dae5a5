// SPDX-License-Identifier: GPL-2.0-only
/* Submitting requests at their time; see replay.h. */
#include <errno.h>
#include <libaio.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include "cli/progress.h"
#include "replay.h"

#define NS_PER_SECOND	1000000000ULL
#define SLICE_NS	250000000ULL	/* longest sleep: progress moves, signals are seen */
#define REAP_NS		100000000L	/* the reaper looks that often whether it may end */
#define EVENTS		64
#define POOL_BYTES	1048576U	/* random data that writes are made of */
#define SECTOR		512U
#define SUBMITTER_PRIORITY	1
#define REAPER_PRIORITY		2

atomic_bool replay_interrupted;

/* A request in flight. */
struct slot {
	struct iocb iocb;
	struct slot *next;	/* in the list of free slots */
	char *buffer;
	u64 request;		/* its index */
};

struct engine {
	struct replay *replay;
	io_context_t context;
	struct slot *slots;
	char *buffers;
	char *pool;
	struct timespec start;
	struct progress progress;
	pthread_t reaper;

	pthread_mutex_t lock;	/* of all below */
	pthread_cond_t freed;
	struct slot *free;
	u32 nr_in_flight;
	bool ended;		/* nothing more is going to be submitted */
	int error;		/* first negative errno of a request */
	u64 failed;		/* its index */
};

static u64 since_start(const struct engine *engine)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - engine->start.tv_sec) * NS_PER_SECOND + now.tv_nsec -
	       engine->start.tv_nsec;
}

static bool stopped(struct engine *engine)
{
	bool error;

	pthread_mutex_lock(&engine->lock);
	error = engine->error;
	pthread_mutex_unlock(&engine->lock);
	return error || replay_interrupted;
}

/* How much of the trace's time has gone by. */
static void show_time(struct engine *engine)
{
	const struct trace *trace = engine->replay->trace;
	const u64 total = trace->list[trace->nr - 1].arrival, now = since_start(engine);

	progress_update(&engine->progress, (now < total ? now : total) / 1000, total / 1000);
}

/* Sleeps until @due.  False if the replay is to end. */
static bool wait_until(struct engine *engine, u64 due)
{
	u64 now;

	while (!stopped(engine)) {
		struct timespec until = engine->start;
		u64 slice;

		now = since_start(engine);
		if (now >= due)
			return true;
		slice = due - now > SLICE_NS ? now + SLICE_NS : due;
		until.tv_sec += slice / NS_PER_SECOND;
		until.tv_nsec += slice % NS_PER_SECOND;
		if (until.tv_nsec >= (long)NS_PER_SECOND) {
			until.tv_sec++;
			until.tv_nsec -= NS_PER_SECOND;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		show_time(engine);
	}
	return false;
}

static struct slot *take_slot(struct engine *engine)
{
	struct slot *slot;

	pthread_mutex_lock(&engine->lock);
	if (!engine->free)
		engine->replay->waited++;
	while (!engine->free)
		pthread_cond_wait(&engine->freed, &engine->lock);
	slot = engine->free;
	engine->free = slot->next;
	engine->nr_in_flight++;
	pthread_mutex_unlock(&engine->lock);
	return slot;
}

/* Under the lock. */
static void put_slot(struct engine *engine, struct slot *slot)
{
	slot->next = engine->free;
	engine->free = slot;
	engine->nr_in_flight--;
	pthread_cond_signal(&engine->freed);
}

/*
 * Random data, so that no drive can compress it; each sector begins with the line of the trace that
 * wrote it and its own number, so that no two are alike and everybody can see who was last.
 */
static void fill(const struct engine *engine, const struct request *request, char *buffer)
{
	u32 done, part, at = request->line * 4096U % POOL_BYTES;
	__le64 stamp[2] = { cpu_to_le64(request->line) };

	for (done = 0; done < request->bytes; done += part) {
		part = request->bytes - done;
		if (part > POOL_BYTES - at)
			part = POOL_BYTES - at;
		memcpy(buffer + done, engine->pool + at, part);
		at = 0;
	}
	for (done = 0; done < request->bytes; done += SECTOR) {
		stamp[1] = cpu_to_le64((request->offset + done) / SECTOR);
		memcpy(buffer + done, stamp, sizeof(stamp));
	}
}

static void prepare(struct engine *engine, struct slot *slot, const struct request *request)
{
	const int fd = engine->replay->dev->fd;

	switch (request->op) {
	case TRACE_READ:
		io_prep_pread(&slot->iocb, fd, slot->buffer, request->bytes, request->offset);
		break;
	case TRACE_WRITE:
		fill(engine, request, slot->buffer);
		io_prep_pwrite(&slot->iocb, fd, slot->buffer, request->bytes, request->offset);
		if (request->durable)
			slot->iocb.aio_rw_flags = RWF_DSYNC;
		break;
	default:
		io_prep_fdsync(&slot->iocb, fd);
	}
	slot->iocb.data = slot;
}

static void note_error(struct engine *engine, u64 request, int error)
{
	if (!engine->error) {
		engine->error = error;
		engine->failed = request;
	}
}

static void submit(struct engine *engine, u64 index)
{
	const struct request *request = &engine->replay->trace->list[index];
	struct outcome *outcome = &engine->replay->outcome[index];
	struct slot *slot = take_slot(engine);
	struct iocb *iocb = &slot->iocb;
	int done;

	slot->request = index;
	prepare(engine, slot, request);
	outcome->submitted = since_start(engine);
	outcome->due = engine->replay->paced ? request->arrival : outcome->submitted;
	do {
		done = io_submit(engine->context, 1, &iocb);
	} while (done == -EINTR || done == -EAGAIN);
	if (done == 1)
		return;
	pthread_mutex_lock(&engine->lock);
	note_error(engine, index, done < 0 ? done : -EIO);
	put_slot(engine, slot);
	pthread_mutex_unlock(&engine->lock);
}

/* Under the lock. */
static void complete(struct engine *engine, const struct io_event *event, u64 now)
{
	struct slot *slot = event->data;
	const struct request *request = &engine->replay->trace->list[slot->request];
	const long result = (long)event->res;

	if (result < 0)
		note_error(engine, slot->request, result);
	else if ((u64)result != request->bytes)
		note_error(engine, slot->request, -EIO);
	engine->replay->outcome[slot->request].completed = now ? now : 1;
	engine->replay->nr_completed++;
	engine->replay->ns = now;
	put_slot(engine, slot);
}

/*
 * Requests go out at their time: sleeps do not end up to 50 us later, and on a machine with one
 * processor nothing that a request sets in motion delays the one behind it. Only the end of one is
 * noted before that, when it comes: of requests that are due together, the first does not take as
 * long as submitting all. It goes without the right to do so as well; what is late is counted.
 */
static void be_on_time(int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	prctl(PR_SET_TIMERSLACK, 1UL);
	sched_setscheduler(0, SCHED_FIFO, &param);
}

static void *reap(void *argument)
{
	struct engine *engine = argument;
	struct io_event events[EVENTS];
	bool ended = false;

	be_on_time(REAPER_PRIORITY);
	while (!ended) {
		struct timespec timeout = { .tv_nsec = REAP_NS };
		int nr = io_getevents(engine->context, 1, EVENTS, events, &timeout), i;
		const u64 now = since_start(engine);

		pthread_mutex_lock(&engine->lock);
		for (i = 0; i < nr; i++)
			complete(engine, &events[i], now);
		ended = engine->ended && !engine->nr_in_flight;
		pthread_mutex_unlock(&engine->lock);
	}
	return NULL;
}

static void submit_all(struct engine *engine)
{
	const struct trace *trace = engine->replay->trace;
	u64 i;

	for (i = 0; i < trace->nr; i++) {
		if (!wait_until(engine, engine->replay->paced ? trace->list[i].arrival : 0))
			break;
		submit(engine, i);
		if (!engine->replay->paced)
			progress_update(&engine->progress, i, trace->nr);
	}
	pthread_mutex_lock(&engine->lock);
	engine->ended = true;
	pthread_mutex_unlock(&engine->lock);
}

/* The signals that end a replay are for the thread that sleeps. */
static int start_reaper(struct engine *engine)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&engine->reaper, NULL, reap, engine);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -code;
}

static u32 largest_request(const struct trace *trace)
{
	u32 largest = BLKDEV_ALIGN;
	u64 i;

	for (i = 0; i < trace->nr; i++)
		if (trace->list[i].bytes > largest)
			largest = trace->list[i].bytes;
	return (largest + BLKDEV_ALIGN - 1) / BLKDEV_ALIGN * BLKDEV_ALIGN;
}

static void fill_pool(char *pool)
{
	u64 state = 0x2545f4914f6cdd1dULL;
	u32 i;

	for (i = 0; i < POOL_BYTES; i += sizeof(state)) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(pool + i, &state, sizeof(state));
	}
}

/* Only the buffers that are used take memory: the slot that was freed last is taken first. */
static int make_slots(struct engine *engine, struct failure *failure)
{
	const u32 nr = engine->replay->in_flight;
	const u64 bytes = largest_request(engine->replay->trace);
	u32 i;

	if (bytes * nr > REPLAY_MAX_BUFFERS)
		return fail(failure, -EINVAL,
			    "--in-flight is %u, but with requests of up to %llu bytes only %llu can be in flight; give fewer",
			    nr, bytes, REPLAY_MAX_BUFFERS / bytes);
	engine->slots = calloc(nr, sizeof(engine->slots[0]));
	engine->pool = malloc(POOL_BYTES);
	if (!engine->slots || !engine->pool ||
	    posix_memalign((void **)&engine->buffers, BLKDEV_ALIGN, bytes * nr)) {
		engine->buffers = NULL;
		return fail(failure, -ENOMEM,
			    "not enough memory for %u requests of %llu bytes; give fewer with --in-flight",
			    nr, bytes);
	}
	fill_pool(engine->pool);
	for (i = nr; i--;) {
		engine->slots[i].buffer = engine->buffers + i * bytes;
		engine->slots[i].next = engine->free;
		engine->free = &engine->slots[i];
	}
	return 0;
}

static int set_up(struct engine *engine, struct failure *failure)
{
	struct replay *replay = engine->replay;
	int code = make_slots(engine, failure);

	if (code)
		return code;
	replay->outcome = calloc(replay->trace->nr, sizeof(replay->outcome[0]));
	if (!replay->outcome)
		return fail(failure, -ENOMEM,
			    "not enough memory for %llu requests; take fewer with --limit",
			    replay->trace->nr);
	code = io_setup(replay->in_flight, &engine->context);
	if (code)
		return fail(failure, code,
			    "the kernel does not allow %u requests in flight (%s); give fewer with --in-flight, or raise /proc/sys/fs/aio-max-nr",
			    replay->in_flight, strerror(-code));
	return 0;
}

static int conclude(const struct engine *engine, struct failure *failure)
{
	const struct request *request = &engine->replay->trace->list[engine->failed];
	static const char *const verbs[] = { "read", "write", "flush" };

	if (engine->error)
		return fail(failure, engine->error,
			    "cannot %s %s at byte %llu (%u bytes, line %u of the trace): %s",
			    verbs[request->op], engine->replay->dev->path, request->offset,
			    request->bytes, request->line, strerror(-engine->error));
	if (engine->replay->nr_completed < engine->replay->trace->nr)
		return fail(failure, -ECANCELED, "interrupted after %llu of %llu requests",
			    engine->replay->nr_completed, engine->replay->trace->nr);
	return 0;
}

static int run(struct engine *engine, struct failure *failure)
{
	int code;

	clock_gettime(CLOCK_MONOTONIC, &engine->start);
	code = start_reaper(engine);
	if (code)
		return fail(failure, code, "cannot start a thread: %s", strerror(-code));
	be_on_time(SUBMITTER_PRIORITY);
	progress_start(&engine->progress, "replay");
	submit_all(engine);
	pthread_join(engine->reaper, NULL);
	progress_end();
	return conclude(engine, failure);
}

int replay_run(struct replay *replay, struct failure *failure)
{
	struct engine engine = {
		.replay = replay,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.freed = PTHREAD_COND_INITIALIZER,
	};
	int code = set_up(&engine, failure);

	if (!code)
		code = run(&engine, failure);
	if (engine.context)
		io_destroy(engine.context);
	free(engine.buffers);
	free(engine.pool);
	free(engine.slots);
	return code;
}

void replay_free(struct replay *replay)
{
	free(replay->outcome);
	replay->outcome = NULL;
}
