#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-postmark.sh PROFILE OPTIONS SCALE RUN...: Postmark on one emulated drive, in a benchmark guest,
# each run on a fresh drive. RUN: CONFIGURATION-bare, or CONFIGURATION-MIB with so much reserved area; the
# configurations are those of postmark_sizes in drives.conf, everything 1 / SCALE of RE's size. OPTIONS: option words of the table line in
# one word, or "probe": those that ressd-probe advises.
# Figures are RUN.ms, RUN.erases, RUN.drain_ms, RUN.drain_erases, and of ressd RUN.small_permille, .logged,
# .moved (blocks), and of the mover's writes before the drain .moves, .moves_12k (of 12 KiB and more) and
# .moved_sectors, .moved_sectors_12k.
set -euo pipefail
profile=$1
options=$2
scale=$3
shift 3
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh
postmark_scale "$scale"

bring_home() {
	[ "$kind" != bare ] || return 0
	counted_moves "postmark.$run"
	dmsetup message ressd 0 drain
}

tracing=/sys/kernel/tracing
trigger=$tracing/events/block/block_bio_queue
mover_writes='hist:keys=nr_sector:size=4096 if comm ~ "ressd_mv*" && rwbs ~ "W*"'

# count_moves, counted_moves KEY: the kernel counts the mover's writes by their sizes in between.
count_moves() {
	[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
	echo "$mover_writes" >"$trigger/trigger"
}

counted_moves() {
	local moves moves_12k sectors sectors_12k
	read -r moves moves_12k sectors sectors_12k < <(sed -n \
		's/^{ nr_sector: *\([0-9]*\) } hitcount: *\([0-9]*\)$/\1 \2/p' "$trigger/hist" | awk '
		{ moves += $2; sectors += $1 * $2 }
		$1 >= 24 { moves_12k += $2; sectors_12k += $1 * $2 }
		END { print moves + 0, moves_12k + 0, sectors + 0, sectors_12k + 0 }')
	echo "!$mover_writes" >"$trigger/trigger"
	figure "$1.moves" "$moves"
	figure "$1.moves_12k" "$moves_12k"
	figure "$1.moved_sectors" "$sectors"
	figure "$1.moved_sectors_12k" "$sectors_12k"
	figure "$1.logged" "$(status_word accepted)"
	figure "$1.moved" "$(status_word moved_blocks)"
}

# one_run RUN: see the top. $side is what the figures begin with.
one_run() {
	local configuration=${1%-*}
	kind=${1#*-}
	side=postmark
	reserved=0
	[ "$kind" = bare ] || reserved=$((kind * 2048))
	step "$1"
	fresh_drive
	target=$disk
	if [ "$kind" != bare ]; then
		create_ressd
		count_moves
	fi
	postmark_load "$configuration" "$1"
	if [ "$kind" != bare ]; then
		figure "postmark.$1.small_permille" "$(status_word small_permille)"
		dmsetup remove ressd
	fi
	remove_drive
}

load ssdsim
load dm-ressd
! asks_probe || probe
for run; do
	one_run "$run"
done
step end
