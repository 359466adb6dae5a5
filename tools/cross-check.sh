#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cross-check.sh [MACHINE...]: build the tools for other machines (armhf, arm64, i386; by default the
# first two, which a Raspberry Pi is), link them with those machines' Debian libraries, and run them
# and their unit tests under qemu's user mode.
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

# shellcheck disable=SC2317 # called by check
make_for() {
	cross_make -C userspace OUT="$out" CFLAGS=-O1 RUN="${run[*]}" "$@"
}

# check_machine MACHINE: its unit tests are counted one by one.
check_machine() {
	local machine=$1 prefix emulator root
	local out=$PWD/build/cross/$machine
	local log=$out/build.log
	cross_for "$machine"
	local run=("$emulator" -L "$root")

	mkdir -p "$out"
	: >"$log"
	check "$machine: the tools compile and link" make_for all unit-tests || {
		tail -n 15 "$log"
		return
	}
	check "$machine: ressd-probe starts" "${run[@]}" "$out/bin/ressd-probe" --version || true
	check "$machine: ressd-trace starts" "${run[@]}" "$out/bin/ressd-trace" --version || true
	check "$machine: ressdctl starts" "${run[@]}" "$out/bin/ressdctl" --help || true
	: >"$log"
	check "$machine: unit tests of the tools" make_for check-unit || true
	sed -n "s/^\(ok\|not ok\) - /&$machine: /p" "$log"
}

machines=("$@")
[ $# -gt 0 ] || machines=(armhf arm64)
for machine in "${machines[@]}"; do
	check_machine "$machine"
done
exit "$failed"
