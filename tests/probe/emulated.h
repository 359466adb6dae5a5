/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated SSD of tests/ssdsim in this process, with a host in front of it: the host splits
 * large requests, adds its own time, and shows the drive from some offset on (a partition).  Noise
 * and interference are the drive's own (noise_ppm, interference_ppm).  Virtual time; nothing is
 * stored.
 */
#ifndef PROBE_EMULATED_H
#define PROBE_EMULATED_H

#include <stdbool.h>
#include <stdint.h>

/* What the host does to a drive. */
struct host {
	uint32_t host_ns;	/* the host's own time for a command */
	uint64_t offset;	/* bytes of the drive that the probe does not see */
};

/* What is true of a drive, bytes; 0 where there is none. */
struct truth {
	uint64_t page;		/* that partial writes are completed to */
	uint64_t block;
	uint64_t block_phase;	/* first block border, seen from the offset */
	bool page_mapped;
	bool erases_on_open;	/* each block costs something when it is opened */
	bool logs_shared;	/* by all blocks: none has to be closed for another one */
	bool two_speeds;	/* NAND with fast and slow pages */
	uint64_t read_buffer;
	uint64_t write_buffer;
	uint64_t prefetch;
	bool merges_rewrites;	/* the write buffer is a cache */
	uint32_t log_blocks;
	bool flush_honoured;
	uint64_t fast_area;	/* pseudo-SLC */
	double slowdown;	/* behind it; the caller sets it: emulated_slowdown() */
	uint64_t filled;	/* bytes that were written in order at first; likewise */
};

struct emulated;

/*
 * A drive of @profile (words of tests/ssdsim, see docs/ssdsim.md) behind @host.  NULL with a
 * sentence in @error.
 */
struct emulated *emulated_create(const char *profile, const struct host *host, char *error,
				 unsigned int size);
void emulated_destroy(struct emulated *emulated);

/* Each returns what the call took, ns. */
uint64_t emulated_read(struct emulated *emulated, uint64_t offset, uint32_t bytes);
uint64_t emulated_write(struct emulated *emulated, uint64_t offset, uint32_t bytes);
uint64_t emulated_flush(struct emulated *emulated);

void emulated_pause(struct emulated *emulated, uint64_t ns);
uint64_t emulated_now(const struct emulated *emulated);
uint64_t emulated_bytes(const struct emulated *emulated);
bool emulated_one_at_a_time(const struct emulated *emulated);
void emulated_truth(const struct emulated *emulated, struct truth *truth);

/*
 * How much slower writes in order are behind the pseudo-SLC area than in it; 1: there is none.
 * Of a fresh drive without noise, which is used for that.
 */
double emulated_slowdown(struct emulated *emulated);

#endif
