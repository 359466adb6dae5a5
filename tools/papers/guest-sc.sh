#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-sc.sh FIT SIDE OPTIONS DISTRIBUTIONS...: a trace (trace.spc) with its writes distributed as in SC, in
# a benchmark guest; three words for each side, which begins with a fresh drive. DISTRIBUTIONS: D1, D4, D16,
# D64, one after the other, in one word. FIT: what ressd-trace does with requests beyond the drive. SIDE is
# bare; zero, which is no drive, but what the guest itself takes; or a name for ressd with the OPTIONS of its
# table line in one word, the covers standing as below a mounted file system.
# Figures: SIDE-DISTRIBUTION.json, the result of ressd-trace, and .csv, each request; in figures
# SIDE-DISTRIBUTION.erases, .drain_ms, .drain_erases; ressd.cover.ms.
set -euo pipefail
profile=ssdsim-sc
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh

# replay NAME DISTRIBUTION: which is called D and the most writes that arrive at once.
replay() {
	local before start
	in_use
	before=$(drive_stat nand_erases)
	ressd-trace --write --yes-destroy "$target" --json --bursts "${2#D}" --fit "$fit" \
		--log "$figures/$1.csv" trace.spc "$target" >"$figures/$1.json" || die "ressd-trace failed on $target"
	figure "$1.erases" "$(($(drive_stat nand_erases) - before))"
	start=$(uptime_ms)
	before=$(drive_stat nand_erases)
	[ "$side" != ressd ] || dmsetup message ressd 0 drain
	figure "$1.drain_ms" "$(($(uptime_ms) - start))"
	figure "$1.drain_erases" "$(($(drive_stat nand_erases) - before))"
}

# set_up NAME: the drive, and what is on it; sets $side and $target.
set_up() {
	fresh_drive
	side=ressd
	case $1 in
	bare)
		side=bare
		target=$disk
		;;
	zero)
		side=zero
		dmsetup create zero --table "0 $normal zero"
		target=/dev/mapper/zero
		;;
	*) create_ressd ;;
	esac
}

take_down() {
	if [ "$side" = ressd ]; then
		[ "$(status_word errors)" = 0 ] || die "ressd met errors"
		dmsetup status ressd >"$figures/$1.status"
	fi
	[ "$side" = bare ] || dmsetup remove "$side"
	remove_drive
}

load ssdsim
load dm-ressd
# The drive is full from the start. More random writes would bring its garbage collection, which comes
# once in 128 MB, into one of the replays and not into the others.
AGE_MB=16
fit=$1
shift
while [ $# -gt 0 ]; do
	options=$2
	step "$1"
	set_up "$1"
	for distribution in $3; do
		replay "$1-$distribution" "$distribution"
	done
	take_down "$1"
	shift 3
done
step end
