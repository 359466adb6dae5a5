#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test-fsx.sh: ressd-fsx on files of this machine: it finds differences, and none where there is none.
# Needs ressd-fsx in PATH.  ressd-thin is the business of tests/vm/68-thin.sh.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
output=$folder/output
failed=0
mkdir "$folder/files" "$folder/saved" "$folder/again"

# expect NAME EXIT REGEX COMMAND...: it ends with EXIT and prints such a line, if one is wanted.
expect() {
	local name=$1 wanted=$2 regex=$3 status=0
	shift 3
	"$@" >"$output" 2>&1 || status=$?
	if [ "$status" -eq "$wanted" ] && { [ -z "$regex" ] || grep -qE -- "$regex" "$output"; }; then
		echo "ok - fsx: $name"
	else
		echo "not ok - fsx: $name: exit code $status, expected $wanted and '$regex'"
		sed 's/^/# /' "$output"
		failed=1
	fi
}

# load SEED OPERATIONS SAVED
load() {
	ressd-fsx run --seed "$1" --operations "$2" --processes 2 "$folder/files" "$3"
}

# poked: somebody else writes into a file while the load runs.
poked() {
	local load status=0
	load 1 3000 "$folder/again" &
	load=$!
	while kill -0 "$load" 2>/dev/null; do
		printf poked | dd of="$folder/files/f0" bs=1 seek=$((RANDOM * 4)) conv=notrunc 2>/dev/null
	done
	wait "$load" || status=$?
	return "$status"
}

# every_operation: the log of some hundred of them names each.
every_operation() {
	local operation
	for operation in read map-read write map-write truncate allocate allocate-keep punch zero \
		zero-keep collapse insert clone copy dedupe fsync; do
		grep -q " $operation" "$folder/saved/f0.log" "$folder/saved/f1.log" || {
			echo "no $operation"
			return 1
		}
	done
}

expect "no difference where there is none" 0 '' load 7 500 "$folder/saved"
expect "each operation comes up" 0 '' every_operation
expect "a seed is the same each time" 0 '' load 7 500 "$folder/again"
expect "... operation by operation" 0 '' cmp "$folder/saved/f1.log" "$folder/again/f1.log"
mark=$(sed -n 's/.* mark //p' "$folder/saved/f0.log" | tail -n 1)
expect "the last mark is what the file holds" 0 '' \
	ressd-fsx check "$folder/saved/$mark" "$folder/files/f0"
expect "somebody else's bytes" 1 'DIFFERENCE in f0: .*(found|the size must be)' poked

ressd-fsx run --operations 30 --processes 1 "$folder/files" "$folder/saved"
mark=$(sed -n 's/.* mark //p' "$folder/saved/f0.log" | tail -n 1)
head -c 20000 /dev/zero | tr '\0' o >"$folder/saved/$mark"
cp "$folder/saved/$mark" "$folder/copy"
printf x | dd of="$folder/copy" bs=1 seek=5000 conv=notrunc 2>/dev/null
expect "one changed byte" 1 'DIFFERENCE .*1 bytes, the first at byte 5000' \
	ressd-fsx check "$folder/saved/$mark" "$folder/copy"
head -c 19999 "$folder/saved/$mark" >"$folder/copy"
expect "a byte is missing" 1 'DIFFERENCE .*has 19999 bytes and must have 20000' \
	ressd-fsx check "$folder/saved/$mark" "$folder/copy"
expect "an unknown option" 2 'see ressd-fsx --help' ressd-fsx run --seeds 1 /tmp /tmp
expect "no folder" 2 'FOLDER and SAVED are missing' ressd-fsx run --seed 1
expect "a folder that is not there" 2 'cannot be opened: No such file' \
	ressd-fsx run "$folder/none" "$folder/saved"
exit "$failed"
