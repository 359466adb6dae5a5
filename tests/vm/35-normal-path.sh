#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 35-normal-path.sh: requests to the normal area are cut to the device's buffers and pages, stay cut below, and
# nothing is lost by it. By the requests that the block layer hands to the disk.
# guest: --memory 1G --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
tracing=/sys/kernel/debug/tracing
reserved=16384
disk=/dev/d0

# watch: from now on each request that the disk gets.
watch() {
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/block/block_rq_issue/enable"
}

# requests W|R: since then, with data, one a line: first sector of the disk, sectors.
requests() {
	echo 0 >"$tracing/events/block/block_rq_issue/enable"
	sed -n "s/.*block_rq_issue: [0-9,]* \([A-Z]*\) [0-9]* ([^)]*) \([0-9]*\) + \([0-9]*\) .*/\1 \2 \3/p" \
		"$tracing/trace" | awk -v kind="$1" '$1 ~ kind && $3 > 0 { print $2, $3 }'
}

# share_aligned FILE PAGE: percent of the requests that begin at a boundary.
share_aligned() {
	awk -v page="$2" '{ n++; if ($1 % page == 0) aligned++ } END { print int(100 * aligned / n) }' "$1"
}

longest() {
	awk '$2 > longest { longest = $2 } END { print longest + 0 }' "$1"
}

# more_than LIMIT COMMAND...: it prints a larger number.
more_than() {
	local got
	got=$("${@:2}") || return 1
	[ "$got" -gt "$1" ] || {
		echo "expected more than $1, got '$got'"
		return 1
	}
}

# large_writes NAME, large_reads NAME: 16 MiB in requests of 1 MiB, not at a boundary of anything but a block.
large_writes() {
	fio --name="$1" --filename=/dev/mapper/ressd --rw=write --bs=1M --offset=20k --size=16M --direct=1 \
		--ioengine=libaio --iodepth=4 --verify=crc32c --do_verify=0 --randseed="$seed" --output=/tmp/fio-output
}

large_reads() {
	fio --name="$1" --filename=/dev/mapper/ressd --rw=write --bs=1M --offset=20k --size=16M --direct=1 \
		--ioengine=libaio --iodepth=4 --verify=crc32c --verify_only=1 --randseed="$seed" --output=/tmp/fio-output
}

# pieces NAME LONGEST PAGE PERCENT OPTION VALUE...: with these options large requests reach the disk in pieces of
# at most LONGEST sectors, PERCENT of them at boundaries of PAGE sectors, and status counts the same.
pieces() {
	local name=$1 limit=$2 page=$3 percent=$4
	shift 4
	check "$name: a device" make_ressd ressd "$disk" "$reserved" route never "$@"
	watch
	check "$name: large writes" large_writes writes
	requests W >/tmp/writes
	watch
	check "$name: are read as written" large_reads reads
	requests R >/tmp/reads
	local kind
	for kind in writes reads; do
		check "$name: $kind: none is longer than $limit" equals "$limit" longest "/tmp/$kind"
		check "$name: $kind: $percent % begin at a boundary" more_than "$((percent - 1))" \
			share_aligned "/tmp/$kind" "$page"
		check "$name: $kind: status says how many" equals "$(wc -l <"/tmp/$kind")" \
			status_value ressd "${kind}_within"
		check "$name: $kind: ... none is over" equals 0 status_value ressd "${kind}_over"
		echo "# $name: $kind: $(wc -l <"/tmp/$kind") requests, $(share_aligned "/tmp/$kind" "$page") % aligned"
	done
	if [ "$page" -gt 1 ]; then
		check "$name: status counts the aligned ones" equals \
			"$(awk -v page="$page" '$1 % page == 0' /tmp/writes | wc -l)" status_value ressd writes_aligned
	fi
	check "$name: is removed" dmsetup remove ressd
}

# Neighbours of 4 KiB, plugged: they merge below, up to the limit and no further.
small_neighbours() {
	check "neighbours: a device" make_ressd ressd "$disk" "$reserved" route never split_write_sectors 512
	watch
	check "neighbours: buffered writes" dd if=/dev/zero of=/dev/mapper/ressd bs=4k count=2048 conv=fsync status=none
	requests W >/tmp/writes
	check "neighbours: the limit holds" fails more_than 512 longest /tmp/writes
	check "neighbours: they were merged" more_than 255 longest /tmp/writes
	check "neighbours: is removed" dmsetup remove ressd
}

# Switched while requests are in flight, to and fro; what is read is what was written.
switched_under_load() {
	local load n=0
	check "switched: a device" make_ressd ressd "$disk" "$reserved"
	fio --name=load --filename=/dev/mapper/ressd --rw=randrw --bsrange=4k-1M --size=32M --io_size=96M --direct=1 \
		--ioengine=libaio --iodepth=16 --verify=crc32c --verify_backlog=64 --randseed="$seed" \
		--output=/tmp/fio-output &
	load=$!
	while kill -0 "$load" 2>/dev/null; do
		dmsetup message ressd 0 set split_write_sectors 240
		dmsetup message ressd 0 set split_read_sectors 480
		dmsetup message ressd 0 set align_sectors 24
		sleep 0.05
		dmsetup message ressd 0 set align_sectors 0
		dmsetup message ressd 0 set split_read_sectors 0
		dmsetup message ressd 0 set split_write_sectors 0
		n=$((n + 1))
	done
	check "switched: fio finds what it wrote" wait "$load"
	check "switched: more than once" test "$n" -gt 1
	check "switched: pieces were cut" at_least ressd writes_within 10
	check "switched: no errors" equals 0 status_value ressd errors
	check "switched: is removed" dmsetup remove ressd
}

# Pieces of large writes are not small writes: not even the last one, of 4 KiB, goes to the log.
pieces_are_not_small() {
	check "not small: a device" make_ressd ressd "$disk" "$reserved" split_write_sectors 512 align_sectors 32
	check "not small: writes of 260 KiB" fio --name=odd --filename=/dev/mapper/ressd --rw=randwrite --bs=260k \
		--blockalign=4k --size=20M --io_size=20M --direct=1 --randseed="$seed" --output=/tmp/fio-output
	check "not small: none is logged" equals 0 status_value ressd accepted
	check "not small: nor counted so" equals 0 status_value ressd small_writes
	check "not small: is removed" dmsetup remove ressd
}

load dm-ressd
grep -q debugfs /proc/mounts || mount -t debugfs none /sys/kernel/debug
make_disk d0 96 max_sectors=2560
echo 1280 >/sys/block/d0/queue/max_sectors_kb
scenario pieces "PAS" 512 1 100 split_read_sectors 512 split_write_sectors 512
scenario pieces "PASA" 512 32 80 split_read_sectors 512 split_write_sectors 512 align_sectors 32
scenario pieces "PASA, no power of two" 336 48 85 split_read_sectors 336 split_write_sectors 336 align_sectors 48
scenario small_neighbours
scenario pieces_are_not_small
scenario switched_under_load

# Longer pieces than the disk takes would be cut once more below: whoever asks for them is told.
too_long_for_the_disk() {
	local mark
	mark=$(dmesg_mark)
	check "too long: a device" make_ressd ressd "$disk" "$reserved" split_read_sectors 2560 split_write_sectors 2568
	check "too long: the kernel log says so" grep -q \
		'split_write_sectors is 2568, but the device takes 2560 sectors at most' <(dmesg_since "$mark")
	check "too long: only of what is" fails grep -q split_read_sectors <(dmesg_since "$mark")
	check "too long: is removed" dmsetup remove ressd
}
scenario too_long_for_the_disk

# Boundaries count from the start of the disk: the partition begins at sector 63.
partition() {
	check "a partition" sfdisk -q /dev/d0 <<<"63,180000"
	disk=/dev/d0p1
	check "it is there" wait_until test -b "$disk"
	pieces "in a partition" 512 32 80 split_read_sectors 512 split_write_sectors 512 align_sectors 32
}
scenario partition
finish
