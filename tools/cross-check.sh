#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cross-check.sh [MACHINE...]: build the tools for other machines (armhf, arm64, i386; by default the
# first two, which a Raspberry Pi is), link them with those machines' Debian libraries, and run them
# and their unit tests under qemu's user mode; where long has 32 bits also those of core, and the crash
# simulator.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/cross
# What the tools are linked with, and what these libraries need.
libraries=(libaio-dev libaio1 libdevmapper-dev libdevmapper1.02.1 libblkid-dev libblkid1
	libselinux1 libudev1 libpcre2-8-0 libuuid1)
# With -O1 alone gcc 12 for armhf loads only the lower half of 0x82f63b78 behind a condition.
cflags="-O1 -fno-if-conversion"
failed=0

die() {
	echo "cross-check: $*" >&2
	exit 1
}

# The compiler's prefix, Debian's folder of libraries, qemu's name of a machine, and the tools' unit
# tests that may fail there and not here. arm64 differs from this machine by its pages, those of a
# Raspberry Pi 5, and rounds a product and a sum once.
describe() {
	tests=(userspace/test/test-*.c)
	tests=("${tests[@]##*/}")
	tests=("${tests[@]%.c}")
	case $1 in
	armhf) prefix=arm-linux-gnueabihf folder=$prefix emulator=(qemu-arm-static)
		tests=("${tests[@]/test-judge/}") ;;
	arm64) prefix=aarch64-linux-gnu folder=$prefix emulator=(qemu-aarch64-static -p 16384)
		tests=(test-judge test-analyse test-preserve) ;;
	i386) prefix=i686-linux-gnu folder=i386-linux-gnu emulator=(qemu-i386-static) ;;
	*) die "'$1' is no machine that this script knows; give armhf, arm64 or i386" ;;
	esac
}

# fetch_libraries MACHINE FOLDER: unpack the libraries of Debian below FOLDER.
fetch_libraries() {
	local machine=$1 root=$2 scratch package
	[ ! -d "$root" ] || return 0
	mkdir -p "$cache"
	scratch=$(mktemp -d)
	tools/apt-conf "$scratch" "$machine"
	# A part of the lists may fail; whether it was needed is seen at once.
	(cd "$scratch" && export APT_CONFIG=$scratch/apt.conf &&
		{ apt-get -q update || true; } && apt-get -q download "${libraries[@]}") \
		>"$scratch/log" 2>&1 || {
		tail -n 10 "$scratch/log" >&2
		rm -rf "$scratch"
		die "Debian's libraries for $machine could not be had: is the network up?"
	}
	for package in "$scratch"/*.deb; do
		dpkg -x "$package" "$scratch/root"
	done
	# Links to /lib mean that of the machine, not of this one.
	find "$scratch/root" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$scratch/root$(readlink "$link")" "$link"
	done
	chmod 755 "$scratch/root"
	mv -T "$scratch/root" "$root" 2>/dev/null || [ -d "$root" ]
	rm -rf "$scratch"
}

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

# make_for TARGET...: with compiler and libraries of the machine. The sanitizers do not run under qemu;
# the same code runs with them on this machine.
make_for() {
	make --no-print-directory -C userspace OUT="$out" CC="$prefix-gcc" AR="$prefix-ar" \
		CFLAGS="$cflags" SANITIZE= RUN="${run[*]}" PKG_CONFIG=true unit_tests="${tests[*]}" \
		CPPFLAGS="-I$root/usr/include -I$root/usr/include/blkid" \
		LDFLAGS="-L$root/usr/lib/$folder -Wl,-rpath-link,$root/usr/lib/$folder:$root/lib/$folder" \
		LIBS="-ldevmapper -lblkid -lm" "$@"
}

# make_core FOLDER TARGET: what tests/FOLDER makes of core, with the tools' objects of it.
make_core() {
	make --no-print-directory -s -C "tests/$1" OUT="$out/$1" CC="$prefix-gcc" CFLAGS="$cflags" SANITIZE= \
		LIBRARY="$out/tools/lib.a" SANITIZED_LIBRARY="$out/tools-test/lib.a" "$2"
}

# All but test-bound: its results are those of this machine.
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
	local machine=$1 prefix folder emulator tests
	describe "$machine"
	local out=$PWD/build/cross/$machine
	local log=$out/build.log root
	# Another list of libraries is another folder.
	root=$cache/$machine-$(printf '%s\n' "${libraries[@]}" | sha256sum | cut -c 1-8)
	local run=("${emulator[@]}" -L "/usr/$prefix" -E
		"LD_LIBRARY_PATH=/usr/$prefix/lib:$root/usr/lib/$folder:$root/lib/$folder")

	mkdir -p "$out"
	: >"$log"
	fetch_libraries "$machine" "$root"
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
	[ "$machine" = arm64 ] || check_core
}

machines=("$@")
[ $# -gt 0 ] || machines=(armhf arm64)
for machine in "${machines[@]}"; do
	check_machine "$machine"
done
exit "$failed"
