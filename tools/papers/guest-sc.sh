#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-sc.sh SIDE OPTIONS DISTRIBUTION...: a trace (trace.spc) with its writes distributed as in SC, in
# a benchmark guest: D1, D4, D16, D64, one after the other on one fresh drive. SIDE is bare, or what the
# target is called, with the OPTIONS of its table line in one word.
# Figures: DISTRIBUTION.json, the result of ressd-trace; DISTRIBUTION.erases, .drain_ms, .drain_erases.
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
	settle
	before=$(drive_stat nand_erases)
	ressd-trace --write --yes-destroy "$target" --json --bursts "${1#D}" trace.spc "$target" \
		>"$figures/$1.json" || die "ressd-trace failed on $target"
	figure "$1.erases" "$(($(drive_stat nand_erases) - before))"
	start=$(uptime_ms)
	before=$(drive_stat nand_erases)
	[ "$side" = bare ] || dmsetup message ressd 0 drain
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
[ "$side" = bare ] || create_ressd
for distribution; do
	replay "$distribution"
done
if [ "$side" != bare ]; then
	[ "$(status_word errors)" = 0 ] || die "ressd met errors"
	dmsetup status ressd >"$figures/status"
	dmsetup remove ressd
fi
remove_drive
step end
