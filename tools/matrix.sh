#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# matrix.sh [--list] [PATTERN...]: build the modules for each kernel that Debian has, by each
# compiler and for each machine, the tools likewise, and print a table of it; or only the rows whose
# name holds a PATTERN. A warning in our sources is a failure, as is whatever sparse says of them.
# Exit code 1 if a row failed. Nothing is run (tests/vm/other-kernel.sh and tools/cross-check.sh do
# that) and nothing installed; the first time packages of other kernels are fetched into the cache.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/wanted.sh
. tools/wanted.sh

modules=(dm-ressd tests/ssdsim)
kernels=(6.12 sid)		# beside the installed one, as tools/vm/debian-kernel takes them
machines=(arm64 armhf)		# beside this one: those that a Raspberry Pi is
declare -A compilers=([arm64]=aarch64-linux-gnu- [armhf]=arm-linux-gnueabihf-)
folder=$PWD/build/matrix
list=
table=()
failed=0

# Debian's kernels are built by gcc: what their configuration knows of that compiler is not true of
# clang. No such module is loaded, so that some of the kernel's hardening is left out does not count.
clang=(CC=clang CONFIG_CC_IS_GCC= CONFIG_CC_IS_CLANG=y CONFIG_RETHUNK= CONFIG_MITIGATION_RETHUNK=
	CONFIG_SLS= CONFIG_MITIGATION_SLS=
	CONFIG_FTRACE_MCOUNT_USE_CC= CONFIG_INIT_STACK_ALL_ZERO= CONFIG_OBJTOOL=
	CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= CONFIG_UBSAN_BOUNDS_STRICT=
	CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough KCFLAGS=-Wno-unknown-warning-option)
# Not C=1: newer headers lack the script by which make would then find that there is a sparse.
sparse=(KBUILD_CHECKSRC=1 CF=-D__CHECK_ENDIAN__)
# What a compiler says of our files; newer kernels compile in the module's folder, without a path.
ours="^($folder/|[a-z][^:]*\.[ch]:).*(warning|error): "

die() {
	echo "matrix: $*" >&2
	exit 2
}

# row NAME COMMAND...: a line of the table; the output is shown if it fails.
row() {
	local name=$1 verdict=ok begun=$SECONDS log=$folder/${1//[ \/]/-}.log release
	shift
	wanted "$name" || return 0
	if [ -n "$list" ]; then
		echo "$name"
		return
	fi
	mkdir -p "$folder"
	if "$@" >"$log" 2>&1; then
		echo "ok - matrix: $name"
	else
		verdict=FAILS
		failed=1
		echo "not ok - matrix: $name (all of it: $log)"
		grep -E "$ours|(error|ERROR): |^(debian-kernel|matrix): " "$log" |
			head -n 20 | sed 's/^/# /' || true
	fi
	release=$(sed -n 's/^kernel: //p' "$log")
	table+=("$(printf '%-28s %-20s %-6s %4d s' "$name" "$release" "$verdict" $((SECONDS - begun)))")
}

# build_modules FOLDER OPTION...: copies of them, so that what the usual build made stays.
build_modules() {
	local kernel=$1 copy=$folder/modules module log=$folder/make.log status=0
	shift
	rm -rf "$copy"
	for module in "${modules[@]}"; do
		mkdir -p "$copy"
		git ls-files "$module" | grep -E '\.[ch]$|Kbuild$' | xargs cp --parents -t "$copy"
		# Nobody debugs them, and type information for bpf would take a tool more.
		make -s -j "$(nproc)" -C "$kernel" M="$copy/$module" CONFIG_DEBUG_INFO= \
			CONFIG_DEBUG_INFO_BTF_MODULES= W=1 "$@" modules >"$log" 2>&1 || status=1
		cat "$log"
		# The kernel's own headers are not ours to mend.
		! grep -E "$ours" "$log" >/dev/null || status=1
	done
	return "$status"
}

# kernel_rows KIND KERNEL...: KERNEL... prints the build folder, by which a row begins.
kernel_rows() {
	local kind=$1
	shift
	row "$kind gcc sparse" with_kernel "$@" -- "${sparse[@]}"
	row "$kind clang" with_kernel "$@" -- "${clang[@]}"
}

# with_kernel COMMAND... -- OPTION...
with_kernel() {
	local command=() kernel
	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	kernel=$("${command[@]}") || {
		echo "matrix: there is no kernel to build for: ${command[*]} failed"
		return 1
	}
	sed -n 's/^#define UTS_RELEASE "\(.*\)"$/kernel: \1/p' "$kernel/include/generated/utsrelease.h"
	build_modules "$kernel" "$@"
}

build_tools() {
	make --no-print-directory -j "$(nproc)" -C userspace OUT="$folder/tools-$1" CC="$1" all
}

cross_build() {
	make --no-print-directory -j "$(nproc)" -C userspace cross CROSS="$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	--list) list=1 ;;
	-*) die "'$1' is not an option; give --list, or words of the names that it prints" ;;
	*) patterns+=("$1") ;;
	esac
	shift
done

kernel_rows "modules installed" tools/vm/kernel-dir
for one in "${kernels[@]}"; do
	kernel_rows "modules $one" tools/vm/debian-kernel "$one"
done
for machine in "${machines[@]}"; do
	for one in 6.1 "${kernels[@]}"; do
		row "modules $one $machine" with_kernel \
			tools/vm/debian-kernel "$one" "$machine" -- CROSS_COMPILE="${compilers[$machine]}"
	done
done
for compiler in gcc clang; do
	row "tools $compiler" build_tools "$compiler"
done
for machine in "${machines[@]}"; do
	row "tools $machine" cross_build "${compilers[$machine]}"
done
[ -z "$list" ] || exit 0
[ ${#table[@]} -gt 0 ] || die "no row has a name with '${patterns[*]}'; see tools/matrix.sh --list"
printf '\n%s\n' "what is built                kernel               result   time"
printf '%s\n' "${table[@]}"
exit "$failed"
