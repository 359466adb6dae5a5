#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-drive.sh PROFILE OPTIONS LOAD...: loads on one emulated drive, bare and then with ressd, each
# side on a fresh drive, in a benchmark guest; the load "patterns" brings a third side, dm-linear. One
# pattern may be a LOAD as well ("p-fsync-4k"); several run in their usual order.
# OPTIONS: option words of the table line in one word, or "probe": those that ressd-probe advises for
# this drive. Figures: see guest-loads.sh.
# The load_* functions are called by name.
# shellcheck disable=SC2317
set -euo pipefail
profile=$1
options=$2
shift 2
loads=("$@")
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh

# start_side bare|linear|ressd: a fresh drive; sets $side and $target.
start_side() {
	side=$1
	target=$disk
	side_drive
	case $side in
	linear)
		dmsetup create linear --table "0 $(blockdev --getsz "$disk") linear $disk 0"
		target=/dev/mapper/linear
		;;
	ressd) create_ressd ;;
	esac
}

end_side() {
	case $side in
	linear) dmsetup remove linear ;;
	ressd)
		[ "$(status_word errors)" = 0 ] || die "ressd met errors on $profile"
		dmsetup remove ressd
		;;
	esac
	remove_drive
}

# Where there is nothing to bring home, starting dmsetup counts all the same: it takes milliseconds,
# and some of the patterns less than a second.
bring_home() {
	if [ "$side" = ressd ]; then
		dmsetup message ressd 0 drain
	else
		dmsetup table >/dev/null
	fi
}

# set_option KEY VALUE: of the target, if there is one.
set_option() {
	[ "$side" != ressd ] || dmsetup message ressd 0 set "$1" "$2"
}

# option KEY DEFAULT: what it is set to.
option() {
	local value
	value=$(dmsetup table ressd | sed -n "s/.* $1 \([^ ]*\).*/\1/p")
	echo "${value:-$2}"
}

# left_blocks: dirty blocks of the log.
left_blocks() {
	local words
	read -r -a words < <(dmsetup status ressd)
	echo "${words[4]%/*}"
}

load_burst-4k() {
	step "$side-burst-4k"
	if [ "$side" = bare ]; then
		load_bandwidth
		return 0
	fi
	burst burst-4k 1
	set_option commit writethrough
	burst burst-4k-writethrough 2
	set_option commit writeback
}

# What a burst is held against: the drive's sequential bandwidth.
load_bandwidth() {
	fio_at "$target" "$span" --rw=write --bs=512k --io_size="$span" >/dev/null
	settle
	measure "$side.bandwidth" "$target" "$span" write --rw=write --bs=512k --io_size=64M
}

# rate: what random 4 KB writes reach in steady state, KB/s: the log has gone round once before, for
# an empty one takes them as fast as the drive writes.
rate() {
	local output
	fio_at "$target" "$span" --rw=randwrite --bs=4k --io_size="${RESERVED_MB}M" --randseed=80 \
		>/dev/null
	output=$(fio_at "$target" "$span" --rw=randwrite --bs=4k --io_size="$((2 * RESERVED_MB))M" \
		--randseed=81)
	echo "$(($(fio_value write io_bytes <<<"$output") / $(fio_value write runtime <<<"$output")))"
}

# paced_writes NAME KBYTES: random writes at that rate; their waits. Before they count the log goes
# round three times at that rate and pace: otherwise what it was filled with by the load before, and
# how unevenly, would decide. Then four times as much: over three rounds a single wait for a merge is
# a third of the mean.
paced_writes() {
	local output
	fio_at "$target" "$span" --rw=randwrite --bs=4k --rate="${2}k" \
		--io_size="$((3 * RESERVED_MB))M" --randseed=83 >/dev/null
	output=$(fio_at "$target" "$span" --rw=randwrite --bs=4k --rate="${2}k" \
		--io_size="$((12 * RESERVED_MB))M" --randseed=82)
	figure "$1.p999_ns" "$(sed -n '/"write" : {/,/^      }/p' <<<"$output" |
		sed -n 's/^ *"99.900000" : \([0-9]*\),*$/\1/p' | head -n 1)"
	figure "$1.mean_ns" "$(fio_latency write mean <<<"$output" | cut -d . -f 1)"
	figure "$1.max_ns" "$(fio_latency write max <<<"$output")"
}

# SC: random writes at a part of that rate, by the way in which sweeps are spread in time.
load_pace() {
	local kbytes pace percent
	step "$side-pace"
	[ "$side" = ressd ] || return 0
	kbytes=$(rate)
	for percent in 50 65 80 90; do
		for pace in burst even; do
			set_option pace "$pace"
			paced_writes "ressd.pace-$percent-$pace" "$((kbytes * percent / 100))"
		done
	done
	dmsetup message ressd 0 drain
}

# A burst, then idle time: what is home after ten times the burst's own time on the bare drive.
load_burst-idle() {
	local route pace
	step "$side-burst-idle"
	if [ "$side" = ressd ]; then
		route=$(option route always)
		pace=$(option pace even)
		set_option route always
		set_option pace idle
	fi
	settle
	measure "$side.burst-idle" "$target" "$span" write --rw=randwrite --bs=4k \
		--io_size="$((RESERVED_MB * 1024 * 7 / 16))k" --randseed=62
	[ "$side" = ressd ] || return 0
	sleep 60
	figure ressd.burst-idle.left "$(left_blocks)"
	all_home burst-idle
	set_option route "$route"
	set_option pace "$pace"
}

# pattern NAME DIRECTION FIO...: one of the patterns of which the worst counts, its drain included. Each
# draws positions of its own. With one seed each would overwrite what the one before has written, in the
# same order; where that just matches the superblocks of a drive it need not collect garbage, and the
# least shift between two sides shows as several percent.
pattern() {
	local name=$1 direction=$2
	shift 2
	pattern_seed=$((pattern_seed + 1))
	[[ " ${loads[*]} " == *" patterns "* || " ${loads[*]} " == *" $name "* ]] || return 0
	step "$side-$name"
	measure "$side.$name" "$target" "$span" "$direction" "$@" --randseed="$pattern_seed"
	all_home "$name"
}

# Everything that a drive without need of ressd may be used for. Sequential ones are longer, or a few
# milliseconds would be a percent; and so are large random ones, for a drive collects garbage for up to
# 0.2 s at a time.
load_patterns() {
	local bytes="--io_size=${PATTERN_MB}M" long="--io_size=$span"
	local deep="--ioengine=libaio --iodepth=32"
	pattern_seed=70
	pattern p-randwrite-4k write --rw=randwrite --bs=4k "$bytes"
	pattern p-randwrite-8k write --rw=randwrite --bs=8k "$bytes"
	pattern p-randwrite-64k write --rw=randwrite --bs=64k --io_size="$((4 * PATTERN_MB))M"
	# shellcheck disable=SC2086
	pattern p-randwrite-4k-deep write --rw=randwrite --bs=4k $deep "$bytes"
	pattern p-zipf-4k write --rw=randwrite --bs=4k --random_distribution=zipf:1.1 "$bytes"
	pattern p-mixed-4k write --rw=randrw --bs=4k "$bytes"
	pattern p-fsync-4k write --rw=randwrite --bs=4k --fdatasync=1 \
		--io_size="$((PATTERN_MB / 4))M"
	pattern p-strided-4k write --rw=write:12k --bs=4k "$bytes"
	pattern p-write-4k write --rw=write --bs=4k "$long"
	pattern p-write-512k write --rw=write --bs=512k "$long"
	pattern p-read-512k read --rw=read --bs=512k "$long"
	pattern p-randread-4k read --rw=randread --bs=4k "$bytes"
	# shellcheck disable=SC2086
	pattern p-randread-4k-deep read --rw=randread --bs=4k $deep "$bytes"
}

load ssdsim
load dm-ressd
! asks_probe || probe
sides=(bare ressd)
# Beside the worst pattern: what device-mapper costs in this guest, whatever the target.
[[ " ${loads[*]} " != *" patterns "* ]] || sides=(bare linear ressd)

# A burst has a drive of its own. It goes through the log though that is not cheaper (route always), and
# in a drive that maps pages this leaves garbage, which the patterns would pay for (docs/performance.md).
shared=()
own=()
patterns=
for load in "${loads[@]}"; do
	case $load in
	burst-idle) own=("$load") ;;
	patterns | p-*) patterns=patterns ;;
	*) shared+=("$load") ;;
	esac
done
# shellcheck disable=SC2206 # none, or one
shared+=($patterns)

# run_side SIDE LOAD...: the loads one after the other on one drive.
run_side() {
	local load
	[ $# -gt 1 ] || return 0
	start_side "$1"
	shift
	for load; do
		"load_$load"
	done
	end_side
}

for side in "${sides[@]}"; do
	run_side "$side" "${shared[@]}"
	run_side "$side" "${own[@]}"
done
step end
