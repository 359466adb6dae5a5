#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-score.sh "NAME KEYS..."...: ressd-probe on a fresh emulated drive of each profile, in a
# benchmark guest; tools/probe-score.py --guest calls it. KEYS override the profile's. Results go to
# /run/score/NAME.json, the guest's time to standard output: "time NAME SECONDS".
set -euo pipefail
. ./lib.sh

folder=/run/score
disk=ssd0

die() {
	echo "guest-score: $*" >&2
	exit 1
}

# survey NAME KEYS...
survey() {
	local name=$1 start status=0
	shift
	./ssdsim.sh create "$disk" "./profiles/$name.conf" "$@" >/dev/null
	start=${EPOCHREALTIME/./}
	ressd-probe --write --yes --json "/dev/$disk" >"$folder/$name.json" || status=$?
	echo "time $name $(((${EPOCHREALTIME/./} - start) / 1000))e-3"
	# Every verdict is a result; errors and refusals are none.
	[[ " 0 4 5 " == *" $status "* ]] || die "ressd-probe on $name ended with $status"
	[ "$(./ssdsim.sh stats "$disk" nand_violations)" = 0 ] ||
		die "$name broke a rule of its NAND"
	./ssdsim.sh remove "$disk"
}

load ssdsim
mkdir -p "$folder"
for drive in "$@"; do
	read -r -a words <<<"$drive"
	survey "${words[@]}"
done
