#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# calibrate.sh: what fio measures on the emulated Samsung drive, beside what was published. Runs in
# the benchmark guest (virtual time):
#   tools/vm/run --mode benchmark --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles \
#       tests/ssdsim/test/calibrate.sh
# The drive is a sixteenth of the real one, the span a sixteenth of RE's 4 GB file. Random writes
# come before ordered and sequential ones so that each finds the other's leftovers. Prints "ok" or
# "not ok" lines; ends non-zero when a figure is more than 15 % from the published one.
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh

span=256M

# bandwidth FIO_OPTION...: bytes per second.
bandwidth() {
	fio --name=load --filename=/dev/ssd0 --direct=1 --ioengine=psync --randrepeat=1 --norandommap \
		--size=$span --output-format=json "$@" >/tmp/fio.json || {
		cat /tmp/fio.json >&2
		return 1
	}
	sed -n 's/.*"bw_bytes" : \([0-9]*\),/\1/p' /tmp/fio.json | sort -n | tail -n 1
}

# in_megabytes BYTES: with three decimals.
in_megabytes() {
	printf '%d.%03d' $(($1 / 1000000)) $(($1 / 1000 % 1000))
}

# measure NAME PUBLISHED_BYTES FIO_OPTION...: within 15 % of PUBLISHED_BYTES (0: not published).
measure() {
	local name=$1 published=$2 measured
	shift 2
	measured=$(bandwidth "$@") || {
		fail "$name" "fio failed"
		return
	}
	last=$measured
	if [ "$published" -eq 0 ]; then
		echo "# $name: $(in_megabytes "$measured") MB/s"
	elif [ $((measured * 100)) -ge $((published * 85)) ] &&
		[ $((measured * 100)) -le $((published * 115)) ]; then
		pass "$name: $(in_megabytes "$measured") MB/s (published $(in_megabytes "$published"))"
	else
		fail "$name" "$(in_megabytes "$measured") MB/s, published $(in_megabytes "$published")"
	fi
}

load ssdsim
sh ./ssdsim.sh create ssd0 profiles/samsung.conf capacity_mb=3816 || exit 1

measure "sequential read, 128 KB" 110000000 --rw=read --bs=128k
measure "sequential read, 4 KB through the page cache" 110000000 --direct=0 --rw=read --bs=4k
measure "sequential read, 4 KB" 0 --rw=read --bs=4k --io_size=32M
measure "sequential write, 512 KB" 85000000 --rw=write --bs=512k
measure "sequential write, 128 KB" 85000000 --rw=write --bs=128k
measure "sequential write, 4 KB" 85000000 --rw=write --bs=4k --io_size=64M
measure "random read, 4 KB" 16300000 --rw=randread --bs=4k --io_size=16M
measure "random read, 8 KB" 0 --rw=randread --bs=8k --io_size=16M
measure "random write, 4 KB, first 1024" 0 --rw=randwrite --bs=4k --io_size=4M --randseed=11
measure "random write, 4 KB" 421000 --rw=randwrite --bs=4k --io_size=16M --randseed=7
random=$last
measure "random write, 8 KB" 0 --rw=randwrite --bs=8k --io_size=16M --randseed=9
measure "ordered write, 4 KB at 128 KB, first pass" 0 --rw=write:124k --bs=4k --io_size=8M
measure "ordered write, 4 KB at 128 KB" 0 --rw=write:124k --bs=4k --io_size=24M
ordered=$last
measure "ordered write, 8 KB at 128 KB" 0 --rw=write:120k --bs=8k --io_size=48M
measure "rewrite of 4 MB blocks, first pass" 0 --rw=write --bs=4M
measure "rewrite of 4 MB blocks" 0 --rw=write --bs=4M
if [ $((ordered)) -ge $((random * 12)) ]; then
	pass "ordered write is $((ordered / random)) times the random write (published: at least 12)"
else
	fail "ordered write" "$((ordered / random)) times the random write, published at least 12"
fi
measure "random write, 4 KB, whole drive" 280000 --rw=randwrite --bs=4k --size=3816M --io_size=8M \
	--randseed=3
check "NAND rules hold" test "$(sh ./ssdsim.sh stats ssd0 nand_violations)" = 0
finish
