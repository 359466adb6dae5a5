#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 65-power-cut.sh: the disk loses its write cache at random moments under load, many times, and
# every acknowledged write must be there afterwards. The disk keeps what was flushed, and of the
# rest whatever it happened to evict from its cache.
#   65-power-cut.sh [CUTS [SEED]]
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

cuts=${1:-40}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
normal=65536
reserved=8192
disks=()
echo "# seed $seed"
RANDOM=$((seed % 32768))

variants=(
	"on_full wait"
	"on_full bypass"
	"on_full wait log_align_sectors 32 pace burst log_discard on"
	"commit writethrough on_full wait"
	"on_full wait commit_interval_ms 5 move_threshold 90"
	"on_full wait move_block_sectors 1024 log_page_sectors 64 log_rewrite on"
	"on_full wait dispatch bundle_rp bundle_sectors 2048 dispatch_depth 1 split_write_sectors 72"
	"split_read_sectors 64 split_write_sectors 64 align_sectors 32 dispatch pai dispatch_depth 1 pending_expire_ms 50"
)

# recover CUT: the devices, as after power comes back.
recover() {
	local options disk
	read -r -a options <<<"${variants[$1 % ${#variants[@]}]}"
	for disk in "${disks[@]}"; do
		dmsetup create "lower-$disk" \
			--table "0 $(sectors_of "/dev/$disk") linear /dev/$disk 0" || return 1
	done
	# One disk: the reserved area is at its end. Two: it is on the second.
	dmsetup create ressd --table "0 $normal ressd /dev/mapper/lower-${disks[0]} 0 \
		/dev/mapper/lower-$disk $(($(sectors_of "/dev/$disk") - reserved)) $reserved \
		${#options[@]} ${options[*]}"
}

# All I/O fails from now on, on the last disk first; then the disks forget their caches.
cut() {
	local load=$1 status=0 i
	for ((i = ${#disks[@]} - 1; i >= 0; i--)); do
		fail_all_io "lower-${disks[i]}"
	done
	wait "$load" || status=$?
	dmsetup remove ressd || return 1
	for ((i = 0; i < ${#disks[@]}; i++)); do
		dmsetup remove "lower-${disks[i]}" && cut_power "${disks[i]}" || return 1
	done
	if [ "$status" -ne 3 ]; then
		sed 's/^/# /' /tmp/load-output
		return 1
	fi
}

one_cut() {
	local number=$1 load delay kind=()
	delay=$(((RANDOM * 32768 + RANDOM) % 900 + 10))
	recover "$number" || {
		fail "cut $number: recovery" "it failed"
		return 1
	}
	# Small writes alone take another way through the log: nothing is superseded outside of it.
	[ $((RANDOM % 2)) -eq 0 ] || kind+=(--small)
	: >/tmp/load-output
	oracle run --may-fail --threads 4 --flush-percent 8 "${kind[@]}" >>/tmp/load-output 2>&1 &
	load=$!
	load_begins "$load" || {
		fail "cut $number: what was acknowledged is there" "see below"
		sed 's/^/# /' /tmp/load-output
		return 1
	}
	sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
	cut "$load" || {
		fail "cut $number: the load before it" "see above"
		return 1
	}
	pass "${#disks[@]} disk(s), cut $number after $delay ms ${kind[*]}: $(sed -n 's/.*: \(compared.*\)/\1/p' /tmp/load-output)"
}

# many_cuts COUNT DISK...: on new disks.
many_cuts() {
	local count=$1 number disk
	disks=("${@:2}")
	for disk in "${disks[@]}"; do
		make_disk "$disk" 40 cache_size=2 irqmode=2 completion_nsec=150000
	done
	rm -f /tmp/journal
	for number in $(seq "$count"); do
		one_cut "$number" || finish
		done_cuts=$((done_cuts + 1))
	done
	recover 0
	check "${#disks[@]} disk(s): after the last cut everything acknowledged is there" oracle check
	dmsetup remove ressd
	for disk in "${disks[@]}"; do
		dmsetup remove "lower-$disk"
		remove_disk "$disk"
	done
}

# A flush that a dead disk swallowed once let 65-power-cut miss data: the test's fault, not ressd's.
flush_of_a_dead_disk() {
	make_disk d0 40
	dmsetup create lower-d0 --table "0 $(sectors_of /dev/d0) linear /dev/d0 0"
	check "a flush reaches a disk" dd of=/dev/mapper/lower-d0 count=0 conv=notrunc,fsync \
		if=/dev/zero status=none
	check "all I/O of a disk can be made to fail" fail_all_io lower-d0
	expect_fail "Input/output error" dd of=/dev/mapper/lower-d0 count=0 conv=notrunc,fsync \
		if=/dev/zero status=none
	dmsetup remove lower-d0
	remove_disk d0
}

load dm-ressd
flush_of_a_dead_disk
done_cuts=0
many_cuts $((cuts * 2 / 3)) d0
many_cuts $((cuts - cuts * 2 / 3)) d0 d1
echo "# result crash/power-cut/cuts $done_cuts 1 >=$cuts"
finish
