#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# trace.sh: ressd-trace on an image file: each request is replayed exactly once, none before its time,
# what the image holds then is what the trace wrote; what is refused, and that nothing changes then.
# Times are compared with each other only, never with a limit. Needs ressd-trace and ressd-make-image
# in PATH.
set -euo pipefail

suite=trace
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"
here=$(dirname "$0")
check=$here/trace_check.py
trace=$folder/trace
log=$folder/log

blank_disk() {
	rm -f "$disk" "$log"
	truncate -s 16M "$disk"
}

# replayed NAME ARGUMENT...: the replay of $trace on a blank disk, then what trace_check.py finds.
replayed() {
	local name=$1
	shift
	blank_disk
	expect "$name" 0 '"version":1' ressd-trace --json --write --yes --log "$log" "$@" "$trace" "$disk"
	report "$name: each once, in order, on the disk" \
		"$("$check" compare "$trace" "$disk" "$log" "$output" 2>&1 | tail -n 1)"
}

test_replay() {
	local format
	for format in msr spc fio2 fio3 blkparse; do
		"$check" generate "$format" 250 >"$trace"
		replayed "$format" --in-flight 8 --speed 20
	done
	# Overlapping writes have an order only if one waits for the other.
	"$check" generate msr 250 overlap >"$trace"
	replayed "one at a time" --in-flight 1 --speed 50
	replayed "as fast as it goes" --in-flight 1 --speed max
	"$check" generate msr 250 >"$trace"
	replayed "bursts" --in-flight 64 --speed 20 --bursts 64
	# In a file system that has O_DIRECT, if /tmp is one.
	disk=$(mktemp -p /tmp)
	replayed "in /tmp" --in-flight 16 --speed 20
	rm "$disk"
	disk=$folder/disk
}

test_reads_only() {
	blank_disk
	"$check" generate msr 200 >"$trace"
	unchanged "--reads-only" 0 "^left out: [1-9][0-9]* writes" \
		ressd-trace --reads-only --speed 50 --log "$log" "$trace" "$disk"
	report "only reads" "$(grep -c ',[wf],' "$log" | grep -vx 0 || true)"
	report "all reads" "$([ "$(grep -c ',r,' "$log")" = "$(grep -c ',Read,' "$trace")" ] || echo "not all")"
	chmod a-w "$disk"
	expect "a disk that cannot be written will do" 0 "^  read " \
		ressd-trace --reads-only --speed max "$trace" "$disk"
	rm -f "$log"
}

# put_cover: the disk begins with the cover of a log that is elsewhere.
put_cover() {
	python3 -c '
import struct, sys
sector = bytearray(512)
struct.pack_into("<QII16sII", sector, 0, 0x766f636473736572, 1, 0, b"u" * 16, 0, 0)
crc = 0xffffffff
for byte in sector:
	crc ^= byte
	for _ in range(8):
		crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
sector[12:16] = crc.to_bytes(4, "little")
with open(sys.argv[1], "r+b") as disk:
	disk.write(sector)' "$disk"
}

# What ressd-probe and ressdctl refuse, in the same words.
test_refusals() {
	local normal reserved holder
	blank_disk
	"$check" generate msr 100 >"$trace"
	unchanged "no --write" 3 "has writes \([0-9]+\), which destroy .*--write .*or --reads-only" \
		ressd-trace "$trace" "$disk"
	unchanged "nobody to ask" 3 "destroys what is on .* no terminal to ask on; add --yes" \
		ressd-trace --write "$trace" "$disk"
	unchanged "--dry-run" 0 "^would replay on .*: reads [0-9]+, writes [0-9]+" \
		ressd-trace --write --dry-run "$trace" "$disk"
	unchanged "--dry-run --json" 0 '"span_bytes":[1-9]' \
		ressd-trace --write --dry-run --json "$trace" "$disk"
	report "is one object" "$(python3 -c "import json
d = json.load(open('$output'))
assert d['version'] == 1 and d['plan']['writes'] and d['trace']['requests'] and 'late' not in d, d" 2>&1 |
		tail -n 1)"
	unchanged "--write and --reads-only" 2 "exclude each other" \
		ressd-trace --write --reads-only "$trace" "$disk"
	unchanged "another device" 2 "both must be the same" \
		ressd-trace --write --yes-destroy /dev/none "$trace" "$disk"
	mkfs.ext4 -q -F "$disk"
	unchanged "a file system" 3 "holds ext4.*--yes-destroy" \
		ressd-trace --write --yes "$trace" "$disk"
	unchanged "a file system, --dry-run" 3 "holds ext4" \
		ressd-trace --write --dry-run "$trace" "$disk"
	expect "a file system that may go" 0 "^  write " \
		ressd-trace --write --yes-destroy "$disk" --speed max "$trace" "$disk"
	rm -f "$disk"
	read -r normal reserved < <(ressd-make-image 3 "$disk")
	unchanged "a log" 3 "holds a reserved area of ressd at byte $((normal * 512)) with [1-9].* blocks" \
		ressd-trace --write --yes --fit fold "$trace" "$disk"
	dd if=/dev/zero of="$disk" bs=512 seek="$normal" count=8 conv=notrunc status=none
	unchanged "a log of $reserved sectors with one superblock" 3 "reserved area of ressd" \
		ressd-trace --write --yes --fit fold "$trace" "$disk"
	# With its log on another disk nothing else says that a file system is there: it was destroyed.
	blank_disk
	put_cover
	unchanged "a normal area" 3 "holds the covers of" ressd-trace --write --yes "$trace" "$disk"
	unchanged "a normal area: the probe" 3 "holds the covers of" \
		ressd-probe --write --yes --region 8M:8M --dry-run "$disk"
	blank_disk
	hold 'fcntl.flock(disk, fcntl.LOCK_EX)'
	unchanged "in use" 3 "locked by another program" ressd-trace --write --yes "$trace" "$disk"
	release
	echo "do not lose me" >"$log"
	unchanged "--log: a file that is there" 3 "--log names .*which is a file" \
		ressd-trace --write --yes --log "$log" "$trace" "$disk"
	report "and it is still there" "$(grep -L 'do not lose me' "$log")"
}

test_hostile() {
	blank_disk
	mkfifo "$folder/pipe"
	unchanged "a pipe does not hang" 2 "is a pipe, but the trace must be a regular file" \
		timeout 20 ressd-trace --write --yes "$folder/pipe" "$disk"
	unchanged "no file" 1 "cannot open the trace .*/none: No such file" \
		ressd-trace "$folder/none" "$disk"
	printf '0,0,4096,W,0\n0,8,-4096,W,1\n' >"$trace"
	unchanged "a negative size" 2 "/trace:2: the size is '-4096', but must be a whole number\.$" \
		ressd-trace --write --yes "$trace" "$disk"
	printf '0,0,4096,W,0\n0,32768,4096,W,1\n' >"$trace"
	unchanged "beyond the device" 2 "/trace:2: the request ends at byte 16781312, but the region has only 16777216 bytes; give --fit" \
		ressd-trace --write --yes "$trace" "$disk"
	expect "folded" 0 "^folded into the region: 1 request$" \
		ressd-trace --write --yes --fit fold --speed max "$trace" "$disk"
	head -c 100000 /dev/zero | tr '\0' 7 >"$trace"
	unchanged "an overlong line" 2 "/trace:1: the line has more than 4095 characters" \
		ressd-trace --write --yes "$trace" "$disk"
	head -c 100000 /dev/urandom >"$trace"
	unchanged "no text" 2 "/trace:1: " ressd-trace --write --yes "$trace" "$disk"
	unchanged "the image as a trace" 2 "/disk:1: the line has .* a zero byte" \
		ressd-trace --write --yes "$disk" "$disk"
	printf '0,0,16777216,W,0\n' >"$trace"
	unchanged "too much memory" 2 "only 64 can be in flight; give fewer" \
		ressd-trace --write --yes --in-flight 65 "$trace" "$disk"
}

# A trace of an hour, of which an interruption leaves the begin; the first request has no competitor.
test_interrupted() {
	local status=0 process
	blank_disk
	printf '0,0,4096,W,0\n0,8,4096,W,3600\n' >"$trace"
	# Without job control the shell lets background processes ignore SIGINT.
	ressd-trace --json --write --yes --log "$log" "$trace" "$disk" >"$output" 2>&1 &
	process=$!
	while ! dd if="$disk" bs=8 count=1 status=none | cmp -s - <(printf '\1\0\0\0\0\0\0\0'); do
		sleep 0.1
	done
	# On one processor the end of a write was noted only when all that were due with it were submitted.
	if chrt -f 1 true 2>/dev/null; then
		for ((i = 0; i < 600; i++)); do
			[ "$(fifo_priorities "$process")" != "1 2 " ] || break
			sleep 0.1
		done
		report "ends are noted before anything is submitted" \
			"$(fifo_priorities "$process" | grep -vx '1 2 ' || true)"
	fi
	kill -TERM "$process"
	wait "$process" || status=$?
	report "interrupted: exit code 130" "$([ "$status" -eq 130 ] || echo "$status")"
	report "interrupted: what was done is reported" \
		"$(grep -q '"interrupted":true' "$output" && grep -q '"completed":1,' "$output" || echo no)"
	report "interrupted: and logged" "$([ "$(grep -c '^1,w,0,4096,' "$log")" -eq 1 ] || cat "$log")"
}

# fifo_priorities PROCESS: those of its threads, in order.
fifo_priorities() {
	local task
	for task in /proc/"$1"/task/*; do
		chrt -p "${task##*/}" 2>/dev/null | awk '/SCHED_FIFO/ { fifo = 1 } /priority/ && fifo { print $NF }'
	done | sort | tr '\n' ' '
}

# The chart is drawn from what the program prints.
test_chart() {
	blank_disk
	"$check" generate msr 200 >"$trace"
	ressd-trace --json --write --yes --speed max "$trace" "$disk" >"$folder/result.json"
	expect "chart" 0 "chart.png" "$here/../ressd-trace/trace_chart.py" \
		"$folder/result.json" "$folder/chart.png"
	report "chart: it is a PNG" \
		"$(head -c 4 "$folder/chart.png" | tail -c 3 | grep -qx PNG || echo "no")"
	echo '{"version": 2}' >"$folder/other.json"
	expect "chart: another version" 1 "version 2.*version 1" \
		"$here/../ressd-trace/trace_chart.py" "$folder/other.json" "$folder/none.png"
}

run_tests "${1:-}" \
	test_replay \
	test_reads_only \
	test_refusals \
	test_hostile \
	test_interrupted \
	test_chart
exit "$failed"
