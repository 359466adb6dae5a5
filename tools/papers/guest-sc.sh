#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-sc.sh SIDE OPTIONS DISTRIBUTION...: a trace (trace.spc) with its writes distributed as in SC, in
# a benchmark guest: D1, D4, D16, D64, one after the other on one fresh drive. SIDE is bare; ressd, with the
# OPTIONS of its table line in one word, the covers standing as below a mounted file system; or zero, which
# is no drive, but what the guest itself takes.
# Figures: DISTRIBUTION.json, the result of ressd-trace, and DISTRIBUTION.csv, each request;
# DISTRIBUTION.erases, .drain_ms, .drain_erases; ressd.cover.ms.
set -euo pipefail
profile=ssdsim-sc
side=$1
options=$2
shift 2
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh

# replay DISTRIBUTION: which is called D and the most writes that arrive at once.
replay() {
	local before start
	step "$1"
	in_use
	before=$(drive_stat nand_erases)
	ressd-trace --write --yes-destroy "$target" --json --bursts "${1#D}" \
		--log "$figures/$1.csv" trace.spc "$target" >"$figures/$1.json" ||
		die "ressd-trace failed on $target"
	figure "$1.erases" "$(($(drive_stat nand_erases) - before))"
	start=$(uptime_ms)
	before=$(drive_stat nand_erases)
	[ "$side" != ressd ] || dmsetup message ressd 0 drain
	figure "$1.drain_ms" "$(($(uptime_ms) - start))"
	figure "$1.drain_erases" "$(($(drive_stat nand_erases) - before))"
}

load ssdsim
load dm-ressd
# The drive is full from the start. More random writes would bring its garbage collection, which comes
# once in 128 MB, into one of the replays and not into the others.
AGE_MB=16
fresh_drive
target=$disk
case $side in
ressd) create_ressd ;;
zero)
	dmsetup create zero --table "0 $normal zero"
	target=/dev/mapper/zero
	;;
esac
for distribution; do
	replay "$distribution"
done
[ "$side" != zero ] || dmsetup remove zero
if [ "$side" = ressd ]; then
	[ "$(status_word errors)" = 0 ] || die "ressd met errors"
	dmsetup status ressd >"$figures/status"
	dmsetup remove ressd
fi
remove_drive
step end
