#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 22-both-processors.sh: reads, small and large writes, flushes, the mover, messages and status at the
# same time on both processors, for the debug kernel that looks for races; all that is written is
# verified.
#   22-both-processors.sh [SEED [FUNCTION]]
# guest: --memory 1G --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"

# bios: until all is written and verified. Each job has a part of the device of its own, but for the
# one that reads all of them.
bios() {
	cat >/tmp/jobs.fio <<-END
		[global]
		filename=/dev/mapper/ressd
		direct=1
		ioengine=libaio
		iodepth=4
		verify=crc32c
		verify_fatal=1
		randseed=$seed
		[small]
		rw=randwrite
		bs=4k
		size=12M
		[small-synced]
		rw=randwrite
		bs=4k
		fdatasync=8
		offset=12M
		size=2M
		[odd-sizes]
		rw=randwrite
		bsrange=512-8k
		blockalign=512
		offset=16M
		size=4M
		[large]
		rw=randwrite
		bs=64k
		offset=24M
		size=16M
		loops=2
		[reads]
		rw=randread
		bs=16k
		size=40M
		verify=0
	END
	fio --output=/tmp/fio-output /tmp/jobs.fio
}

# messages PID: whatever can be asked for while that process lives.
messages() {
	while kill -0 "$1" 2>/dev/null; do
		dmsetup status ressd
		dmsetup message ressd 0 set pace idle
		dmsetup message ressd 0 set move_batch_sectors 256
		dmsetup message ressd 0 set small_write_sectors 16
		dmsetup message ressd 0 mover off
		dmsetup table ressd
		dmsetup message ressd 0 mover on
		dmsetup message ressd 0 set pace even
		dmsetup message ressd 0 set move_batch_sectors 1024
		dmsetup message ressd 0 set small_write_sectors 32
		dmsetup message ressd 0 drain &
		sleep 0.2
		dmsetup message ressd 0 drain cancel
		wait $!
	done
}

# all_at_once NAME [KEY VALUE...]: with these options.
all_at_once() {
	local name=$1 job
	shift
	make_disk d0 64 irqmode=2 completion_nsec=100000
	make_ressd ressd /dev/d0 16384 "$@"
	bios &
	job=$!
	messages "$job" >/tmp/messages 2>&1
	ends_well "$name: fio verifies everything" "$job"
	check "$name: writes went to the log" at_least ressd accepted 100
	check "$name: others went beside it" at_least ressd writes 600
	check "$name: no errors" equals 0 status_value ressd errors
	check "$name: drains" dmsetup message ressd 0 drain
	check "$name: the mover has moved blocks" at_least ressd moved_blocks 100
	check "$name: is removed" dmsetup remove ressd
	remove_disk d0
}

plain() {
	all_at_once "plain"
}

others_wait() {
	all_at_once "wait, writethrough" on_full wait commit writethrough move_block_sectors 1024 \
		move_fill_blocks 1 log_page_sectors 128 log_rewrite on cover on log_discard on
}

shaped() {
	all_at_once "shaped" on_full wait route adaptive split_read_sectors 16 split_write_sectors 64 \
		dispatch pai
}

# What one sync has written ends the wait of more flushes than go on under one hold of the lock (64).
many_wait_for_one_sync() {
	local load reserved=16384 normal=114688
	make_disk d0 64
	dmsetup create log --table "0 $reserved linear /dev/d0 $normal"
	check "many: a device" dmsetup create ressd --table \
		"0 $normal ressd /dev/d0 0 /dev/mapper/log 0 $reserved 2 cover off"
	close_gate log writes
	fio --name=load --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=64k --number_ios=1 --direct=1 \
		--end_fsync=1 --thread --numjobs=300 --randseed="$seed" --group_reporting --output=/tmp/fio-output &
	load=$!
	check "many: all flushes wait" wait_until equals 300 status_value ressd flushes
	sleep 0.5
	check "many: no flush has ended" kill -0 "$load"
	open_gate log
	ends_well "many: all flushes end" "$load"
	check "many: is removed" dmsetup remove ressd
	dmsetup remove log
	remove_disk d0
}

# What happens once in a large write, or in a record, is rare: each watch has to last.
kcsan=/sys/module/kcsan/parameters/udelay_task
[ ! -e "$kcsan" ] || echo 1000 >"$kcsan"
load dm-ressd
scenario plain
scenario others_wait
scenario shaped
scenario many_wait_for_one_sync
finish
