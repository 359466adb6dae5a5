#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mutants.sh [--apply|--races] [NAME...]: shows that the guest tests would find a module that is wrong. Builds
# copies of the module with one deliberate bug each and runs the test that must fail with it. Part of `make
# soak`, not of `make check`. (Bugs of dm-ressd/core are the business of tests/model.) --apply only looks
# whether each bug still fits the sources. --races: others, which the debug kernel for races must report; part
# of `make debug-check`.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=build/mutants
passed=0
failed=0
apply_only=
list=mutants
found='^(not ok|vm: the kernel reported a fault)'

# NAME @ FILE in dm-ressd @ commands of sed that make the bug, with ;; between @ test and its arguments @ what the bug is
mutants() {
	cat <<-'END'
		no-flush@dm-ressd-device.c@s/int ret = blkdev_issue_flush(ressd->normal->bdev);/int ret = 0;/@66-power-switch 20 1 sectors@a flush of the log reaches no device
		no-preflush@dm-ressd-log-worker.c@s/if (io->preflush)/if (0)/@66-power-switch 20 1 sectors@a record goes out before what it relies on is durable
		no-fua@dm-ressd-log-worker.c@s/(io->fua ? REQ_FUA : 0)/0/@66-power-switch 20 1 sectors@the record that ends a sync may still be in the cache
		no-flush-supported@dm-ressd-target.c@/ti->flush_supported = true;/d@80-devices@over a write-through device fsync leaves data in RAM
		flush-past-the-log@dm-ressd-io.c@s/return !ressd_log_is_volatile(&ressd->log) \&\& !ressd->log.cycle;/return true;/@80-devices 1 flush_of_one_block@a flush does not write what is only in RAM
		memory-from-swap@dm-ressd-device.c@s/noio = memalloc_noio_save();/noio = 0;/;;/memalloc_noio_restore/d@78-no-allocation@memory for a message to a suspended device may be taken by writing to that
		other-areas-loaded@dm-ressd-instances.c@s/refused = owed.reserved/refused = !load \&\& owed.reserved/@57-slips 1 other_areas@a table with another reserved area is loaded while the log holds data
		other-areas-resumed@dm-ressd-instances.c@s/refused = owed.reserved/refused = load \&\& owed.reserved/@57-slips 1 other_areas@... and put in force, though data was logged after it was loaded
		log-lost-by-reload@dm-ressd-instances.c@s/lost |= load \&\&/lost |= 0 \&\&/@75-errors-log 1 removed_during_recover@a table is loaded while the log of the one in use is out of service
		killed-for-the-map@dm-ressd-target.c@s/^\t\t\t GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);$/\t\t\t GFP_KERNEL | __GFP_NOWARN);/@50-refusals@processes are killed to make room for the map of a log that is too large
		one-disk-flushed@dm-ressd-device.c@s/if (!ret \&\& !ressd->same_dev)/if (0)/@80-devices@only the first of two disks is flushed
		discards-by-both-disks@dm-ressd-target.c@s/bdev_max_discard_sectors(ressd->normal->bdev) > 0;/0;/@80-devices 1 limits_of_the_log@a log on a disk without discards takes them away from the file system
		discards-always@dm-ressd-target.c@s/bdev_max_discard_sectors(ressd->normal->bdev) > 0;/1;/@80-devices 1 limits_of_the_log@discards are offered though only the reserved device takes them
		discards-in-pages-of-the-log@dm-ressd-target.c@s/max(bdev_discard_granularity(ressd->normal->bdev),/max(limits->discard_granularity,/@80-devices 1 limits_of_the_log@discards come in units of the reserved device
		xfs-writes-pieces@dm-ressd-target.c@/^\tlimits->physical_block_size =$/,/;$/d@80-devices 1 block_sizes@xfs takes sectors of 512 bytes, and its log passes by that of ressd
		blocks-smaller-than-the-log@dm-ressd-target.c@s/^\tlimits->io_min = max_t/\tlimits->logical_block_size = bdev_logical_block_size(ressd->normal->bdev);\n&/@80-devices 1 limits_of_the_log@a read of a part of a logged block is less than a sector of the reserved device
		last-block-not-killed@dm-ressd-direct.c@s/rb->nr = end > rb->first ? end - rb->first : 0;/rb->nr = end > rb->first + 1 ? end - rb->first - 1 : end > rb->first;/@68-thin 1 1 always xfs@a direct write of several blocks leaves the older copy of its last one in the log
		mover-begins-alone@dm-ressd-pace.c@s/^\t       mover_is_about_to_begin(ressd) ||$/\t       0 ||/@27-longest-wait@writers use up the room before the mover has the processor
		mover-rests-in-a-discard@dm-ressd-mover.c@/takes its time for a discard/,/ressd_discard_next/s/RESSD_MOVER_IDLE/RESSD_MOVER_RESTING/@45-discard 1 writer_beside_a_discard@writers wait for a mover that waits for the device
		mover-beside-a-trial@dm-ressd-pace.c@s/^\tif (ressd_route_tries_direct(ressd) \&\&$/\tif (0 \&\&/@24-route 1 mover_rests_for_a_direct_trial@a direct write is timed beside the mover's
		mover-rests-on@dm-ressd-pace.c@s/^\t    list_empty(&ressd->waiters.space))$/\t    1)/@25-pace 1 waiting_writer_ends_in_a_direct_trial@the mover rests for a direct trial though a write waits for it
		log-read-by-blocks@dm-ressd-batch.c@s/ressd_sweep_log_run(moves, min(nr, BIO_MAX_VECS),/ressd_sweep_log_run(moves, 1,/@40-drain@the mover reads each block of a log in order by itself
		run-without-page@dm-ressd-io.c@/^\t\t\.page_sectors = /d@24-route 1 flushed_run_is_direct@a run over flushes is logged and moved
		run-beside-records@dm-ressd-io.c@/^void ressd_wait_for_sync/,/^}/s/if (ressd_log_unmaps_pending/if (0 \&\& ressd_log_unmaps_pending/@24-route 1 flushed_run_is_beside_records@a run takes the unit in which each flush writes a record
		order-not-kept@dm-ressd-order.c@s/if (!e->whole ||/if (1 ||/@24-route 1 batch_keeps_its_order@the direct part of a batch passes its logged one
		order-waits-for-room@dm-ressd-io.c@s/^\tressd->waiters.for_record = ret == -EAGAIN \&\&$/\tressd->waiters.for_record = ret == -ENOSPC ||/@24-route 1 batch_waits_for_no_room@the direct part of a batch waits for the mover
		vain-sweeps@dm-ressd-pace.c@s/^\treturn ressd->mover.vain != ressd_taken(ressd) + 1 \&\&$/\treturn/@25-pace 1 mover_rests_when_it_gains_nothing@the mover appends again what it has just appended, for ever
		polls-though-off@dm-ressd-pace.c@s/if (!ressd_mover_is_on(ressd) || !ressd_log_is_rw(ressd))$/if (0)/@25-pace 1 mover_that_must_not_move_sleeps@a mover that must not move looks twenty times a second whether it is idle time
		piece-tried-over@dm-ressd-io.c@s/if (piece_waits(ressd, rb))/if (0 \&\& piece_waits(ressd, rb))/@25-pace 1 piece_waits_quietly@a piece that waits for room is tried over and over
		order-forgotten-at-suspend@dm-ressd-order.c@/^void ressd_order_changed/,/^}/s/if (next/if (!ressd->suspending \&\& next/@24-route 1 held_batch_is_suspended@the direct part of a batch that is held is forgotten by a suspend, which waits for it
		order-forgotten-with-log@dm-ressd-order.c@/^void ressd_order_changed/,/^}/s/if (next/if (ressd_log_is_rw(ressd) \&\& next/@24-route 1 held_batch_loses_its_log@... or when the log fails
		joined-across-groups@dm-ressd-dispatch.c@s/\.owner = bio_blkcg_css(bio),/.owner = NULL,/@35-normal-path 1 groups_stay_apart@requests of two control groups are joined, and one is charged with both
		log-read-throttled@dm-ressd-read.c@/^\tbio_associate_blkg_from_css(bio, NULL);/d@33-groups 1 reader@a throttled read of the log keeps its head from the segment
		covered-read-throttled@dm-ressd-read.c@s/send_as_root(bio) : DM_MAPIO/DM_MAPIO_REMAPPED : DM_MAPIO/@33-groups 1 reader_of_covered@... or one of blocks that are to be covered keeps the log from all
		passed-by-later-ones@dm-ressd-order.c@s/!ordered \&\& !ressd_route_is_adaptive(ressd)/!ordered/@35-normal-path 1 order_after_a_lost_trial@writes that have waited for a trial are passed by later ones
		passed-by-large-ones@dm-ressd-order.c@s/list_empty(&ressd->waiters.order) ?$/1 ?/@35-normal-path 1 order_after_a_lost_trial@... by later ones that are large
		left-log-not-drained@dm-ressd-meter.c@s/^\tressd_begin_drain(ressd);$/\t;/@24-route 1 left_log_is_drained@direct writes go on to write records for what the log holds of their blocks
		waited-write-kills-nothing@dm-ressd-order.c@s/ressd_write_direct(ressd, ressd_bio_of(rb))/ressd_start_direct(ressd, ressd_bio_of(rb), rb, \&(struct ressd_extent){ .first = rb->first, .last = rb->first + rb->nr - 1 })/@24-route 1 waited_writes_supersede@a direct write that has waited for a trial leaves the older block in the log
		no-kill@dm-ressd-end.c@s/^\twhile (!rb->status \&\& nr) {$/\twhile (0 \&\& nr) {/@67-log-writes@a direct write leaves the older block in the log
		only-copy-first@dm-ressd-activate.c@s/copy = ressd_super_first(super);/copy = 1;/@58-described 1 damaged_copy@the only good copy of the superblock is overwritten first
		length-not-written@dm-ressd-activate.c@s/: adopt_length(ressd);/: (0 \&\& adopt_length(ressd));/@84-grow@growth is not noted in the superblock
		longer-length-counts@core/ressd-record.c@s/min_t(u64, info->table.len, other/max_t(u64, info->table.len, other/@84-grow@a growth that was cut short counts as done
		read-looks-at-all@dm-ressd-read.c@s/^\t       looked++ < RESSD_STEP_NODES)$/\t       ++looked)/@74-beside-moves 1 large_read_looks_at_few_blocks@a large read holds the lock for as many blocks as the log has
		no-overlap-check@dm-ressd-direct.c@s/if (!ressd_mover_overlaps(ressd, e.first, nr) \&\&/if (1 \&\&/@74-beside-moves 1 direct_write_meets_move@a direct write does not wait for a move to its block
		logged-fua-ignored@dm-ressd-io.c@s/if (bio->bi_opf \& REQ_FUA) {/if (0) {/@75-errors-log 1 fua_of_a_logged_write@a logged FUA write completes in RAM
		fua-of-a-failed-flush@dm-ressd-io.c@s/return bio->bi_opf \& REQ_FUA \&\&$/return 0 \&\&/@75-errors-open 1 file_system@the data of a write is taken though its PREFLUSH has failed
		fua-believes-recover@dm-ressd-io.c@s/unlikely(atomic_read(&ressd->errors.refused_flushes) !=$/unlikely(0 \&\&/@75-errors-log 1 fua_waits_for_a_good_flush@... once the log is in service again
		recover-answers-nothing@dm-ressd-repair.c@s/^\t\tressd_answer_flushes(ressd, refused);$/\t\t(void)refused;/@75-errors-log 1 fua_waits_for_a_good_flush@after recover who writes with FUA, but never flushes, is not served any more
		fua-always-flushes@dm-ressd-base.h@s/return !bdev_write_cache(bdev) ||$/return/@75-errors-log 1 without_a_cache@a write with FUA that fails on a drive without a cache passes for a flush that fails
		fua-of-a-stack@dm-ressd-base.h@s/(bdev_fua(bdev) \&\& queue_is_mq(bdev_get_queue(bdev)));/bdev_fua(bdev);/@75-errors-log 1 flush_below_a_stack@a flush that fails below a stacked device passes for a write, and is sent again
		flush-error-unseen@dm-ressd-end.c@/atomic_inc(&ressd->errors.failed_flushes);/d@75-errors-log 1 failed_flush_beside_the_log@a failed flush beside the log is forgotten
		store-hides-a-flush@dm-ressd-activate.c@s/^\tbool fua = ressd_fua_needs_no_flush(.*;$/\tbool fua = true;/@75-errors-log 1 store_meets_a_failed_flush@a flush that fails as options are stored is forgotten
		fua-of-an-empty-flush@dm-ressd-io.c@/bio->bi_opf &= ~REQ_FUA;/d@80-devices 1 one_flush_for_a_preflush@a flush passed on makes the drive flush twice
		reads-in-flight-believed@dm-ressd-end.c@s/unlikely((int)rb->ticket !=$/unlikely(0 \&\&/@75-errors-log 1 reads_in_flight_of_a_failed_flush@a read in flight when a flush fails succeeds
		mover-waits-for-itself@dm-ressd-wait.c@s/^\t\t\t       ressd_log_is_starved(&ressd->log),/\t\t\t       false,/@76-full-log 1 full_log_is_drained@a drain of a full log waits for room that only it can make
		sweep-ignores-direct@dm-ressd-sweep.c@s/^\t\tressd_wait_for_direct_writes(.*$/\t\t;/@74-beside-moves 1 sweep_waits_for_direct_write@a batch does not wait for older direct writes of its blocks
		waiters-go-at-once@dm-ressd-log-worker.c@s/^\t\tif (!\*room || (rb->ticket > reached \&\&$/\t\tif (!*room || (0 \&\&/@22-both-processors 1 many_wait_for_one_sync@a flush ends before what it has to write is written
		rest-of-waiters-forgotten@dm-ressd-log-worker.c@s/} while (more);/} while (0 \&\& more);/@22-both-processors 1 many_wait_for_one_sync@of more flushes than end under one hold of the lock the rest waits for ever
		recover-before-resume@dm-ressd-target.c@/^static int ressd_ctr/,/^}/s/^\tressd->suspending = true;$/\t;/@75-errors-open 1 second_attempt@recover before the activation has succeeded waits for ever
		drain-before-resume@dm-ressd-status.c@s/if (argc == 1 \&\& READ_ONCE(ressd->life) != RESSD_ACTIVE) {/if (0) {/@75-errors-open 1 second_attempt@... and a drain does not say why it fails
		failed-activation-counts@dm-ressd-target.c@/^static int activate/,/^}/s/WRITE_ONCE(ressd->life, RESSD_FORMATTED);/;/@75-errors-open 1 second_attempt@a second resume serves a log whose opening record was not written
		recovered-on-top@dm-ressd-activate.c@/^static int recover/,/^}/s/^\tressd_setup_log(ressd, &geom);$/\t(void)geom;/@75-errors-open 1 second_attempt@a second recovery begins with the map that the first one has left
		status-looks-early@dm-ressd-status.c@s/if (smp_load_acquire(&ressd->life) == RESSD_ACTIVE) {/if (1) {/@75-errors-open 1 status_during_recovery@status looks at a log that recovery is setting up
		failed-activation-owes-nothing@dm-ressd-instances.c@s/^\tif (!load)$/\tif (refused)/@75-errors-open 1 no_other_areas_after_a_failed_activation@after an activation that has failed a table may leave the log behind
		flush-of-activation-untold@dm-ressd-activate.c@/^static int first_flush/,/^}/s/ressd->errors.inherited = true;/;/@75-errors-open 1 activation_meets_a_failed_flush@a flush succeeds though that of an activation has failed
		commit-block-untold@dm-ressd-io.c@s/(ressd->errors.inherited || flushes_fail/(flushes_fail/@75-errors-open 1 commit_block_meets_the_next_table@... and a commit block is taken behind data that the table before has lost
		loss-untold@dm-ressd-instances.c@s/ressd->errors.inherited = true;/;/@75-errors-log 1 reload_loses_last_writes@a flush succeeds though the table before this one has lost data
		removal-beside-repair@dm-ressd-target.c@s/^\twait_event(ressd->wait, !READ_ONCE(ressd->errors.repairing));$/\t;/@75-errors-log 1 removed_during_recover@a removal does not wait for a repair, and says that data is lost
		set-wakes-nobody@dm-ressd-status.c@/^static int message_set/,/^}/s/^\tressd_run_log(ressd);$/\t;/@32-messages 1 set_on_full@a write that waits does not hear of an option that was set
		interval-runs-on@dm-ressd-status.c@s/^\t\tmod_delayed_work(.*/\t\t;/@32-messages 1 set_commit_interval@a shorter commit_interval_ms counts only when the longer one is over
		logged-in-hibernation@dm-ressd-io.c@s/!ressd->mover.draining \&\& !ressd->hibernating \&\&$/!ressd->mover.draining \&\&/@34-hibernation 1 late_writes@what comes while the memory of a hibernating system is saved is logged
		sweep-in-hibernation@dm-ressd-sweep.c@s/^\t\treturn is_put_off(ressd);$/\t\treturn (void)is_put_off, false;/@34-hibernation 1 sweep_stops@... and a sweep goes on
		idle-sweep-goes-on@dm-ressd-sweep.c@s/^\t\t\t  ressd_mover_is_on(ressd) \&\&$/\t\t\t  true \&\&/@32-messages 1 mover_off_in_idle_time@the mover goes on though it is off
		store-of-all-devices@dm-ressd-activate.c@s/^int ressd_store_options(/static DEFINE_MUTEX(all);\n&/;;s/&ressd->store_lock/\&all/@32-messages 1 store_beside_one_that_hangs@a device that hangs keeps all others from storing their options
		worn-out-unhelped@dm-ressd-target.c@s/cannot be written; if the device takes no writes any more .* open that"/cannot be written"/@75-errors-open 1 worn_out@who has a card that takes no writes any more does not learn how to get at the log
		taken-out-unhelped@dm-ressd-repair.c@s/; if it was taken out meanwhile.* again"/"/@75-errors-open 1 dead_device@... nor who has taken a stick out and put it in again
		formatted-nowhere@dm-ressd-activate.c@s/if (!ret \&\& !supers_are_there(ressd)) {/(void)supers_are_there;\n\tif (0) {/@75-errors-open 1 counterfeit_is_not_formatted@a blank area is served though the card has no memory there
		formatted-the-next-time@dm-ressd-activate.c@s/^\t\tblank_supers(ressd);$/\t\t(void)blank_supers;/@75-errors-open 1 counterfeit_is_not_formatted@... when its table is loaded once more
		suspended-for-lost@dm-ressd-target.c@s/is lost with this table.*"/is lost"/@75-errors-log 1 removed_without_recovery@a suspend says that what only RAM has is lost, though a recover would write it
		off-wakes-nobody@dm-ressd-status.c@/^static int message_mover/,/^}/s/^\tressd_run_log(ressd);$/\t;/@32-messages 1 mover_off@... nor that the mover is off
		restored-in-few-rounds@dm-ressd-cover.c@s/^\t\t\trounds = 0;$/\t\t\t;/@46-cover 1 restored_in_rounds@an activation gives up restoring covers in a log with many dead segments
		failed-record-awaited@dm-ressd-wait.c@/^void ressd_wait_for_record/,/^}/s/!ressd_log_is_rw(ressd)/false/@75-errors-move 1 record_before_a_visit_fails@the mover waits for a record that cannot be written
		log-not-held@dm-ressd-batch.c@s/holds = ressd->options.open_units == 1;/holds = false;/@74-beside-moves 1 log_waits_for_a_visit@records are written between two writes of a visit, with one open unit
		log-held-for-ever@dm-ressd-batch.c@s/ressd_release_log(ressd);/;/@74-beside-moves 1 log_waits_for_a_visit@... and the log goes on waiting when the visit is over
		log-goes-on-suspended@dm-ressd-log-worker.c@/^void ressd_hold_log/,/^}/s/ressd->log_io.held = true;/;/@45-discard 1 suspended_with_a_sync_left@the log writes on when the discard ends that a suspend waits for
		holes-ignore-direct@dm-ressd-batch.c@/^bool ressd_batch_touches/,/^}/s/^\treturn low < ressd->gate.batch \&\&$/\treturn low < ressd->gate.batch \&\& !ressd_move_is_hole(\&ressd->mover.space.moves[low]) \&\&/@74-beside-moves 1 hole_waits_for_direct_write@holes are read before older direct writes have landed
		waits-for-all-direct@dm-ressd-wait.c@s/^\tatomic_t \*awaited = .*/&\n\twhile (!ressd_flight_is_over(\&ressd->flight))\n\t\tschedule_timeout_uninterruptible(1);/@74-beside-moves 1 mover_passes_direct_write@the mover waits for a direct write elsewhere that is throttled
		doubt-ignored@dm-ressd-error.c@s/^\t\t    ressd_log_is_doubtful(&ressd->log);/\t\t    0;/@75-errors-log 1 read_before_doubt_shows@a read believes the map before a failed flush shows there
		told-too-early@dm-ressd-sweep.c@/^static bool goal_reached/,/^}/{/ressd_run_log(/d;s/^\tbool reached;$/&\n\n\tressd_run_log(ressd);\n\tschedule_timeout_uninterruptible(HZ \/ 10);/}@25-pace 1 writers_are_told_of_moves@writers that wait are told of the mover's progress before that is known
		trial-not-awaited@dm-ressd-io.c@s/if (!covered \&\& !rb->accepted \&\& ressd_route_holds_log(ressd))/if (0)/@24-route 1 lost_trial_logs_little@a trial of the log goes on before its first record tells what that costs
		discard-not-awaited@dm-ressd-log-discard.c@s/^\t\tressd_reader_begin(&ressd->readers.ressd->discard.slot.);$/\t\t;/;;s/^\tressd_put_reader(ressd, ressd->discard.slot);$/\t;/@45-discard 1 slot_in_flight@a slot is entered while its discard is in flight
		discard-too-long@dm-ressd-log-discard.c@s/+ geom->summary_blocks;/+ geom->summary_blocks + 1;/@45-discard 1 slots_are_discarded@the discard of the last slot takes the superblock behind it along
		flush-news-ignored@dm-ressd-log-worker.c@/^static bool finish_at_once/,/^}/s/atomic_read(&ressd->errors.failed_flushes) !=$/0 >/@75-errors-log 1 news_of_a_flush_comes_late@a record counts as written though a flush beside it has failed
		page-not-sent@dm-ressd-log-worker.c@/^static void start_write/,/^}/{s/io->block)/(io->record ? io->record->block : io->block))/;s/io->nr_blocks/(io->record ? io->record->nr_blocks : io->nr_blocks)/;s/io->data)/io->record ? io->record->buffer : io->data)/;}@26-commit-pages 1 pages_reach_the_device@a commit goes out without its page
		damage-is-kept@dm-ressd-keep.c@s/^\t    node->crc == crc)/\t    true)/@75-errors-move 1 damage_is_not_kept@the log keeps what is damaged, with a new checksum
		log-write-ends-late@dm-ressd-log-worker.c@/^static void write_ended/,/^}/{/done_lock/d;s/unsigned long flags;/const void *ti = ressd->ti;\n\tint i;/;s/^\tressd_run_log(.*/&\n\tfor (i = 0; error \&\& READ_ONCE(ressd->ti) == ti \&\& i < 60 * HZ; i++)\n\t\tschedule_timeout_uninterruptible(1);\n&/}@70-suspend-remove 1 log_write_ends_as_target_goes@the end of a log write uses a target that has gone
		direct-write-ends-late@dm-ressd-end.c@/ end_flagged/,/^}/{/spin_unlock_irqrestore/d;s/unsigned long flags;/&\n\tstruct dm_target *ti = ressd->ti;\n\tint i;/;s/^\tressd_run_bios(.*/\tspin_unlock_irqrestore(\&ressd->done_lock, flags);\n&\n\tfor (i = 0; *error \&\& READ_ONCE(ressd->ti) == ti \&\& i < 60 * HZ; i++)\n\t\tschedule_timeout_uninterruptible(1);\n&/}@70-suspend-remove 1 direct_write_ends_as_target_goes@the end of a direct write uses a target that has gone
		cover-write-unlocked@dm-ressd-unlocked.c@s/ || e->first < ressd->log.cover_blocks//@46-cover 1 large_write_waits_for_a_run@a large write of covered blocks goes to the disk while a run covers them
		notes-unseen@dm-ressd-notes.h@s/^\t\tWRITE_ONCE(\*noted, true);$/\t\t;/@24-route 1 large_writes_are_judged@nobody hears of large writes that took no lock
		one-cut@dm-ressd-shape.c@s/if (cuts->nr == ARRAY_SIZE(cuts->cut))/if (cuts->nr)/@35-normal-path 1 rests_are_not_judged@of the writes that were cut only the last one is known, and the rest of others is judged like a write
		timer-not-set@dm-ressd-dispatch.c@s/^\tqueue_delayed_work(ressd->workqueue, &shape->timer, delay);$/\t(void)delay;/@35-normal-path 1 held_and_released@what pai holds beside a request that does not end is held for ever
		held-at-suspend@dm-ressd-target.c@s/^\tressd_dispatch_suspend(ressd, suspending);$/\t;/@35-normal-path 1 suspend_sends@a suspend waits for what a policy holds
		flush-waits-for-held@dm-ressd-io.c@s/^\tif (!op_is_flush(bio->bi_opf))$/\twait_event(ressd->shape.wait, !op_is_flush(bio->bi_opf) || !READ_ONCE(ressd->shape.queue.nr_held));\n&/@35-normal-path 1 held_and_released@a flush waits for what a policy holds
		fua-is-held@dm-ressd-dispatch.c@s/urgent = bio->bi_opf \& REQ_FUA || /urgent = /@35-normal-path 1 held_and_released@... and so does a FUA write
		held-without-limit@dm-ressd-io.c@s/^\t\tressd_dispatch_throttle(ressd);$/\t\t;/@35-normal-path 1 rests_are_not_judged@writers do not wait when as many are held as can be
		pieces-merge-again@dm-ressd-dispatch.c@s/^\t\tbio->bi_opf |= REQ_NOMERGE;$/\t\t;/@35-normal-path 1 small_neighbours@what begins a cell is merged below with what comes before
		boundaries-of-the-partition@dm-ressd-shape.c@s/\.start = get_start_sect/.start = 0 * get_start_sect/@35-normal-path 1 partition@boundaries count from the begin of a partition
		joined-reads-fail-together@dm-ressd-dispatch.c@s/bool again = status \&\&/bool again = 0 \&\&/@35-normal-path 1 unreadable_sector@a sector that cannot be read fails all reads that were joined
		direct-in-flight-believed@dm-ressd-end.c@s/^\tif (ressd_refuses_writes(ressd) \&\& !\*error)$/\tif (0)/@75-errors-log 1 direct_write_in_flight_of_a_failed_flush@a direct write in flight when a flush fails succeeds
		kill-beside-flush@dm-ressd-end.c@s/^\tif (!rb->status \&\& ressd_refuses_writes(ressd))$/\tif (0)/@75-errors-log 1 repair_waits_for_direct_writes@... and invalidates what the log holds of it
		repair-ignores-direct@dm-ressd-repair.c@s/ressd_flight_is_over(&ressd->flight))/true)/@75-errors-log 1 repair_waits_for_direct_writes@a repair does not wait for direct writes from before the failed flush
		flush-beside-flush@dm-ressd-end.c@/rb->flags == RESSD_BIO_FLUSHES/,/}/s/check_failures(ressd, rb, error);/;/@75-errors-log 1 flush_beside_a_failed_one@a flush succeeds although another one has failed while it was in flight
		stuck-by-half-a-sweep@dm-ressd-mover.c@s/^\tif (complete || gained)$/\tif (1)/@76-full-log 1 interrupted_sweep_is_no_reason@a sweep that was interrupted shows that no room can be made
		stuck-for-good@dm-ressd-mover.c@s/return ressd->errors.stuck \&\& !bad_block_is_gone(ressd);/return ressd->errors.stuck;/@76-full-log 1 overwriting_makes_room@with the mover off pieces are refused because of a block that was overwritten
		lost-with-room@dm-ressd-direct.c@s/return ressd_log_is_full(&ressd->log);/return true;/@75-errors-move 1 covered_blocks_beside_a_bad_one@covered blocks cannot be written beside a block that cannot be moved
		refused-in-flight@dm-ressd-io.c@s/^\tbio_io_error(bio);$/\treturn ret;/@75-errors-move 1 covered_blocks_beside_a_bad_one@a write that is refused counts as in flight for ever
		covers-given-up@dm-ressd-cover.c@s/!(ressd->cover.failed \&\& log->cover_wanted)/!ressd->cover.failed/@75-errors-move 1 drained_without_covers@a drain while the first blocks cannot be read ends the log
		mended-is-bad@dm-ressd-cover.c@s/block_of(ressd, ressd->cover.run.bad) == ressd->cover.bad_block/1/@46-cover 1 damaged_copy@a covered block that was written anew still counts as damaged
		damage-outlives-its-blocks@dm-ressd-mover.c@s/return ressd->errors.bad_blocks \&\& !ressd_cover_is_bad/return 0 \&\& !ressd_cover_is_bad/@75-errors-move 1 overwriting_ends_damage@the state stays damaged though the bad blocks were overwritten
		damage-keeps-step@dm-ressd-pace.c@s/ || ressd->errors.bad_blocks ||/ ||/@75-errors-move 1 overwriting_ends_damage@the sweep that would find no bad block waits for writers
		refused-once@dm-ressd-instances.c@s/^\t\tressd->owed = owed;$/\t\t;/@57-slips 1 other_areas@a second resume takes a table that was refused
		waits-at-suspend@dm-ressd-io.c@s/^\t       !ressd->suspending \&\& !ressd_mover_is_stuck/\t       !ressd_mover_is_stuck/@70-suspend-remove 1 suspend_waits_for_no_room@a small write waits for room, and a suspend for it
		kills-believed@core/ressd-repair.c@s/if (!distrust_kills(log))/if ((void)distrust_kills, 0)/@75-errors-log 1 flush_loses_direct_writes@after a failed flush a lost direct write still counts
		moves-believed@core/ressd-repair.c@s/if (!distrust_moves(log))/if ((void)distrust_moves, 0)/@75-errors-log 1 flush_loses_moves@after a failed flush a lost move still counts
	END
}

# As above; each is a data race.
races() {
	cat <<-'END'
		plain-counter@dm-ressd-io.c@/^int ressd_map_bio/,/^}/s/^\tthis_cpu_write(.*/\tressd->recovery_ms++;\n&/@22-both-processors 1 plain@each bio increments a plain counter once, on both processors
		counted-unlocked@dm-ressd-unlocked.c@s/^\trb->flags = RESSD_BIO_DIRECT;/\tressd->counters.writes++;\n&/@22-both-processors 1 plain@a large write that takes no lock changes a counter that the lock protects
		copies-not-awaited@dm-ressd-activate.c@s/^\tressd_copies_settle(.*/\t(void)ressd, (void)record;/@22-both-processors 1 plain@a record is read and sent while small writes are copied into it
	END
}

wanted() {
	local name=$1
	shift
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]]
}

# plant NAME FILE SED: a copy of the module with that bug in $folder/NAME; the sed must change the file.
plant() {
	local file=$2 changes=$3 change copy=$PWD/$folder/$1
	rm -rf "$copy"
	mkdir -p "$copy/core"
	cp dm-ressd/Kbuild dm-ressd/*.[ch] "$copy/"
	cp dm-ressd/core/*.[ch] "$copy/core/"
	while read -r change; do
		cp "$copy/$file" "$copy/before"
		sed -i "$change" "$copy/$file"
		if cmp -s "$copy/before" "$copy/$file"; then
			echo "the change does not apply to dm-ressd/$file any more: $change"
			return 1
		fi
	done <<<"${changes//;;/$'\n'}"
}

# build NAME: what was planted.
build() {
	local copy=$PWD/$folder/$1
	make -s -C "$(tools/vm/kernel-dir)" M="$copy" modules >"$copy/log" 2>&1 || {
		tail -n 5 "$copy/log"
		return 1
	}
}

# run_mutant NAME TEST [ARGUMENT...]: true if the test finds a difference, or the kernel dies of it. With
# some bugs the guest then hangs for good.
run_mutant() {
	local name=$1 status=0
	shift
	tests/vm/in-guest --quiet --timeout 500 --log "$folder/$name/console" \
		--file "$folder/$name/dm-ressd.ko:/modules/dm-ressd.ko" -- "$@" \
		>"$folder/$name/output" 2>&1 || status=$?
	[ "$status" -ne 0 ] && grep -qE "$found" "$folder/$name/output"
}

verdict() {
	if [ -z "$3" ]; then
		passed=$((passed + 1))
		echo "ok - mutant $1 ($2)"
	else
		failed=$((failed + 1))
		echo "not ok - mutant $1 ($2): $3"
	fi
}

case ${1:-} in
--apply)
	apply_only=1
	folder=build/mutants-apply
	list="mutants; races"
	shift
	;;
--races)
	folder=build/mutants-races
	list=races
	found='KCSAN: data-race in .*\[dm_ressd\]'
	KDIR=$(tools/vm/debug-kernel races)
	export KDIR
	shift
	;;
esac
mkdir -p "$folder"
while IFS=@ read -r name file change test bug; do
	wanted "$name" "$@" || continue
	read -r -a words <<<"$test"
	if ! why=$(plant "$name" "$file" "$change"); then
		verdict "$name" "$bug" "$why"
	elif [ -n "$apply_only" ]; then
		verdict "$name" "fits $file" ""
	elif ! why=$(build "$name"); then
		verdict "$name" "$bug" "$why"
	elif run_mutant "$name" "${words[@]}"; then
		verdict "$name" "$bug, found by ${words[0]}" ""
	else
		verdict "$name" "$bug" "${words[0]} does not find it; see $folder/$name/output"
	fi
done < <(eval "$list")
[ -n "$apply_only" ] || echo "# result mutants/guest/missed $failed 1 ==0"
echo "# $passed passed, $failed failed"
[ "$failed" -eq 0 ]
