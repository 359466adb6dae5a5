# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# expect.bash: the verdicts of the tests that call the programs, and a folder for each, unless it has
# one. Use:
#   suite=NAME; . expect.bash; ...; exit "$failed"

# shellcheck disable=SC2034 # the scripts' exit code
failed=0
# In memory where that is possible: the probe flushes thousands of times.
folder=${folder:-$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)}
trap 'rm -rf "$folder"' EXIT
disk=$folder/disk
output=$folder/output

# report NAME WHY: a test has passed if there is no reason why not.
report() {
	if [ -z "$2" ]; then
		echo "ok - $suite: $1"
	else
		echo "not ok - $suite: $1: $2"
		sed 's/^/# /' "$output" | tail -n 50
		failed=1
	fi
}

# expect NAME EXIT REGEX COMMAND...: the command ends with EXIT and prints a line matching REGEX.
expect() {
	local name=$1 wanted=$2 regex=$3 status=0 why=
	shift 3
	"$@" >"$output" 2>&1 </dev/null || status=$?
	[ "$status" -eq "$wanted" ] || why="exit code $status, not $wanted"
	grep -qE -- "$regex" "$output" || why="$why no line matches '$regex'"
	report "$name" "$why"
}

# unchanged NAME EXIT REGEX COMMAND...: the same, and the disk stays as it is.
unchanged() {
	cp "$disk" "$folder/unchanged"
	expect "$@"
	cmp -s "$disk" "$folder/unchanged" || report "$1" "the disk was changed"
}

# stub PROGRAM LINE: a shell's line in its place, for who has $folder/stubs in PATH.
stub() {
	mkdir -p "$folder/stubs"
	printf '#!/bin/sh\n%s\n' "$2" >"$folder/stubs/$1"
	chmod +x "$folder/stubs/$1"
}

# hold CALL: a process that has locked the disk by that call of Python's fcntl; sets holder.
hold() {
	rm -f "$folder/locked"
	python3 -c '
import fcntl, sys, time
disk = open(sys.argv[1], "r+b")
'"$1"'
print("locked", flush=True)
time.sleep(100)' "$disk" >"$folder/locked" &
	holder=$!
	until grep -qs locked "$folder/locked" || ! kill -0 "$holder"; do
		sleep 0.1
	done
}

release() {
	kill "$holder"
	wait "$holder" 2>/dev/null || true
}

# run_tests ONLY FUNCTION...: all of them, or the one that is called ONLY.
run_tests() {
	local only=$1 function
	shift
	for function in "$@"; do
		if [ -z "$only" ] || [ "$only" = "$function" ]; then
			"$function"
		fi
	done
}
