#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 25-pace.sh: when blocks move, with visits or without: writers are held, and told of moves, such that
# nobody waits for ever.
#   25-pace.sh [SEED [FUNCTION]]
# guest: --memory 1G --timeout 600 --file tests/vm/writers.sh
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/writers.sh
. ./writers.sh

take_arguments "$@"
reserved=16384

idle_time_is_used() {
	make_ressd ressd /dev/d0 "$reserved" pace idle on_full wait
	small_writes "idle" 2M
	check "idle: all comes home" wait_until equals 0 status_dirty ressd
	copy_device /dev/mapper/ressd /tmp/before
	forget_cache
	check "idle: the bare device holds it, but for what is covered" cmp -i $((17 * 4096)) \
		-n "$(($(stat -c %s /tmp/before) - 17 * 4096))" /tmp/before /dev/d0
	small_writes "idle again" 2M --randseed=77
	check "idle again: all comes home" wait_until equals 0 status_dirty ressd
	dmsetup message ressd 0 set pace even
	small_writes "even" 1M
	sleep 1
	check "even: nothing moves without need" test "$(status_dirty ressd)" -gt 0
	dmsetup message ressd 0 set pace idle
	check "even, then idle: all comes home" wait_until equals 0 status_dirty ressd
	ends "idle"
}

# Pace even: a sweep that is ahead of the writers waits for them; nothing may wait for it then.
waiting_sweep_holds_up_nobody() {
	local pace
	for pace in even idle; do
		make_ressd ressd /dev/d0 32768 pace "$pace" on_full wait move_threshold 95 \
			segment_sectors 4096
		small_writes "$pace, sweeping" 3M
		check "$pace, sweeping: suspend" timeout 300 dmsetup suspend ressd
		check "$pace, sweeping: resume" timeout 300 dmsetup resume ressd
		small_writes "$pace, more than the log holds" 20M
		check "$pace: the mover has moved" at_least ressd moved_blocks 100
		ends "$pace, sweeping"
		blkdiscard -f /dev/d0
	done
}

# Found by tools/bench.sh: a writer waited for the mover, which went ahead of it by a visit and waited
# in its turn; nobody told the writer.
visits_and_writers_keep_step() {
	make_disk d1 96 irqmode=2 completion_nsec=100000
	make_ressd ressd /dev/d1 32768 on_full wait move_block_sectors 16384 \
		move_fill_blocks 32 segment_sectors 4096
	small_writes "visits, even" 60M --norandommap
	check "visits, even: the mover has swept" at_least ressd sweeps 4
	ends "visits, even"
	remove_disk d1
}

writes_of() {
	sed 's/^ *//' "/sys/block/$1/stat" | tr -s ' ' | cut -d ' ' -f 5
}

# no_more_writes DISK: it gets none for a second and a half, after a minute at most.
no_more_writes() {
	local i before=-1 now
	for ((i = 0; i < 40; i++)); do
		now=$(writes_of "$1")
		[ "$now" != "$before" ] || return 0
		before=$now
		sleep 1.5
	done
	echo "it still writes: $now"
	return 1
}

# primed LEAST: records of the empty log since $records.
primed() {
	wait_until at_least ressd records $((records + $1))
}

# After a drain the log goes on to a segment in which a clustered block begins: 4 segments further at
# most, once, and only if something was moved.
empty_log_is_primed_once() {
	local records i
	make_disk d1 48 irqmode=2 completion_nsec=100000
	make_ressd ressd /dev/d1 32768 on_full wait move_block_sectors 8192 log_page_sectors 256 \
		segment_sectors 2048
	small_writes "primed" 2M
	check "primed: drains" timeout 300 dmsetup message ressd 0 drain
	check "primed: comes to an end" no_more_writes d1
	# From there on it is known how far the log is from the next clustered block.
	small_writes "primed again" 1M --randseed=9
	dmsetup message ressd 0 mover off
	check "primed again: drains" timeout 300 dmsetup message ressd 0 drain
	records=$(status_value ressd records)
	dmsetup message ressd 0 mover on
	check "primed again: the log goes on" primed 2
	check "primed again: and comes to an end" no_more_writes d1
	check "primed again: by two records" equals $((records + 2)) status_value ressd records
	copy_device /dev/mapper/ressd /tmp/before
	forget_cache
	check "primed: the bare device holds all" same_as /tmp/before /dev/d1
	records=$(status_value ressd records)
	check "primed: drains again" timeout 300 dmsetup message ressd 0 drain
	sleep 1
	check "primed: not once more" equals "$records" status_value ressd records
	for ((i = 0; i < 4; i++)); do
		small_writes "primed under suspend, $i" 256k --randseed="$i"
		timeout 300 dmsetup message ressd 0 drain || break
		sleep "0.2$((i * 2))"
		timeout 300 dmsetup suspend ressd || break
		timeout 300 dmsetup resume ressd || break
	done
	check "primed: four suspends" equals 4 echo "$i"
	ends "primed"
	remove_disk d1
}

# Where a segment has no more room than the covered blocks take, or a record takes all of it, what the mover appends
# again fills as much as that frees: below move_threshold it went on for ever, with 400 writes a second.
mover_rests_when_it_gains_nothing() {
	local words
	for words in "2048 segment_sectors 128" "4096 segment_sectors 128 log_align_sectors 128 cover off"; do
		blkdiscard -f /dev/d0
		# shellcheck disable=SC2086 # words
		make_ressd ressd /dev/d0 $words move_threshold 95 pace burst
		small_writes "nothing to gain" 3M
		fio --name=few --filename=/dev/mapper/ressd --rw=write:8k --bs=4k --offset=36M --number_ios=40 \
			--fsync=1 --direct=1 --output=/tmp/fio-output
		check "nothing to gain: the disk is left alone" no_more_writes d0
		small_writes "nothing to gain, again" 3M --randseed=9
		check "nothing to gain: a log in use is swept" test "$(status_dirty ressd)" -lt 100
		ends "nothing to gain"
	done
}

# sleeps_on NAME: the mover is not woken for two seconds.
sleeps_on() {
	local status before
	status=/proc/$(grep -l '^ressd_mv/' /proc/[0-9]*/comm | cut -d / -f 3)/status
	before=$(awk '/^voluntary_ctxt/ { print $2 }' "$status")
	sleep 2
	check "$1: the mover sleeps" at_most \
		$(($(awk '/^voluntary_ctxt/ { print $2 }' "$status") - before)) 2
}

# One that must not move did not, but looked twenty times a second whether it is idle time.
mover_that_must_not_move_sleeps() {
	local line
	blkdiscard -f /dev/d0
	line="0 $(sectors_of /dev/d0) linear /dev/d0 0"
	dmsetup create under --table "$line"
	make_ressd ressd /dev/mapper/under "$reserved" pace idle
	dmsetup message ressd 0 mover off
	small_writes "must not move" 1M
	sleep 1
	sleeps_on "off by message"
	dmsetup message ressd 0 mover on
	check "on again: all comes home" wait_until equals 0 status_dirty ressd
	dmsetup message ressd 0 mover off
	small_writes "must not move again" 1M --randseed=5
	fail_all_io under
	writes 4k 5000 1
	check "the log is off" wait_until equals off status_state ressd
	dmsetup message ressd 0 mover on
	sleep 1
	sleeps_on "the log off"
	dmsetup load under --table "$line" && dmsetup resume under
	check "the log recovers" timeout 300 dmsetup message ressd 0 recover
	check "in service again: all comes home" wait_until equals 0 status_dirty ressd
	dmsetup remove ressd
	dmsetup remove under
}

# gated_log FIO_WORD...: ressd that holds these writes, with its mover off, on a disk whose normal area is behind
# the gate "home". Covers would have to pass it first. No timer writes a record before it is full: how many
# blocks are used is counted on. From then on each write is a record of its own: nothing is left that a timer
# would write, and wake us.
gated_log() {
	local normal=$((64 * 2048 - 32768))
	blkdiscard -f /dev/d0
	make_gate home /dev/d0 0 "$normal"
	dmsetup create gated --table "0 $normal linear /dev/mapper/home 0
$normal 32768 linear /dev/d0 $normal"
	make_ressd ressd /dev/mapper/gated 32768 cover off on_full wait segment_sectors 4096 \
		move_threshold 95 move_batch_sectors 8192 commit_interval_ms 60000
	dmsetup message ressd 0 mover off
	fio --name=fill --filename=/dev/mapper/ressd --rw=write:4k --bs=4k --direct=1 \
		--output=/tmp/fio-output "$@"
	dmsetup message ressd 0 set commit writethrough
}

remove_gated_log() {
	dmsetup message ressd 0 set pace burst # lets go of whoever waits, should something have failed
	ends "$1"
	dmsetup remove gated
	dmsetup remove home
}

# scattered_writes NUMBER OFFSET OUTPUT: small ones, none beside another.
scattered_writes() {
	fio --name=load --filename=/dev/mapper/ressd --rw=write:8k --bs=4k --offset="$2" --size=16M \
		--number_ios="$1" --direct=1 --end_fsync=1 --output="$3"
}

# As visits_and_writers_keep_step, step by step: a writer has used two thirds of the room and waits, for the mover's first
# batch is held up; that is nearly all of the sweep, so that once it is home the mover is ahead and waits in its turn. So
# the writer must be told, and not before that counts. (2300 writes to 1500 blocks: four full segments of eight with 1220
# blocks to move, too many in the oldest one to be kept; a batch has 1024, and 1240 blocks are free. A write takes two, so it
# waits after 413.)
writers_are_told_of_moves() {
	local load
	gated_log --size=12000k --io_size=9200k
	dmsetup message ressd 0 mover on
	wait_until fails equals 0 writes_at_gate home
	scattered_writes 520 24M /tmp/load-output &
	load=$!
	wait_until at_least ressd accepted 2700
	sleep 0.5
	check "a writer ahead of the mover waits" kill -0 "$load"
	check "nothing is home as yet" equals 0 status_value ressd moved_blocks
	open_gate home
	check "it is told of what has moved" ended "$load"
	check "the mover was ahead, and waits for writers" test "$(status_dirty ressd)" -gt 0
	remove_gated_log "told of moves"
}

# As above, but the mover waits for a direct write, before it looks whether it may go on; and meanwhile the direct way
# begins to be tried, for which it rests. The writer that waits for it, already, would wait for ever.
waiting_writer_ends_in_a_direct_trial() {
	local load large
	gated_log --size=12000k --io_size=9200k
	writes 1M 44 1 &
	large=$!
	wait_until fails equals 0 writes_at_gate home
	dmsetup message ressd 0 mover on
	wait_until at_least ressd sweeps 1
	scattered_writes 520 24M /tmp/load-output &
	load=$!
	wait_until at_least ressd accepted 2700
	sleep 0.5
	check "a writer waits for the mover" kill -0 "$load"
	dmsetup message ressd 0 set route adaptive
	open_gate home
	check "a direct write ends" ended "$large"
	check "the writer goes on in a direct trial" ended "$load"
	check "directly" at_least ressd adaptive_direct 1
	remove_gated_log "direct trial"
}

# status_used NAME: log blocks that are in use; status_free: those that are not.
status_used() {
	dmsetup status "$1" | cut -d ' ' -f 4 | cut -d / -f 1
}

status_free() {
	dmsetup status "$1" | cut -d ' ' -f 4 | awk -F / '{ print $2 - $1 }'
}

uses_more_than() {
	test "$(status_used ressd)" -gt "$1"
}

# Found on the SD card profile: a writer was let ahead by a whole record although the room of the sweep was little more, so
# the log was full before the sweep's last visits, and the next writer waited for all of them: 4 s.
writers_do_not_use_up_little_room() {
	local load room used
	gated_log --size=40M --number_ios=3100 --end_fsync=1
	# Each one now uses two blocks; a segment is kept in reserve.
	scattered_writes "$((($(status_free ressd) - 512 - 130) / 2))" 30M /tmp/fio-output
	room=$(($(status_free ressd) - 512))
	used=$(status_used ressd)
	check "there is hardly more room than for a record" at_most "$room" 146
	check "but some" at_most 114 "$room"
	dmsetup message ressd 0 mover on
	wait_until fails equals 0 writes_at_gate home
	scattered_writes 60 1M /tmp/load-output &
	load=$!
	wait_until uses_more_than $((used + 8))
	sleep 0.5
	check "a writer waits in time" kill -0 "$load"
	check "a quarter of the room is left for the sweep's end" at_most "$(status_used ressd)" \
		$((used + room * 3 / 4))
	open_gate home
	check "it is told of what has moved" ended "$load"
	remove_gated_log "little room"
}

# reads_of_log: requests that it was asked to read.
reads_of_log() {
	awk '{ print $1 }' "/sys/block/dm-$(dmsetup info -c --noheadings -o minor log)/stat"
}

# A piece of a logged block finds no room, for nothing comes home. It waits, and is not tried over and over: each time its block
# would be read. (Two workers passed it to and fro, with 70,000 reads a second.)
piece_waits_quietly() {
	local normal=$((64 * 2048 - reserved)) load piece before
	blkdiscard -f /dev/d0
	dmsetup create home --table "0 $normal linear /dev/d0 0"
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	dmsetup create ressd --table "0 $normal ressd /dev/mapper/home 0 /dev/mapper/log 0 $reserved 4 cover off \
pace burst"
	head -c 4096 /dev/zero | tr '\0' a | dd of=/dev/mapper/ressd bs=4k seek=10 oflag=direct conv=notrunc status=none
	close_gate home writes
	fio --name=load --filename=/dev/mapper/ressd --rw=write:8k --bs=4k --offset=10M --size=40M --number_ios=2500 \
		--direct=1 --output=/tmp/load-output &
	load=$!
	wait_until at_least ressd bypassed 1
	dd if=/dev/zero of=/dev/mapper/ressd bs=512 seek=80 count=1 oflag=direct conv=notrunc status=none &
	piece=$!
	sleep 0.5
	before=$(reads_of_log)
	sleep 1
	check "piece: the log has no room for it" kill -0 "$piece"
	check "piece: its block is not read meanwhile" at_most $(($(reads_of_log) - before)) 10
	open_gate home
	check "piece: it ends when there is room" ended "$piece"
	check "piece: so does the load" ended "$load"
	check "piece: it is merged" cmp -n 4096 /dev/mapper/ressd -i 40960:0 \
		<(head -c 512 /dev/zero && head -c 3584 /dev/zero | tr '\0' a)
	ends "piece"
	dmsetup remove log
	dmsetup remove home
}

load dm-ressd
make_disk d0 64
scenario empty_log_is_primed_once
scenario mover_rests_when_it_gains_nothing
scenario mover_that_must_not_move_sleeps
scenario visits_and_writers_keep_step
scenario writers_are_told_of_moves
scenario waiting_writer_ends_in_a_direct_trial
scenario writers_do_not_use_up_little_room
scenario piece_waits_quietly
blkdiscard -f /dev/d0
scenario idle_time_is_used
blkdiscard -f /dev/d0
scenario waiting_sweep_holds_up_nobody
finish
