#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh: what `make check-crash` runs: the crash simulator in its quick form, fast and with the
# sanitizers; the stored replays; and every deliberate bug, in the driver's side and in core, must
# be found. Needs the programs of `make -C tests/model all mutants`. SEED=N tries other seeds.
set -euo pipefail
cd "$(dirname "$0")"

out=${OUT:-../../build/model}
states=${STATES:-1100000}         # crash states of the fast build
sanitized_states=${SANITIZED:-20000}
bug_states=${BUG_STATES:-6000000} # within which a bug without a good hint must be found
jobs=${JOBS:-2}
seed=${SEED:-1}
failures=$out/failures
failed=0

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "ok - model: $2"
	else
		echo "not ok - model: $2"
		failed=1
	fi
}

# The simulator as it should be.
search() {
	"$out/$1" --seed "$seed" --states "$2" --jobs "$jobs" --store "$failures"
}

# What is shrunk fails again, is short, and is no failure without the bug.
check_shrinking() {
	local folder=$out/shrunk script status=0
	rm -rf "$folder"
	mkdir -p "$folder"
	"$out/model" --seed 2 --fault early-kill --must-fail early-kill --store "$folder" \
		>"$folder/log" || status=1
	script=$(echo "$folder"/seed-*.script)
	[ "$(grep -vc '^[#cfe]' "$script")" -le 40 ] || status=1
	! "$out/model" --replay "$script" >/dev/null || status=1
	grep -v '^fault' "$script" >"$folder/without.script"
	"$out/model" --replay "$folder/without.script" >/dev/null || status=1
	verdict "$status" "a failure shrinks to a short script that fails again"
}

check_mutant_refusal() {
	local folder=$out/misfit status=0
	mkdir -p "$folder"
	printf '%s\n' "# what: a test" "# file: ressd-log.c" "# breaks: 1" \
		's/no such line/anything/' >"$folder/misfit.sed"
	! ./mutant.sh "$folder/misfit.sed" ../../dm-ressd/core "$folder" 2>/dev/null || status=1
	verdict "$status" "a mutation that does not fit the sources is refused"
}

# They run in guests, by `make soak`; that they still can is seen here.
check_guest_mutants() {
	local status=0
	../vm/mutants.sh --apply | grep '^not ok' && status=1
	verdict "$status" "the deliberate bugs of tests/vm/mutants.sh fit the sources"
}

# One deliberate bug: its line on stdout.
find_bug() {
	local name=$1 program=$out/model options=(--fault "$1") hint line
	if [[ $name == core-* ]]; then
		program=$out/mutants/${name#core-}/model
		options=()
	fi
	hint=$(sed -n "s/^$name //p" hints)
	if [[ $hint == *.script ]]; then
		if "$program" --replay "$hint" "${options[@]}" >/dev/null 2>&1; then
			echo "not ok - model: $hint does not find $name"
		else
			echo "ok - model: finds $name by $hint"
		fi
		return
	fi
	if [ -n "$hint" ] && ! "$out/model" --seed "$hint" >/dev/null 2>&1; then
		echo "not ok - model: seed $hint of tests/model/hints fails without $name: a real bug"
		return
	fi
	if [ -n "$hint" ] && line=$("$program" --seed "$hint" --must-fail "$name" "${options[@]}" \
		2>/dev/null); then
		echo "$line"
		return
	fi
	line=$("$program" --states "$bug_states" --must-fail "$name" "${options[@]}" 2>/dev/null) ||
		[ $? -eq 1 ] || line="not ok - model: the simulator with $name died"
	echo "$line"
	echo "# $name: the seed in tests/model/hints finds it no more; the last of these plus one does"
}
export -f find_bug
export out bug_states

mkdir -p "$failures"
log=$out/check.log
search model "$states" >"$log" || failed=1
cat "$log"
tried=$(sed -n 's/^# states \([0-9]*\) .*/\1/p' "$log")
search model-sanitized "$sanitized_states" || failed=1
for script in replays/*.script finders/*.script; do
	"$out/model-sanitized" --replay "$script" || failed=1
done
violations=$failed

check_shrinking
check_mutant_refusal
check_guest_mutants

./bugs.sh | cut -d ' ' -f 1 | xargs -P "$jobs" -I NAME bash -c 'find_bug NAME' >"$out/bugs.log"
sort "$out/bugs.log"
planted=$(./bugs.sh | wc -l)
missed=$((planted - $(grep -c '^ok' "$out/bugs.log")))

echo "# result states/model/count ${tried:-0} 1 >=1000000"
echo "# result violations/model/count $violations 1 ==0"
echo "# result planted-bugs/model/count $planted 1 >=20"
echo "# result planted-bugs/model/missed $missed 1 ==0"
[ "$failed" -eq 0 ] && [ "$missed" -eq 0 ]
