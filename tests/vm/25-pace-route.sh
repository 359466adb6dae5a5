#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 25-pace-route.sh: route adaptive and pace: whatever way writes take and whenever blocks move,
# nothing is lost and nobody waits for ever. Which way is faster is for tools/bench.sh to say.
#   25-pace-route.sh [SEED [FUNCTION]]
# guest: --memory 1G --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384

# small_writes NAME BYTES [FIO_WORD...]: verified ones.
small_writes() {
	local name=$1 bytes=$2
	shift 2
	check "$name: small writes" timeout 300 fio --name=small --filename=/dev/mapper/ressd \
		--rw=randwrite --bs=4k --size=40M --io_size="$bytes" --direct=1 --randseed="$seed" \
		--verify=crc32c "$@" --output=/tmp/fio-output
}

oracle() {
	local command=$1
	shift
	ressd-oracle "$command" --journal /tmp/journal --seed "$seed" "$@" /dev/mapper/ressd
}

ends() {
	local name=$1
	check "$name: no errors" equals 0 status_value ressd errors
	check "$name: drains" timeout 300 dmsetup message ressd 0 drain
	check "$name: is removed" timeout 300 dmsetup remove ressd
}

# small_writes_by_way: the sum of those that the log took, of those that the route sent direct, and of those
# for which the log had no room; all of one block.
small_writes_by_way() {
	echo $(($(status_value ressd accepted) + $(status_value ressd adaptive_direct) +
		$(status_value ressd bypassed)))
}

# trial_comes_home NAME: small writes, until a trial of the log has ended. A machine that stood still
# meanwhile has the log lose at once, rightly; then it is tried anew.
trial_comes_home() {
	local i
	for ((i = 0; i < 5; i++)); do
		small_writes "$1" 8M
		! at_least ressd accepted 256 > /dev/null || return 0
		dmsetup message ressd 0 set route always
		dmsetup message ressd 0 set route adaptive
	done
}

# On a disk that takes 5 ms for each command, so that the log, with 128 blocks in one, seldom loses
# before its trial is brought home: its first record may take as long as 34 direct writes. (At a
# millisecond a busy machine took 53 once.) How many writes go which way depends on the machine; that
# each went one of them does not.
both_ways_are_tried() {
	local on_full cover
	make_disk d1 64 irqmode=2 completion_nsec=5000000
	for on_full in wait bypass; do
		# Covered blocks go to the log whatever way was decided.
		[ "$on_full" = wait ] && cover=off || cover=on
		make_ressd ressd /dev/d1 "$reserved" route adaptive on_full "$on_full" cover "$cover"
		trial_comes_home "adaptive, $on_full"
		check "adaptive, $on_full: the log was tried" at_least ressd trials 1
		check "adaptive, $on_full: by a trial at least" at_least ressd accepted 256
		check "adaptive, $on_full: that was brought home" at_least ressd moved_blocks 100
		# After a second the trial of the direct way is broken off. It goes on when the log's has come home,
		# and ends when 64 blocks in a row have cost twice as much, or with the 1024th.
		check "adaptive, $on_full: some went direct" at_least ressd adaptive_direct 64
		[ "$cover" = on ] ||
			check "adaptive, $on_full: and each small write went one way" equals \
				"$(status_value ressd small_writes)" small_writes_by_way
		check "adaptive, $on_full: costs are known" eval \
			'at_least ressd direct_ns 1 && at_least ressd log_ns 1 && at_least ressd move_ns 1'
		check "adaptive, $on_full: nothing is in flight any more" equals 0 \
			status_value ressd small_in_flight
		ends "adaptive, $on_full"
	done
	remove_disk d1
}

# ressd-probe has measured what a block costs through the log: the direct way is tried, the log never.
known_cost_needs_no_trial() {
	local accepted
	make_disk d1 64 irqmode=2 completion_nsec=5000000
	make_ressd ressd /dev/d1 "$reserved" route adaptive log_cost_us 100 on_full wait cover off
	small_writes "adaptive, cost is known" 8M
	check "adaptive, cost is known: the log is taken" at_least ressd accepted 256
	check "adaptive, cost is known: after direct writes" at_least ressd adaptive_direct 64
	check "adaptive, cost is known: no time is too long" eval \
		"! dmsetup message ressd 0 set log_cost_us 10000001"
	check "adaptive, cost is known: a higher one is set" dmsetup message ressd 0 set log_cost_us 10000000
	accepted=$(status_value ressd accepted)
	small_writes "adaptive, cost is known, dear" 2M
	check "adaptive, cost is known: the log takes no more" equals "$accepted" \
		status_value ressd accepted
	check "adaptive, cost is known: the log was not tried" equals 0 status_value ressd trials
	ends "adaptive, cost is known"
	remove_disk d1
}

# Beside the mover's batches a direct write takes ten times as long, and the log was taken for it. The cost of the log is
# known and dear: otherwise a trial ends after a second, in which a debug kernel may not write enough.
mover_rests_for_a_direct_trial() {
	local pace
	for pace in burst even; do
		make_ressd ressd /dev/d0 "$reserved" pace "$pace" move_threshold 95 on_full wait cover off \
			log_cost_us 10000000
		dmsetup message ressd 0 mover off
		small_writes "direct trial, $pace" 4M
		dmsetup message ressd 0 set route adaptive
		dmsetup message ressd 0 mover on
		check "direct trial, $pace: a sweep begins" wait_until at_least ressd sweeps 1
		pause 1
		check "direct trial, $pace: the mover rests" equals 0 status_value ressd moved_blocks
		small_writes "direct trial, $pace, a part of it" 1M
		check "direct trial, $pace: and goes on resting" equals 0 status_value ressd moved_blocks
		small_writes "direct trial, $pace, the rest" 8M
		check "direct trial, $pace: it goes on after that" wait_until at_least ressd moved_blocks 1
		ends "direct trial, $pace"
	done
}

# What else is known of each situation may differ: many writes at a time, and a flush after each. All
# that is written is verified, whichever way it went.
situations_change() {
	local name
	make_disk d1 64 irqmode=2 completion_nsec=100000
	make_ressd ressd /dev/d1 "$reserved" route adaptive on_full wait
	for name in one many; do
		small_writes "adaptive, $name at a time" 8M --ioengine=libaio \
			--iodepth="$([ "$name" = one ] && echo 1 || echo 32)"
		small_writes "adaptive, $name at a time, flushes" 4M --fdatasync=1 --ioengine=libaio \
			--iodepth="$([ "$name" = one ] && echo 1 || echo 32)"
	done
	check "adaptive, situations: nothing is in flight any more" equals 0 \
		status_value ressd small_in_flight
	ends "adaptive, situations"
	remove_disk d1
}

# writes SIZE SEEK PROCESSOR: one write of SIZE at so many times that.
writes() {
	taskset "$3" dd if=/dev/zero of=/dev/mapper/ressd bs="$1" seek="$2" count=1 oflag=direct \
		conv=notrunc status=none
}

# Large writes take no lock. Who takes it next hears of them, on whichever processor they came: a small write
# that begins where one of them has ended is not random.
large_writes_are_judged() {
	local i
	make_disk d1 64
	make_ressd ressd /dev/d1 "$reserved"
	for i in 1 2 3 4; do
		check "large writes: from both processors, $i" eval \
			"writes 128k $((i * 10)) 1 && writes 128k $((i * 10 + 100)) 2"
		check "large writes: small ones go on from there, $i" eval \
			"writes 4k $((i * 320 + 32)) 2 && writes 4k $((i * 320 + 3232)) 1"
	done
	check "large writes: no write was random" equals 0 status_value ressd small_writes
	check "large writes: all are counted" equals 16 status_value ressd writes
	check "large writes: another one" writes 128k 200 1
	check "large writes: status hears of that, too" equals 17 status_value ressd writes
	ends "large writes"
	remove_disk d1
}

adaptive_load() {
	rm -f /tmp/journal
	blkdiscard -f /dev/d0
	make_ressd ressd /dev/d0 "$reserved" route adaptive on_full wait move_block_sectors 1024 \
		move_fill_blocks 4
	check "adaptive: the oracle finds no difference" oracle run --threads 6 --operations 1500
	check "adaptive: is removed" dmsetup remove ressd
	make_ressd ressd /dev/d0 "$reserved" route adaptive
	check "adaptive: nor after recovery" oracle check
	ends "adaptive"
}

# While a trial is brought home its writers wait: not for a mover that is off, nor over a suspend.
trial_meets() {
	local load i status=0
	make_ressd ressd /dev/d0 "$reserved" route adaptive on_full wait
	dmsetup message ressd 0 mover off
	small_writes "adaptive, mover off" 8M
	dmsetup message ressd 0 mover on
	dmsetup message ressd 0 set route always
	dmsetup message ressd 0 set route adaptive
	fio --name=load --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=40M \
		--io_size=16M --direct=1 --verify=crc32c --output=/tmp/load-output &
	load=$!
	for ((i = 0; i < 6; i++)); do
		sleep 0.1
		timeout 300 dmsetup suspend ressd || break
		timeout 300 dmsetup resume ressd || break
	done
	check "adaptive: six suspends" equals 6 echo "$i"
	check "adaptive: a drain in between" timeout 300 dmsetup message ressd 0 drain
	wait "$load" || status=$?
	check "adaptive: the load under them finds no difference" equals 0 echo "$status"
	ends "adaptive, suspended"
}

# What a trial of the log meets while its first record is on the way: on_full of the target, and a command.
trial_ends() {
	local name=$1 on_full=$2 load status=0 command=
	shift 2
	# No record is written before it is wanted, however slow the machine.
	make_ressd ressd /dev/mapper/both "$reserved" cover off route adaptive on_full "$on_full" \
		commit_interval_ms 60000
	close_gate log writes
	fio --name=load --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=40M \
		--number_ios=1500 --direct=1 --randseed="$seed" --verify=crc32c \
		--output=/tmp/load-output &
	load=$!
	wait_until fails equals 0 writes_at_gate log
	wait_until equals 32 status_value ressd accepted
	sleep 0.5
	check "trial, $name: 32 blocks are logged" equals 32 status_value ressd accepted
	check "trial, $name: the next one waits" kill -0 "$load"
	if [ $# -gt 0 ]; then
		"$@" &
		command=$!
		sleep 0.5
	fi
	open_gate log
	[ -z "$command" ] || check "trial, $name: '$*' ends" ended "$command"
	dmsetup resume ressd
	check "trial, $name: the load ends" ended "$load"
	wait "$load" || status=$?
	check "trial, $name: and finds no difference" equals 0 echo "$status"
	check "trial, $name: nothing is in flight any more" equals 0 \
		status_value ressd small_in_flight
	ends "trial, $name"
}

# A trial of the log logs no more than what shows whether it is lost, before that is written: the record stands at a gate.
# (Found by tools/bench.sh on the Intel drive: 255 blocks, two whole records.)
lost_trial_logs_little() {
	local normal=$((64 * 2048 - reserved))
	blkdiscard -f /dev/d0
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	dmsetup create both --table "0 $normal linear /dev/d0 0
$normal $reserved linear /dev/mapper/log 0"
	trial_ends "on_full wait" wait
	trial_ends "on_full bypass" bypass
	trial_ends "writethrough later" wait dmsetup message ressd 0 set commit writethrough
	trial_ends "suspend" wait dmsetup suspend ressd
	trial_ends "drain" wait dmsetup message ressd 0 drain
	trial_ends "mover off" wait dmsetup message ressd 0 mover off
	trial_ends "route never" wait dmsetup message ressd 0 set route never
	dmsetup remove both
	dmsetup remove log
}

# Writes that have waited for a trial that is lost go direct, to blocks that the trial has logged: what they write is newer.
waited_writes_supersede() {
	local waits second logged i normal=$((64 * 2048 - reserved))
	local small=(--filename=/dev/mapper/ressd --rw=randwrite --bs=4k --direct=1 --invalidate=0
		--randseed="$seed")
	local verify=(--name=second "${small[@]}" --size=256k --ioengine=libaio --iodepth=64 --verify=crc32c
		--output=/tmp/fio-output)
	blkdiscard -f /dev/d0
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	dmsetup create both --table "0 $normal linear /dev/d0 0
$normal $reserved linear /dev/mapper/log 0"
	# Direct writes elsewhere, then a trial of the log, until a write waits; what follows waits behind it. Large ones, for
	# if they take a second the trial begins among them: then once more.
	for ((i = 0; i < 5; i++)); do
		make_ressd ressd /dev/mapper/both "$reserved" cover off route adaptive on_full wait \
			commit_interval_ms 60000 streams 1 small_write_sectors 64
		fio --name=direct "${small[@]}" --bs=32k --offset=1M --size=32M --io_size=4M --output=/tmp/load-output
		[ "$(status_value ressd accepted)" -gt 0 ] || break
		dmsetup message ressd 0 drain && dmsetup remove ressd
	done
	close_gate log writes
	fio --name=logged "${small[@]}" --size=256k --io_size=96k --output=/tmp/load-output
	check "waited: the trial logs the next" at_least ressd accepted 12
	fio --name=waits "${small[@]}" --offset=1M --size=32M --io_size=16M --thread --output=/tmp/load-output &
	waits=$!
	wait_until fails equals 0 writes_at_gate log
	wait_until equals 1 status_value ressd small_in_flight
	sleep 0.5
	kill -KILL "$waits"
	logged=$(status_value ressd accepted)
	fio "${verify[@]}" &
	second=$!
	check "waited: those of 64 writes that are small wait" wait_until at_least ressd small_in_flight 16
	open_gate log
	ends_well "waited: fio finds what it wrote" "$second"
	wait "$waits"
	check "waited: all of it is direct" equals "$logged" status_value ressd accepted
	check "waited: a drain" timeout 300 dmsetup message ressd 0 drain
	check "waited: brings nothing older home" fio "${verify[@]}" --verify_only=1
	ends "waited"
	dmsetup remove both
	dmsetup remove log
}

is_all_home() {
	local i
	for ((i = 0; i < 1200 && $(status_dirty ressd) > 0; i++)); do
		pause 0.05
	done
	equals 0 status_dirty ressd
}

idle_time_is_used() {
	make_ressd ressd /dev/d0 "$reserved" pace idle on_full wait
	small_writes "idle" 2M
	check "idle: all comes home" is_all_home
	copy_device /dev/mapper/ressd /tmp/before
	forget_cache
	check "idle: the bare device holds it, but for what is covered" cmp -i $((17 * 4096)) \
		-n "$(($(stat -c %s /tmp/before) - 17 * 4096))" /tmp/before /dev/d0
	small_writes "idle again" 2M --randseed=77
	check "idle again: all comes home" is_all_home
	dmsetup message ressd 0 set pace even
	small_writes "even" 1M
	sleep 1
	check "even: nothing moves without need" test "$(status_dirty ressd)" -gt 0
	dmsetup message ressd 0 set pace idle
	check "even, then idle: all comes home" is_all_home
	ends "idle"
}

# Found by SQLite on a memory card: what the log had was home, and small writes went direct, but each sync after one that
# replaced a logged block wrote a record. So a log that the route leaves is drained.
left_log_is_drained() {
	local records
	local small=(--name=small --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --offset=1M --size=32M --direct=1
		--invalidate=0 --randseed="$seed" --output=/tmp/fio-output)
	make_ressd ressd /dev/d0 "$reserved" cover on pace idle on_full wait route adaptive log_cost_us 1
	fio "${small[@]}" --io_size=8M
	check "left: the log is taken at first" at_least ressd accepted 256
	check "left: all comes home" is_all_home
	dmsetup message ressd 0 set log_cost_us 10000000
	fio "${small[@]}" --io_size=8M
	check "left: the log is drained" wait_until equals 0 status_value ressd covered
	records=$(status_value ressd records)
	# Too few for a trial of the log with syncs.
	fio "${small[@]}" --io_size=128k --fsync=1
	check "left: what replaces its blocks needs no record" equals "$records" status_value ressd records
	ends "left"
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

# gated_log: ressd whose mover is off, on a disk whose normal area is behind the gate "home". Covers would
# have to pass it first. No timer writes a record before it is full: how many blocks are used is counted on.
gated_log() {
	local normal=$((64 * 2048 - 32768))
	blkdiscard -f /dev/d0
	make_gate home /dev/d0 0 "$normal"
	dmsetup create gated --table "0 $normal linear /dev/mapper/home 0
$normal 32768 linear /dev/d0 $normal"
	make_ressd ressd /dev/mapper/gated 32768 cover off on_full wait segment_sectors 4096 \
		move_threshold 95 move_batch_sectors 8192 commit_interval_ms 60000
	dmsetup message ressd 0 mover off
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
	gated_log
	fio --name=fill --filename=/dev/mapper/ressd --rw=write:4k --bs=4k --size=12000k \
		--io_size=9200k --direct=1 --output=/tmp/fio-output
	# Each write is a record of its own: nothing is left that a timer would write, and wake us.
	dmsetup message ressd 0 set commit writethrough
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
	gated_log
	fio --name=fill --filename=/dev/mapper/ressd --rw=write:4k --bs=4k --size=12000k \
		--io_size=9200k --direct=1 --output=/tmp/fio-output
	dmsetup message ressd 0 set commit writethrough
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
	gated_log
	fio --name=fill --filename=/dev/mapper/ressd --rw=write:4k --bs=4k --size=40M --number_ios=3100 \
		--direct=1 --end_fsync=1 --output=/tmp/fio-output
	dmsetup message ressd 0 set commit writethrough
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

# gated_records: ressd whose records are behind the gate "log", and that keeps to four units of 4 MiB: a batch is logged up to
# the end of its first unit. No timer writes a record.
gated_records() {
	local normal=$((64 * 2048 - reserved))
	blkdiscard -f /dev/d0
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	dmsetup create both --table "0 $normal linear /dev/d0 0
$normal $reserved linear /dev/mapper/log 0"
	make_ressd ressd /dev/mapper/both "$reserved" cover off on_full wait open_units 4 \
		move_block_sectors 8192 small_write_sectors 256 commit_interval_ms 60000
}

remove_gated_records() {
	ends "$1"
	dmsetup remove both
	dmsetup remove log
}

# ascending_writes OUTPUT: a batch over four units, of 8 KiB with 4 KiB between them, many at a time: 682 blocks are to be logged,
# where RAM takes 508.
ascending_writes() {
	fio --name=batch --filename=/dev/mapper/ressd --rw=write:4k --bs=8k --size=16M --direct=1 --ioengine=libaio \
		--iodepth=2048 --iodepth_batch=64 --number_ios=1300 --verify=crc32c --output="$1"
}

# is_blank MIB: the disk there, of its normal area.
is_blank() {
	cmp -n 1048576 /dev/zero <(dd if=/dev/d0 bs=1M skip="$1" count=1 iflag=direct status=none)
}

# The least of which a quarter can hold a unit of 4 MiB; sectors.
four_units=32768

# hold_batch NAME: the first unit of a batch waits for records, and so does the direct second one. Sets load.
hold_batch() {
	gated_records
	close_gate log writes
	ascending_writes /tmp/load-output 2>/tmp/load-errors &
	load=$!
	wait_until at_least ressd writes 1300
	wait_until fails equals 0 writes_at_gate log
	sleep 0.5
	check "$1: the second unit waits" is_blank 4
}

# batch_has_ended NAME: with all that it wrote.
batch_has_ended() {
	local status=0
	check "$1: the batch ends" ended "$load"
	wait "$load" || status=$?
	check "$1: and finds no difference" equals 0 echo "$status"
	check "$1: the second unit is direct" fails is_blank 4
	remove_gated_records "$1"
}

# Found with buffered writes on the Super Talent drive: the second unit of a batch, which is direct, passed the first one's
# writes, which waited for records; the drive changed between the two with each write.
batch_keeps_its_order() {
	local load reserved=$four_units
	hold_batch "order"
	check "order: the first unit is logged as far as RAM takes it" at_least ressd accepted 400
	open_gate log
	batch_has_ended "order"
}

# A suspend waits for writes that are held, and these for records, which go on meanwhile.
held_batch_is_suspended() {
	local load suspender reserved=$four_units
	hold_batch "suspended batch"
	dmsetup suspend ressd &
	suspender=$!
	sleep 0.5
	check "suspended batch: the suspend waits for it" kill -0 "$suspender"
	open_gate log
	check "suspended batch: and ends" ended "$suspender"
	wait "$suspender"
	dmsetup resume ressd
	batch_has_ended "suspended batch"
}

# The log fails while writes are held: each ends, whether well or not.
held_batch_loses_its_log() {
	local load status=0 reserved=$four_units
	hold_batch "lost log"
	dmsetup load log --table "0 $reserved error"
	dmsetup resume log
	check "lost log: the batch ends" ended "$load"
	wait "$load" || status=$?
	check "lost log: with an error" fails equals 0 echo "$status"
	check "lost log: is removed" dmsetup remove ressd
	dmsetup remove both
	dmsetup remove log
}

# But it waits for records only, not until a log that is full has room: the mover cannot read what it is to move.
batch_waits_for_no_room() {
	local load writes
	gated_records
	close_gate log reads
	fio --name=fill --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --offset=30M --size=20M \
		--number_ios=2200 --direct=1 --ioengine=libaio --iodepth=32 --output=/tmp/fill-output &
	wait_until fails equals 0 reads_at_gate log
	wait_until at_least ressd accepted 1500
	sleep 0.5
	writes=$(status_value ressd writes)
	ascending_writes /tmp/load-output &
	load=$!
	wait_until at_least ressd writes $((writes + 1300))
	check "no room: the batch waits" kill -0 "$load"
	check "no room: but not its last unit" wait_until fails is_blank 12
	open_gate log
	check "no room: the batch ends" ended "$load"
	wait
	remove_gated_records "no room"
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
scenario visits_and_writers_keep_step
scenario writers_are_told_of_moves
scenario waiting_writer_ends_in_a_direct_trial
scenario writers_do_not_use_up_little_room
scenario batch_keeps_its_order
scenario held_batch_is_suspended
scenario held_batch_loses_its_log
scenario batch_waits_for_no_room
scenario piece_waits_quietly
blkdiscard -f /dev/d0
scenario both_ways_are_tried
scenario known_cost_needs_no_trial
scenario mover_rests_for_a_direct_trial
scenario situations_change
scenario large_writes_are_judged
scenario adaptive_load
scenario lost_trial_logs_little
scenario waited_writes_supersede
blkdiscard -f /dev/d0
scenario trial_meets
scenario idle_time_is_used
scenario left_log_is_drained
blkdiscard -f /dev/d0
scenario waiting_sweep_holds_up_nobody
finish
