#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh [--jobs N] [--verbose] [--list] [PATTERN...]: run all tests, or those whose name holds a
# PATTERN. Their "ok" and "not ok" lines are counted; the last line is "N passed, N failed", the
# exit code 1 if a test failed, if a script died, or if one ran no test at all.
# `make check` calls it; docs/testing.md says how to add a test.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/wanted.sh
. tools/wanted.sh

jobs=4 # guests wait, and three leave a ninth of two processors idle
verbose=
logs=build/check
step_limit=900 # seconds until a step counts as hung, more on a busy machine (tools/patient.py)
durations=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/check-durations
fault_lines='^vm: the kernel reported a fault'
started=$SECONDS

names=()        # of the steps
guesses=()      # seconds that each takes on two cores
commands=()     # shell commands
declare -A running=() begun=()
next=0
finished=0
passed=0
failed=0
failures=()

usage() {
	sed -n '3,5s/^# //p' "$0"
	exit 2
}

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--jobs)
			jobs=${2:-}
			[[ $jobs =~ ^[1-9]$ ]] || usage
			shift
			;;
		--verbose) verbose=1 ;;
		--list) list=1 ;;
		-*) usage ;;
		*) patterns+=("$1") ;;
		esac
		shift
	done
}

# step NAME SECONDS COMMAND...: one step of the run; SECONDS is what it takes where that is unknown.
step() {
	local known
	wanted "$1" || return 0
	known=$(sed -n "s/^$1 //p" "$durations" 2>/dev/null | tail -n 1) || known=
	names+=("$1")
	guesses+=("${known:-$2}")
	commands+=("${*:3}")
}

# make_step NAME SECONDS FOLDER: the folder's `make check`, if it has one.
make_step() {
	[ ! -f "$3/Makefile" ] || step "$1" "$2" make --no-print-directory -C "$3" check
}

# guest_step NAME SECONDS SCRIPT: a script that runs in a guest, with the options of tools/vm/run
# that its line "# guest: OPTIONS" names.
guest_step() {
	local options
	options=$(sed -n 's/^# guest: *//p' "$3" | head -n 1)
	step "$1" "$2" tools/vm/run --log "$logs/$1.console" --file tests/vm/ressd.sh \
		"$options" "$3"
}

# vm_steps: every script of tests/vm. Its second comment says where it runs: "# guest: OPTIONS" in
# a guest, "# host" on this machine, where it starts guests by itself.
vm_steps() {
	local script name
	for script in tests/vm/[0-9]*.sh; do
		name=$(basename "$script" .sh)
		if grep -q '^# guest:' "$script"; then
			guest_step "$name" 60 "$script"
		elif grep -q '^# host$' "$script"; then
			step "$name" 200 "$script"
		else
			echo "check: $script says neither '# guest: OPTIONS' nor '# host'" >&2
			exit 2
		fi
	done
}

all_steps() {
	make_step model 40 tests/model
	vm_steps
	step runner 80 tests/vm/selftest.sh
	step tools-on-devices 60 tools/vm/run --mode benchmark --log "$logs/tools-on-devices.console" \
		--file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/samsung.conf \
		--file tests/ssdsim/profiles/sdcard.conf \
		userspace/test/vm/tools-on-devices.sh
	step ssdsim-in-a-guest 20 tools/vm/run --log "$logs/ssdsim-in-a-guest.console" \
		--file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles tests/ssdsim/test/guest.sh
	step ssdsim-power 60 tools/vm/run --log "$logs/ssdsim-power.console" \
		--file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles tests/ssdsim/test/guest-power.sh
	make_step unit 5 tests/unit
	step kunit 30 tests/kunit/run.sh
	make_step lock-hold 20 tests/lock-hold
	make_step interleave 60 tests/interleave
	make_step ssdsim 10 tests/ssdsim/test
	make_step tools 40 userspace
	step cross 60 tools/cross-check.sh
	step install 60 tests/install/check.sh
	step packages 90 tests/install/packages.sh
	step root 200 tests/boot/root.sh
	make_step fuzz 60 tests/fuzz
	make_step probe 10 tests/probe
	make_step oracle 10 tests/functional
	step ktap 5 python_tests tests/kunit/test_ktap.py
	step results 5 python_tests tests/unit/test_results.py
	step steps 6 python_tests tests/unit/test_check.py
	step peers 5 python_tests tests/unit/test_peers.py
	step normal-path 5 python_tests tests/unit/test_normal_path.py
	step combinations 9 python_tests tests/unit/test_combinations.py
	step bench-rows 5 python_tests tests/unit/test_bench.py
	step apps 5 python_tests tests/unit/test_apps.py
	step mover-model 20 mover_model_tests
	step papers 5 python_tests tests/unit/test_papers.py
	step papers-page 10 python_tests tests/unit/test_papers_page.py
	step upstream 40 tools/upstream.sh
	step matrix 30 tools/matrix.sh "modules\ installed\ clang" "modules\ 6.1\ armhf"
	step interfaces 5 python_tests tests/unit/test_interfaces.py
	step probe-guests 5 python_tests tests/unit/test_probe_guest.py
	step probe-answers 5 python_tests tests/unit/test_probe_answer.py
	step boots 9 python_tests tests/unit/test_machine.py
	step console-logs 5 python_tests tests/vm/selftest_log.py
}

# longest_first: the order of the run, so that no long step is left to run alone at its end.
longest_first() {
	local i order old_names=("${names[@]}") old_guesses=("${guesses[@]}") old=("${commands[@]}")
	order=$(for i in "${!names[@]}"; do echo "${guesses[i]} $i"; done | sort -s -rn -k 1,1)
	names=() guesses=() commands=()
	while read -r _ i; do
		names+=("${old_names[i]}")
		guesses+=("${old_guesses[i]}")
		commands+=("${old[i]}")
	done <<<"$order"
}

# python_tests FILE: run a unittest program; its verdicts as "ok" and "not ok" lines.
python_tests() {
	local output status=0
	output=$("$1" -v 2>&1) || status=$?
	printf '%s\n' "$output" | sed -E \
		-e "s#^(.*) \.\.\. ok\$#ok - $(basename "$1" .py): \1#" \
		-e "s#^(.*) \.\.\. (FAIL|ERROR)\$#not ok - $(basename "$1" .py): \1: \2#"
	return "$status"
}
export -f python_tests

mover_model_tests() {
	make --no-print-directory -C tools/bench/model all && python_tests tests/unit/test_model.py
}
export -f mover_model_tests

minutes() {
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# What is left, from what the steps took the last time, beside as many others.
time_left() {
	local i left=0 rest
	for i in "${!names[@]}"; do
		if [ "$i" -ge "$next" ]; then
			left=$((left + guesses[i]))
		elif [ -n "${begun[$i]:-}" ]; then
			rest=$((guesses[i] - (SECONDS - begun[$i])))
			left=$((left + (rest > 0 ? rest : 0)))
		fi
	done
	minutes $((left / jobs))
}

progress() {
	local i now=
	[ -t 1 ] || return 0
	for i in "${!begun[@]}"; do
		now+=" ${names[$i]}"
	done
	printf '\r\033[K%d of %d done, %s passed, %s failed, %s gone, about %s left:%s' "$finished" \
		"${#names[@]}" "$passed" "$failed" "$(minutes $((SECONDS - started)))" \
		"$(time_left)" "$now"
}

# tell TEXT: a line that stays, above the progress.
tell() {
	[ ! -t 1 ] || printf '\r\033[K'
	printf '%s\n' "$1"
}

start_next() {
	local i=$next name=${names[$next]}
	tools/patient.py "$step_limit" bash -c "${commands[$i]}" >"$logs/$name.log" 2>&1 </dev/null &
	running[$!]=$i
	begun[$i]=$SECONDS
	next=$((next + 1))
}

count_lines() {
	grep -cE -- "$1" "$2" || true
}

# Tells a failed step's reasons: its failed tests with what they said, or the end of its output.
tell_failure() {
	local name=$1 log=$2
	tell "--- $name: what failed (all of it: $log)"
	if ! grep -qE '^not ok' "$log"; then
		tail -n 25 "$log"
		return
	fi
	# A failed test, and the comments after it.
	awk '/^not ok/ { shown = 30 } /^ok / { shown = 0 } shown-- > 0' "$log" | head -n 120
	grep -A 15 "$fault_lines" "$log" || true
}

# finish_step INDEX STATUS: count its tests.
finish_step() {
	local i=$1 status=$2 name=${names[$1]} ok not_ok took cpu why="" verdict=pass
	local log=$logs/$name.log
	took=$((SECONDS - begun[$i]))
	unset "begun[$i]"
	ok=$(count_lines '^ok\b' "$log")
	not_ok=$(count_lines '^not ok\b' "$log")
	if [ "$status" -eq 124 ] && [ "$took" -ge "$step_limit" ]; then
		why="it did not end within $step_limit s"
	elif [ "$status" -ne 0 ] && [ "$not_ok" -eq 0 ]; then
		why="it ended with $status"
	elif grep -qE "$fault_lines" "$log" && [ "$name" != runner ]; then
		why="the kernel reported a fault"
	elif [ "$status" -eq 0 ] && [ "$not_ok" -gt 0 ]; then
		why="it ended with 0 though tests failed"
	elif [ $((ok + not_ok)) -eq 0 ]; then
		why="it ran no test"
	fi
	[ -z "$why" ] || not_ok=$((not_ok + 1))
	passed=$((passed + ok))
	failed=$((failed + not_ok))
	finished=$((finished + 1))
	[ "$not_ok" -eq 0 ] || verdict=FAIL
	cpu=$(sed -n 's/^# \([0-9]*\) s of a processor$/\1/p' "$log" | tail -n 1)
	tell "$(printf '%-4s %-18s %4d passed %3d failed %5d s, %4d s of a processor%s' "$verdict" "$name" \
		"$ok" "$not_ok" "$took" "$cpu" "${why:+  $why}")"
	if [ "$not_ok" -gt 0 ]; then
		failures+=("$name")
		tell_failure "$name" "$log"
	else
		remember_duration "$name" "$took"
		[ -z "$verbose" ] || cat "$log"
	fi
}

remember_duration() {
	mkdir -p "${durations%/*}"
	{
		sed "/^$1 /d" "$durations" 2>/dev/null || true
		echo "$1 $2"
	} >"$durations.$$" # beside the check of another clone
	mv "$durations.$$" "$durations"
}

# Waits until a step ends, moving the progress line on.
wait_for_one() {
	local pid status
	while :; do
		for pid in "${!running[@]}"; do
			if ! kill -0 "$pid" 2>/dev/null; then
				status=0
				wait "$pid" || status=$?
				finish_step "${running[$pid]}" "$status"
				unset "running[$pid]"
				return
			fi
		done
		progress
		sleep 0.5
	done
}

# shellcheck disable=SC2329 # called by trap
end_all() {
	local pid
	trap - INT TERM
	for pid in "${!running[@]}"; do
		kill -TERM "$pid" 2>/dev/null || true
	done
	wait || true
	tell "check: interrupted"
	exit 130
}

# The figures that tests told as "# result ID VALUE UNIT [BAR]", and the counts.
write_results() {
	{
		cat "$logs"/*.log | sed -n 's/^# result //p'
		echo "check/all/passed $passed 1 >0"
		echo "check/all/failed $failed 1 ==0"
		echo "check/all/seconds $((SECONDS - started)) s"
	} | tools/results.py write check >"$logs/results" || true
}

list=
parse "$@"
all_steps
if [ -n "$list" ]; then
	printf '%s\n' "${names[@]}"
	exit
fi
if [ ${#names[@]} -eq 0 ]; then
	echo "check: no test has a name with '${patterns[*]}'; see tools/check.sh --list" >&2
	exit 2
fi

longest_first
rm -rf "$logs"
mkdir -p "$logs"
# What several steps use is built before they run side by side: also both libraries, of which a
# makefile takes a lock only for another folder's.
for folder in functional lock-hold probe unit; do
	make --no-print-directory -j "$(nproc)" -C "tests/$folder" all
done
make --no-print-directory -C tests/fuzz tools
trap end_all INT TERM HUP
while [ "$finished" -lt "${#names[@]}" ]; do
	while [ ${#running[@]} -lt "$jobs" ] && [ "$next" -lt "${#names[@]}" ]; do
		start_next
	done
	wait_for_one
done
[ ${#patterns[@]} -gt 0 ] || write_results
if [ ${#failures[@]} -gt 0 ]; then
	tell "failed: ${failures[*]}; run them alone with: tools/check.sh ${failures[*]}"
fi
tell "$(minutes $((SECONDS - started))) minutes; logs in $logs"
tell "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
