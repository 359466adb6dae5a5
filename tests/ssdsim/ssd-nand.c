// SPDX-License-Identifier: GPL-2.0-only
/* The NAND of a drive. See ssd-nand.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "ssd-nand.h"

/* The channels move their parts of a clustered page side by side. */
static u32 bus_ns(const struct ssd_profile *profile, u32 byte_ps)
{
	u64 bytes = (u64)(profile->page_bytes + profile->spare_bytes) * profile->planes;

	return div_u64(bytes * byte_ps, 1000);
}

int ssd_nand_create(struct ssd_nand *nand, const struct ssd_profile *profile,
		    const struct ssd_geometry *geometry)
{
	size_t slots = (size_t)geometry->total_blocks * profile->ways * geometry->rows;
	size_t i;

	*nand = (struct ssd_nand) {
		.die_sets = profile->die_sets,
		.ways = profile->ways,
		.rows = geometry->rows,
		.blocks = geometry->total_blocks,
		.read_ns = profile->read_ns,
		.program_ns = profile->program_ns,
		.erase_ns = profile->erase_ns,
		.bus_read_ns = bus_ns(profile, profile->bus_read_ps),
		.bus_write_ns = bus_ns(profile, profile->bus_write_ps),
		.copyback = profile->copyback,
	};
	nand->die_free = kvcalloc((size_t)nand->die_sets * nand->ways, sizeof(u64), GFP_KERNEL);
	nand->next_row = kvcalloc((size_t)nand->blocks * nand->ways, sizeof(u16), GFP_KERNEL);
	nand->erase_count = kvcalloc(nand->blocks, sizeof(u32), GFP_KERNEL);
	if (!nand->die_free || !nand->next_row || !nand->erase_count)
		return -ENOMEM;
	if (!profile->check)
		return 0;

	nand->tag = kvcalloc(slots, sizeof(u32), GFP_KERNEL);
	if (!nand->tag)
		return -ENOMEM;
	for (i = 0; i < slots; i++)
		nand->tag[i] = SSD_NO_PAGE;
	return 0;
}

void ssd_nand_destroy(struct ssd_nand *nand)
{
	kvfree(nand->die_free);
	kvfree(nand->next_row);
	kvfree(nand->erase_count);
	kvfree(nand->tag);
}

static u64 *die_of(struct ssd_nand *nand, const struct ssd_place *place)
{
	return &nand->die_free[(place->block % nand->die_sets) * nand->ways + place->way];
}

static u32 *tag_of(struct ssd_nand *nand, const struct ssd_place *place)
{
	size_t way = (size_t)place->block * nand->ways + place->way;

	return &nand->tag[way * nand->rows + place->row];
}

/* What a read finds must be what the FTL looks for. */
static void check_read(struct ssd_nand *nand, const struct ssd_place *place, u32 page)
{
	if (place->row >= ssd_nand_next_row(nand, place->block, place->way))
		nand->violations++;
	else if (nand->tag && *tag_of(nand, place) != page)
		nand->violations++;
}

/* Rows of a block are programmed in ascending order, each once. */
static void take_row(struct ssd_nand *nand, const struct ssd_place *place, u32 page)
{
	u16 *next_row = &nand->next_row[place->block * nand->ways + place->way];

	if (place->row < *next_row || place->row >= nand->rows) {
		nand->violations++;
		return;
	}
	*next_row = place->row + 1;
	if (nand->tag)
		*tag_of(nand, place) = page;
}

static void note_program(struct ssd_nand *nand, u64 end)
{
	nand->programs++;
	nand->programmed_at = max(nand->programmed_at, end);
}

u64 ssd_nand_read(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start)
{
	u64 *die_free = die_of(nand, place);
	u64 in_register = max(start, *die_free) + nand->read_ns;
	u64 end = max(in_register, nand->bus_free) + nand->bus_read_ns;

	check_read(nand, place, page);
	nand->reads++;
	nand->bus_free = end;
	*die_free = end;
	return end;
}

u64 ssd_nand_program(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start)
{
	u64 *die_free = die_of(nand, place);
	u64 moved = max3(start, *die_free, nand->bus_free) + nand->bus_write_ns;

	take_row(nand, place, page);
	nand->bus_free = moved;
	*die_free = moved + nand->program_ns;
	note_program(nand, *die_free);
	return moved;
}

u64 ssd_nand_copy(struct ssd_nand *nand, const struct ssd_place *from,
		  const struct ssd_place *to, u32 page, u64 start)
{
	u64 *die_free = die_of(nand, from);

	nand->copies++;
	if (!nand->copyback) {
		u64 read = ssd_nand_read(nand, from, page, start);

		ssd_nand_program(nand, to, page, read);
		return *die_free;
	}
	check_read(nand, from, page);
	take_row(nand, to, page);
	nand->reads++;
	*die_free = max(start, *die_free) + nand->read_ns + nand->program_ns;
	note_program(nand, *die_free);
	return *die_free;
}

void ssd_nand_erase(struct ssd_nand *nand, u32 block, u64 start)
{
	struct ssd_place place = { .block = block };
	u32 row;

	for (place.way = 0; place.way < nand->ways; place.way++) {
		u64 *die_free = die_of(nand, &place);

		*die_free = max(start, *die_free) + nand->erase_ns;
		nand->next_row[block * nand->ways + place.way] = 0;
		for (row = 0; nand->tag && row < nand->rows; row++) {
			place.row = row;
			*tag_of(nand, &place) = SSD_NO_PAGE;
		}
	}
	nand->erase_count[block]++;
	nand->erases++;
}

void ssd_nand_fill(struct ssd_nand *nand, const struct ssd_place *place, u32 page)
{
	take_row(nand, place, page);
}
