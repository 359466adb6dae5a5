#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 20-verify.sh: what is read is what was written, under mixed load with the mover at work, for every
# way that writes can take. Two judges: fio's checksums, and the oracle that knows every sector.
# guest: --memory 2G --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
operations=${2:-700}

# with_ressd NAME LINE TEST...: a device from a table line, a test on it, and the proof that the
# mover and the log were at work; then a remove, and another look after recovery.
with_ressd() {
	local name=$1 line=$2
	shift 2
	check "$name: is created" dmsetup create ressd --table "$line"
	"$@" "$name"
	check "$name: writes went to the log" at_least ressd accepted 1000
	check "$name: the mover has swept" at_least ressd sweeps 1
	check "$name: the mover has moved blocks" at_least ressd moved_blocks 100
	[ "$filling" = no ] || check "$name: holes were filled" at_least ressd filled_blocks 100
	check "$name: no errors" equals 0 status_value ressd errors
	check "$name: state rw" equals rw status_state ressd
	check "$name: is removed" dmsetup remove ressd
}

# with_filling CASE...: the case, and the proof that holes were read at home and written back.
with_filling() {
	filling=yes
	"$@"
	filling=no
}

oracle_test() {
	local name=$1
	rm -f /tmp/journal
	check "$name: oracle finds no difference" oracle run --operations "$operations" --threads 6
	forget_cache
	check "$name: nor when all is read again" oracle check
}

# The oracle on a new disk; then again on the recovered device.
oracle_case() {
	local name=$1 reserved=$2
	shift 2
	make_disk d0 96 "${disk_attributes[@]}"
	with_ressd "$name" "$(table_line /dev/d0 "$reserved" "$@")" oracle_test
	check "$name: is created again" make_ressd ressd /dev/d0 "$reserved" "$@"
	check "$name: nothing is lost by the remove" oracle check
	check "$name: is removed for good" dmsetup remove ressd
	remove_disk d0
}

# Normal and reserved area on two disks, neither at its start.
two_disks_case() {
	local name="two disks" line
	make_disk d0 96 irqmode=2 completion_nsec=300000
	make_disk d1 32
	line="0 163840 ressd /dev/d0 2048 /dev/d1 4096 16384 2 on_full wait"
	with_ressd "$name" "$line" oracle_test
	check "$name: is created again" dmsetup create ressd --table "$line"
	check "$name: nothing is lost by the remove" oracle check
	check "$name: drains" dmsetup message ressd 0 drain
	check "$name: is removed for good" dmsetup remove ressd
	check "$name: the normal area alone holds everything" \
		ressd-oracle check --journal /tmp/journal --offset 2048 --span 163840 /dev/d0
	remove_disk d0
	remove_disk d1
}

# fio's own verification: several jobs on parts of their own, all sizes, trims between.
fio_load() {
	local name=$1
	cat >/tmp/jobs.fio <<-END
		[global]
		filename=/dev/mapper/ressd
		direct=1
		ioengine=libaio
		iodepth=8
		verify=crc32c
		verify_fatal=1
		do_verify=1
		verify_backlog=256
		randseed=$seed
		size=16M
		[random-4k]
		rw=randwrite
		bs=4k
		offset=0
		io_size=16M
		[mixed-read-write]
		rw=randrw
		bs=8k
		offset=16M
		io_size=16M
		[odd-sizes]
		rw=randwrite
		bsrange=512-16k
		blockalign=512
		offset=32M
		io_size=8M
		[large]
		rw=randwrite
		bsrange=64k-1M
		blockalign=512
		offset=48M
		io_size=32M
		[trims]
		rw=randtrimwrite
		bs=8k
		offset=64M
		io_size=8M
		verify_backlog=0
		do_verify=0
		verify=0
	END
	check "$name: fio verifies everything" fio --output=/tmp/fio-output /tmp/jobs.fio
}

fio_case() {
	local name=$1 reserved=$2
	shift 2
	make_disk d0 96 irqmode=2 completion_nsec=100000
	with_ressd "$name" "$(table_line /dev/d0 "$reserved" "$@")" fio_load
	remove_disk d0
}

load dm-ressd
filling=no
disk_attributes=()
oracle_case "defaults" 16384
oracle_case "wait when full" 16384 on_full wait
disk_attributes=(irqmode=2 completion_nsec=500000)
oracle_case "slow disk, wait, burst" 16384 on_full wait pace burst segment_sectors 512
oracle_case "slow disk, bypass" 8192 move_batch_sectors 64 segment_sectors 128
oracle_case "writethrough" 16384 commit writethrough on_full wait
oracle_case "aligned records, discards" 16384 log_discard on log_align_sectors 256 on_full wait commit_interval_ms 5
disk_attributes=(cache_size=0 irqmode=2 completion_nsec=100000 blocksize=4096)
oracle_case "4 KiB sectors, no cache" 16384 move_threshold 90
disk_attributes=(irqmode=2 completion_nsec=300000)
rewriting=(on_full wait move_block_sectors 3072 move_fill_blocks 1 log_page_sectors 128 log_rewrite on)
with_filling oracle_case "whole clustered blocks rewritten" 16384 "${rewriting[@]}"
with_filling oracle_case "the same in small steps, bypass" 16384 move_block_sectors 1024 \
	move_fill_blocks 2 move_batch_sectors 64 segment_sectors 128
oracle_case "clustered blocks without rewriting" 16384 on_full wait move_block_sectors 8192 open_units 2
oracle_case "one open unit" 16384 on_full wait move_block_sectors 8192 open_units 1
two_disks_case
fio_case "fio, bypass" 16384
fio_case "fio, wait, even" 16384 on_full wait
with_filling fio_case "fio, rewriting" 16384 "${rewriting[@]}"
finish
