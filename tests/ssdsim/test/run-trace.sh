#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run-trace.sh SSDSIM_RUN PROFILES: traces on the emulated drive, each with what ssdsim-run must print or say.
set -euo pipefail
run=$1
profile=$2/ssdsim-sc.conf
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# expect NAME CODE TEXT TRACE [WORD...]: the exit code, and a line that begins with TEXT.
expect() {
	local code=0
	printf '%s\n' "$4" >"$folder/trace"
	"$run" "$profile" capacity_mb=64 "trace=$folder/trace" "${@:5}" >"$folder/output" 2>&1 || code=$?
	if [ "$code" = "$2" ] && grep -q "^$3" "$folder/output"; then
		echo "ok - ssdsim-run: $1"
		passed=$((passed + 1))
	else
		echo "not ok - ssdsim-run: $1: code $code"
		sed 's/^/# /' "$folder/output"
		failed=$((failed + 1))
	fi
}

whole=$(for i in $(seq 0 127); do echo "0,$((i * 1024)),524288,w,$i"; done)
expect "a trace is written" 0 "67108864 bytes written" "$whole"
# 128 blocks of 512 KB, once the spare ones are used up.
expect "a pass erases what it overwrites" 0 "67108864 bytes written, 128 blocks erased" "$whole" passes=5
expect "bursts change no request" 0 "67108864 bytes written" "$whole" bursts=16
expect "what lies behind the drive's end is refused" 1 "ssdsim-run: .*trace" "0,131072,4096,w,0"
expect "so is what is too long for a command" 1 "ssdsim-run: .*line 1: more than max_request_kb" \
	"0,0,16777216,w,0"
expect "and what is no trace" 1 "ssdsim-run: .*trace" "a b c"
echo "# $passed passed, $failed failed"
[ "$failed" = 0 ]
