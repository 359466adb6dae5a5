#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 47-cover-cuts.sh: the power fails at every command that the drive gets while a device is covered,
# drained, activated, adopted and left. Then the bare disk shows its file system only if nothing of the
# log counts, and the device has what it had.
#   47-cover-cuts.sh [CUTS [SEED [FIRST [KIND...]]]]: from command FIRST on, of these kinds only
# guest: --timeout 900 --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

cuts=${1:-20}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
echo "# seed $seed"
RANDOM=$((seed % 32768))
disk=/dev/ssd0
mapper=/dev/mapper/ressd
covered_sectors=136
states=/tmp/states # what the cuts have left, a line each

ssd() {
	sh ./ssdsim.sh "$@"
}

# looks_like DEVICE: what libblkid finds on the bare disk; nothing if it is covered.
looks_like() {
	forget_cache
	{ blkid -p -o value -s TYPE -s PTTYPE "$1" || true; } | paste -s -d ' '
}

covers() {
	dd if="$disk" bs=512 count="$covered_sectors" iflag=direct status=none |
		{ grep -a -o ressdcov || true; } | wc -l
}

# small_write BLOCK: durably; the same contents each time, so that nothing has to be remembered.
small_write() {
	dd if=/tmp/block of="$mapper" bs=4k count=1 seek="$1" oflag=direct conv=notrunc,fsync \
		status=none
}

small_writes() {
	local block
	for block in 5000 6011 0 7022 3; do
		dd if=/tmp/fs of=/tmp/block bs=4k skip="$block" count=1 status=none || return 1
		small_write "$block" || return 1
	done
}

log_says() {
	ressdctl check --json "$disk" | finds "$1"
}

has_log() {
	[ -n "$(ressdctl list "$disk")" ]
}

close_device() {
	[ ! -e "$mapper" ] || dmsetup remove ressd
}

# --- what the power fails in: each begins with a closed device ------------------------------------

open_again() {
	has_log || ressdctl adopt --yes "$disk" >/dev/null || return 1
	ressdctl open ressd "$disk"
}

begin_cover() {
	open_again && ressdctl drain ressd >/dev/null
}

run_cover() {
	small_writes
}

begin_drain() {
	open_again && small_writes
}

run_drain() {
	timeout 300 dmsetup message ressd 0 drain
}

begin_activation() {
	open_again && small_writes && close_device
}

run_activation() {
	ressdctl open ressd "$disk" && small_writes
}

begin_adopt() {
	! has_log || { ressdctl open ressd "$disk" && ressdctl leave ressd; } >/dev/null
}

run_adopt() {
	ressdctl adopt --yes "$disk" && ressdctl open ressd "$disk" && small_writes
}

begin_leave() {
	open_again && small_writes
}

run_leave() {
	ressdctl leave ressd
}

# --- what must be so then ---------------------------------------------------------------------------

# The bare disk and the log tell the same.
judge() {
	local looks found
	looks=$(looks_like "$disk")
	found=$(covers)
	echo "looks like '$looks', $found sectors of covers, $(ressdctl list "$disk")"
	if ! has_log; then
		echo left >>"$states"
		[ "$looks $found" = "ext4 0" ]
	elif log_says '"covered":true'; then
		echo covered >>"$states"
		[ "$looks $found" = " $covered_sectors" ]
	elif [ "$found" -eq 0 ]; then
		echo plain >>"$states"
		[ "$looks" = ext4 ]
	else
		echo between >>"$states"
		# Of block 0 alone a part may be there: home counts, but for those sectors.
		[ -z "$looks" ] || [ "$found" -le 8 ]
	fi
}

has_all() {
	local device=$disk
	if has_log; then
		ressdctl open ressd "$disk" || return 1
		device=$mapper
	fi
	same_as /tmp/fs "$device" && equals ext4 looks_like "$device"
}

# cut KIND COMMAND: the power fails in that command; the kind is over if it does not.
cut() {
	local kind=$1 command=$2 fates=(mix lost kept writes sectors order)
	local fate=${fates[$((RANDOM % 6))]}
	check "$kind, before command $command" "begin_$kind"
	ssd cut ssd0 "commands=$command" "fate=$fate" seed=$RANDOM
	"run_$kind" >/tmp/run.log 2>&1
	wait_until close_device
	if [[ $(ssd power ssd0) == "power on"* ]]; then
		ssd cut ssd0 cancel
		return 1
	fi
	ssd power ssd0 on
	check "$kind, cut at command $command ($fate): the bare disk" judge
	check "$kind, cut at command $command ($fate): all is there" has_all
	close_device
}

load dm-ressd
load ssdsim
modprobe ext4
ssd create ssd0 profiles/ocz.conf capacity_mb=64 track_volatile=1 fua=1
mkfs.ext4 -q -F -b 4096 "$disk" 40M
copy_device "$disk" /tmp/fs 81920
sync "$disk"

kinds=("${@:4}")
[ ${#kinds[@]} -gt 0 ] || kinds=(cover drain activation adopt leave)
declare -A next=()
for ((number = 0; number < cuts; number++)); do
	kind=${kinds[$((number % ${#kinds[@]}))]}
	next[$kind]=$((${next[$kind]:-$((${3:-1} - 1))} + 1))
	# Beyond the last one from the beginning, with other fates.
	cut "$kind" "${next[$kind]}" || {
		echo "# $kind has $((next[$kind] - 1)) commands"
		next[$kind]=0
		number=$((number - 1))
	}
	[ "$tests_failed" -eq 0 ] || { cat /tmp/run.log; break; }
done
sort "$states" | uniq -c | sed 's/^/# found/'
# Chosen kinds, as leave alone, need not have left it in both.
if [ $# -lt 4 ]; then
	check "some cuts left it covered" grep -q covered "$states"
	check "some cuts left it plain" grep -q plain "$states"
fi
check "at last it is left" begin_adopt
check "then it is the plain disk" eval "equals ext4 looks_like $disk && same_as /tmp/fs $disk"
finish
