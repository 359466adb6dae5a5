// SPDX-License-Identifier: GPL-2.0-only
/* Does it pay to pad commits to the device's page?  See ressd-padding.h. */
#include "ressd-padding.h"

void ressd_padding_record(struct ressd_padding *padding, u32 used, u32 waste,
			  u32 taken, u32 log_blocks)
{
	padding->records++;
	padding->used += used;
	padding->taken += taken;
	padding->waste += waste;
	if (padding->taken < (u64)RESSD_PADDING_ROUNDS * log_blocks)
		return;
	padding->records /= 2;
	padding->used /= 2;
	padding->taken /= 2;
	padding->waste /= 2;
	padding->visits /= 2;
}

void ressd_padding_visit(struct ressd_padding *padding)
{
	padding->visits++;
}

/*
 * A unit of the log needs visits * unit_blocks / taken of the mover's, with
 * padding or without.  For a unit without padding waste / used more are taken.
 */
bool ressd_padding_pays(const struct ressd_padding *padding, u32 unit_blocks)
{
	return padding->used < RESSD_PADDING_LONG * padding->records &&
	       4 * padding->waste * (padding->visits + 1) * unit_blocks <
	       RESSD_PADDING_VISITS * padding->used * padding->taken;
}
