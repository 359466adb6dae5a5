#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# calibrate.sh [PROFILE...]: the emulated drives against the published figures of the real ones, by
# fio in the benchmark guest. Prints measured beside published and writes
# build/results/calibrate.json; ends non-zero when a figure misses its bar. Without arguments: all
# profiles, and the speed of the emulation itself.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# emulator_ticks: processor time of the guest that this script started, 1/100 s. On an idle machine
# it is real time; other load does not change it.
emulator_ticks() {
	local pid
	pid=$(ps -e -o pid=,ppid=,comm= | awk -v root=$$ '
		{ parent[$1] = $2; name[$1] = $3 }
		END {
			for (p in name)
				for (q = name[p] ~ /^qemu/ ? p : 0; q > 1; q = parent[q])
					if (q == root)
						print p
		}')
	awk '{ print $14 + $15 }' "/proc/$pid/stat"
}

# speed_row NAME COMMANDS TICKS: a figure of the emulation's speed; one command at a time has no bar,
# for then it is QEMU's way through the guest's idle time that takes most.
speed_row() {
	local bar=">=10000"
	[ "$1" != single-reads ] || bar=
	echo "speed/ssdsim/$1-per-second $(($2 * 100 / $3)) 1/s $bar"
}

# collect: pass the guest's comments on; keep rows; time what is between the "speed" lines.
collect() {
	local line name commands begin=0 started=0
	while IFS= read -r line; do
		case $line in
		"speed begin"*)
			begin=$(emulator_ticks)
			;;
		"speed started"*)
			started=$(emulator_ticks)
			;;
		"speed end "*)
			read -r name commands <<<"${line#speed end }"
			speed_row "$name" "$commands" \
				$(($(emulator_ticks) - started - (started - begin))) >>"$rows"
			;;
		"row "*)
			echo "${line#row }" >>"$rows"
			;;
		*)
			echo "$line"
			;;
		esac
	done
}

status=0
tools/vm/run --mode benchmark --timeout 2400 --memory 3G --file tests/ssdsim/ssdsim.sh \
	--file tests/ssdsim/profiles tests/ssdsim/test/calibrate.sh "$@" | collect || status=$?
tools/results.py write calibrate <"$rows" || status=1
exit "$status"
