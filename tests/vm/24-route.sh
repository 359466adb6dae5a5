#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 24-route.sh: which way writes take: route adaptive with its trials, and the order of a batch that
# goes both ways. Nothing is lost, nobody waits for ever. What is faster is for tools/bench.sh to say.
#   24-route.sh [SEED [FUNCTION]]
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

# small_writes_by_way: the sum of those that the log took, of those that the route sent direct, and of those
# for which the log had no room; all of one block.
small_writes_by_way() {
	echo $(($(status_value ressd accepted) + $(status_value ressd adaptive_direct) +
		$(status_value ressd bypassed)))
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

# part_log: /dev/d0 is blank, its end is the device "log", which can be a gate, all of it "both".
part_log() {
	local normal=$((64 * 2048 - reserved))
	blkdiscard -f /dev/d0
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	dmsetup create both --table "0 $normal linear /dev/d0 0
$normal $reserved linear /dev/mapper/log 0"
}

join_log() {
	dmsetup remove both
	dmsetup remove log
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
	part_log
	trial_ends "on_full wait" wait
	trial_ends "on_full bypass" bypass
	trial_ends "writethrough later" wait dmsetup message ressd 0 set commit writethrough
	trial_ends "suspend" wait dmsetup suspend ressd
	trial_ends "drain" wait dmsetup message ressd 0 drain
	trial_ends "mover off" wait dmsetup message ressd 0 mover off
	trial_ends "route never" wait dmsetup message ressd 0 set route never
	join_log
}

# Writes that have waited for a trial that is lost go direct, to blocks that the trial has logged: what they write is newer.
waited_writes_supersede() {
	local waits second logged i
	local small=(--filename=/dev/mapper/ressd --rw=randwrite --bs=4k --direct=1 --invalidate=0
		--randseed="$seed")
	local verify=(--name=second "${small[@]}" --size=256k --ioengine=libaio --iodepth=64 --verify=crc32c
		--output=/tmp/fio-output)
	part_log
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
	join_log
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
	check "left: all comes home" wait_until equals 0 status_dirty ressd
	dmsetup message ressd 0 set log_cost_us 10000000
	fio "${small[@]}" --io_size=8M
	check "left: the log is drained" wait_until equals 0 status_value ressd covered
	records=$(status_value ressd records)
	# Too few for a trial of the log with syncs.
	fio "${small[@]}" --io_size=128k --fsync=1
	check "left: what replaces its blocks needs no record" equals "$records" status_value ressd records
	ends "left"
}

# gated_records: ressd whose records are behind the gate "log", and that keeps to four units of 4 MiB: a batch is logged up to
# the end of its first unit. No timer writes a record.
gated_records() {
	part_log
	make_ressd ressd /dev/mapper/both "$reserved" cover off on_full wait open_units 4 \
		move_block_sectors 8192 small_write_sectors 256 commit_interval_ms 60000
}

remove_gated_records() {
	ends "$1"
	join_log
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
	join_log
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

# flushed_writes SIZE FIRST COUNT: in order, from block FIRST of that size on, a flush behind each.
flushed_writes() {
	dd if=/dev/zero of=/dev/mapper/ressd "bs=$1" "seek=$2" "count=$3" oflag=direct,dsync status=none
}

# Three units of 1 MiB, of which the log takes the first one; of what is less than a page for each flush it takes all.
# The mover is off: what it had visited by then, on a slow machine, would count.
flushed_run_is_direct() {
	make_ressd ressd /dev/d0 "$reserved" cover off small_write_sectors 256 open_units 2 \
		move_block_sectors 2048 log_page_sectors 128
	dmsetup message ressd 0 mover off
	flushed_writes 64k 0 48
	check "flushed run: it opens the second unit" equals 256 status_value ressd accepted
	flushed_writes 32k 256 64
	check "flushed run: less than a page is logged" equals 768 status_value ressd accepted
	ends "flushed run"
}

# The log has a block of each write in the second and third unit. What goes over these directly makes each flush write
# a record, in the only open unit: so only the first write into each goes there.
flushed_run_is_beside_records() {
	local i
	make_ressd ressd /dev/d0 "$reserved" cover off small_write_sectors 256 open_units 1 \
		move_block_sectors 2048 log_page_sectors 128
	dmsetup message ressd 0 mover off
	for ((i = 47; i >= 16; i--)); do
		dd if=/dev/zero of=/dev/mapper/ressd bs=4k "seek=$((i * 16 + 5))" count=1 oflag=direct status=none
	done
	check "flushed run: blocks of it are in the log" equals 32 status_value ressd accepted
	flushed_writes 64k 0 48
	check "flushed run: it leaves the only unit to records" equals 768 status_value ressd accepted
	ends "flushed run beside records"
}

load dm-ressd
make_disk d0 64
scenario flushed_run_is_direct
scenario flushed_run_is_beside_records
scenario batch_keeps_its_order
scenario held_batch_is_suspended
scenario held_batch_loses_its_log
scenario batch_waits_for_no_room
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
scenario left_log_is_drained
finish
