#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 34-hibernation.sh: the memory of a hibernating system is saved as it was when all processes had been
# stopped, but the kernel's threads run on while it is written. The log must not go on then: the kernel
# that has been restored writes over the records that came meanwhile, and after a power cut their
# claims would have recovery take it for damaged. (The kernel's own test of hibernation: it stops all
# processes, waits for five seconds, and lets them go on.) Discards: 45-discard.
#   34-hibernation.sh [SEED [FUNCTION]]
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=4096

hibernate() {
	echo freezer >/sys/power/pm_test && echo disk >/sys/power/state
}

# Writes of a stopped process that come late, by way of a device that takes its time.
late_writes() {
	local load before
	check "late: a device" make_ressd ressd /dev/d0 "$reserved" cover off on_full wait commit_interval_ms 10
	check "late: a slow one over it" dmsetup create late --table \
		"0 32768 delay /dev/mapper/ressd 0 0 /dev/mapper/ressd 0 3000"
	# A write that waits in io_getevents() lets its process be stopped.
	fio --name=late --filename=/dev/mapper/late --rw=randwrite --bs=4k --size=8M --number_ios=64 --direct=1 \
		--ioengine=libaio --iodepth=64 --iodepth_batch=64 --randseed="$seed" --output=/tmp/fio-output &
	load=$!
	check "late: they are on their way" wait_until equals 64 writes_at_gate late
	before=$(status_value ressd writes)
	check "late: hibernation" hibernate
	ends_well "late: they have ended" "$load"
	check "late: they have come" equals $((before + 64)) status_value ressd writes
	check "late: none is in the log" equals 0 status_value ressd accepted
	check "late: a small write after that" dd if=/dev/zero of=/dev/mapper/ressd bs=4k count=1 seek=99 \
		oflag=direct status=none
	check "late: is logged" equals 1 status_value ressd accepted
	dmsetup remove late && dmsetup remove ressd
}

# full_log OPTION...: a device whose mover will take a minute for a sweep: each of its writes takes 50 ms.
full_log() {
	dmsetup create home --table "0 65536 delay /dev/d0 0 0 /dev/d0 0 50"
	dmsetup create ressd --table "0 65536 ressd /dev/mapper/home 0 /dev/d0 65536 $reserved \
		$((8 + $#)) cover off commit_interval_ms 10 pace burst move_batch_sectors 8 $*"
}

# moves_on NUMBER: more blocks have been written back, or appended again.
moves_on() {
	[ $(($(status_value ressd moved_blocks) + $(status_value ressd kept_blocks))) -gt "$1" ]
}

# A sweep that has begun stops, and goes on afterwards.
sweep_stops() {
	local before after
	check "sweep: a device" full_log
	check "sweep: the mover is off" dmsetup message ressd 0 mover off
	check "sweep: the log fills" fio --name=fill --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=16M \
		--number_ios=420 --direct=1 --randseed="$seed" --output=/tmp/fio-output
	dmsetup message ressd 0 set move_threshold 95
	dmsetup message ressd 0 mover on
	check "sweep: it has begun" wait_until moves_on 1
	before=$(status_value ressd moved_blocks)
	check "sweep: hibernation" hibernate
	after=$(status_value ressd moved_blocks)
	echo "# sweep: moved before $before, after $after"
	check "sweep: hardly a block was moved in five seconds" test $((after - before)) -le 40
	check "sweep: then it goes on" wait_until moves_on $((after + 40))
	dmsetup remove ressd && dmsetup remove home
}

load dm-ressd
make_disk d0 64
scenario late_writes
scenario sweep_stops
finish
