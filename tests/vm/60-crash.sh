#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 60-crash.sh: kills a virtual machine (kill -9) at random moments under fsync load, boots it again
# on the same disks, and compares with what fsync had acknowledged.
#   tests/vm/60-crash.sh [KILLS [SEED]]   GUEST_OPTIONS: more options of tools/vm/run
# host
set -euo pipefail
cd "$(dirname "$0")/../.."

kills=${1:-20}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
max_delay_ms=2500
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
read -r -a guest_options <<<"${GUEST_OPTIONS:-}"
passed=0
failed=0

# Options of the raw and the file system's device, taken in turn.
variants=(
	"on_full wait move_block_sectors 1024 move_fill_blocks 2|on_full wait"
	"on_full bypass|commit writethrough"
	"on_full wait log_align_sectors 32|on_full bypass commit_interval_ms 20 move_block_sectors 2048 move_fill_blocks 4"
	"commit writethrough on_full wait pace burst|on_full wait log_align_sectors 8 move_threshold 90"
)

# boot WHAT NUMBER OPTIONS...: one life of the machine; its output is in $output.
boot() {
	local what=$1 number=$2 variant status=0 kind=()
	shift 2
	# Small writes alone take another way through the log: nothing is superseded outside of it.
	[ $((number / 2 % 2)) -eq 0 ] || kind+=(--small)
	variant=${variants[number % ${#variants[@]}]}
	output=$folder/output-$number
	tools/vm/run --quiet --memory 512M --timeout 300 --log "$folder/console-$number" \
		--disk "$folder/raw" --disk "$folder/files" --disk "$folder/raw-journal" \
		--disk "$folder/files-journal" --file tests/vm/ressd.sh "${guest_options[@]}" "$@" \
		tests/vm/crash/guest.sh "$seed" "$what" "${variant%|*}" "${variant#*|}" \
		"${kind[@]}" >"$output" 2>&1 || status=$?
	return "$status"
}

report() {
	local name=$1 why=$2
	if [ -z "$why" ]; then
		passed=$((passed + 1))
		echo "ok - crash: $name"
		return
	fi
	failed=$((failed + 1))
	echo "not ok - crash: $name: $why"
	sed 's/^/# /' "$output"
	mkdir -p build/crash
	cp "$folder/console-$number" build/crash/console
	for disk in raw files raw-journal files-journal; do
		cp --sparse=always "$folder/$disk" build/crash/
	done
	echo "# the disks and the console are kept in build/crash"
	echo "# $passed passed, $failed failed"
	exit 1
}

# The life before was killed; this one recovers, compares, loads and is killed in its turn. Every
# fifth is killed before its load has begun: while it recovers, mounts or compares.
one_kill() {
	local number=$1 delay status=0 acknowledged moment="load of epoch [0-9]+ starts"
	delay=$(((RANDOM * 32768 + RANDOM) % max_delay_ms + 50))
	if [ $((number % 5)) -eq 0 ]; then
		moment="life begins"
		delay=$((delay % 700))
	fi
	boot load "$number" --kill-on "$moment:$delay" || status=$?
	[ "$status" -eq 137 ] || report "kill $number" "the machine ended with $status"
	acknowledged=$(sed -n 's/.* \([0-9]*\) of them acknowledged.*/\1/p' "$output")
	report "kill $number, $delay ms after '$moment'; it found ${acknowledged:-no} acknowledged sectors" ""
}

echo "# seed $seed"
RANDOM=$((seed % 32768))
for disk in raw files; do
	truncate -s 48M "$folder/$disk"
done
truncate -s 1G "$folder/raw-journal"
truncate -s 4M "$folder/files-journal"

for number in $(seq "$kills"); do
	one_kill "$number"
done
number=$((kills + 1))
status=0
boot check "$number" || status=$?
[ "$status" -eq 0 ] || report "after the last kill" "the machine ended with $status"
report "after the last kill everything acknowledged is there" ""
echo "# result crash/vm/kills $kills 1 >=$kills"
echo "# $passed passed, $failed failed"
