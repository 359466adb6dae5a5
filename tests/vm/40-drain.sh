#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 40-drain.sh: after a drain the bare device holds, byte for byte, what ressd showed; and a drain
# that is cancelled, interrupted or done under load loses nothing.
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=32768

# fill_log: small random writes that stay in the log.
fill_log() {
	dmsetup message ressd 0 mover off
	fio --name=fill --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=40M \
		--io_size=8M --direct=1 --ioengine=libaio --iodepth=16 --randseed="$seed" \
		--output=/tmp/fio-output
}

oracle() {
	local command=$1
	shift
	ressd-oracle "$command" --journal /tmp/journal --seed "$seed" "$@"
}

bare_device_is_the_same() {
	make_ressd ressd /dev/d0 "$reserved"
	check "the log fills" fill_log
	check "there is something to drain" test "$(status_dirty ressd)" -gt 1000
	copy_device /dev/mapper/ressd /tmp/before
	if same_as /tmp/before /dev/d0 >/tmp/difference; then
		fail "the bare device differs before the drain" "it does not: nothing is tested"
	else
		pass "the bare device differs before the drain"
	fi
	check "drains" dmsetup message ressd 0 drain
	check "nothing is dirty after the drain" equals 0 status_dirty ressd
	check "nothing is left to drain" equals 0 status_value ressd drain_left
	check "ressd shows the same after the drain" same_as /tmp/before /dev/mapper/ressd
	check "is removed after the drain" dmsetup remove ressd
	forget_cache
	check "the bare device is the same, byte for byte" same_as /tmp/before /dev/d0
}

# A write to the bare device after a drain must not be hidden by what the log held before.
drained_state_lasts() {
	fio --name=bare --filename=/dev/d0 --rw=randwrite --bs=4k --size=40M --io_size=8M --direct=1 \
		--ioengine=psync --randseed="$seed" --buffer_pattern=0xbabababa --end_fsync=1 \
		--output=/tmp/fio-output
	copy_device /dev/d0 /tmp/before "$(($(sectors_of /dev/d0) - reserved))"
	check "is created again after bare writes" make_ressd ressd /dev/d0 "$reserved"
	check "bare writes after a drain are not hidden" same_as /tmp/before /dev/mapper/ressd
	check "nothing was recovered" equals 0 status_dirty ressd
	check "an idle device is removed" dmsetup remove ressd
	check "and the bare device is still the same" same_as /tmp/before /dev/d0
}

tree_checksum() {
	(cd /mnt && find . -type f -exec sha256sum {} + | sort | sha256sum)
}

file_system_moves_to_the_bare_device() {
	local sum
	make_ressd ressd /dev/d0 "$reserved"
	mkfs.ext4 -q -F /dev/mapper/ressd
	mount /dev/mapper/ressd /mnt
	for i in $(seq 200); do
		head -c $((i * 300)) /dev/urandom >"/mnt/file-$i"
	done
	sync
	sum=$(tree_checksum)
	umount /mnt
	check "with a file system: ressdctl drain" ressdctl drain ressd
	check "with a file system: ressdctl close" ressdctl close ressd
	check "with a file system: the bare device is clean" e2fsck -fn /dev/d0
	mount /dev/d0 /mnt
	check "with a file system: the files are the same" equals "$sum" tree_checksum
	umount /mnt
}

is_draining() {
	test "$(status_value ressd drain_left)" -gt 0
}

cancelled_drain() {
	local status=0 drain accepted
	make_ressd ressd /dev/slow "$reserved" move_batch_sectors 8
	fill_log
	dmsetup message ressd 0 drain &
	drain=$!
	check "a drain says what is left" wait_until is_draining
	check "a drain is cancelled" dmsetup message ressd 0 drain cancel
	wait "$drain" || status=$?
	check "a cancelled drain fails" test "$status" -ne 0
	check "a cancelled drain leaves the rest" test "$(status_dirty ressd)" -gt 0

	status=0
	timeout -s INT 0.3 dmsetup message ressd 0 drain || status=$?
	check "a drain is interrupted by Ctrl-C" test "$status" -ne 0
	check "an interrupted drain leaves the rest" test "$(status_dirty ressd)" -gt 0
	accepted=$(status_value ressd accepted)
	fio --name=more --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=40M \
		--io_size=256k --direct=1 --randseed=99 --output=/tmp/fio-output
	check "small writes go to the log again" at_least ressd accepted $((accepted + 64))
	check "a drain after that comes to its end" dmsetup message ressd 0 drain
	check "and nothing is dirty" equals 0 status_dirty ressd
	dmsetup remove ressd
}

# reads_of DISK: requests that it was asked to read.
reads_of() {
	awk '{ print $1 }' "/sys/block/$1/stat"
}

# What ascends at home ascends in the log, with the headers of its records between: most of it is read at one go, not in
# 1,000 reads. Found with buffered writes on the Super Talent drive, where each of a sweep's blocks was read by itself.
ordered_log() {
	local before
	blkdiscard -f /dev/d0
	make_ressd ressd /dev/d0 "$reserved" cover off commit_interval_ms 60000
	dmsetup message ressd 0 mover off
	fio --name=ordered --filename=/dev/mapper/ressd --rw=write:4k --bs=4k --size=8M --direct=1 --ioengine=libaio \
		--iodepth=64 --number_ios=1000 --verify=crc32c --do_verify=0 --output=/tmp/fio-output
	check "ordered: the log has it" at_least ressd accepted 1000
	before=$(reads_of d0)
	check "ordered: drains" dmsetup message ressd 0 drain
	check "ordered: with few reads" at_most $(($(reads_of d0) - before)) 204
	check "ordered: and right" fio --name=ordered --filename=/dev/d0 --rw=write:4k --bs=4k --size=8M --direct=1 \
		--number_ios=1000 --verify=crc32c --verify_only --output=/tmp/fio-output
	dmsetup remove ressd
}

# drain_under_load NAME [KEY VALUE...]
drain_under_load() {
	local name=$1 load round
	shift
	blkdiscard -f /dev/d0
	rm -f /tmp/journal
	make_ressd ressd /dev/d0 "$reserved" segment_sectors 1024 "$@"
	begin_load oracle run --operations 1500 /dev/mapper/ressd
	for round in 1 2 3; do
		while [ "$(status_dirty ressd)" -lt 200 ] && kill -0 "$load" 2>/dev/null; do
			pause 0.05
		done
		check "$name: drain $round under load ends" dmsetup message ressd 0 drain
	done
	end_load "$name"
	check "$name: the last drain ends" dmsetup message ressd 0 drain
	check "$name: after drains under load nothing is dirty" equals 0 status_dirty ressd
	dmsetup remove ressd
	forget_cache
	check "$name: the bare device holds all of the load" oracle check \
		--span "$(($(sectors_of /dev/d0) - reserved))" /dev/d0
}

load dm-ressd
make_disk d0 64
make_disk slow 64 irqmode=2 completion_nsec=2000000
bare_device_is_the_same
drained_state_lasts
file_system_moves_to_the_bare_device
cancelled_drain
ordered_log
drain_under_load defaults
drain_under_load rewriting move_block_sectors 1024 move_fill_blocks 2
finish
