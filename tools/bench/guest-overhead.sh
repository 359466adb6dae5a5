#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-overhead.sh: what the target costs where it has nothing to do, in instructions of the guest
# (a benchmark guest takes 1 ns for one). The disk does nothing at all: null_blk, bio based, without
# memory, so the differences between rows are those of the layers above.
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh

null=/dev/nullb0
normal=4194304		# sectors
reserved=1048576	# 512 MB as in RE 4.2, 131,072 blocks
mapped=60000		# as in RE 4.2
extent=1G		# where reads go
beyond=1G		# where nothing is mapped, and sequential writes go
large_normal=20971520	# room for every other one of two million blocks
large_reserved=10485760
large_mapped=1000000
large_extent=7G
large_beyond=8G
transfers=30000

make_null_disk() {
	modprobe null_blk queue_mode=0 gb=16 bs=512
	[ -b "$null" ] || die "$null did not appear"
}

# latency KEY TARGET DIRECTION ARGUMENT...: figure KEY, the mean from system call to completion.
latency() {
	local key=$1 target=$2 direction=$3 output
	shift 3
	output=$(fio_at "$target" "$extent" --number_ios="$transfers" "$@") ||
		die "fio failed on $target: $output"
	figure "$key" "$(fio_latency "$direction" mean <<<"$output")"
}

# layer NAME TARGET: reads and writes that pass through. Reads take every other block (the odd
# ones), at random; writes are sequential, so no write is small and random; the large
# ones are larger than small_write_sectors.
layer() {
	local name=$1 target=$2
	step "$name"
	latency "read.$name" "$target" read --rw=randread --bs=4k --blockalign=8k --offset=4k \
		--randseed=1
	latency "write.$name" "$target" write --rw=write --bs=4k --offset="$beyond"
	latency "large-write.$name" "$target" write --rw=write --bs=64k --offset="$beyond"
}

make_ressd() {
	dmsetup create ressd --table "0 $normal ressd $null 0 $null $normal $1"
	# A disk without memory gives nothing back: the mover must not look.
	dmsetup message ressd 0 mover off
}

# Every other block (the even ones) gets into the log. $1: of the figure with their number.
fill_map() {
	fio_at /dev/mapper/ressd "$((mapped * 8))k" --rw=write:4k --bs=4k \
		--io_size="$((mapped * 4))k" >/dev/null
	local blocks
	read -r _ _ _ _ blocks _ < <(dmsetup status ressd)
	[ "${blocks#*/}" -ge "$((mapped * 99 / 100))" ] ||
		die "only ${blocks#*/} blocks are mapped, but $mapped were to be"
	figure "$1" "${blocks#*/}"
}

# log_writes SUFFIX: small random writes into the open record, and those of them that a record's end
# delays; reads of blocks that are in the log.
log_writes() {
	step "log-write$1"
	latency "log-write$1" /dev/mapper/ressd write --rw=randwrite --bs=4k --randseed=2
	latency "log-read$1" /dev/mapper/ressd read --rw=randread --bs=4k --blockalign=8k \
		--randseed=3
}

# available: memory that could be had, KB; the free pages on a processor's own list, which MemAvailable
# leaves out, included.
available() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemAvailable:/ { kilobytes = $2 } $1 == "count:" { kilobytes += $2 * 4 }
		END { print kilobytes }' /proc/meminfo /proc/zoneinfo
}

# memory SUFFIX RESERVED: what the target says that it takes, and what is missing when it is there.
memory() {
	local before
	before=$(available)
	make_ressd "$2"
	figure "memory$1.taken" "$(((before - $(available)) * 1024))"
	figure "memory$1.map" "$(status_word map_bytes)"
	figure "memory$1.buffers" "$(status_word buffer_bytes)"
	dmsetup remove ressd
}

load dm-ressd
make_null_disk
# The first job pays for what the kernel does only once.
fio_at "$null" 1G --rw=randread --bs=4k --number_ios=2000 >/dev/null
layer bare "$null"
dmsetup create linear --table "0 $normal linear $null 0"
layer dm-linear /dev/mapper/linear
dmsetup remove linear
step memory
# The first one pays for what stays: caches of the allocators.
memory .first 204800
memory .100mb 204800
memory .512mb "$reserved"
make_ressd "$reserved"
layer ressd-empty /dev/mapper/ressd
fill_map mapped
layer ressd-mapped /dev/mapper/ressd
log_writes ""
dmsetup remove ressd

# Blank at the start of its reserved area, as that of the device before; null_blk reads as zero.
normal=$large_normal mapped=$large_mapped extent=$large_extent beyond=$large_beyond
step large
make_ressd "$large_reserved"
fill_map mapped-large
layer ressd-large /dev/mapper/ressd
log_writes -large
dmsetup remove ressd
step end
