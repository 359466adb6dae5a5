#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# full-size.sh [PROFILE...]: random 4 KB writes over the whole of drives of full size, without and with a
# flush each, bare and with the options that ressd-probe advises; by the model (make -C
# tools/bench/model), a table of docs/performance.md.
set -euo pipefail
cd "$(dirname "$0")/../.."

# figures PROFILE KEY=VALUE...: MB/s and the longest wait in ms of the last load.
figures() {
	build/bin/mover-model "tests/ssdsim/profiles/$1.conf" host_ns=14000 "${@:2}" | tail -n 1 |
		sed -nE 's/^ *([0-9.]+) MB.*longest +([0-9]+) ms$/\1 \2/p'
}

# row PROFILE ROUND SPAN_MB RESERVED_MB KEY=VALUE...: measures the second ROUND, MB, through the log.
row() {
	local profile=$1 round=$2 fsync bare ressd
	local common=("span_mb=$3" "reserved_mb=$4") options=("${@:5}") cells=()
	for fsync in 0 1; do
		read -r -a bare < <(figures "$profile" "${common[@]}" fsync=$fsync bare=1 \
			warm_mb=16 "total_mb=$((round / 384))")
		read -r -a ressd < <(figures "$profile" "${common[@]}" "${options[@]}" fsync=$fsync \
			threads=1 "warm_mb=$round" "total_mb=$round")
		cells+=("${bare[0]} | ${ressd[0]} | $(bc <<<"scale=2; ${ressd[0]} / ${bare[0]}")x, ${ressd[1]} ms |")
	done
	echo "| $profile | ${cells[*]}"
}

# adaptive_row PROFILE SPAN_MB RESERVED_MB KEY=VALUE...: on a drive that has been written once over.
adaptive_row() {
	local profile=$1 fsync bare ressd
	local common=("span_mb=$2" "reserved_mb=$3" "warm_mb=$2" total_mb=256) cells=()
	for fsync in 0 1; do
		read -r -a bare < <(figures "$profile" "${common[@]}" fsync=$fsync bare=1)
		read -r -a ressd < <(figures "$profile" "${common[@]}" "${@:4}" fsync=$fsync adaptive=1)
		cells+=("${bare[0]} | ${ressd[0]} | $(bc <<<"scale=2; ${ressd[0]} / ${bare[0]}")x, ${ressd[1]} ms |")
	done
	echo "| $profile | ${cells[*]}"
}

wanted() {
	[ ${#profiles[@]} -eq 0 ] || [[ " ${profiles[*]} " == *" $1 "* ]]
}

profiles=("$@")
echo "| profile | bare, MB/s | ressd | times, longest wait | commits, bare | ressd | times, longest wait |"
echo "|---|---|---|---|---|---|---|"
! wanted sdcard || row sdcard 768 7220 380 segment=1024 page=4 visit=1024 fill=235 rewrite=1 \
	threshold=20 batch=128 open_units=2
! wanted sdcard-slow || row sdcard-slow 384 3608 192 segment=1024 page=4 visit=1024 fill=55 \
	threshold=20 batch=1024 open_units=1
! wanted usbstick || row usbstick 384 3632 192 segment=2048 page=2 visit=2048 fill=30 threshold=20 \
	batch=128 open_units=2
! wanted sdcard-a1 || adaptive_row sdcard-a1 3600 192
! wanted sdcard-a2 || adaptive_row sdcard-a2 3600 192 align=16
! wanted emmc || adaptive_row emmc 3540 188 align=2
! wanted tlc || adaptive_row tlc 6792 360
