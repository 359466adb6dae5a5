#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-score.sh FILE: ressd-probe on emulated drives, one after the other, in a benchmark guest;
# tools/probe-score.py calls it. Each line of FILE is one drive, as `probe-score --list-named` and
# --list-random print them: "NAME OFFSET WORD...". With an OFFSET (bytes) a partition that begins
# there is measured. To standard output, for each drive one of
#	result NAME SECONDS JSON	the guest's time, and what ressd-probe --json wrote, in a line
#	failed NAME SENTENCE
set -euo pipefail
. ./lib.sh

disk=ssd0
folder=/run/score

# partition OFFSET: one partition from there to the end, by a table on the disk; prints its device.
partition() {
	sfdisk --quiet --wipe never "/dev/$disk" <<-END
		label: dos
		unit: sectors

		start=$(($1 / 512)), type=83
	END
	echo "/dev/${disk}p1"
}

# survey OFFSET WORD...: makes the drive and measures it. Prints the seconds.
survey() {
	local device=/dev/$disk offset=$1 start status=0
	shift
	printf '%s\n' "$@" >"$folder/drive.conf"
	./ssdsim.sh create "$disk" "$folder/drive.conf" || return
	if [ "$offset" != 0 ]; then
		device=$(partition "$offset") || return
	fi
	start=${EPOCHREALTIME/./}
	ressd-probe --write --yes --json "$device" >"$folder/result.json" || status=$?
	echo "$(((${EPOCHREALTIME/./} - start) / 1000))e-3"
	# Every verdict is a result; errors and refusals are none.
	if [[ " 0 4 5 6 " != *" $status "* ]]; then
		echo "ressd-probe ended with $status" >&2
		return 1
	fi
	if [ "$(./ssdsim.sh stats "$disk" nand_violations)" != 0 ]; then
		echo "a rule of its NAND was broken" >&2
		return 1
	fi
}

# One drive that fails is no reason to give up the others.
one() {
	local name=$1 seconds
	shift
	if seconds=$(survey "$@" 2>"$folder/error"); then
		echo "result $name $seconds $(tr -d '\n' <"$folder/result.json")"
	else
		echo "failed $name $(tr '\n' ' ' <"$folder/error")"
	fi
	[ ! -e "/sys/block/$disk" ] || ./ssdsim.sh remove "$disk"
}

load ssdsim
mkdir -p "$folder"
while read -r -a words; do
	one "${words[@]}"
done <"$1"
