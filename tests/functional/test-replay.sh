#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test-replay.sh: ressd-replay on a log made here byte by byte, and on logs that are none. The kernel's
# own logs are the business of tests/vm/67-log-writes.sh. Needs ressd-replay in PATH.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log
disk=$folder/disk
failed=0

report() {
	if [ "$2" -eq 0 ]; then
		echo "ok - replay: $1"
	else
		echo "not ok - replay: $1"
		failed=1
	fi
}

# refused REGEX ARGUMENTS...: it ends with 2 and says so.
refused() {
	local regex=$1 status=0 output
	shift
	output=$(ressd-replay "$@" 2>&1) || status=$?
	[ "$status" -eq 2 ] && grep -qE -- "$regex" <<<"$output"
	report "refused: $regex" $?
}

# le64 NUMBER...: little-endian.
le64() {
	/usr/bin/python3 -c 'import struct, sys
for word in sys.argv[1:]: sys.stdout.buffer.write(struct.pack("<Q", int(word)))' "$@"
}

# block: standard input, filled up to a block of the log.
block() {
	head -c 512 <(cat - /dev/zero)
}

# entry SECTOR SECTORS FLAGS [MARK]
entry() {
	{
		le64 "$1" "$2" "$3" "${#4}"
		printf %s "$4"
	} | block
}

# data BYTE SECTORS
data() {
	head -c $(($2 * 512)) /dev/zero | tr '\0' "$1"
}

# make_log ENTRIES: two writes, a flush, a mark, a FUA write over the first, a discard, a flush.
make_log() {
	{
		le64 $((0x6a736677736872)) 1 "$1" 512 | block
		entry 0 2 0 "" && data a 2
		entry 8 1 16 "" && data b 1
		entry 0 0 1 ""
		entry 0 0 8 "half way"
		entry 1 1 2 "" && data c 1
		entry 8 1 4 ""
		entry 0 0 1 ""
	} >"$log"
}

# holds SECTOR BYTE|zero
holds() {
	local byte=$2
	[ "$byte" != zero ] || byte='\0'
	cmp -s <(dd if="$disk" bs=512 skip="$1" count=1 2>/dev/null) <(data "$byte" 1)
}

set +e
make_log 7
truncate -s 16K "$disk"
cmp -s <(ressd-replay list "$log") <(printf '%s\n' "0 write" "1 write" "2 flush" "3 mark half way" "4 fua" \
	"5 discard" "6 flush")
report "it lists all entries" $?
ressd-replay tear "$log" "$disk" 0 0 && holds 0 a && holds 1 zero
report "half of a write" $?
ressd-replay apply "$log" "$disk" 0 2 && holds 0 a && holds 1 a && holds 8 b && holds 9 zero
report "up to the first flush" $?
ressd-replay apply "$log" "$disk" 3 4 && holds 0 a && holds 1 c && holds 8 b
report "then up to the FUA write" $?
ressd-replay apply "$log" "$disk" 5 6 && holds 1 c && holds 8 zero
report "then to the end" $?
truncate -s 0 "$disk"
truncate -s 16K "$disk"
ressd-replay apply "$log" "$disk" 0 6 && holds 0 a && holds 1 c && holds 8 zero
report "all at once" $?
# subsets FIRST LAST: what 300 of them leave in the sectors 0, 1 and 8, each once.
subsets() {
	local number sector
	for number in $(seq 300); do
		truncate -s 0 "$disk"
		truncate -s 16K "$disk"
		ressd-replay subset "$log" "$disk" "$1" "$2" "$number" || return
		for sector in 0 1 8; do
			dd if="$disk" bs=512 skip="$sector" count=1 2>/dev/null | head -c 1 | tr '\0' 0
		done
		echo
	done | sort -u | paste -sd ' '
}

[ "$(subsets 0 1)" = "000 00b 0a0 0ab a00 a0b aa0 aab" ]
report "any subset of the sectors before a flush" $?
[ "$(subsets 4 5)" = "0c0" ]
report "a FUA write is no part of it" $?
refused "entry 2 is a flush" subset "$log" "$disk" 1 3 1
refused "not how it is called" subset "$log" "$disk" 0 1
refused "LAST is '7', but must be a number up to 6" apply "$log" "$disk" 0 7
refused "FIRST is 5, beyond LAST, 4" apply "$log" "$disk" 5 4
refused "is no log of dm-log-writes" list "$disk"
refused "cannot be opened: No such file" list "$folder/none"
refused "not how it is called" apply "$log"
refused "cannot be discarded at byte 4096" discard "$log" "$disk" 5 6
make_log 9
refused "cannot be read at byte .*is it whole" list "$log"
exit "$failed"
