#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 32-messages.sh: a write that waits goes on as soon as a message has changed what it waits for,
# though the mover, which would let it go on otherwise, stands at a gate; and a device that hangs keeps no
# other one from a message.
#   32-messages.sh [SEED [FUNCTION]]
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384

# gated_ressd [KEY VALUE...]: on /dev/d0, its areas behind the gates "home" and "log". Without
# covers, which would have to pass them.
gated_ressd() {
	local normal=$(($(sectors_of /dev/d0) - reserved))
	set -- cover off on_full wait pace burst "$@"
	dmsetup create home --table "0 $normal linear /dev/d0 0"
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	dmsetup create ressd --table \
		"0 $normal ressd /dev/mapper/home 0 /dev/mapper/log 0 $reserved $# $*"
}

remove_gated_ressd() {
	check "$1: drains" timeout 300 dmsetup message ressd 0 drain
	check "$1: is removed" timeout 300 dmsetup remove ressd
	dmsetup remove home
	dmsetup remove log
}

# small_writes NUMBER [FIO_WORD...]: they ascend, but none is beside another.
small_writes() {
	fio --name=small --filename=/dev/mapper/ressd --rw=write:8k --bs=4k --size=48M \
		--number_ios="$1" --direct=1 --randseed="$seed" --verify=crc32c \
		--output=/tmp/fio-output "${@:2}"
}

# soon COMMAND...: it succeeds within 200 looks. (wait_until has a thousand, minutes on a busy
# machine.)
soon() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" >/dev/null && return
		pause 0.05
	done
	"$@"
}

# no_timer_is_left: the last one that a logged write has set would have waiters looked at, too.
no_timer_is_left() {
	pause 1
}

# A write waits for room that the mover would make.
set_on_full() {
	local load
	make_disk d0 64
	gated_ressd
	dmsetup message ressd 0 mover off
	close_gate home writes
	small_writes 2500 &
	load=$!
	check "on_full: the log is full" wait_until fails equals 0 writes_at_gate home
	no_timer_is_left
	check "on_full: a write waits" kill -0 "$load"
	check "on_full: none went direct" equals 0 status_value ressd bypassed
	check "on_full: set" dmsetup message ressd 0 set on_full bypass
	check "on_full: the write goes direct" soon at_least ressd bypassed 1
	check "on_full: and the mover still stands there" equals 0 status_value ressd moved_blocks
	open_gate home
	ends_well "on_full: the load finds no difference" "$load"
	remove_gated_ressd "on_full"
	remove_disk d0
}

is_at_gate_or_over() {
	fails equals 0 reads_at_gate log || fails kill -0 "$load"
}

# trial_is_moved: small writes, until the mover stands at the gate with what a trial of the log has
# logged; $load writes. A trial that was lost, as on a machine that stood still, is begun anew.
trial_is_moved() {
	local i
	for ((i = 0; i < 5; i++)); do
		small_writes 1500 --rw=randwrite &
		load=$!
		wait_until is_at_gate_or_over
		equals 0 reads_at_gate log || return 0
		dmsetup message ressd 0 set route always
		dmsetup message ressd 0 set route adaptive
	done
	return 1
}

# While a trial of the log is moved nothing is logged; but that ends with the mover off. (5 ms for
# each command, or the log would lose.)
mover_off() {
	local load accepted
	make_disk d0 64 irqmode=2 completion_nsec=5000000
	gated_ressd route adaptive
	close_gate log reads
	trial_is_moved >/dev/null
	no_timer_is_left
	check "mover off: it stands at the gate" fails equals 0 reads_at_gate log
	check "mover off: a write waits" kill -0 "$load"
	accepted=$(status_value ressd accepted)
	check "mover off: none is logged" equals "$accepted" eval \
		'pause 1; status_value ressd accepted'
	check "mover off: sent" dmsetup message ressd 0 mover off
	check "mover off: writes are logged" soon at_least ressd accepted $((accepted + 1))
	check "mover off: and the mover still stands there" equals 0 status_value ressd moved_blocks
	open_gate log
	ends_well "mover off: the load finds no difference" "$load"
	remove_gated_ressd "mover off"
	remove_disk d0
}

# What is written back in idle time is left when the mover is off.
mover_off_in_idle_time() {
	make_disk d0 64
	gated_ressd move_batch_sectors 8
	close_gate home writes
	small_writes 30 --rw=randwrite
	dmsetup message ressd 0 set pace idle
	check "idle mover off: it stands at the gate" wait_until fails equals 0 writes_at_gate home
	check "idle mover off: sent" dmsetup message ressd 0 mover off
	open_gate home
	pause 3
	check "idle mover off: no more than a batch is moved" at_most "$(status_value ressd moved_blocks)" 1
	remove_gated_ressd "idle mover off"
	remove_disk d0
}

# What was written before waits as long as was set then; not what comes later.
set_commit_interval() {
	local records
	make_disk d0 64
	make_ressd ressd /dev/d0 "$reserved" cover off commit_interval_ms 60000
	small_writes 1 --rw=randwrite
	records=$(status_value ressd records)
	check "commit interval: set" dmsetup message ressd 0 set commit_interval_ms 50
	small_writes 1 --rw=randwrite
	check "commit interval: the next write is soon in the log" soon at_least ressd records $((records + 1))
	dmsetup remove ressd
	remove_disk d0
}

# A device that hangs keeps no other one from storing its options.
store_beside_one_that_hangs() {
	local hangs other
	make_disk d0 64
	make_disk d1 64
	gated_ressd
	make_ressd other /dev/d1 "$reserved"
	close_gate log writes
	dmsetup message ressd 0 store pace burst &
	hangs=$!
	check "store: it hangs" wait_until fails equals 0 writes_at_gate log
	dmsetup message other 0 store pace burst &
	other=$!
	check "store: that of another device ends" soon fails kill -0 "$other"
	open_gate log
	ends_well "store: it ends well, too" "$hangs"
	ends_well "store: and so did that of the other device" "$other"
	dmsetup remove other
	remove_gated_ressd "store"
	remove_disk d0
	remove_disk d1
}

load dm-ressd
scenario set_on_full
scenario mover_off
scenario mover_off_in_idle_time
scenario set_commit_interval
scenario store_beside_one_that_hangs
finish
