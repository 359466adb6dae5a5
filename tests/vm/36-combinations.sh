#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 36-combinations.sh: devices of which each two options stand beside each other in one (combinations.py): fio finds what
# it wrote, while it writes and reads, when the device was created again, and after a drain on the bare disk.
#   36-combinations.sh [SEED [NUMBER]]: the device of that line of combinations.txt alone, the first one is 1
# guest: --memory 1G --timeout 900 --file tests/vm/combinations.txt
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384
disk=/dev/d0
mapfile -t devices < <(grep -v '^#' combinations.txt)

# Each sector of a block says where it lies, and which time of writing it is from: what is older, or was meant for
# another place, is a difference.
write_jobs() {
	cat >/tmp/jobs.fio <<-'END'
		[global]
		filename=${DEVICE}
		direct=1
		ioengine=libaio
		iodepth=32
		verify=pattern
		verify_pattern=${TIME}%o
		verify_fatal=1
		randseed=${SEED}
		[small]
		rw=randwrite
		bs=4k
		size=2M
		[odd]
		rw=randwrite
		bsrange=512-16k
		blockalign=512
		offset=8M
		size=512k
		[large]
		rw=randwrite
		bsrange=4k-256k
		blockalign=4k
		offset=16M
		size=8M
	END
}

# run_fio DEVICE TIME [OPTION...]: each time writes the same places, in another order and in other pieces.
run_fio() {
	DEVICE=$1 TIME="\"time $2: \"" SEED=$((seed + $2)) fio "${@:3}" --output=/tmp/fio-output /tmp/jobs.fio
}

# value_of KEY OPTION VALUE...: of these options.
value_of() {
	local key=$1
	shift
	while [ $# -gt 0 ] && [ "$1" != "$key" ]; do
		shift 2
	done
	echo "${2:-}"
}

# state_is NAME ROUTE
state_is() {
	if [ "$2" = never ]; then
		equals bypass status_state "$1"
	else
		equals rw status_state "$1"
	fi
}

# works_as NAME OPTION VALUE...: what status says after the load.
works_as() {
	local name=$1 route
	shift
	route=$(value_of route "$@")
	check "$name: nothing is held any more" equals 0 status_value ressd held
	[ "$(value_of dispatch "$@")" = none ] || check "$name: some was" at_least ressd most_held 2
	check "$name: no errors" equals 0 status_value ressd errors
	check "$name: its state" state_is ressd "$route"
	# Which small writes are logged is with other options for the device to decide.
	case "$route $(value_of open_units "$@")" in
	"never "*) check "$name: nothing was logged" equals 0 status_value ressd accepted ;;
	"always 0") check "$name: the log was at work" at_least ressd accepted 50 ;;
	esac
}

# device NUMBER OPTION VALUE...
device() {
	local name="device $1"
	shift
	echo "# $name: $*"
	check "$name: a blank disk" blkdiscard "$disk"
	check "$name: is created" make_ressd ressd "$disk" "$reserved" "$@"
	check "$name: fio writes" run_fio /dev/mapper/ressd 1 --do_verify=0
	check "$name: fio finds what it writes over that" run_fio /dev/mapper/ressd 2 --verify_backlog=64
	works_as "$name" "$@"
	check "$name: is removed" dmsetup remove ressd
	check "$name: is created again" make_ressd ressd "$disk" "$reserved" "$@"
	check "$name: fio finds it there" run_fio /dev/mapper/ressd 2 --verify_only=1
	check "$name: drains" dmsetup message ressd 0 drain
	check "$name: holds nothing" equals 0 status_dirty ressd
	check "$name: is removed for good" dmsetup remove ressd
	check "$name: fio finds it on the bare disk" run_fio "$disk" 2 --verify_only=1
}

load dm-ressd
# A disk that takes its time, so that there is something to hold.
make_disk d0 96 max_sectors=2560 irqmode=2 completion_nsec=400000
keep_shaping
write_jobs
check "there are devices" test "${#devices[@]}" -gt 10
for number in "${!devices[@]}"; do
	[ -z "$only" ] || [ "$only" -eq $((number + 1)) ] || continue
	# shellcheck disable=SC2086 # words
	device $((number + 1)) ${devices[number]}
done
finish
