// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens after an I/O error: core learns of a failed flush, and the user
 * of a changed mode.  core/ressd-repair.h says what a failed flush means.
 */
#include "dm-ressd-log.h"

void ressd_note_doubt(struct ressd *ressd)
{
	int known = ressd->errors.known_to_core -
		    ressd_log_is_doubtful(&ressd->log);

	lockdep_assert_held(&ressd->lock);
	ressd_look_known(&ressd->errors.known_to_map, known);
}

void ressd_take_flush_errors(struct ressd *ressd)
{
	int errors = atomic_read(&ressd->errors.failed_flushes);

	lockdep_assert_held(&ressd->lock);
	if (errors == ressd->errors.known_to_core)
		return;
	ressd->errors.known_to_core = errors;
	ressd->counters.errors++;
	ressd_log_flush_failed(&ressd->log);
	ressd_note_doubt(ressd);
	/* Which does it piece by piece. */
	ressd_run_log(ressd);
}

static void tell_mode(const struct ressd *ressd, enum ressd_mode mode)
{
	switch (mode) {
	case RESSD_MODE_RW:
		DMINFO("%s: the log is in service again", ressd_name(ressd));
		break;
	case RESSD_MODE_OFF:
		DMERR("%s: the log cannot be written and is off; writes go to the normal area, flushes fail; once the device is well use ressdctl recover",
		      ressd_name(ressd));
		break;
	case RESSD_MODE_RO:
		DMERR("%s: a flush has failed, what was written since the last one may be gone; all writes fail; once the device is well use ressdctl recover",
		      ressd_name(ressd));
		break;
	case RESSD_MODE_FAIL:
		DMERR("%s: the device has lost data that it had taken; all writes fail",
		      ressd_name(ressd));
		break;
	}
}

void ressd_note_mode(struct ressd *ressd)
{
	enum ressd_mode mode;
	bool changed, shut;

	spin_lock(&ressd->lock);
	mode = ressd->log.mode;
	changed = mode != ressd->errors.noted_mode;
	ressd->errors.noted_mode = mode;
	shut = mode != RESSD_MODE_RW;
	if (ressd->gate.shut != shut)
		WRITE_ONCE(ressd->gate.shut, shut);
	spin_unlock(&ressd->lock);
	if (!changed)
		return;
	tell_mode(ressd, mode);
	dm_table_event(ressd->ti->table);
	ressd_dispatch_release(ressd);
	/* Whoever waits for the log may have to fail, or to go on. */
	ressd_run_log(ressd);
	ressd_run_bios(ressd);
	ressd_wake(ressd);
}

void ressd_answer_flushes(struct ressd *ressd, int refused)
{
	int answered = atomic_read(&ressd->errors.answered);

	while (unlikely(refused - answered > 0) &&
	       !atomic_try_cmpxchg(&ressd->errors.answered, &answered, refused))
		;
}
