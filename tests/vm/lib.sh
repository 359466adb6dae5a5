# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lib.sh: helpers of the scripts that run in a test guest. Use:  . ./lib.sh  ...  finish
#
# Test results are lines "ok - NAME" and "not ok - NAME: why"; `finish` ends the script with 1 when
# one failed.

tests_passed=0
tests_failed=0

# pass NAME: count a success.
pass() {
	tests_passed=$((tests_passed + 1))
	echo "ok - $1"
}

# fail NAME WHY: count a failure and go on.
fail() {
	tests_failed=$((tests_failed + 1))
	echo "not ok - $1: ${2:-failed}"
}

# check NAME COMMAND...: pass if the command succeeds; its output is shown only if it does not.
check() {
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -eq 0 ]; then
		pass "$name"
	else
		fail "$name" "'$*' ended with $status"
		printf '%s\n' "$output" | sed 's/^/# /'
	fi
}

# finds [OPTION...] REGEX: grep -q that reads all of its input. grep -q itself ends at the first
# match; the command before it in the pipe may then die of SIGPIPE, a failure under pipefail.
finds() {
	local text
	text=$(</dev/stdin)
	grep -q "$@" <<<"$text"
}

# has_line REGEX TEXT: as grep -qE, without its process. (In an emulated machine a process takes
# milliseconds; so does read, or mapfile, of a text from a pipe, byte by byte.)
has_line() {
	local line IFS=$'\n' -
	set -f
	for line in $2; do
		[[ ! $line =~ $1 ]] || return 0
	done
	return 1
}

# expect_fail REGEX COMMAND...: pass if the command fails and says a line that matches REGEX, on its
# output or in the kernel log meanwhile.
expect_fail() {
	local regex=$1 output mark status=0
	shift
	dmesg_mark
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -eq 0 ]; then
		fail "refused: $*" "it succeeded"
	elif has_line "$regex" "$output" ||
		{ output+=$'\n'$(dmesg_since "$mark") && has_line "$regex" "$output"; }; then
		pass "refused: $* ($regex)"
	else
		fail "refused: $*" "exit $status, but no line matches '$regex'"
		printf '%s\n' "$output" | sed 's/^/# /'
	fi
}

# ends_well NAME PID: pass if that child, started with &, ends with 0.  "check NAME wait PID" cannot
# tell: check runs its command in a subshell, where the child is a stranger that still runs (255).
ends_well() {
	local status=0
	wait "$2" || status=$?
	check "$1" equals 0 echo "$status"
}

# equals WANTED COMMAND...: the command prints exactly that.
equals() {
	local wanted=$1 got
	shift
	got=$("$@") || return 1
	[ "$got" = "$wanted" ] || {
		echo "expected '$wanted', got '$got'"
		return 1
	}
}

# finish: end the script; exit code 1 if a test failed or none was run.
finish() {
	echo "# $tests_passed passed, $tests_failed failed"
	[ "$tests_failed" -eq 0 ] && [ "$tests_passed" -gt 0 ]
	exit
}

# dmesg_mark: sets mark, for dmesg_since MARK: the kernel's lines after it.
dmesg_mark() {
	mark="test-mark-$$-$RANDOM$RANDOM"
	echo "<7>$mark" >/dev/kmsg
}

# Mostly the end of the log has the mark; all of it takes an emulated machine four times as long.
dmesg_since() {
	local text line found="" IFS=$'\n' -
	set -f
	text=$(dmesg -s 16384)
	[[ $text == *"$1"* ]] || text=$(dmesg)
	for line in $text; do
		[ -z "$found" ] || echo "$line"
		[[ $line != *"$1"* ]] || found=1
	done
}

# load NAME [PARAMETER=VALUE...]: insert a module of the project (/modules) or of the kernel, with
# what it depends on.
load() {
	local name=$1 dependency
	shift
	if [ ! -e "/modules/$name.ko" ]; then
		modprobe "$name" "$@"
		return
	fi
	for dependency in $(module_depends "/modules/$name.ko"); do
		if [ -e "/modules/$dependency.ko" ]; then
			load "$dependency"
		else
			modprobe "$dependency"
		fi
	done
	is_loaded "$name" || insmod "/modules/$name.ko" "$@"
}

# module_depends FILE: the modules that a module file names as its dependencies. A module may have
# megabytes of debug information, and an emulated machine takes seconds for a look at each byte.
module_depends() {
	local names
	names=$(grep -aom1 'depends=[^[:cntrl:]]*' "$1")
	names=${names#depends=}
	echo "${names//,/ }"
}

# is_loaded NAME: whether a module is in the kernel.
is_loaded() {
	[ -d "/sys/module/${1//-/_}" ]
}
