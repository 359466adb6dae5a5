// SPDX-License-Identifier: GPL-2.0-only
/* The request pattern identifier; see ressd-rpi.h. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-rpi.h"

void ressd_rpi_init(struct ressd_rpi *rpi, u32 streams, u32 small_sectors)
{
	memset(rpi, 0, sizeof(*rpi));
	ressd_rpi_set(rpi, streams, small_sectors);
}

void ressd_rpi_set(struct ressd_rpi *rpi, u32 streams, u32 small_sectors)
{
	u32 i;

	rpi->streams = clamp_t(u32, streams, 1, RESSD_RPI_MAX_STREAMS);
	rpi->small_sectors = small_sectors;
	for (i = rpi->streams; i < RESSD_RPI_MAX_STREAMS; i++)
		rpi->stream[i].used = 0;
}

bool ressd_rpi_write(struct ressd_rpi *rpi, u64 sector, u32 sectors)
{
	const u64 end = sector + sectors;
	u32 i, slot = 0;
	bool continues = false, rewrites = false;

	rpi->clock++;
	for (i = 0; i < rpi->streams; i++) {
		if (rpi->stream[i].used && rpi->stream[i].next == sector) {
			slot = i;
			continues = true;
			break;
		}
		if (rewrites)
			continue;
		rewrites = rpi->stream[i].used && rpi->stream[i].next == end;
		if (rewrites || rpi->stream[i].used < rpi->stream[slot].used)
			slot = i;	/* least recently used */
	}
	rpi->stream[slot].next = end;
	rpi->stream[slot].used = rpi->clock;

	return !continues && sectors <= rpi->small_sectors;
}
