#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mutants.sh [--apply] [NAME...]: shows that the tests of the tools would find tools that are wrong. Each
# deliberate bug is put into a copy of the sources, and the test that is named with it must fail. --apply
# only looks whether each bug still fits the sources, and is part of `make check`; the rest is part of
# `make soak` (3 minutes).
set -euo pipefail
cd "$(dirname "$0")/../.."

top=$PWD
folder=build/tool-mutants
passed=0
failed=0
apply_only=

# NAME @ FILE in userspace @ commands of sed (;; between) @ test: test-NAME for a unit test, else a script and one of
# its functions @ what the bug is
mutants() {
	cat <<-'END'
		one-super@lib/log/area.c@/^static int change_supers/,/^}/s/return code ? code : change_super(.*/return code;/@test-format@format writes one superblock of two
		super-flush-ignored@lib/log/super-pair.c@/^int super_copy_change/,/^}/s/code = blkdev_flush(dev, failure);/blkdev_flush(dev, failure);/@test-format@an error of the flush after the superblocks is ignored
		old-supers-stay@lib/log/area.c@s/code = change_supers(dev, &line->table, NULL, failure);/code = 0;/@test-format@an interrupted format leaves an old superblock on half a log
		last-head-stays@lib/log/area.c@/^static int blank_segments/,/^}/s/slot < geom->nr_segments/slot + 1 < geom->nr_segments/@test-format@the first header of the last segment is not blanked
		backup-overwritten@lib/log/backup.c@s/O_WRONLY | O_CREAT | O_EXCL/O_WRONLY | O_CREAT | O_TRUNC/@offline.sh test_superblocks@a backup overwrites an earlier one
		backup-of-another@lib/log/backup.c@s/^		    memcmp(info->uuid, header->uuid, RESSD_UUID_SIZE) ||$//@slips.sh test_undo@an undo does not look whether it is the same log
		undo-after-use@lib/log/backup.c@s/code = check_untouched(backup, dev, &block, failure);/code = 0;/@offline.sh test_chain@an undo of a device that was used since
		undo-of-use-elsewhere@lib/log/backup.c@s/^	return check_unused_since(backup, dev, header, failure);/	(void)check_unused_since; return 0;/@offline.sh test_undo@an undo of a device that was used without touching what the repair wrote
		repair-by-another-line@ressdctl/repair.c@s/^	int code = check_place(repair, 0, failure);/	int code = 0;/@offline.sh test_other_line@a repair by a wrong line writes a superblock into the log
		backup-half-read@lib/log/backup.c@s/le32_to_cpu(stored) != crc || fgetc(backup->file) != EOF/0/@offline.sh test_chain@a damaged backup is written back
		capacity-believed@ressdctl/format.c@s/code = genuine_check(.*/code = 0;/@test-genuine@format puts the log where a counterfeit drive has no memory
		bad-sector-refused@lib/dm/genuine.c@s/if (!read_block(dev, alias, block, &ignored) \&\& /if (read_block(dev, alias, block, failure))\n\t\t\treturn -EIO;\n\t\tif (/@test-genuine@format and the probe refuse a device that has one bad sector at the wrong place
		shorter-not-found@ressdctl/offline.c@s/if (!search->other.table.reserved_sectors)/if (behind < end \&\& !search->other.table.reserved_sectors)/@test-cuts@a log beyond the end of a shorter device, or copy, is not found
		opened-unread@ressdctl/open.c@s/^\t\tfound = no_superblock(found.*/\t\tfound = 0;/@test-unreadable@open goes on without the superblock that it cannot read, with what stands in memory
		log-not-counted@ressdctl/format.c@s/^	if (!code \&\& blocks)$/	if (0)/@slips.sh test_format@format takes a log with data for empty
		format-logs-not-looked-for@ressdctl/format.c@s/code = check_logs(dev, areas, arguments->same_device ? 2 : 1, logs, failure);/(void)check_logs;/@slips.sh test_logs_elsewhere@format overwrites a log that lies elsewhere
		normal-not-looked-at@ressdctl/format.c@s/code = check_logs(&dev, &area, 1, &logs, failure);/code = 0;/@slips.sh test_logs_elsewhere@format takes a log disk for a normal device
		foreign-area-taken@ressdctl/format.c@s/if (area->kind == AREA_FOREIGN \&\& !arguments->adopts)/if (0)/@tools.sh test_contents@format overwrites what is no log
		last-piece-lost@ressd-probe/preserve.c@/^static u64 restore_pass/,/^}/s/at < preserved->bytes; at += PIECE/at + PIECE <= preserved->bytes; at += PIECE/@test-preserve@the last part of a MiB is not restored
		memory-without-limit@ressd-probe/preserve.c@s/if (preserved->bytes <= most)/if (1)/@test-preserve@a region is kept in memory that there is not
		not-compared@ressd-probe/preserve.c@s/failed = restore_pass(preserved, true, failure);/failed = 0;/@test-preserve@what was restored is not compared
		kept-file-removed@ressd-probe/preserve.c@s/^	drop_store(preserved, !failed);/	drop_store(preserved, true);/@test-preserve@the file is removed though the region is not restored
		restore-flush-ignored@ressd-probe/preserve.c@s/if (blkdev_flush(preserved->dev, \&flushing) \&\& !failed)/blkdev_flush(preserved->dev, \&flushing); if (0)/@test-preserve@an error of the flush after the restore is ignored
		contents-ignored@ressd-probe/safety.c@s/^	found = find_contents(probe, what, sizeof(what), failure);/	found = 0; (void)find_contents;/@tools.sh test_contents@--yes overwrites a file system
		logs-ignored@ressd-probe/safety.c@s/found = find_log(probe, what, failure);/(void)find_log;/@slips.sh test_logs_elsewhere@--yes overwrites a log
		page-without-warnings@ressd-probe/report/html.c@s/^\tadd_warnings(report);/\t(void)add_warnings;/@report.sh test_files@the web page does not say what the text warns of
		commands-at-any-price@ressd-probe/report/html.c@s/const bool commands = .*/const bool commands = true;/@report.sh test_without_verdict@the web page has commands without a verdict
		copy-never-pays@ressd-probe/judge/loads.c@s/^\treturn desk->rehearsal->working_set \&\& before_ns/\treturn ns < 0 \&\& before_ns/@test-loads@a copy does not pay for what random writes have left
		quick-without-commits@ressd-probe/find/session.c@/^static int run_commits/,/^}/s/^\tsession_show_step/\treturn 0;\n&/@test-session@a quick run measures no commits
		page-at-any-price@ressd-probe/find/page.c@s/ \&\& !survey_overdue(survey); i++) {/; i++) {/@test-session@a quick run on a slow drive looks for a page for a minute
		batch-goes-on@ressd-probe/measure/rehearse.c@s/!(\*pieces \&\& measure_is_late(measure))/1/@test-rehearse@a batch goes on when the time is over
		buffer-unpaid@ressd-probe/measure/rehearse.c@s/if (most > affordable(measure, stage))/if (0)/@test-rehearse@more is buffered than can be paid in time
		pauses-tell-all@ressd-probe/measure/rehearse.c@s/if (rehearsal->spread_percent < spread_of_pauses(&sum))/if (0)/@test-rehearse@one pause tells what all cost
		slower-later@ressd-probe/judge/analyse.c@s/if (rehearsal->direct_is_least .*/if (0)/@test-analyse@random writes that get slower refute a gain
		full-buffer-forgotten@ressd-probe/find/cells.c@s/ \&\& !session->buffer_full) {/) {/@test-session@random writes behind a full buffer tell nothing
		ordered-before-rehearsal@ressd-probe/find/cells.c@s/return session->pauses \&\& session_budget/return 0 \&\& session_budget/@test-session@pauses of what only the model needs leave no time for the rehearsal
		garbage-collection-shares@ressd-probe/find/rehearsals.c@s/session->longest_ns > analyse_rewrite_ns(.*/1);/@test-session@a drive that pauses for one block is taken for one that shares its log blocks
		next-pause-needed@ressd-probe/find/rehearsals.c@s/if (!random->done ||/if (1 ||/@test-session@no verdict where the next pause does not fit
		worth-it-if-the-target-likes@ressd-probe/judge/analyse.c@s/!(moves_are_cheap(direct_ns, move_ns) \&\&/!(1 \&\&/@test-analyse@worth it is what the target has to find out
		useless-locality@ressd-probe/judge/analyse.h@s/ANALYSE_MOST_OVERWRITTEN\t85/ANALYSE_MOST_OVERWRITTEN\t100/@test-analyse@worth it for loads that there are none of
		later-as-now@ressd-probe/judge/analyse.c@s/^\t\tlater(rehearsal, block);/\t\t(void)later;/@test-analyse@random writes that get slower have no verdict
		unsteady-part@ressd-probe/judge/analyse.c@s/^\t       (rehearsal->working_set \&\&$/\t       (0 \&\&/@test-analyse@no verdict where the target finds out
		shared-log-refutes@ressd-probe/judge/analyse.c@s/paid = rehearsal->shares_log \&\&/paid = 0 \&\&/@test-analyse@a log that paid for random writes refutes a gain
		free-trials@ressd-probe/judge/loads.c@s/least(log.low, 1) \* trials_leave/least(log.low, trials_leave)/@test-loads@commits lose nothing by trials where they lose in the log
		pauses-of-others@ressd-probe/measure/rehearse.c@s/if (plan->shares_log \&\& late \&\&/if (0 \&\&/@test-rehearse@moves pay for what random writes have left
		buffer-fits-always@ressd-probe/find/rehearsals.c@s/ \&\& !buffer_fits(session))/ \&\& 0)/@test-session@a rehearsal waits minutes for what is buffered
		long-call-rehearsed@ressd-probe/find/rehearsals.c@s/if (!longest_call_fits(session)) {/if (0) {/@test-session@a rehearsal begins that a single call may take beyond the end
		dry-run-unchecked@ressd-probe/main.c@s/const int code = probe->arguments.write ? safety_check(probe, failure) : 0;/const int code = 0;/@slips.sh test_dry_run@--dry-run does not say that it would be refused
		file-not-locked@lib/dm/blkdev.c@s/if (flock(dev->fd, LOCK_EX | LOCK_NB))/if (0)/@slips.sh test_files_in_use@two programs write one image
		options-in-one-step@lib/log/area.c@/^int area_store_options/,/^}/s/^\t\tif (!code)$/\t\tif (!code \&\& !copy)/@test-format@both superblocks may be torn while options are stored
		erased-below-super@lib/log/super-pair.c@/^int super_copy_change/,/^}/s/code = blkdev_flush(dev, failure);/code = 0;/@test-format@the log is erased before its superblocks are gone
		erased-in-one-step@lib/log/super-pair.c@s/first = alone == !super ? 0 : 512/first = 0/@test-format@a torn write of leave makes a log that does not open
		super-torn@lib/log/super-pair.c@s/first = alone == !super ? 0 : 512/first = 512/@test-cuts@a torn write of adopt leaves a superblock that keeps it from being repeated
		forgotten-in-one-step@lib/log/find-logs.c@s/!stands(dev, log, !copy), failure/false, failure/@test-cuts@a torn write over the superblock of an older log does
		forgotten-beside-another@lib/log/find-logs.c@s/!stands(dev, log, !copy), failure/true, failure/@test-cuts@an older log does not open though one of its superblocks still stands
		damaged-is-strange@lib/log/find-logs.c@s/if (verdict == RESSD_SUPER_DAMAGED)$/if (0)/@test-cuts@adopt takes the superblock that it has half blanked for something strange
		map-wraps@lib/log/image.c@s/calloc(geom->nr_blocks, sizeof(\*image->nodes))/calloc(1, (u32)ressd_map_nodes_bytes(geom->nr_blocks))/@test-unreadable@the map of a huge log has less memory than its nodes take
		search-gives-up@ressdctl/offline.c@/^static bool search_piece/,/^}/s/for (i = nr; i--; )/for (i = 0; i--; )/@test-unreadable@a search leaves out what stands beside a bad sector
		search-at-bad-end@ressdctl/offline.c@s/if (found <= 0 \&\& arguments->search)/if (!found \&\& arguments->search)/@test-unreadable@a search does not begin where the last sector is bad
		unread-is-whole@lib/log/cut.c@s/^	\*unread = recovered;$/	*unread = false;/@test-unreadable@repair has nothing to do where the kernel cannot read
		unread-stays@lib/log/cut.c@s/if (!header ||$/if (header \&\&/@test-unreadable@a repair leaves blocks that the kernel cannot read
		unread-counted-once@lib/log/check.c@s/^	log_image_read_all(.*//@test-unreadable@check counts only the unreadable blocks that it meets
		covers-give-up@lib/log/covers.c@/^int covers_look/,/^}/s/^			continue;/			break;/@test-unreadable@check ends at the first bad sector of the covers
		torn-end-hides@lib/log/area.c@s/if (verdict == RESSD_SUPER_DAMAGED)$/if (0)/@test-grow@a torn superblock at the end hides the log
		longer-counts@lib/log/area.c@s/if (!pair.choice \&\& pair.info.table.reserved_start == start/if (0 \&\& pair.info.table.reserved_start == start/@test-grow@of two superblocks that differ, open believes the one at the end
		erased-in-part@lib/log/area.c@/^static int erase_rest/,/^}/s/done += bytes;/done += 2 * bytes;/@test-format@a part of the log stays behind
		pipe-kills@ressd-probe/main.c@s/^\tsignal(SIGPIPE, SIG_IGN);$//@tools.sh test_preserve@a pager that is left loses the region that was to be restored
		grown-erased@ressdctl/leave.c@s/^\t\tcode = log_check_end(dev, .*/\t\tcode = 0;/@adopt.sh test_grown@leave erases files of a file system that has grown over the log
		anew-opened@ressdctl/open.c@s/^	if (ours \&\& !found) {$/	if (!named) {/@test-cuts@open goes on with an old log, into a file system that was made since
		repaired-by-another-table@ressdctl/open.c@s/table->normal_start, reserved->path, table->reserved_start,/table->normal_start, reserved->path, table->len - 8,/@test-cuts@the table that open names for a file system that fsck has repaired is another one
		newer-is-nothing@lib/log/area.c@s/^		    le32_to_cpu(super->copy) == copy)$/		    0)/@slips.sh test_newer_version@a log of a newer version is said to be none
		written-over-in-silence@ressdctl/open.c@s/^	if (ours \&\& !found) {$/	if (ours \&\& !found)\n		return 0;\n	if (0) {/@test-cuts@open does not say that the bare disk was written to
		larger-is-a-dead-end@ressdctl/offline.c@s/ \&\& search->other.devices == 1)/ \&\& 0)/@test-cuts@check --search has no way to a log on a disk that is larger than the one that it was on
		anew-below-covers@ressdctl/open.c@s/^	if (ours \&\& !found) {$/	if (ours) {/@test-cuts@open takes a file system for covers that are left beside it
		grown-is-member@ressdctl/list.c@s/log_check_end(dev, info, \&ignored) == -EEXIST/0/@adopt.sh test_grown@udev takes the names of a file system away that has grown over the log
		any-copy-opened@lib/log/block-devices.c@s/^	} else if (strncmp(text, "LABEL=", 6) .*/	} else if (0) {/@test-named@of two cards with one PARTUUID open takes any
		labels-are-copies@lib/log/block-devices.c@s/strncmp(text, "PARTLABEL=", 10)/1/@test-named@of two partitions that people have labelled alike open says that one is a copy
		empty-drive-warned-of@lib/log/block-devices.c@s/ \&\& found != -ENOMEDIUM//@test-named@each list warns of an empty drive for CDs
		newer-is-to-be-opened@ressdctl/adopt.c@s/if (found == -EPROTONOSUPPORT \&\& !force)/if (0)/@slips.sh test_newer_version@adopt says to open a log of a newer version, which open refuses
		file-opened@ressdctl/open.c@s/code = blkdev_check_for_ressd(&pair.normal, failure);/code = 0;/;;s/code = blkdev_check_for_ressd(&pair.reserved, failure);/code = 0;/@adopt.sh test_types@open asks the kernel for a device of a file
		root-is-a-pattern@boot/initramfs-table@s/grep -Fqx/grep -qx/@boot.sh test_root@the initramfs lacks a root file system whose name has a bracket
		anew-left@lib/log/contents.c@s/^	    !covered)$/	    1)/@test-cuts@leave says to open an old log that a new file system has grown over
		force-is-deaf@ressdctl/adopt.c@s/^	if (found \&\& force \&\& /	if (0 \&\& /@test-cuts@adopt --force makes no log where there is an old one
		dirty-log-left@ressdctl/leave.c@s/^	if (blocks)$/	if (0)/@adopt.sh test_leave@leave erases a log with data
		end-not-read@ressdctl/adopt.c@s/if (first <= wanted.reserved_start)/if (1)/@adopt.sh test_refusals@adopt puts the log into the file system
		tail-not-looked-at@ressdctl/format.c@s/const struct byte_range place = arguments->adopts ? reserved_range(arguments) :/const struct byte_range place = arguments->adopts ? (struct byte_range) { 0, 4096 } :/@adopt.sh test_refusals@adopt overwrites what is behind the file system
		hostile-options@lib/log/stored-options.c@s/^	if (!stored_options_are_text(info))$/	if (0)/@described.sh test_hostile@stored options may be anything
		trace-without-write@ressd-trace/main.c@s/if (writes(run) \&\& !arguments->write)/if (0)/@trace.sh test_refusals@a trace with writes needs no --write
		trace-contents-ignored@ressd-trace/safety.c@s/^	found = blkdev_signature(.*/	found = 0;/@trace.sh test_refusals@--yes overwrites a file system
		trace-logs-ignored@ressd-trace/safety.c@s/^		found = find_log(dev, trace, what, failure);/		(void)find_log;/@trace.sh test_refusals@--yes overwrites a log
		trace-reads-write@ressd-trace/shape.c@s/if (trace->list\[i\].op == TRACE_READ)$/if (trace->list[i].op != TRACE_FLUSH)/@trace.sh test_reads_only@--reads-only writes
		trace-noted-late@ressd-trace/replay.c@s/^	be_on_time(REAPER_PRIORITY);$//@trace.sh test_interrupted@the end of a request may be noted late
		trace-early@ressd-trace/replay.c@s/^		if (now >= due)$/		if (now + 3000000 >= due)/@trace.sh test_replay@a request may be submitted before its time
		trace-beyond@ressd-trace/shape.c@s/^		if (shape->fit == FIT_REFUSE)$/		if (0)/@test-trace@requests beyond the device are folded unasked
		trace-unsorted@ressd-trace/trace.c@s/ \&\& !wanted->sort)/ \&\& 0)/@test-trace@times that go back are taken
		output-lost@lib/cli/failure.c@s/if (!fflush(stdout) \&\& !ferror(stdout))/fflush(stdout); if (1)/@words.sh test_lost_output@output that cannot be written is no error
		measured-before-raw@ressd-probe/main.c@s/^	return close_raw(probe, code, failure);/	return code;/@slips.sh test_outputs@a file of --raw that is not whole is no error
		dispatch-as-they-come@ressd-probe/find/dispatch.c@s/survey, rehearsed->depth, rehearsed->bundle);/survey, BESIDE_REQUESTS, rehearsed->bundle);/@test-dispatch@reads do not go before bundles where that is rehearsed
		dispatch-one-depth@ressd-probe/find/dispatch.c@s/session_has_open_blocks(session) ? MERGING_DEPTH : USUAL_DEPTH/USUAL_DEPTH/@test-dispatch@a drive that merges is given as much at a time as others
		dispatch-not-abba@ressd-probe/find/dispatch.c@s/turn == 1 || turn == 2/turn % 2/@test-dispatch@a drive that gets slower is said to lose by bundles
		dispatch-of-a-queue@ressd-probe/find/dispatch.c@s/if (!session->one_at_a_time)/if (0)/@test-dispatch@a drive with a queue of its own is rehearsed
		dispatch-all-time@ressd-probe/find/dispatch.c@s/^\tif (writes > left \/ cycle)$/\tif (0)/@test-dispatch@turns are longer than there is time
		dispatch-last-call@ressd-probe/find/dispatch.c@s/return LAST_CALL + longest;/return LAST_CALL;/@test-dispatch@a write that takes half a minute ends behind all time
		dispatch-in-a-hurry@ressd-probe/find/dispatch.c@s/ || !budget)$/)/;;s/const u64 budget = .*/const u64 budget = 10 * SECOND;/@test-dispatch@a quick run rehearses an order
		dispatch-to-the-end@ressd-probe/find/dispatch.c@s/ || !judge(rehearsed).clear;/ || true;/@test-dispatch@a slow drive is kept busy after all is clear
		bundles-of-the-region@ressd-probe/find/beside.c@s/survey->measure->offset + survey->disk_offset/survey->measure->offset/@test-dispatch@bundles begin with the partition
		commit-room@ressd-probe/judge/loads.c@s/most(2 \* desk->move_ns,/most(desk->move_ns,/@test-loads@commits are said to fill the log no faster than random writes
		commit-opens-nothing@ressd-probe/judge/loads.c@s/opening.high/0/@test-loads@commits are said to open no block of the log
		commit-flush-free@ressd-probe/judge/loads.c@s/most(direct, most(flush, desk->append_ns))/most(direct, 0 * flush)/@test-loads@the bare drive is said to flush for nothing
		commit-like-others@ressd-probe/judge/loads.c@s/if (closing \&\& /if (0 \&\& /@test-loads@a commit is said to cost what one of many random writes does
		commit-pages@ressd-probe/judge/loads.c@s/least(alone, desk->rehearsal->direct_ns)/0/@test-loads@commits of whole pages are said to fill the log no faster than others
		commit-contradicted@ressd-probe/judge/loads.c@s/usual > CONTRADICTS \* flush/0/@test-loads@writes that open blocks are taken for those that open none
		install-pages@ressd-probe/judge/loads.c@s/3 \* INSTALL_COMMITS/0 * INSTALL_COMMITS/@test-loads@flushes of an installation are said to fill no block
		install-written-once@ressd-probe/judge/loads.c@s/(units ? in_order : 0)/0/@test-loads@files that go through the log are said to be written once
		install-in-turns@ressd-probe/judge/loads.c@s/if (units == 1)/if (0)/@test-loads@files and journal are said to share an open block
		loads-always-said@ressd-probe/judge/loads.c@s/ || gain.high > WIDEST \* gain.low//@test-loads@a range that says nothing is said
		adaptive-never-errs@ressd-probe/judge/loads.c@s/least(log.low, 1) \* trials_leave/trials_leave/@test-loads@route adaptive is said to see what a full log does to commits
		gains-rounded-inwards@ressd-probe/report/sentences.c@s/(up ? step - 1 : 0)/0/@test-loads@the range that is shown is the narrower one
		order-writes-lose@ressd-probe/judge/order.c@s/judgement->speed >= LEAST_SPEED;/1;/@test-dispatch@reads go first though writes lose
		order-waits-stay@ressd-probe/judge/order.c@s/judgement->pays = judgement->after <= MOST_WAIT \* judgement->before/judgement->pays = 1/@test-dispatch@reads go first though they wait as long
		order-of-pauses@ressd-probe/judge/order.c@s/return shows \&\& seen < even ? seen : even;/return seen;/@test-order@garbage collection that met one order only is its loss
		order-never-differs@ressd-probe/judge/order.c@s/ || differ(before, after, pairs);/;/@test-order@what each turn shows is no loss
		order-at-once@ressd-probe/judge/order.c@s/const bool shows = pairs < LEAST_PAIRS || /const bool shows = /@test-order@two turns cannot show a loss
		order-writes-gain@ressd-probe/judge/order.c@s/return shows \&\& seen < even ? seen : even;/return shows ? seen : even;/@test-order@a gain of writes by chance pays for what reads take
		order-of-the-longest@ressd-probe/judge/order.c@s/const double share = .*/const double share = LONG_WAIT;/@test-order@the longest of many waits is compared with that of few
		dispatch-unsized@ressd-probe/find/dispatch.c@s/finding->value \/ 512, finding->low);/finding->value, finding->low);/@test-dispatch@bundle_rp is named with a size in bytes
		raw-overwrites@lib/cli/new-file.c@/^int new_file_check/,/^}/s/if (!lstat(path, &status))/if (lstat(path, \&status) \&\& 0)/;;s/O_WRONLY | O_CREAT | O_EXCL/O_WRONLY | O_CREAT | O_TRUNC/@slips.sh test_outputs@--raw overwrites a file
	END
}

wanted() {
	local name=$1
	shift
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]]
}

# copy_sources: what the tools and their tests are built of, with its build folder below.
copy_sources() {
	mkdir -p "$folder"
	cp -r -u --parents userspace dm-ressd/core tests/unit tools/build.mk docs/dm-ressd.rst \
		"$folder/"
}

# plant FILE SED: changes the copy; the sed must change the file.
plant() {
	local change
	cp "userspace/$1" "$folder/changed"
	while read -r change; do
		cp "$folder/changed" "$folder/before"
		sed -i "$change" "$folder/changed"
		if cmp -s "$folder/before" "$folder/changed"; then
			echo "the change does not apply to userspace/$1 any more: $change"
			return 1
		fi
	done <<<"${2//;;/$'\n'}"
	cp "$folder/changed" "$folder/userspace/$1"
}

mend() {
	cp "userspace/$1" "$folder/userspace/$1"
}

# build TARGET: of the copy's Makefile.
build() {
	make -s -C "$folder/userspace" WARNINGS=-w "$1" >"$folder/log" 2>&1 || {
		grep -m 3 'error' "$folder/log" || tail -n 3 "$folder/log"
		return 1
	}
}

# run_test WORD...: of the copy; its output is in $folder/output.
run_test() {
	case $1 in
	test-*) "$folder/build/tools-test/$1" ;;
	*) PATH=$top/$folder/build/bin:$top/build/bin:$PATH bash "$folder/userspace/test/$1" "$2" ;;
	esac >"$folder/output" 2>&1
}

# build_for TEST: what it needs.
build_for() {
	local target=all
	[[ $1 != test-* ]] || target=$top/$folder/build/tools-test/$1
	build "$target"
}

# passes WORD...: says why if the test of what is right does not.
passes() {
	build_for "$1" || return 0
	run_test "$@" || {
		echo "it ends with $?"
		grep '^not ok' "$folder/output" || tail -n 3 "$folder/output"
	}
}

# finds WORD...: builds what is wrong and runs the test; says why if that does not fail.
finds() {
	build_for "$1" || return 0
	if run_test "$@" || ! grep -q '^not ok' "$folder/output"; then
		echo "$* does not find it"
	fi
}

verdict() {
	if [ -z "$3" ]; then
		passed=$((passed + 1))
		echo "ok - tool-mutant $1 ($2)"
	else
		failed=$((failed + 1))
		echo "not ok - tool-mutant $1 ($2): $3"
	fi
}

# Each test passes where nothing is wrong, or its failure would prove nothing.
test_originals() {
	local file change test bug name words
	declare -A seen=()
	while IFS=@ read -r name file change test bug; do
		wanted "$name" "$@" || continue
		[ -z "${seen[$test]:-}" ] || continue
		seen[$test]=1
		read -r -a words <<<"$test"
		verdict "none: $test" passes "$(passes "${words[@]}")"
	done < <(mutants)
}

if [ "${1:-}" = --apply ]; then
	apply_only=1
	shift
fi
copy_sources
[ -n "$apply_only" ] || test_originals "$@"
while IFS=@ read -r name file change test bug; do
	wanted "$name" "$@" || continue
	read -r -a words <<<"$test"
	if ! why=$(plant "$file" "$change"); then
		verdict "$name" "$bug" "$why"
	elif [ -n "$apply_only" ]; then
		verdict "$name" "fits $file" ""
	else
		verdict "$name" "$bug, found by $test" "$(finds "${words[@]}")"
	fi
	mend "$file"
done < <(mutants)
[ -n "$apply_only" ] || echo "# result mutants/tools/missed $failed 1 ==0"
echo "# $passed passed, $failed failed"
[ "$failed" -eq 0 ]
