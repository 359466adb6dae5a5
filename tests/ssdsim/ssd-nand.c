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
		.program_slow_ns = profile->program_slow_ns,
		.slc_program_ns = profile->slc_program_ns,
		.slc_from = geometry->total_blocks - geometry->slc_blocks,
		.planes = profile->planes,
		.buses = profile->channel_sets,
		.erase_ns = profile->erase_ns,
		.bus_read_ns = bus_ns(profile, profile->bus_read_ps),
		.bus_write_ns = bus_ns(profile, profile->bus_write_ps),
		.copyback = profile->copyback,
	};
	nand->die_free = kvcalloc((size_t)nand->die_sets * nand->ways, sizeof(u64), GFP_KERNEL);
	nand->next_row = kvcalloc((size_t)nand->blocks * nand->ways, sizeof(u16), GFP_KERNEL);
	nand->erase_count = kvcalloc(nand->blocks, sizeof(u32), GFP_KERNEL);
	nand->bus = kvcalloc(nand->buses, sizeof(*nand->bus), GFP_KERNEL);
	if (!nand->die_free || !nand->bus || !nand->next_row || !nand->erase_count)
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
	kvfree(nand->bus);
	kvfree(nand->next_row);
	kvfree(nand->erase_count);
	kvfree(nand->tag);
}

static u32 die_index(const struct ssd_nand *nand, u32 block, u32 way)
{
	return (block % nand->die_sets) * nand->ways + way;
}

static u64 *die_of(struct ssd_nand *nand, const struct ssd_place *place)
{
	return &nand->die_free[die_index(nand, place->block, place->way)];
}

static struct ssd_bus *bus_of(struct ssd_nand *nand, const struct ssd_place *place)
{
	return &nand->bus[die_index(nand, place->block, place->way) % nand->buses];
}

u64 ssd_nand_die_free(const struct ssd_nand *nand, u32 block, u32 way)
{
	return nand->die_free[die_index(nand, block, way)];
}

static void remove_span(struct ssd_bus *bus, u32 span)
{
	bus->spans--;
	for (; span < bus->spans; span++) {
		bus->begin[span] = bus->begin[span + 1];
		bus->end[span] = bus->end[span + 1];
	}
}

static void insert_span(struct ssd_bus *bus, u32 span, u64 begin, u64 end)
{
	u32 i;

	if (bus->spans == SSD_BUS_SPANS) {
		if (!span)
			return;
		remove_span(bus, 0);
		span--;
	}
	for (i = bus->spans; i > span; i--) {
		bus->begin[i] = bus->begin[i - 1];
		bus->end[i] = bus->end[i - 1];
	}
	bus->begin[span] = begin;
	bus->end[span] = end;
	bus->spans++;
}

u64 ssd_bus_reserve(struct ssd_bus *bus, u64 earliest, u64 length)
{
	bool joins_next;
	u32 span = bus->spans;
	u64 end;

	while (span && bus->end[span - 1] > earliest)
		span--;
	for (; span < bus->spans && bus->begin[span] < earliest + length; span++)
		earliest = max(earliest, bus->end[span]);
	if (!length)
		return earliest;
	end = earliest + length;
	joins_next = span < bus->spans && bus->begin[span] == end;
	if (span && bus->end[span - 1] == earliest) {
		bus->end[span - 1] = joins_next ? bus->end[span] : end;
		if (joins_next)
			remove_span(bus, span);
	} else if (joins_next) {
		bus->begin[span] = earliest;
	} else {
		insert_span(bus, span, earliest, end);
	}
	return earliest;
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

u64 ssd_nand_read_part(struct ssd_nand *nand, const struct ssd_place *place, u32 page,
		       u32 rounds, u64 start, u64 *first)
{
	u64 *die_free = die_of(nand, place);
	u64 in_register = max(start, *die_free) + nand->read_ns;
	u64 bus_ns = div_u64((u64)nand->bus_read_ns * rounds, nand->planes);
	u64 moving = ssd_bus_reserve(bus_of(nand, place), in_register, bus_ns);

	check_read(nand, place, page);
	nand->reads++;
	*first = moving + div_u64(bus_ns, rounds);
	*die_free = moving + bus_ns;
	return *die_free;
}

u64 ssd_nand_read(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start)
{
	u64 first;

	return ssd_nand_read_part(nand, place, page, nand->planes, start, &first);
}

/*
 * Of the two pages that share the cells of an MLC block one is fast and one slow.
 * In the common order the first row and the odd ones are fast, but the last is not.
 */
static u32 program_time(const struct ssd_nand *nand, const struct ssd_place *place)
{
	u32 row = place->row;
	bool fast = !row || (row % 2 && row + 1 != nand->rows);

	if (place->block >= nand->slc_from)
		return nand->slc_program_ns;
	return fast || !nand->program_slow_ns ? nand->program_ns : nand->program_slow_ns;
}

u64 ssd_nand_program(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start)
{
	u64 *die_free = die_of(nand, place);
	u64 moved = ssd_bus_reserve(bus_of(nand, place), max(start, *die_free),
				    nand->bus_write_ns) + nand->bus_write_ns;

	take_row(nand, place, page);
	*die_free = moved + program_time(nand, place);
	note_program(nand, *die_free);
	return moved;
}

u64 ssd_nand_copy(struct ssd_nand *nand, const struct ssd_place *from,
		  const struct ssd_place *to, u32 page, u64 start)
{
	u64 *die_free = die_of(nand, to);

	nand->copies++;
	if (!nand->copyback || die_of(nand, from) != die_free) {
		u64 read = ssd_nand_read(nand, from, page, start);

		ssd_nand_program(nand, to, page, read);
		return *die_free;
	}
	check_read(nand, from, page);
	take_row(nand, to, page);
	nand->reads++;
	*die_free = max(start, *die_free) + nand->read_ns + program_time(nand, to);
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
