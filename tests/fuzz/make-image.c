// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-make-image: a reserved area as a file, with a valid log or a damaged one.
 *
 *	ressd-make-image SEED|CORPUS_FILE OUTPUT [OPTION]...
 *
 *	packed		in the form of area.h; else a device that begins with the normal area (all
 *			zero) and ends with the reserved one
 *	small		four segments of 64 KiB
 *	operations=N	on the log, in each of its up to three lives
 *	mutations=SEED	damages the log
 *	again		activates the device that OUTPUT holds and goes on with its log
 *
 * Prints the sectors of the normal and of the reserved area.  The same arguments give the same
 * file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "life.h"
#include "mutate.h"

#define MAX_PACKED	(1024U * 1024)

struct request {
	u64 seed;
	const char *corpus;	/* NULL: a new log from the seed */
	const char *output;
	bool packed, small, again;
	bool mutated;
	u64 mutations;
	u32 operations;
};

static bool parse(struct request *request, int argc, char **argv)
{
	char *end;
	int i;

	if (argc < 3)
		return false;
	*request = (struct request) { .output = argv[2], .operations = ~0U };
	request->seed = strtoull(argv[1], &end, 0);
	if (*end)
		request->corpus = argv[1];
	for (i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "packed"))
			request->packed = true;
		else if (!strcmp(argv[i], "small"))
			request->small = true;
		else if (!strcmp(argv[i], "again"))
			request->again = true;
		else if (!strncmp(argv[i], "operations=", 11))
			request->operations = strtoul(argv[i] + 11, NULL, 0);
		else if (!strncmp(argv[i], "mutations=", 10))
			request->mutations = strtoull(argv[i] + 10, NULL, 0);
		else
			return false;
		request->mutated = request->mutated || !strncmp(argv[i], "mutations=", 10);
	}
	return true;
}

static bool write_file(FILE *file, const struct area_memory *area, bool packed)
{
	size_t bytes = (size_t)area->nr_blocks * RESSD_BLOCK_SIZE;
	u8 *data;
	bool good;

	if (!packed)
		return !fseek(file, area->info.table.reserved_start * 512, SEEK_SET) &&
		       fwrite(area->blocks, 1, bytes, file) == bytes;
	data = malloc(MAX_PACKED);
	bytes = data ? area_pack(area, data, MAX_PACKED) : 0;
	good = bytes && fwrite(data, 1, bytes, file) == bytes;
	free(data);
	return good;
}

static void give_up(const char *path)
{
	fprintf(stderr, "ressd-make-image: %s does not end with a log of ressd\n", path);
	exit(1);
}

/* The log of a device that was made before. */
static void load_log(struct area_memory *area, const char *path)
{
	struct ressd_super_info info;
	char reason[RESSD_ERROR_SIZE];
	struct ressd_super super;
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, -(long)sizeof(super), SEEK_END) ||
	    fread(&super, sizeof(super), 1, file) != 1 ||
	    ressd_super_decode(&super, 1, &info, reason, sizeof(reason)) != RESSD_SUPER_GOOD ||
	    info.table.reserved_sectors / RESSD_BLOCK_SECTORS > AREA_MAX_BLOCKS)
		give_up(path);
	area_make(area, info.table.reserved_sectors / info.segment_sectors,
		  info.segment_sectors / RESSD_BLOCK_SECTORS,
		  info.table.reserved_sectors % info.segment_sectors / RESSD_BLOCK_SECTORS,
		  info.table.len / RESSD_BLOCK_SECTORS);
	area->info = info;
	if (fseek(file, info.table.reserved_start * 512, SEEK_SET) ||
	    fread(area->blocks, RESSD_BLOCK_SIZE, area->nr_blocks, file) != area->nr_blocks)
		give_up(path);
	fclose(file);
}

static void make_log(struct area_memory *area, const struct request *request)
{
	struct random random = { .state = request->seed };
	u32 lives = request->again ? 1 : 1 + random_below(&random, 3);

	if (request->again)
		load_log(area, request->output);
	else if (request->small)
		area_make(area, 4, 16, 0, 100);
	else
		area_make_random(area, &random, 4, 64, 1000);
	while (lives--)
		life_run(area, &random, request->operations != ~0U ? request->operations :
			 random_below(&random, 400));
}

static void make(struct area_memory *area, const struct request *request)
{
	struct random random = { .state = request->mutations };
	size_t size;
	u8 *data;

	if (request->corpus) {
		data = read_file(request->corpus, &size);
		area_unpack(area, data, size);
		free(data);
	} else {
		make_log(area, request);
	}
	if (request->mutated)
		mutate(area, &random);
}

int main(int argc, char **argv)
{
	struct area_memory area;
	struct request request;
	FILE *file;
	bool good;

	if (!parse(&request, argc, argv)) {
		fputs("ressd-make-image SEED|CORPUS_FILE OUTPUT [packed] [small] [operations=N] [mutations=SEED] [again]\n",
		      stderr);
		return 2;
	}
	make(&area, &request);
	file = fopen(request.output, request.again ? "r+b" : "wb");
	good = file && write_file(file, &area, request.packed);
	if (!file || fclose(file) || !good) {
		perror(request.output);
		return 1;
	}
	printf("%llu %llu\n", area.info.table.len, area.info.table.reserved_sectors);
	area_free(&area);
	return 0;
}
