#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# soak.sh [--list] [--fresh] [PATTERN...]: the long tests, hours of them, or those whose name holds a
# PATTERN, one after the other. It may be interrupted: started again at the same commit it leaves out
# the steps that have passed and goes on within the crash simulator; --fresh begins anew. Logs are
# build/soak/STEP.log, the figures build/results/soak.json; the last line is "N passed, N failed".
# `make soak` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/wanted.sh
. tools/wanted.sh

states=${STATES:-100000000} # crash states of the simulator
logs=build/soak
tell_every=60 # seconds, where nobody sees a line move
list=
fresh=
names=()
minutes=() # what each step takes, about
commands=()
passed=0
failed=0
running=

usage() {
	sed -n '3,7s/^# //p' "$0"
	exit 2
}

# step NAME MINUTES COMMAND...: one long test. Its lines "ok" and "not ok" are counted.
step() {
	wanted "$1" || return 0
	names+=("$1")
	minutes+=("$2")
	commands+=("${*:3}")
}

# guest_rounds COUNT SCRIPT [ARGUMENT...]: a script of tests/vm in COUNT fresh guests, each with a
# seed of its own.
guest_rounds() {
	local count=$1 script=$2 options round status=0
	shift 2
	options=$(sed -n 's/^# guest: *//p' "$script" | head -n 1)
	for ((round = 1; round <= count; round++)); do
		echo "# round $round of $count"
		# shellcheck disable=SC2086 # options are words
		tools/vm/run --log "build/soak/console" --file tests/vm/ressd.sh $options \
			"$script" "$@" || status=1
	done
	return "$status"
}
export -f guest_rounds

all_steps() {
	step model 45 build/model/model --jobs "$(nproc)" --seed 1000000 --states "$states" \
		--store "$logs" --progress "$logs/model.progress"
	step model-sanitized 30 build/model/model-sanitized --jobs "$(nproc)" --seed 900000 \
		--states "$((states / 33))" --store "$logs" --progress "$logs/model-sanitized.progress"
	step coverage 3 tools/coverage.py
	step fuzz 11 \
		"make --no-print-directory -C tests/fuzz all && tests/fuzz/run.sh 600"
	step power-switch 60 \
		guest_rounds 10 tests/vm/66-power-switch.sh 20
	step cover-cuts 60 tests/vm/in-guest --timeout 14400 -- 47-cover-cuts 800
	step power-cut 10 guest_rounds 5 tests/vm/65-power-cut.sh
	step killed 30 tests/vm/60-crash.sh 200
	step log-writes 20 \
		tests/vm/in-guest --timeout 7200 -- 67-log-writes 0
	step thin 60 tests/vm/in-guest --timeout 36000 -- 68-thin 20 "$RANDOM" \
		linear,always,adaptive,idle,even,switching xfs,ext4 4 150
	step mixed 60 tests/vm/in-guest --timeout 14400 -- 72-mixed 400
	step stacks 10 tests/vm/in-guest --timeout 7200 -- stacks
	step suites 30 tests/vm/in-guest --timeout 7200 -- suites "$RANDOM" "''" 200
	step mutants 30 tests/vm/mutants.sh
	step tool-mutants 5 "make --no-print-directory -C tests/fuzz tools && userspace/test/mutants.sh"
	step debug-memory 180 tests/vm/other-kernel.sh memory
	step debug-races 180 tests/vm/other-kernel.sh races
	step kernel-6.12 45 tests/vm/other-kernel.sh 6.12
	step kernel-sid 45 tests/vm/other-kernel.sh sid
	step kernel-armhf 180 tests/vm/other-kernel.sh 6.1:armhf
	step kernel-16k 120 tests/vm/other-kernel.sh sid:arm64-16k
}

# tell TEXT: a line that stays.
tell() {
	[ ! -t 1 ] || printf '\r\033[K'
	printf '%s\n' "$1"
}

clock() {
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Minutes that the steps from number $1 on take.
minutes_from() {
	local i sum=0
	for ((i = $1; i < ${#minutes[@]}; i++)); do
		sum=$((sum + minutes[i]))
	done
	echo "$sum"
}

progress() {
	local i=$1 gone=$2 line
	line="${names[$i]} ($((i + 1)) of ${#names[@]}): $(clock "$gone") gone, all about"
	line+=" $(clock $(($(minutes_from "$i") * 60 > gone ? $(minutes_from "$i") * 60 - gone : 0)))"
	line+=" left: $(tail -c 400 "$logs/${names[$i]}.log" | tr '\r' '\n' | tail -n 1)"
	if [ -t 1 ]; then
		printf '\r\033[K%s' "${line:0:160}"
	else
		printf '%s\n' "$line"
	fi
}

# Runs step number $1 in a process group of its own.
run_step() {
	local i=$1 name=${names[$1]} started=$SECONDS told=$SECONDS status=0 ok not_ok every=$tell_every
	[ ! -t 1 ] || every=1
	set -m
	bash -c "${commands[$i]}" >"$logs/$name.log" 2>&1 </dev/null &
	set +m
	running=$!
	while kill -0 "$running" 2>/dev/null; do
		sleep 0.5
		if ((SECONDS - told >= every)); then
			progress "$i" $((SECONDS - started))
			told=$SECONDS
		fi
	done
	wait "$running" || status=$?
	running=
	ok=$(grep -c '^ok\b' "$logs/$name.log") || true
	not_ok=$(grep -c '^not ok\b' "$logs/$name.log") || true
	if [ "$not_ok" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$ok" -eq 0 ]; }; then
		not_ok=1
	fi
	passed=$((passed + ok))
	failed=$((failed + not_ok))
	tell "$(printf '%-16s %4d passed %3d failed  %s minutes, ended with %d' "$name" "$ok" "$not_ok" \
		"$(clock $((SECONDS - started)))" "$status")"
	if [ "$not_ok" -eq 0 ]; then
		echo "$name" >>"$logs/done"
	else
		grep -A 30 '^not ok' "$logs/$name.log" | head -n 60 || tail -n 20 "$logs/$name.log"
	fi
}

# shellcheck disable=SC2329 # called by trap
end_all() {
	trap - INT TERM HUP
	[ -z "$running" ] || kill -TERM -- "-$running" 2>/dev/null || true
	wait || true
	tell "soak: interrupted; start it again to go on"
	exit 130
}

write_results() {
	{
		cat "$logs"/*.log | sed -n 's/^# result //p'
		cat "$logs"/model*.log | sed -n 's/^# states \([0-9]*\) violations \([0-9]*\)$/\1 \2/p' |
			awk '{ states += $1; bad += $2 } END {
				print "states/model-soak/count", states + 0, 1
				print "violations/model-soak/count", bad + 0, 1, "==0" }'
		echo "soak/all/passed $passed 1 >0"
		echo "soak/all/failed $failed 1 ==0"
	} | tools/results.py write soak >"$logs/results" || true
}

while [ $# -gt 0 ]; do
	case $1 in
	--list) list=1 ;;
	--fresh) fresh=1 ;;
	-*) usage ;;
	*) patterns+=("$1") ;;
	esac
	shift
done
all_steps
if [ -n "$list" ]; then
	printf '%s\n' "${names[@]}"
	exit
fi
[ ${#names[@]} -gt 0 ] || { echo "soak: no step has a name with '${patterns[*]}'; see --list" >&2; exit 2; }

mkdir -p "$logs"
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
if [ -n "$fresh" ] || [ "$(cat "$logs/commit" 2>/dev/null)" != "$commit" ]; then
	rm -rf "$logs"
	mkdir -p "$logs"
	echo "$commit" >"$logs/commit"
fi
touch "$logs/done"
trap end_all INT TERM HUP
for i in "${!names[@]}"; do
	if grep -qx "${names[$i]}" "$logs/done"; then
		tell "${names[$i]}: has passed before"
		continue
	fi
	run_step "$i"
done
write_results
tell "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
