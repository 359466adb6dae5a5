#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 45-discard.sh: with log_discard on the log's segments are discarded when they hold nothing: which
# ones, when, under load, under errors, in hibernation, and on devices that take no discards.
#   45-discard.sh [SEED [FUNCTION]]
# guest: --timeout 600 --file tests/vm/errors.sh --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/intel.conf --file tests/ssdsim/profiles/supertalent.conf
# shellcheck disable=SC2016,SC2119 # for eval; make_drive works without arguments
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/errors.sh
. ./errors.sh

take_arguments "$@"
few=1024                         # a longer segment, for scripts that look at each
slots=$((reserved / segment))
few_slots=$((reserved / few))

discards_are() {
	equals "$1" status_value "${2:-ressd}" log_discards
}

# sent_to DISK: discards that the disk has got, by the block layer's count.
sent_to() {
	awk '{ print $12 }' "/sys/block/$1/stat"
}

# blank_disk DISK
blank_disk() {
	blkdiscard -f "/dev/$1"
}

# used_slots DISK: segments of its reserved area, which is at its end, that are not all zero.
used_slots() {
	local slot used=0 bytes=$((few * 512))
	for ((slot = 0; slot < few_slots; slot++)); do
		cmp -s -n "$bytes" -i $((($(sectors_of "/dev/$1") - reserved) * 512 + slot * bytes)):0 \
			"/dev/$1" /dev/zero || used=$((used + 1))
	done
	echo "$used"
}

make_few() {
	make_ressd ressd /dev/d0 "$reserved" segment_sectors "$few" "$@"
}

# Off by default; once on, all but the segment in use and the next one; then each when it is empty.
slots_are_discarded() {
	local before
	blank_disk d0
	rm -f /tmp/journal
	make_few
	check "off by default: a load" oracle run --operations 300
	check "off by default: drained" dmsetup message ressd 0 drain
	check "off by default: none is sent" discards_are 0
	check "off by default: the log is full of old blocks" eval '[ "$(used_slots d0)" -gt 6 ]'
	before=$(sent_to d0)
	check "the mover is off" dmsetup message ressd 0 mover off
	check "switched on by a message" dmsetup message ressd 0 set log_discard on
	check "none without the mover" discards_are 0
	check "the mover is on" dmsetup message ressd 0 mover on
	check "all but two are discarded" wait_until discards_are $((few_slots - 2))
	check "the table says so" grep -q 'log_discard on' <(dmsetup table ressd)
	check "each by one command" equals $((few_slots - 2)) eval "echo \$((\$(sent_to d0) - $before))"
	forget_cache
	# The two that are left, and the two that hold a superblock.
	check "and hold nothing" at_most "$(used_slots d0)" 4
	check "a load on a log that was discarded" oracle run --operations 800
	check "drained" dmsetup message ressd 0 drain
	check "again and again" at_least ressd log_discards $((few_slots + 5))
	check "is removed" dmsetup remove ressd
	check "and found again" make_few log_discard on
	check "everything is there" oracle check
	check "once more after an activation" wait_until at_least ressd log_discards $((few_slots - 2))
	check "everything is still there" oracle check
	dmsetup remove ressd
	check "ressdctl check finds no fault" ressdctl check /dev/d0
}

# A young log: nothing of it was used yet.
young_log() {
	blank_disk d0
	rm -f /tmp/journal
	make_few log_discard on on_full wait
	check "young log: what it has not come to is discarded, too" wait_until \
		discards_are $((few_slots - 2))
	check "young log: a load" oracle run --operations 200 --flush-percent 10
	dmsetup remove ressd
	check "young log: ressdctl check finds no fault" ressdctl check /dev/d0
	make_few
	check "young log: everything is there" oracle check
	dmsetup remove ressd
}

# Slots whose discard is in flight are entered by no write: the fourth one is behind a gate.
slot_in_flight() {
	local first=$(($(sectors_of /dev/d0) - reserved)) gated load
	blank_disk d0
	rm -f /tmp/journal
	gated=$((first + 4 * segment))
	make_gate gate /dev/d0 "$gated" "$segment"
	dmsetup create lower <<-END
		0 $gated linear /dev/d0 0
		$gated $segment linear /dev/mapper/gate 0
		$((gated + segment)) $((reserved - 5 * segment)) linear /dev/d0 $((gated + segment))
	END
	make_ressd ressd /dev/mapper/lower "$reserved" segment_sectors "$segment" on_full bypass
	# The blank area's first segment is number 1, in slot 1; so slot 3 is the first to go.
	check "in flight: on" dmsetup message ressd 0 set log_discard on
	check "in flight: the fourth waits at the gate" wait_until equals 1 writes_at_gate gate
	discards_are 1 || fail "in flight: the third is done" "$(dmsetup status ressd)"
	oracle run --operations 400 --small --flush-percent 0 >/tmp/load-output 2>&1 &
	load=$!
	check "in flight: the log is full before the fourth" wait_until at_least ressd bypassed 1
	check "in flight: no write goes beside the discard" equals 1 writes_at_gate gate
	check "in flight: status and table answer" eval \
		'dmsetup status ressd && dmsetup table ressd'
	open_gate gate
	check "in flight: the load ends" ended "$load"
	wait "$load" || fail "in flight: the load has found no difference" "$(cat /tmp/load-output)"
	# How many there are is the load's to say; while the gate was closed there was one.
	check "in flight: the others follow" wait_until at_least ressd log_discards 15
	check "in flight: another load" oracle run --operations 400
	check "in flight: drained" dmsetup message ressd 0 drain
	check "in flight: everything is there" oracle check
	dmsetup remove ressd
	dmsetup remove lower
	dmsetup remove gate
}

# One that is in flight is waited for, none begins while the device is suspended.
suspended() {
	local before
	ssd create ssd1 "$PWD/intel.conf" capacity_mb=64 discard=1 prefill=0
	make_ressd ressd /dev/ssd1 "$reserved" segment_sectors "$segment"
	ssd fault ssd1 discard slow_us=400000
	dmsetup message ressd 0 set log_discard on
	check "suspend: discards are on their way" wait_until at_least ressd log_discards 2
	check "suspend: the mover is there" grep -qs ressd_mv /proc/[0-9]*/comm
	check "suspend: in the middle of them" dmsetup suspend ressd
	check "suspend: not all were sent" fails discards_are $((slots - 2))
	before=$(status_value ressd log_discards)
	check "suspend: nothing is in flight" equals "0 0" eval \
		'xargs </sys/block/ssd1/inflight'
	check "suspend: the mover is gone" fails grep -s ressd_mv /proc/[0-9]*/comm
	check "suspend: the counter stands" discards_are "$before"
	check "suspend: resumed" dmsetup resume ressd
	check "suspend: they go on" wait_until at_least ressd log_discards $((before + 2))
	check "suspend: removed in the middle of them" dmsetup remove ressd
	ssd faults ssd1 clear
	make_ressd ressd /dev/ssd1 "$reserved" segment_sectors "$segment" log_discard on
	check "suspend: all of them after a new activation" wait_until discards_are $((slots - 2))
	dmsetup remove ressd
	ssd remove ssd1
}

in_flight_at() {
	local reads writes
	read -r reads writes <"/sys/block/$1/inflight"
	[ $((reads + writes)) -gt 0 ]
}

# The mover, at rest, waits until the drive takes the second half of a discard: no writer waits for it
# meanwhile, though it is to begin as soon as it has time.
writer_beside_a_discard() {
	local load sent
	ssd create ssd1 "$PWD/intel.conf" capacity_mb=64 discard=1 prefill=0 queue_depth=1
	echo none >/sys/block/ssd1/queue/scheduler
	echo $((segment * 256)) >/sys/block/ssd1/queue/discard_max_bytes
	make_ressd ressd /dev/ssd1 "$reserved" segment_sectors "$segment" cover off on_full wait \
		commit_interval_ms 60000
	check "beside a discard: the log is in use" fio --name=fill --filename=/dev/mapper/ressd \
		--rw=randwrite --bs=4k --size=8M --number_ios=200 --direct=1 --end_fsync=1 --output=/tmp/fio-output
	ssd fault ssd1 discard slow_us=5000000
	dmsetup message ressd 0 set log_discard on
	check "beside a discard: it is on its way" wait_until in_flight_at ssd1
	pause 0.5
	sent=$(sent_to ssd1)
	dmsetup message ressd 0 set move_threshold 95
	put 12000 a &
	load=$!
	check "beside a discard: a small write is not held up" ended "$load"
	check "beside a discard: which has not ended" equals "$sent" sent_to ssd1
	ssd faults ssd1 clear
	check "beside a discard: then the mover moves" wait_until at_least ressd moved_blocks 1
	wait "$load"
	dmsetup remove ressd
	ssd remove ssd1
}

# A suspend stops the mover at the end of a batch, which waits at the gate "home". What that has emptied
# is to be announced, but the log is full up to a segment whose discard is in flight, at the gate "gate".
# When that ends, too, the log must not go on by itself: with the summary of the segment that it leaves,
# at the gate "tail". The next table would have recovered the log by then, or the memory be free.
suspended_with_a_sync_left() {
	local first=$(($(sectors_of /dev/d0) - reserved)) gated tail suspend drain resume threads status i
	blank_disk d0
	gated=$((first + 4 * segment))
	tail=$((gated - 8))
	make_gate home /dev/d0 160 8
	make_gate gate /dev/d0 "$gated" "$segment"
	dmsetup create tail --table "0 8 linear /dev/d0 $tail"
	dmsetup create lower <<-END
		0 160 linear /dev/d0 0
		160 8 linear /dev/mapper/home 0
		168 $((tail - 168)) linear /dev/d0 168
		$tail 8 linear /dev/mapper/tail 0
		$gated $segment linear /dev/mapper/gate 0
		$((gated + segment)) $((reserved - 5 * segment)) linear /dev/d0 $((gated + segment))
	END
	make_ressd ressd /dev/mapper/lower "$reserved" segment_sectors "$segment" cover off \
		on_full bypass commit_interval_ms 60000 log_discard on
	check "sync left: a discard waits" wait_until equals 1 writes_at_gate gate
	for ((i = 0; i < 120; i++)); do
		[ "$(status_value ressd bypassed)" = 0 ] || break
		put $((20 + i * 3)) a
	done
	check "sync left: the log is full up to there" at_least ressd bypassed 1
	close_gate tail writes
	dmsetup message ressd 0 drain 2>/dev/null &
	drain=$!
	check "sync left: the mover writes" wait_until equals 1 writes_at_gate home
	dmsetup suspend ressd &
	suspend=$!
	check "sync left: the drain is given up" ended "$drain"
	check "sync left: the mover shall stop" wait_until grep -q kthread_stop "/proc/$suspend/wchan"
	open_gate home
	check "sync left: and does" wait_until fails grep -q kthread_stop "/proc/$suspend/wchan"
	check "sync left: the suspend waits for the discard" kill -0 "$suspend"
	open_gate gate
	check "sync left: it is suspended then" ended "$suspend"
	check "sync left: and nothing is written" eval 'pause 1; equals 0 writes_at_gate tail'
	# Nor when a resume has failed, for it is suspended still: as the system has no thread for the mover,
	# which a SIGKILL does, too.
	rm -f /tmp/go
	(until [ -e /tmp/go ]; do :; done; exec dmsetup resume ressd 2>/dev/null) &
	resume=$!
	threads=$(</proc/sys/kernel/threads-max)
	echo 1 >/proc/sys/kernel/threads-max
	: >/tmp/go
	wait "$resume"
	status=$?
	echo "$threads" >/proc/sys/kernel/threads-max
	check "sync left: a resume without a thread fails" [ "$status" != 0 ]
	dmsetup message ressd 0 mover on
	check "sync left: and nothing is written then" eval 'pause 1; equals 0 writes_at_gate tail'
	open_gate tail
	check "sync left: resumed" dmsetup resume ressd
	check "sync left: drained" dmsetup message ressd 0 drain
	check "sync left: everything is at home" eval 'holds 20 a && holds 110 a'
	dmsetup remove ressd
	for i in lower home gate tail; do
		dmsetup remove "$i"
	done
}

# The memory of a hibernating system is saved as it was when all processes had just been stopped, but the kernel's
# threads run on while it is written. What they discard then, the map in that memory still refers to after the
# restore. (The kernel's own test: it stops all processes, waits for five seconds, and lets them go on.)
hibernation() {
	local before
	ssd create ssd1 "$PWD/intel.conf" capacity_mb=64 discard=1 prefill=0
	make_ressd ressd /dev/ssd1 "$reserved" segment_sectors "$segment"
	ssd fault ssd1 discard slow_us=400000
	echo freezer >/sys/power/pm_test
	dmsetup message ressd 0 set log_discard on
	check "hibernation: discards are on their way" wait_until at_least ressd log_discards 2
	before=$(status_value ressd log_discards)
	check "hibernation: the kernel's test of it" eval 'echo disk >/sys/power/state'
	check "hibernation: only one or two of them ended meanwhile" test \
		"$(($(status_value ressd log_discards) - before))" -le 3
	check "hibernation: then they go on" wait_until at_least ressd log_discards $((before + 8))
	dmsetup message ressd 0 mover off
	echo disk >/sys/power/state
	before=$(status_value ressd log_discards)
	check "hibernation: a mover that was off stays off" eval 'sleep 3 && [ "$(status_value ressd log_discards)" -le '$((before + 1))' ]'
	dmsetup remove ressd
	ssd remove ssd1
}

# An error of a discard is none of the log.
failing_discards() {
	make_drive
	fresh log_discard on
	check "error: the log is discarded" wait_until discards_are $((slots - 2))
	check "error: a load" oracle run --operations 300
	fault discard "$log_range"
	dmesg_mark
	check "error: a load with failing discards" oracle run --operations 600
	check "error: drained" dmsetup message ressd 0 drain
	check "error: the drive has refused one" wait_until eval '[ "$(fault_count hit)" = 1 ]'
	check "error: it is said once" equals 1 eval \
		'dmesg_since "$mark" | grep -c "a discard of the log has failed; no more are sent until log_discard is set anew"'
	check "error: the log is in service" equals rw status_state ressd
	check "error: and no error of it is counted" equals 0 status_value ressd errors
	check "error: another load" oracle run --operations 300
	check "error: no other one was sent" equals 1 fault_count hit
	heal
	check "error: set anew" dmsetup message ressd 0 set log_discard on
	check "error: drained again" dmsetup message ressd 0 drain
	check "error: they go on" wait_until at_least ressd log_discards $((slots - 1))
	check "error: reopened" reopen log_discard on
	check "error: everything is there" oracle check
	dmsetup remove ressd
	ssd remove ssd0
}

# A device that takes none, and one whose granules (128 KiB) are longer than a segment.
useless_devices() {
	local disk
	make_disk d2 32 discard=0
	ssd create ssd1 "$PWD/supertalent.conf" capacity_mb=256 discard=1 prefill=0
	check "useless: granules of 128 KiB" equals 131072 cat \
		/sys/block/ssd1/queue/discard_granularity
	for disk in d2 ssd1; do
		dmesg_mark
		check "useless: $disk is accepted" make_ressd ressd "/dev/$disk" "$reserved" \
			segment_sectors 128 log_discard on
		check "useless: $disk: it is said" grep -q \
			'log_discard is on, but the reserved device takes no discards of the size of a segment (64 KiB); none are sent' \
			<(dmesg_since "$mark")
		rm -f /tmp/journal
		check "useless: $disk: a load" oracle run --operations 200
		check "useless: $disk: drained" dmsetup message ressd 0 drain
		check "useless: $disk: none was sent" discards_are 0
		check "useless: $disk: in service" equals rw status_state ressd
		dmesg_mark
		check "useless: $disk: off" dmsetup message ressd 0 set log_discard off
		check "useless: $disk: is not said again" fails grep -q 'log_discard is on' \
			<(dmesg_since "$mark")
		dmsetup remove ressd
	done
	# With longer segments the same drive has whole granules in each of them.
	blank_disk ssd1
	check "useless: longer segments" make_ressd ressd /dev/ssd1 "$reserved" \
		segment_sectors 1024 log_discard on
	check "useless: longer segments are discarded" wait_until discards_are \
		$((reserved / 1024 - 2))
	dmsetup remove ressd
	ssd remove ssd1
	remove_disk d2
}

load dm-ressd
load ssdsim
make_disk d0 64
scenario slots_are_discarded
scenario young_log
scenario slot_in_flight
scenario writer_beside_a_discard
scenario suspended
scenario suspended_with_a_sync_left
scenario hibernation
scenario failing_discards
scenario useless_devices
finish
