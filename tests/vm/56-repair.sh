#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 56-repair.sh: broken logs, and the power fails while `ressdctl repair` mends them: dm-log-writes records
# what it writes and flushes. Whatever a cut may leave (all that was flushed, and of the writes behind
# it none, one alone, all but one, or all), a second repair makes a log of it that the kernel accepts.
#   56-repair.sh [SEED...]    of ressd-make-image and of its mutations; the log must be refused
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

# The new record must be durable before a summary is blanked, and that before the headers are: without
# these flushes 222 and 285 end with a log that stays refused. (Which of the two each of them needs has
# not been tried since the images have up to four records in RAM.)
seeds=(222 285 228 235)
[ $# -eq 0 ] || seeds=("$@")

# line DEVICE: a table line for the image, which is on it or on the disk below.
line() {
	echo "0 $normal ressd $1 0 $1 $normal $reserved"
}

# repair DEVICE: exit code 1 says that something was repaired, 0 that nothing had to be.
repair() {
	local status=0
	rm -f /tmp/backup
	ressdctl repair --yes --backup /tmp/backup --table "$(line "$1")" || status=$?
	[ "$status" -eq 0 ]
}

accepted() {
	dmsetup create ressd --table "$(line /dev/disk)" && dmsetup remove ressd
}

# recorded: the repair of the disk, on the log device.
recorded() {
	local status=0
	dmsetup create recorder --table "0 $(sectors_of /dev/disk) log-writes /dev/disk /dev/log" ||
		return 1
	repair /dev/mapper/recorder || status=$?
	dmsetup remove recorder && return "$status"
}

# cut_leaves FLUSHED WRITE...: the power failed with so many entries durable, and these besides.
cut_leaves() {
	local write
	dd if=/tmp/broken of=/dev/disk bs=1M status=none
	[ "$1" -eq 0 ] || ressd-replay apply /dev/log /dev/disk 0 $(($1 - 1)) || return 1
	for write in "${@:2}"; do
		ressd-replay apply /dev/log /dev/disk "$write" "$write" || return 1
	done
	forget_cache
}

# survives FLUSHED WRITE...: a second repair makes a good log of what such a cut leaves.
survives() {
	states=$((states + 1))
	if ! { cut_leaves "$@" && repair /dev/disk && accepted; } >/tmp/output 2>&1; then
		fail "seed $seed: a cut with the first $1 entries durable, and of the others ${*:2}" \
			"the second repair does not mend it"
		sed 's/^/# /' /tmp/output
		return 1
	fi
}

# cuts_before FLUSH FLUSHED: between two flushes, which are entries of these numbers, or 0 and the first.
cuts_before() {
	local flush=$1 flushed=$2 write writes others
	mapfile -t writes < <(seq "$flushed" $((flush - 1)))
	survives "$flushed" && survives "$flushed" "${writes[@]}" || return 1
	[ ${#writes[@]} -gt 1 ] || return 0 # that was all
	for write in "${writes[@]}"; do
		survives "$flushed" "$write" || return 1
		mapfile -t others < <(printf '%s\n' "${writes[@]}" | grep -vx "$write")
		survives "$flushed" "${others[@]}" || return 1
	done
}

all_cuts() {
	local flush flushed=0
	for flush in "${flushes[@]}"; do
		cuts_before "$flush" "$flushed" || return 1
		flushed=$((flush + 1))
	done
}

interrupted_repair() {
	local seed=$1 normal reserved flushes states=0
	make_disk disk 16
	make_disk log 64
	read -r normal reserved < <(ressd-make-image "$seed" /dev/disk mutations="$seed")
	forget_cache
	expect_fail "the log is damaged" dmsetup create ressd --table "$(line /dev/disk)"
	copy_device /dev/disk /tmp/broken
	check "seed $seed: repaired" recorded
	forget_cache
	copy_device /dev/disk /tmp/repaired
	check "seed $seed: the kernel accepts it" accepted
	mapfile -t flushes < <(ressd-replay list /dev/log | sed -n 's/ flush$//p')
	check "seed $seed: flushes" test "${#flushes[@]}" -gt 0
	cut_leaves $((flushes[-1] + 1))
	check "seed $seed: all of it was durable at the end" same_as /tmp/repaired /dev/disk
	all_cuts && pass "seed $seed: a second repair mends it after each of $states cuts"
	remove_disk disk
	remove_disk log
}

load dm-ressd
modprobe dm-log-writes
for seed in "${seeds[@]}"; do
	interrupted_repair "$seed"
done
finish
