#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 88-recovery-time.sh: how long the recovery of a full log takes on an emulated drive that reads 110
# MB/s and takes a quarter of a millisecond for 4 KiB, in the guest's virtual time; that its memory
# does not depend on what the log holds; and that a long recovery, or search of a blank area, tells its
# progress and can be interrupted.
#   88-recovery-time.sh [SEED [FUNCTION]]
# guest: --mode benchmark --memory 1536M --timeout 900 --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/samsung.conf
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
log_mib=256
reserved=$((log_mib * 2048))

ssd() {
	sh ./ssdsim.sh "$@"
}

# small_writes COUNT OFFSET_MIB SIZE_MIB: none of them next to another one, so that all go to the log.
small_writes() {
	fio --name=fill --filename=/dev/mapper/ressd --rw=write:4k --bs=4k --offset="${2}M" --size="${3}M" \
		--number_ios="$1" --direct=1 --buffer_pattern=0x5a --output=/tmp/fio-output
}

# The newest two segments hold commits of one block: those have the most headers to read.
fill_log() {
	dmsetup message ressd 0 mover off
	small_writes 60500 0 500
	dmsetup message ressd 0 set commit writethrough
	small_writes 1000 600 100
	test "$(status_value ressd bypassed)" -eq 0
}

# used_percent: of the log.
used_percent() {
	local used
	used=$(dmsetup status ressd | cut -d ' ' -f 4)
	echo $((${used%/*} * 100 / ${used#*/}))
}

memory_of_ressd() {
	echo $(($(status_value ressd map_bytes) + $(status_value ressd buffer_bytes)))
}

recovery_of_a_full_log() {
	local before ms memory
	make_ressd ressd /dev/ssd0 "$reserved" on_full bypass
	memory=$(memory_of_ressd)
	check "the log is filled" fill_log
	check "it is full to nine tenths ($(used_percent) percent)" test "$(used_percent)" -ge 90
	before=$(status_dirty ressd)
	dmsetup remove ressd
	forget_cache
	check "it is recovered" make_ressd ressd /dev/ssd0 "$reserved"
	check "nothing is missing" equals "$before" status_dirty ressd
	check "in the memory that an empty log has" equals "$memory" memory_of_ressd
	ms=$(status_value ressd recovery_ms)
	echo "# $log_mib MiB of log with $before blocks in $ms ms: $(dmesg | grep 'recovered' | tail -n 1)"
	echo "# result recovery/samsung/seconds-per-gib $(awk "BEGIN { print $ms * 1024 / $log_mib / 1000 }") s <1"
	check "in less than a second per GiB" test $((ms * 1024 / log_mib)) -lt 1000
	dmsetup remove ressd
}

# Each command takes a fifth of a second more.
long_recovery_tells_its_progress() {
	local mark
	dmesg_mark
	ssd fault ssd0 read slow_us=200000 "range=$normal+$reserved"
	check "on a slow drive: it is recovered" make_ressd ressd /dev/ssd0 "$reserved"
	ssd faults ssd0 clear
	check "on a slow drive: it took more than five seconds" at_least ressd recovery_ms 5000
	check "on a slow drive: its progress is told" eval \
		"dmesg_since $mark | finds 'the log is being recovered, [0-9]* of [0-9]* steps are done'"
	dmsetup remove ressd
}

# A blank area is searched for old contents before it is formatted: 512 reads of 512 KiB, each of which takes a
# fifth of a second more.
long_search_ends_by_a_signal() {
	local mark creator
	dmesg_mark
	blkdiscard -f /dev/ssd0
	ssd fault ssd0 read slow_us=200000 "range=$normal+$reserved"
	dmsetup create ressd --table "$(table_line /dev/ssd0 "$reserved")" 2>/dev/null &
	creator=$!
	check "search of a blank area: its progress is told" wait_until eval \
		"dmesg_since $mark | finds 'searched for old contents, [0-9]* of $((reserved / 8)) blocks are done'"
	kill -KILL "$creator"
	check "search of a blank area: killed, it ends" ended "$creator"
	check "search of a blank area: it says so" eval \
		"dmesg_since $mark | finds 'search of the reserved area was interrupted'"
	ssd faults ssd0 clear
	dmsetup info ressd >/dev/null 2>&1 && dmsetup remove ressd
	check "search of a blank area: nothing was written" cmp -n 1048576 -i $((normal * 512)):0 /dev/ssd0 /dev/zero
	check "search of a blank area: then it is formatted" make_ressd ressd /dev/ssd0 "$reserved"
	dmsetup remove ressd
}

load ssdsim
load dm-ressd
ssd create ssd0 samsung.conf capacity_mb=1024 discard=1
normal=$(($(sectors_of /dev/ssd0) - reserved))
scenario recovery_of_a_full_log
scenario long_recovery_tells_its_progress
scenario long_search_ends_by_a_signal
finish
