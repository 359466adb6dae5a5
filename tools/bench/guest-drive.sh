#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-drive.sh PROFILE OPTIONS LOAD...: loads on one emulated drive, bare and then with ressd, each
# side on a fresh drive, in a benchmark guest. OPTIONS: option words of the table line in one word, or
# "probe": those that ressd-probe advises for this drive.
# Figures are SIDE.LOAD.bytes, .ms, .max_ns, .erases as in guest-lib.sh; SIDE.LOAD.drain_ms and
# .drain_erases: bringing home what was left in the log then.
# The load_* functions are called by name.
# shellcheck disable=SC2317
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh
# shellcheck source=tools/bench/drives.conf
. ./drives.conf

profile=$1
options=$2
shift 2
loads=("$@")
drive_sizes "$profile"
span=${SPAN_MB}M

fresh_drive() {
	sh ./ssdsim.sh create "$drive" "profiles/$profile.conf" "capacity_mb=$CAPACITY_MB"
	[ -b "$disk" ] || die "the emulated drive $disk did not appear"
	if [ "$AGE_MB" -gt 0 ]; then
		step "$side-age"
		fio_at "$disk" "$span" --rw=randwrite --bs=4k --io_size="${AGE_MB}M" \
			--randseed=5 >/dev/null
	fi
}

# probe: what ressd-probe advises becomes $options. Where it advises against ressd, the target has to
# find out itself what is good.
probe() {
	side=probe
	step probe
	fresh_drive
	ressd-probe --write --yes --reserved "${RESERVED_MB}M" --json "$disk" \
		>"$figures/probe.json" || die "ressd-probe ended with $?"
	sh ./ssdsim.sh remove "$drive"
	options=$(sed -n 's/^ *"table": *"\(.*\)",\{0,1\}$/\1/p' "$figures/probe.json" |
		cut -d ' ' -f 10-)
	options=${options:-on_full wait route adaptive}
	say "options: $options"
}

# start_side bare|ressd: a fresh drive; sets $side and $target.
start_side() {
	local size reserved=$((RESERVED_MB * 2048))
	side=$1
	target=$disk
	fresh_drive
	[ "$side" = ressd ] || return 0
	size=$(blockdev --getsz "$disk")
	# shellcheck disable=SC2086
	set -- $options
	dmsetup create ressd --table \
		"0 $((size - reserved)) ressd $disk 0 $disk $((size - reserved)) $reserved $# $*"
	target=/dev/mapper/ressd
}

end_side() {
	if [ "$side" = ressd ]; then
		figure ressd.errors "$(status_word errors)"
		dmsetup remove ressd
	fi
	[ "$(drive_stat nand_violations)" = 0 ] || die "the drive broke a rule of its NAND"
	sh ./ssdsim.sh remove "$drive"
}

# set_option KEY VALUE: of the target, if there is one.
set_option() {
	[ "$side" = bare ] || dmsetup message ressd 0 set "$1" "$2"
}

# option KEY DEFAULT: what it is set to.
option() {
	local value
	value=$(dmsetup table ressd | sed -n "s/.* $1 \([^ ]*\).*/\1/p")
	echo "${value:-$2}"
}

# all_home LOAD: figures of what was still to be done.
all_home() {
	local before start
	before=$(drive_stat nand_erases)
	[ "$side" = bare ] || figure "$side.$1.left" "$(left_blocks)"
	start=$(uptime_ms)
	[ "$side" = bare ] || dmsetup message ressd 0 drain
	sync
	figure "$side.$1.drain_ms" "$(($(uptime_ms) - start))"
	figure "$side.$1.drain_erases" "$(($(drive_stat nand_erases) - before))"
}

# left_blocks: dirty blocks of the log.
left_blocks() {
	local words
	read -r -a words < <(dmsetup status ressd)
	echo "${words[4]%/*}"
}

# steady LOAD PART FIO...: warm-up until the log has gone round once, then three times round; 1 / PART
# of the log is data. On the bare drive (whose speed is the same from the start) BARE_MB / PART.
steady() {
	local load=$1 part=$2 warm=$((RESERVED_MB / $2)) measured=$((3 * RESERVED_MB / $2))
	shift 2
	if [ "$side" = bare ] && [ "$measured" -gt "$((BARE_MB / part))" ]; then
		measured=$((BARE_MB / part))
		warm=$(((measured + 3) / 4))
	fi
	step "$side-$load"
	fio_at "$target" "$span" "$@" --io_size="${warm}M" --randseed=11 >/dev/null
	measure "$side.$load" "$target" "$span" write "$@" --io_size="${measured}M" --randseed=12
	all_home "$load"
}

load_randwrite-4k() {
	steady randwrite-4k 1 --rw=randwrite --bs=4k
}

load_randwrite-8k() {
	steady randwrite-8k 1 --rw=randwrite --bs=8k
}

# Each write is followed by a flush, as a commit of a database is: a block of header for each.
load_fsync-4k() {
	steady fsync-4k 2 --rw=randwrite --bs=4k --fdatasync=1
}

# After random writes a drive is slow at first, whoever writes: the first pass does not count.
load_sequential() {
	step "$side-sequential"
	fio_at "$target" "$span" --rw=write --bs=512k --io_size="$span" >/dev/null
	settle
	measure "$side.seqwrite" "$target" "$span" write --rw=write --bs=512k --io_size="$span"
	settle
	measure "$side.seqread" "$target" "$span" read --rw=read --bs=512k --io_size="$span"
}

# With a part of the data in the log, the mover at rest (RE 4.2).
load_randread() {
	step "$side-randread"
	fio_at "$target" "$span" --rw=randwrite --bs=4k --io_size="$((RESERVED_MB / 4))M" \
		--randseed=52 >/dev/null
	settle
	measure "$side.randread" "$target" "$span" read --rw=randread --bs=4k --io_size=8M \
		--randseed=53
	all_home randread
}

# burst LOAD PART: a burst that fits half of the log, of which 1 / PART is data; at rest before.
burst() {
	settle
	measure "$side.$1" "$target" "$span" write --rw=randwrite --bs=4k \
		--io_size="$((RESERVED_MB * 1024 * 7 / 16 / $2))k" --randseed=61
	all_home "$1"
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

# rate: what random 4 KB writes reach in steady state, KB/s.
rate() {
	local output
	output=$(fio_at "$target" "$span" --rw=randwrite --bs=4k --io_size="$((2 * RESERVED_MB))M" \
		--randseed=81)
	echo "$(($(fio_value write io_bytes <<<"$output") / $(fio_value write runtime <<<"$output")))"
}

# SC: random writes at two thirds of that rate, by the way in which sweeps are spread in time.
load_pace() {
	local output kbytes pace
	step "$side-pace"
	[ "$side" = ressd ] || return 0
	kbytes=$(($(rate) * 65 / 100))
	for pace in burst even; do
		set_option pace "$pace"
		output=$(fio_at "$target" "$span" --rw=randwrite --bs=4k --rate="${kbytes}k" \
			--io_size="$((3 * RESERVED_MB))M" --randseed=82)
		figure "ressd.pace-$pace.p999_ns" "$(sed -n '/"write" : {/,/^      }/p' <<<"$output" |
			sed -n 's/^ *"99.900000" : \([0-9]*\),*$/\1/p' | head -n 1)"
		figure "ressd.pace-$pace.mean_ns" "$(fio_latency write mean <<<"$output" | cut -d . -f 1)"
		figure "ressd.pace-$pace.max_ns" "$(fio_latency write max <<<"$output")"
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

# pattern NAME DIRECTION FIO...: one of the patterns of which the worst counts, its drain included.
pattern() {
	local name=$1 direction=$2
	shift 2
	step "$side-$name"
	measure "$side.$name" "$target" "$span" "$direction" "$@" --randseed=71
	all_home "$name"
}

# Everything that a drive without need of ressd may be used for.
load_patterns() {
	local bytes="--io_size=$((RESERVED_MB * 2))M" deep="--ioengine=libaio --iodepth=32"
	pattern p-randwrite-4k write --rw=randwrite --bs=4k "$bytes"
	pattern p-randwrite-8k write --rw=randwrite --bs=8k "$bytes"
	pattern p-randwrite-64k write --rw=randwrite --bs=64k "$bytes"
	# shellcheck disable=SC2086
	pattern p-randwrite-4k-deep write --rw=randwrite --bs=4k $deep "$bytes"
	pattern p-zipf-4k write --rw=randwrite --bs=4k --random_distribution=zipf:1.1 "$bytes"
	pattern p-mixed-4k write --rw=randrw --bs=4k "$bytes"
	pattern p-fsync-4k write --rw=randwrite --bs=4k --fdatasync=1 \
		--io_size="$((RESERVED_MB / 2))M"
	pattern p-strided-4k write --rw=write:12k --bs=4k "$bytes"
	pattern p-write-4k write --rw=write --bs=4k "$bytes"
	pattern p-write-512k write --rw=write --bs=512k "$bytes"
	pattern p-read-512k read --rw=read --bs=512k "$bytes"
	pattern p-randread-4k read --rw=randread --bs=4k "$bytes"
	# shellcheck disable=SC2086
	pattern p-randread-4k-deep read --rw=randread --bs=4k $deep "$bytes"
}

load ssdsim
load dm-ressd
[ "$options" != probe ] || probe
for side in bare ressd; do
	start_side "$side"
	for load in "${loads[@]}"; do
		"load_$load"
	done
	end_side
done
step end
