#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# debug-kernel.sh ["TEST [ARGUMENT...]"...]: guest tests on a kernel with KASAN, lockdep and their like, whose reports
# fail a test. Part of `make soak`, not of `make check`: the kernel is built first (half an hour on two
# cores, once), and a test takes some three times as long on it.
set -euo pipefail
cd "$(dirname "$0")/../.."

tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(20-verify 30-reload 40-drain 66-power-switch 70-suspend-remove 84-grow)
folder=build/debug-kernel
failed=0

# The modules of the other kernel must not take the place of the usual ones.
build_modules() {
	local module
	for module in dm-ressd tests/ssdsim; do
		rm -rf "${folder:?}/$module"
		mkdir -p "$folder/$module"
		git ls-files "$module" | grep -E '\.[ch]$|Kbuild$' | xargs cp --parents -t "$folder"
		make -s -C "$KDIR" M="$PWD/$folder/$module" modules >"$folder/log" 2>&1 || {
			tail -n 20 "$folder/log"
			return 1
		}
	done
}

# run_test "TEST [ARGUMENT...]": in a guest, or by a script of this machine that starts guests.
run_test() {
	local words name status=0 options=(--timeout 3600
		--file "$folder/dm-ressd/dm-ressd.ko:/modules/dm-ressd.ko"
		--file "$folder/tests/ssdsim/ssdsim.ko:/modules/ssdsim.ko")
	read -r -a words <<<"$1"
	name=${words[0]}
	if grep -q '^# host$' "tests/vm/$name.sh"; then
		GUEST_OPTIONS="${options[*]}" "tests/vm/$name.sh" "${words[@]:1}"
	else
		tests/vm/in-guest --log "$folder/$name.console" "${options[@]}" -- "${words[@]}"
	fi >"$folder/$name.log" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		echo "ok - $name on the debug kernel"
	else
		failed=1
		echo "not ok - $name on the debug kernel: it ended with $status"
		grep -A 40 -E '^(not ok|vm:)' "$folder/$name.log" | head -n 80 | sed 's/^/# /'
	fi
}

KDIR=$(tools/vm/debug-kernel)
export KDIR
mkdir -p "$folder"
build_modules
for name in "${tests[@]}"; do
	run_test "$name"
done
exit "$failed"
