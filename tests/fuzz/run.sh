#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [SECONDS [SEED]]: the fuzzing of everything that reads what others wrote. Every target goes
# over the corpus; then each tries so many mutations, the same ones whenever the sources are the same
# ones: a change fails for what it does, not for the throw of dice. With SECONDS, which the targets
# share, half of them for recovery, the mutations are new ones each time: this is what searches.
# Then check and repair are compared with recovery on seeded logs. `make -C tests/fuzz all` builds
# what this needs. What is found stays in build/fuzz/findings with the command that shows it again.
set -uo pipefail
cd "$(dirname "$0")" || exit

seconds=${1:-0}
if [ $# -eq 0 ]; then seed=1; else seed=${2:-$((RANDOM * 32768 + RANDOM))}; fi
build=$(cd ../.. && pwd)/build/fuzz
findings=$build/findings
log=$build/run.log
failed=0

if [ $# -gt 0 ] && ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
	echo "run.sh [SECONDS [SEED]]: the seconds are '$seconds', but must be a number from 1 up" >&2
	exit 2
fi

# limits TARGET: the longest input that makes sense.
limits() {
	case $1 in
	recover) echo 65536 ;;
	record) echo 8300 ;;
	args) echo 4096 ;;
	*) echo 300 ;;
	esac
}

# fuzz TARGET NAME FOLDER ARGUMENTS...: one run of a target over FOLDER and its corpus.
fuzz() {
	local target=$1 name=$2 folder=$3 status=0 runs
	shift 3
	"$build/fuzz-$target" -seed="$seed" -max_len="$(limits "$target")" -timeout=20 \
		-rss_limit_mb=2048 -malloc_limit_mb=512 -artifact_prefix="$findings/$target-" \
		"$@" "$folder" "corpus/$target" >"$log" 2>&1 || status=$?
	runs=$(sed -nE 's/^Done ([0-9]+) runs.*/\1/p; s/^#([0-9]+)\tDONE.*/\1/p' "$log" | tail -n 1)
	if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
		echo "ok - fuzz: $target: $name"
		echo "# $runs runs, seed $seed"
		return
	fi
	failed=1
	echo "not ok - fuzz: $target: $name: exit code $status, ${runs:-no} runs"
	grep -E '^fuzz: |^WARN_ON|ERROR|SUMMARY|runtime error|Test unit written' "$log" |
		head -n 8 | sed 's/^/# /'
	echo "# again: $build/fuzz-$target $findings/$target-..."
}

# Known inputs first: what was once found must not come back.
regression() {
	local target=$1 empty
	empty=$(mktemp -d)
	fuzz "$target" "corpus" "$empty" -runs=0
	rm -rf "$empty"
}

# search TARGET MUTATIONS EIGHTHS: of the seconds, a second at least; the mutations if there are none.
# A long run remembers what it found interesting for the next one.
search() {
	local target=$1 runs=$2 share=$((seconds * $3 / 8)) folder
	if [ "$seconds" -eq 0 ]; then
		folder=$(mktemp -d)
		fuzz "$target" "$runs mutations" "$folder" -runs="$runs"
		rm -rf "$folder"
		return
	fi
	[ "$share" -gt 0 ] || share=1
	folder=$build/found/$target
	[ "$seconds" -ge 120 ] || folder=$(mktemp -d)
	mkdir -p "$folder"
	fuzz "$target" "$share s of mutations" "$folder" -max_total_time="$share"
	[ "$seconds" -ge 120 ] || rm -rf "$folder"
}

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0
mkdir -p "$findings"
for target in super record args recover; do
	regression "$target"
done
search super 400000 1
search record 400000 1
search args 400000 2
search recover 12000 4
# Some 30 logs a second and more; the first seeds are the same every time.
"$build/crosscheck" 1 150 || failed=1
# Found once: a summary that contradicts the headers before it ended ressdctl repair by a WARN (then
# seed 1896, now 6000173, since what is damaged by a seed has changed); 1002471, a header among the
# data of a dead record, which recovery sees and repair did not; 1003196, a record with damaged data
# that only a claim which recovery did not believe called durable; 2003310, a repair that was
# interrupted before it blanked such a header, which its repetition then missed; 4002766, a forged
# first header that hides the newest tail from recovery, but did not from repair; 6001075, a repair
# that was interrupted before it blanked the summary of the records that it had cut off, which its
# repetition left behind, or could then not do without. 1678 shows that the new record must be
# durable before that summary is blanked.
for found in 6000173 1002471 1003196 2003310 4002766 6001075 1678; do
	"$build/crosscheck" "$found" 1 || failed=1
done
[ "$seconds" -lt 120 ] || "$build/crosscheck" "$seed" $((seconds * 10)) || failed=1
exit "$failed"
