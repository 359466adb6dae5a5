#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-postmark.sh PROFILE OPTIONS SCALE RUN...: Postmark on one emulated drive, in a benchmark guest,
# each run on a fresh drive. RUN: CONFIGURATION-bare, or CONFIGURATION-MIB with so much reserved area; the
# configurations are those of postmark_sizes in drives.conf, everything 1 / SCALE of RE's size. OPTIONS: option words of the table line in
# one word, or "probe": those that ressd-probe advises.
# Figures are RUN.ms, RUN.erases, RUN.drain_ms, RUN.drain_erases, and of ressd RUN.small_permille, .logged,
# .moved (blocks), and of the mover's writes before the drain .moves, .moves_12k (of 12 KiB and more) and
# .moved_sectors, .moved_sectors_12k, and .first_move_ms, when it began, if it did.
# The file options has the words of the table line.
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

# one_run RUN: see the top. $side is what the figures begin with.
one_run() {
	local configuration=${1%-*}
	kind=${1#*-}
	side=postmark
	reserved=0
	[ "$kind" = bare ] || reserved=$((kind * 2048))
	step "$1"
	side_drive
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
echo "$options" >"$figures/options"
for run; do
	one_run "$run"
done
step end
