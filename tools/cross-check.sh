#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cross-check.sh [MACHINE...]: build the tools for other machines (armhf, arm64, i386; by default the
# first two, which a Raspberry Pi is), link them with those machines' Debian libraries, and run them
# and their unit tests under qemu's user mode; where long has 32 bits also those of core, and the crash
# simulator.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tools/cross.sh
. tools/cross.sh
failed=0

# check NAME COMMAND...: the command's output goes to $log.
check() {
	local name=$1 status=0
	shift
	"$@" >>"$log" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		echo "ok - cross: $name"
	else
		echo "not ok - cross: $name: exit code $status"
		failed=1
	fi
	return "$status"
}

# The tools' unit tests that may fail there and not here. arm64 differs from this machine by its pages,
# here those of a Raspberry Pi 5, and rounds a product and a sum once, which only test-judge could see.
# shellcheck disable=SC2317
tests_of() {
	case $1 in
	arm64) echo test-judge test-analyse test-preserve ;;
	*) basename -s .c userspace/test/test-*.c | grep -vx test-judge ;;
	esac
}

# shellcheck disable=SC2317 # called by check
make_tools() {
	cross_make -C userspace OUT="$out" RUN="${run[*]}" unit_tests="$(tests_of "$machine" | xargs)" "$@"
}

# make_core FOLDER TARGET: what tests/FOLDER makes of core, with the tools' objects of it.
# shellcheck disable=SC2317
make_core() {
	cross_make -s -C "tests/$1" OUT="$out/$1" LIBRARY="$out/tools/lib.a" \
		SANITIZED_LIBRARY="$out/tools-test/lib.a" "$2"
}

# All but test-bound: its results are those of this machine.
# shellcheck disable=SC2317
run_core_tests() {
	local test failed=0
	for test in "$out"/unit/test-*; do
		[ "${test##*/}" = test-bound ] || "${run[@]}" "$test" || failed=1
	done
	return "$failed"
}

check_core() {
	check "$machine: unit tests of core compile" make_core unit all || return 0
	: >"$log"
	check "$machine: unit tests of core" run_core_tests || true
	sed -n "s/^\(ok\|not ok\) - /&$machine: /p" "$log"
	check "$machine: the crash simulator compiles" make_core model "$out/model/model" || return 0
	check "$machine: the crash simulator" "${run[@]}" "$out/model/model" --seed 1 --states 20000 --jobs 1 ||
		true
}

# check_machine MACHINE: its unit tests are counted one by one.
check_machine() {
	local machine=$1 prefix emulator root
	local out=$PWD/build/cross/$machine
	local log=$out/build.log
	cross_for "$machine"
	local run=("${emulator[@]}" -L "$root")

	mkdir -p "$out"
	: >"$log"
	check "$machine: the tools compile and link" make_tools all unit-tests || {
		tail -n 15 "$log"
		return
	}
	check "$machine: ressd-probe starts" "${run[@]}" "$out/bin/ressd-probe" --version || true
	check "$machine: ressd-trace starts" "${run[@]}" "$out/bin/ressd-trace" --version || true
	check "$machine: ressdctl starts" "${run[@]}" "$out/bin/ressdctl" --help || true
	: >"$log"
	check "$machine: unit tests of the tools" make_tools check-unit || true
	sed -n "s/^\(ok\|not ok\) - /&$machine: /p" "$log"
	[ "$machine" = arm64 ] || check_core
}

machines=("$@")
[ $# -gt 0 ] || machines=(armhf arm64)
for machine in "${machines[@]}"; do
	check_machine "$machine"
done
exit "$failed"
