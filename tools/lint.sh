#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lint.sh: everything that can be said about the sources without running them: licence lines,
# checkpatch --strict, kernel build with W=1 and sparse, tools for ARM, shellcheck, Python. Prints the
# findings; exit code 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}
ruff_version=0.6.9
kernel_modules=(dm-ressd tests/ssdsim tests/vm/selftest)
failed=0

# Files of the project, also those not yet added to git, that match the given patterns.
sources() {
	local path
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while read -r path; do
		[ ! -f "$path" ] || echo "$path"
	done
}

# step NAME COMMAND...: run one check; its output is shown only when it finds something.
step() {
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -eq 0 ]; then
		echo "ok - lint: $name"
	else
		printf '%s\n' "$output"
		echo "not ok - lint: $name"
		failed=1
	fi
}

# Scripts of a language, told by name or by the first line.
scripts_of() {
	local interpreter=$1 suffix=$2 path first
	sources | while read -r path; do
		first=
		IFS= read -r -n 80 first <"$path" 2>/dev/null || true
		if [[ $path == *"$suffix" || $first == '#!'*"$interpreter"* ]]; then
			echo "$path"
		fi
	done
}

check_licences() {
	local path bad=0
	for path in $(sources ':!*.md' ':!LICENSE*' ':!*.png' ':!*.json' \
		':!tools/upstream/*' ':!tests/fuzz/corpus/*' ':!debian/changelog' \
		':!debian/copyright' ':!debian/source/format'); do
		head -n 2 "$path" | grep -q 'SPDX-License-Identifier: ' && continue
		echo "$path: the first line (or the second, after #!) is no SPDX-License-Identifier"
		bad=1
	done
	return "$bad"
}

# The guest scripts set pipefail, and grep -q leaves the command before it to die of SIGPIPE.
check_pipes() {
	! grep -nE '\| *grep -[A-Za-z]*q' tests/vm/*.sh || {
		echo "tests/vm: a pipe ends in grep -q; say 'finds' of tests/vm/lib.sh"
		return 1
	}
}

# check runs its command in a subshell, which has no children to wait for.
check_waits() {
	! grep -nE '^[[:space:]]*check "[^"]*" wait( |$)' tests/vm/*.sh || {
		echo "tests/vm: check cannot wait for a child; say 'ends_well' of tests/vm/lib.sh"
		return 1
	}
}

# run_checkpatch COLUMNS IGNORED PATTERN...: check our C files that match; IGNORED names message
# types.
run_checkpatch() {
	local columns=$1 ignored=$2 files status=0
	shift 2
	mapfile -t files < <(sources "$@")
	[ ${#files[@]} -gt 0 ] || return 0
	tools/checkpatch.sh --max-line-length="$columns" --ignore "$ignored" -f "${files[@]}" || status=1
	rm -f .checkpatch-camelcase.*
	return "$status"
}

# Sentences for users are not broken (checkpatch knows that of printk only).
check_kernel_style() {
	local status=0
	run_checkpatch 80 LONG_LINE_STRING 'dm-ressd/*.[ch]' ':!dm-ressd/core/port/*' || status=1
	run_checkpatch 100 LONG_LINE_STRING 'tests/ssdsim/*.[ch]' 'tests/vm/*.[ch]' \
		':!tests/ssdsim/test/*' ':!tests/ssdsim/shim/*' || status=1
	return "$status"
}

# Outside of the kernel the attributes, types and array macros have to be spelt out, and the ports
# define the kernel's macros, barriers among them, just as the kernel does.
check_userspace_style() {
	local ignored=LONG_LINE_STRING,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES,MACRO_ARG_REUSE
	ignored+=,MACRO_ARG_PRECEDENCE,COMPLEX_MACRO,CAMELCASE,ARRAY_SIZE,STATIC_CONST_CHAR_ARRAY
	ignored+=,MEMORY_BARRIER,VOLATILE
	local status=0
	run_checkpatch 80 "$ignored" 'dm-ressd/core/port/*.[ch]' || status=1
	run_checkpatch 100 "$ignored" \
		'userspace/*.[ch]' 'tests/unit/*.[ch]' 'tests/kunit/*.[ch]' 'tests/model/*.[ch]' \
		'tests/ssdsim/test/*.[ch]' 'tests/ssdsim/shim/*.[ch]' 'tests/functional/*.[ch]' \
		'tests/fuzz/*.[ch]' 'tests/probe/*.[ch]' 'tests/interleave/*.[ch]' || status=1
	return "$status"
}

# Builds copies, so that the flags of the lint do not make the next `make` build everything anew.
check_kernel_build() {
	local module folder log bad=0
	folder=$PWD/build/lint
	rm -rf "$folder"
	mkdir -p "$folder"
	sources 'dm-ressd/*' 'tests/*' | xargs -d '\n' cp --parents -t "$folder"
	for module in "${kernel_modules[@]}"; do
		[ -e "$folder/$module/Kbuild" ] || continue
		log=$folder/${module//\//-}.log
		make -C "$(tools/vm/kernel-dir)" M="$folder/$module" W=1 C=1 \
			CF=-D__CHECK_ENDIAN__ modules >"$log" 2>&1 || bad=1
		# The kernel's own headers are not ours to mend.
		grep -E '(warning|error): |Error [0-9]' "$log" | grep -vE '^/usr/|BTF|: error: too many errors' |
			sed "s#$folder/##" && bad=1
	done
	return "$bad"
}

# A Raspberry Pi has one of these, and what holds for 32-bit ARM holds for other 32-bit machines.
check_cross_build() {
	local machine
	for machine in arm-linux-gnueabihf aarch64-linux-gnu; do
		make --no-print-directory -C userspace cross CROSS="$machine-" || return 1
	done
}

check_shell() {
	local files
	mapfile -t files < <({ scripts_of bash .sh; scripts_of busybox .sh; scripts_of /bin/sh .sh; } | sort -u)
	# SC2317 takes functions that are called by way of "$@" for dead code.
	shellcheck -x -P tests/vm -P SCRIPTDIR -e SC2317 "${files[@]}"
}

# ruff where it is installed or can be had from PyPI; else pyflakes, a Debian package.
python_linter() {
	local ruff=$cache/ruff-$ruff_version/bin/ruff
	if command -v ruff >/dev/null; then
		ruff=ruff
	elif [ ! -x "$ruff" ]; then
		{ /usr/bin/python3 -m venv "$cache/ruff-$ruff_version" &&
			"$cache/ruff-$ruff_version/bin/pip" -q install --retries 0 --timeout 10 \
				"ruff==$ruff_version"; } >/dev/null 2>&1 || ruff=
	fi
	if [ -n "$ruff" ]; then
		echo "$ruff check --no-cache --quiet --isolated --line-length 100" \
			"--target-version py311 --select E,F,W,B,I,UP,PLE"
	else
		echo "/usr/bin/python3 -m pyflakes"
	fi
}

check_python() {
	local files linter
	mapfile -t files < <(scripts_of python3 .py)
	read -r -a linter < <(python_linter)
	"${linter[@]}" "${files[@]}"
}

tools/setup.sh
mkdir -p "$cache"
step "licence lines" check_licences
step "pipes of the guest scripts" check_pipes
step "children of the guest scripts" check_waits
step "checkpatch, kernel code" check_kernel_style
step "checkpatch, userspace code" check_userspace_style
step "kernel build with W=1 and sparse" check_kernel_build
step "tools on 32- and 64-bit ARM" check_cross_build
step "shellcheck" check_shell
step "Python" check_python
exit "$failed"
