#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# other-kernel.sh memory|races|KERNEL[:MACHINE] ["TEST [ARGUMENT...]"...]: guest tests on another
# kernel than the usual one; the last line says how many passed and failed. "memory" and "races": a
# debug kernel of tools/vm/debug-kernel, whose reports fail a test; it is built first (half an hour on
# two cores, once), and a test takes some three times as long on it. A KERNEL: 6.12, the newest stock
# kernel of this series that this Debian has packages of, or sid, the newest of all that Debian has;
# 6.1:armhf, 6.12:arm64, sid:arm64-16k: of such a machine, with its programs of Debian. Without a
# TEST: all that a guest runs whole; on debug kernels also what starts guests by itself, stacks,
# suites, and on "memory" no-memory, but nothing that measures time.
# Part of `make debug-check`, `make arm-check` and `make soak`, not of `make check`.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/cross.sh
. tools/cross.sh

kind=${1:-}
machine=
folder=build/kernel-${kind//:/-}
tree=. # of the sources that tests are run from
passed=0
failed=0

# Tests that run without a TEST.
all_tests() {
	if [ "$kind" != memory ] && [ "$kind" != races ]; then
		grep -l '^# guest:' tests/vm/[0-9]*.sh
	else
		grep -lE '^# guest:|GUEST_OPTIONS' tests/vm/[0-9]*.sh |
			xargs grep -L '^# guest:.*--mode benchmark'
		printf "tests/vm/%s.sh\n" stacks suites
		[ "$kind" != memory ] || echo tests/vm/no-memory.sh
	fi | xargs -n 1 basename -s .sh
}

case $kind in
memory | races) chooser=(tools/vm/debug-kernel "$kind") ;;
[1-9]*.*:* | sid:*)
	chooser=(tools/vm/debian-kernel "${kind%:*}" "${kind#*:}" boot)
	machine=${kind#*:}
	machine=${machine%-16k}
	;;
[1-9]*.* | sid) chooser=(tools/vm/debian-kernel "$kind") ;;
*)
	echo "other-kernel.sh: the kernel is '$kind', but must be memory, races, sid, or a" \
		"series of Debian's, 6.12, and perhaps a machine: 6.1:armhf" >&2
	exit 2
	;;
esac
if [ $# -gt 1 ]; then
	tests=("${@:2}")
else
	mapfile -t tests < <(all_tests)
fi

# The modules of the other kernel must not take the place of the usual ones.
build_modules() {
	local module
	for module in dm-ressd tests/ssdsim; do
		rm -rf "${folder:?}/$module"
		mkdir -p "$folder/$module"
		git ls-files "$module" | grep -E '\.[ch]$|Kbuild$' | xargs cp --parents -t "$folder"
		# Type information for bpf would take a tool more, and nobody wants it.
		make -s -C "$KDIR" M="$PWD/$folder/$module" CONFIG_DEBUG_INFO_BTF_MODULES= W=1 \
			${machine:+CROSS_COMPILE=$prefix-} modules >"$folder/log" 2>&1 || {
			tail -n 20 "$folder/log"
			return 1
		}
		! grep 'warning:' "$folder/log" || return 1
	done
}

# What guests run beside the modules: without the oracle a test fails late, and says little. Another
# machine's lies in a copy of the sources, for it has the same names.
build_programs() {
	local make=make
	if [ -n "$machine" ]; then
		cross_for "$machine"
		make=cross_make
		tree=$folder/tree
		rm -rf "$tree"
		mkdir -p "$tree"
		git ls-files -z | xargs -0 cp --parents -t "$tree"
	fi
	$make -s -C "$tree/userspace" all
	$make -s -C "$tree/tests/functional" all
	$make -s -C "$tree/tests/fuzz" tools
}

# run_test "TEST [ARGUMENT...]": in a guest, or by a script of this machine that starts guests.
run_test() {
	local words name status=0 options=(--timeout 3600
		--file "$PWD/$folder/dm-ressd/dm-ressd.ko:/modules/dm-ressd.ko"
		--file "$PWD/$folder/tests/ssdsim/ssdsim.ko:/modules/ssdsim.ko")
	read -r -a words <<<"$1"
	name=${words[0]}
	if grep -q '^# host$' "tests/vm/$name.sh"; then
		GUEST_OPTIONS="${options[*]}" "tests/vm/$name.sh" "${words[@]:1}"
	else
		"$tree/tests/vm/in-guest" --log "$PWD/$folder/$name.console" "${options[@]}" -- "${words[@]}"
	fi >"$folder/$name.log" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok - $name on $release: $(grep -c '^ok - ' "$folder/$name.log") checks"
	else
		failed=$((failed + 1))
		echo "not ok - $name on $release: it ended with $status"
		grep -A 40 -E '^(not ok|vm:)' "$folder/$name.log" | head -n 80 | sed 's/^/# /'
	fi
}

KDIR=$("${chooser[@]}")
export KDIR
release=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$KDIR/include/generated/utsrelease.h")
mkdir -p "$folder"
build_programs
if ! build_modules; then
	echo "not ok - the modules for $release: they do not build, or not without warnings"
	exit 1
fi
for name in "${tests[@]}"; do
	run_test "$name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
