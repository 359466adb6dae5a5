#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh: what `make check-crash` runs: the crash simulator in its quick form, fast and with the
# sanitizers; the stored replays; and every deliberate bug, in the driver's side and in core, must
# be found. Needs the programs of `make -C tests/model all mutants`.
set -euo pipefail
cd "$(dirname "$0")"

out=${OUT:-../../build/model}
states=${STATES:-1200000}         # crash states of the fast build
sanitized_states=${SANITIZED:-30000}
bug_states=${BUG_STATES:-8000000} # within which a deliberate bug must be found
jobs=${JOBS:-2}
failures=$out/failures
failed=0
planted=0
missed=0

# The simulator as it should be. Its seeds are fixed: SEED=... tries others.
search() {
	local program=$1 count=$2
	"$out/$program" --seed "${SEED:-1}" --states "$count" --jobs "$jobs" --store "$failures"
}

# One deliberate bug: its line on stdout.
find_bug() {
	local name=$1 program=$2
	shift 2
	"$program" --states "$bug_states" --must-fail "$name" "$@" 2>/dev/null
}
export -f find_bug
export out bug_states

# Name and command of every deliberate bug, a line each.
bugs() {
	local name mutation rest
	"$out/model" --faults | while read -r name rest; do
		echo "$name $out/model --fault $name"
	done
	for mutation in mutations/*.sed; do
		name=$(basename "$mutation" .sed)
		echo "core-$name $out/mutants/$name/model"
	done
}

mkdir -p "$failures"
log=$out/check.log
search model "$states" | tee "$log" || failed=1
tried=$(sed -n 's/^# states \([0-9]*\) .*/\1/p' "$log")
violations=$(sed -n 's/^# states .* violations \([0-9]*\)$/\1/p' "$log")
search model-sanitized "$sanitized_states" || failed=1
violations=$((violations + failed))

for script in replays/*.script; do
	"$out/model-sanitized" --replay "$script" || failed=1
done

bugs | xargs -d '\n' -P "$jobs" -I LINE bash -c 'find_bug LINE' >"$out/bugs.log" || failed=1
sort "$out/bugs.log"
planted=$(bugs | wc -l)
missed=$((planted - $(grep -c '^ok' "$out/bugs.log")))

echo "# result states/model/count ${tried:-0} 1 >=1000000"
echo "# result violations/model/count $violations 1 ==0"
echo "# result planted-bugs/model/count $planted 1 >=20"
echo "# result planted-bugs/model/missed $missed 1 ==0"
[ "$failed" -eq 0 ] && [ "$missed" -eq 0 ]
