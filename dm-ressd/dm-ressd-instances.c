// SPDX-License-Identifier: GPL-2.0-only
/*
 * All instances, so that two targets never share an area: DM itself opens every
 * device with one shared holder and would let them.  Nor may a table leave the
 * log of the one before it behind.
 */
#include <linux/mutex.h>

#include "dm-ressd-target.h"

static LIST_HEAD(instances);
static DEFINE_MUTEX(instances_lock);

/* Are both tables of one mapped device? */
static bool same_device(const struct ressd *a, const struct ressd *b)
{
	return dm_table_get_md(a->ti->table) == dm_table_get_md(b->ti->table);
}

static bool areas_meet(const struct block_device *a, u64 a_start, u64 a_len,
		       const struct block_device *b, u64 b_start, u64 b_len)
{
	return a == b && a_start < b_start + b_len && b_start < a_start + a_len;
}

static bool instances_meet(const struct ressd *a, const struct ressd *b)
{
	const struct ressd *pair[2] = { a, b };
	int i;

	for (i = 0; i < 2; i++) {
		const struct ressd *x = pair[i], *y = pair[!i];

		if (areas_meet(x->normal->bdev, x->table.normal_start,
			       x->table.len, y->reserved->bdev,
			       y->table.reserved_start,
			       y->table.reserved_sectors))
			return true;
	}
	return areas_meet(a->normal->bdev, a->table.normal_start, a->table.len,
			  b->normal->bdev, b->table.normal_start,
			  b->table.len) ||
	       areas_meet(a->reserved->bdev, a->table.reserved_start,
			  a->table.reserved_sectors, b->reserved->bdev,
			  b->table.reserved_start, b->table.reserved_sectors);
}

int ressd_register(struct ressd *ressd, char *error, size_t size)
{
	struct ressd *other;
	int ret = 0;

	mutex_lock(&instances_lock);
	list_for_each_entry(other, &instances, instances) {
		if (same_device(other, ressd) || !instances_meet(ressd, other))
			continue;
		snprintf(error, size,
			 "the areas overlap those of the ressd device %s, which is in use",
			 ressd_name(other));
		ret = -EBUSY;
		break;
	}
	if (!ret)
		list_add(&ressd->instances, &instances);
	mutex_unlock(&instances_lock);
	return ret;
}

static struct ressd_areas areas_of(const struct ressd *ressd)
{
	return (struct ressd_areas) {
		.normal = ressd->normal->bdev->bd_dev,
		.reserved = ressd->reserved->bdev->bd_dev,
		.table = ressd->table,
	};
}

/* Everything that the log of @old has is found by @new, too. */
static bool finds_log_of(const struct ressd *new, const struct ressd_areas *old)
{
	return new->normal->bdev->bd_dev == old->normal &&
	       new->reserved->bdev->bd_dev == old->reserved &&
	       new->table.normal_start == old->table.normal_start &&
	       new->table.reserved_start == old->table.reserved_start &&
	       new->table.reserved_sectors == old->table.reserved_sectors &&
	       new->table.len >= old->table.len;
}

/*
 * Sets the areas whose log a table that takes the place of @other has to find,
 * if there are any.
 */
static void find_owed(struct ressd *other, struct ressd_areas *owed)
{
	if (READ_ONCE(other->life) != RESSD_ACTIVE) {
		if (other->owed.reserved)
			*owed = other->owed;
	} else if (!ressd_is_drained(other)) {
		*owed = areas_of(other);
	}
}

/* Has it accepted what will be lost with it? */
static bool leaves_loss(struct ressd *ressd)
{
	bool loss;

	spin_lock(&ressd->lock);
	loss = READ_ONCE(ressd->life) == RESSD_ACTIVE &&
	       !ressd_log_is_rw(ressd) && !ressd_log_owes_nothing(&ressd->log);
	loss |= ressd->errors.inherited;
	spin_unlock(&ressd->lock);
	return loss;
}

/* Has it left unflushed what was written under it, or the one before it? */
static bool is_unflushed(const struct ressd *ressd)
{
	return READ_ONCE(ressd->life) == RESSD_ACTIVE ?
		       !ressd_log_is_rw(ressd) : ressd->errors.unflushed;
}

int ressd_check_change(struct ressd *ressd, bool load, char *error, size_t size)
{
	struct ressd_areas owed = ressd->owed;
	bool refused, lost = false;
	struct ressd *other;

	mutex_lock(&instances_lock);
	list_for_each_entry(other, &instances, instances) {
		if (other == ressd || !same_device(other, ressd))
			continue;
		find_owed(other, &owed);
		lost |= load && READ_ONCE(other->life) == RESSD_ACTIVE &&
			!ressd_log_is_rw(other);
		if (!load && leaves_loss(other))
			ressd->errors.inherited = true;
		ressd->errors.unflushed |= !load && is_unflushed(other);
	}
	refused = owed.reserved && !finds_log_of(ressd, &owed);
	if (!load)
		ressd->owed = owed;
	mutex_unlock(&instances_lock);
	if (refused)
		snprintf(error, size,
			 "the table has other devices or areas than the one before, whose log (sector %llu + %llu of %u:%u) may hold data; only its normal area may grow, for anything else resume that one, and send the message drain first",
			 (unsigned long long)owed.table.reserved_start,
			 (unsigned long long)owed.table.reserved_sectors,
			 MAJOR(owed.reserved), MINOR(owed.reserved));
	else if (lost)
		snprintf(error, size,
			 "the log of the table in use is out of service, and what is only in its memory would be lost; send the message recover first, or remove the device");
	return refused || lost ? -EBUSY : 0;
}

void ressd_unregister(struct ressd *ressd)
{
	mutex_lock(&instances_lock);
	list_del_init(&ressd->instances);
	mutex_unlock(&instances_lock);
}
