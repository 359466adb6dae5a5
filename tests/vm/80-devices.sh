#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 80-devices.sh: ressd on every kind of device: with and without a volatile cache, with and without
# FUA, with logical blocks of 512 and 4096 bytes, on one disk and on two that differ. On each, what was
# synced survives when the power fails, and a drain leaves a plain disk.
#   80-devices.sh [SEED [FUNCTION]]
# guest: --timeout 850 --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
normal=16384
reserved=4096
mapper=/dev/mapper/ressd
RANDOM=$((seed % 32768))

ssd() {
	sh ./ssdsim.sh "$@"
}

queue() {
	cat "/sys/block/$(basename "$1")/queue/$2"
}

# create NORMAL_DISK RESERVED_DISK: a device that can be cut off from its disks.
create() {
	local disk
	for disk in $(printf '%s\n' "$@" | sort -u); do
		dmsetup create "lower-$disk" --table \
			"0 $(sectors_of "/dev/$disk") linear /dev/$disk 0" || return 1
	done
	dmsetup create ressd --table "0 $normal ressd /dev/mapper/lower-$1 0 \
		/dev/mapper/lower-$2 $normal $reserved 2 on_full wait"
}

destroy() {
	local disk
	dmsetup remove ressd || return 1
	for disk in $(printf '%s\n' "$@" | sort -u); do
		dmsetup remove "lower-$disk" || return 1
	done
}

# lose_power DISK: the disk forgets what it had not made durable.
lose_power() {
	if [ -e "/sys/kernel/config/nullb/$1" ]; then
		cut_power "$1"
	else
		ssd cut "$1" now && ssd power "$1" on
	fi
}

# flushes_reach NUMBER PID: waits until the device has had so many, or the load has ended.
flushes_reach() {
	while [ "$(status_value ressd flushes)" -lt "$1" ] && kill -0 "$2" 2>/dev/null; do
		sleep 0.1
	done
}

# cut NORMAL_DISK RESERVED_DISK: under load, all I/O fails from one moment on.
cut() {
	local load status=0 disk
	: >/tmp/load-output
	oracle run --may-fail --threads 4 --flush-percent 20 --seconds 60 >>/tmp/load-output 2>&1 &
	load=$!
	load_begins "$load" || return
	flushes_reach $(($(status_value ressd flushes) + 10 + RANDOM % 40)) "$load"
	for disk in $(printf '%s\n' "$@" | sort -ur); do
		fail_all_io "lower-$disk"
	done
	wait "$load" || status=$?
	destroy "$@" || return 1
	for disk in $(printf '%s\n' "$@" | sort -u); do
		lose_power "$disk" || return 1
	done
	if [ "$status" -ne 3 ]; then
		sed 's/^/# /' /tmp/load-output
		return 1
	fi
}

# life NAME NORMAL_DISK RESERVED_DISK: loads, two cuts, drain, the bare device.
life() {
	local name=$1 number
	shift
	rm -f /tmp/journal
	check "$name: created" create "$@"
	check "$name: a load" oracle run --operations 120
	check "$name: small writes, each with its flush" oracle run --small --operations 20 \
		--flush-percent 50 --threads 1
	destroy "$@" && create "$@"
	for number in 1 2; do
		check "$name: cut $number under load" cut "$@"
		check "$name: recovered after cut $number" create "$@"
	done
	check "$name: everything synced is there" oracle check
	acknowledged_something "$name"
	check "$name: drained" dmsetup message ressd 0 drain
	copy_device "$mapper" /tmp/as-seen
	destroy "$@"
	forget_cache
	check "$name: the bare device is the same" same_as /tmp/as-seen "/dev/$1"
	rm /tmp/as-seen
}

# The cut must have come after some writes were acknowledged, or the check shows nothing.
acknowledged_something() {
	local count
	count=$(sed -n 's/.* \([0-9]*\) of them acknowledged.*/\1/p' /tmp/load-output)
	check "$1: a cut had acknowledged writes before it" test "${count:-0}" -gt 0
}

# drive NAME KEY=VALUE...: an emulated SSD that takes one command at a time, as SD cards do. With fua=0 a
# standstill of Linux 6.1 is near (docs/ssdsim.md, Limits), which ressd must not run into.
drive() {
	local name=$1
	shift
	ssd create "$name" profiles/ocz.conf capacity_mb=64 track_volatile=1 discard=1 \
		queue_depth=1 "$@"
}

without_fua() {
	drive ssd0 fua=0
	check "without FUA: the kernel knows it" equals 0 queue /dev/ssd0 fua
	life "without FUA" ssd0 ssd0
	ssd remove ssd0
}

# flushes_of_commits DEVICE: commands that reach the drive while ten files are written and synced, one
# by one, on an ext4 on DEVICE.
flushes_of_commits() {
	local before i
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$1" 6M &&
		mount -o commit=1000 "$1" /run/mount || return 1
	sync
	before=$(ssd stats ssd0 host_flushes)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		dd if=/dev/zero of="/run/mount/$i" bs=4096 count=1 conv=fsync status=none || return 1
	done
	echo $(($(ssd stats ssd0 host_flushes) - before))
	umount /run/mount
}

# A commit of ext4 is one write with PREFLUSH and FUA. Device-mapper makes an empty flush of the first,
# which still says FUA: left there it would be flushed for twice.
one_flush_for_a_preflush() {
	local bare
	drive ssd0 fua=0
	modprobe ext4
	mkdir -p /run/mount
	bare=$(flushes_of_commits /dev/ssd0)
	check "without FUA: ten commits of ext4 flush, ${bare:-none} times" test "${bare:-0}" -ge 20
	check "without FUA: ressd that routes nothing to the log" \
		make_ressd ressd /dev/ssd0 "$reserved" route never
	check "without FUA: the same commits flush as often" \
		equals "${bare:-none}" flushes_of_commits "$mapper"
	check "without FUA: removed" dmsetup remove ressd
	ssd remove ssd0
}

one_block() {
	head -c 4096 /dev/zero | tr '\0' "$1" |
		dd of="$mapper" bs=4096 seek=7 iflag=fullblock oflag=direct conv=notrunc status=none
}

letter_of_block() {
	dd if="$mapper" bs=4096 skip=7 count=1 iflag=direct status=none | head -c 1 | tr '\0' 0
}

# A single block in RAM, then a flush and at once the cut: nothing else brings it to the disk. (The loads
# of many writes above found a flush that went past the log only by chance.)
flush_of_one_block() {
	make_disk d0 24 cache_size=2
	create d0 d0
	check "one block: nothing is written for a minute" \
		dmsetup message ressd 0 set commit_interval_ms 60000
	check "one block: written" one_block n
	# One record is that of the covered blocks.
	check "one block: is in RAM" equals 1 status_value ressd records
	check "one block: flushed" dd if=/dev/zero of="$mapper" count=0 conv=notrunc,fsync status=none
	fail_all_io lower-d0
	destroy d0 d0
	lose_power d0
	check "one block: recovered" create d0 d0
	check "one block: is there" equals n letter_of_block
	destroy d0 d0
	remove_disk d0
}

# No flush is sent down, and none would come to the target if it did not ask for them.
write_through() {
	make_disk d0 24 cache_size=0 irqmode=2 completion_nsec=50000
	check "write-through: the kernel knows it" equals "write through" queue /dev/d0 write_cache
	life "write-through" d0 d0
	remove_disk d0
}

# ressd_queue ATTRIBUTE
ressd_queue() {
	queue "$(dmsetup info -c --noheadings -o blkdevname ressd)" "$1"
}

block_sizes() {
	make_disk d0 24 cache_size=2 blocksize=4096 irqmode=2 completion_nsec=50000
	create d0 d0
	check "4096-byte blocks: passed on" equals 4096 blockdev --getss "$mapper"
	expect_fail "Invalid argument" dd if=/dev/zero of="$mapper" bs=512 count=1 oflag=direct
	destroy d0 d0
	life "4096-byte blocks" d0 d0
	make_disk d1 24 cache_size=2 irqmode=2 completion_nsec=50000
	create d1 d1
	check "512-byte blocks: passed on" equals 512 blockdev --getss "$mapper"
	check "512-byte blocks: xfs is to write 4096" equals 4096 ressd_queue physical_block_size
	destroy d1 d1
	blkdiscard -f /dev/d0
	blkdiscard -f /dev/d1
	life "4096-byte normal area, 512-byte log" d0 d1
	remove_disk d0
	remove_disk d1
}

# first_block_is LETTER|0: of the bare normal disk.
first_block_is() {
	equals "$1" eval 'head -c 1 /dev/d0 | tr "\0" 0'
}

# The reserved device gets no discard of a user, so whether it takes any, and in which units, is nothing
# to the user; a read of a part of a logged block it does get. Found in review: a log on a disk without
# discards took them away from the file system; one with large units had fstrim skip most of the free
# space.
limits_of_the_log() {
	make_disk d0 24 cache_size=2
	make_disk d1 24 cache_size=2 blocksize=4096 discard=0
	create d0 d1
	check "log of 4096-byte blocks: passed on" equals 4096 blockdev --getss "$mapper"
	dmsetup message ressd 0 set route never
	head -c 8192 /dev/zero | tr '\0' n |
		dd of="$mapper" bs=8192 iflag=fullblock oflag=direct conv=notrunc status=none
	forget_cache
	check "log without discards: the normal disk has a block" first_block_is n
	check "log without discards: discarded" blkdiscard -f -l 8192 "$mapper"
	forget_cache
	check "log without discards: the normal disk has got it" first_block_is 0
	destroy d0 d1
	blkdiscard -f /dev/d0
	create d1 d0
	check "normal disk without discards: none are taken" equals 0 ressd_queue discard_max_bytes
	destroy d1 d0
	blkdiscard -f /dev/d0
	drive ssd0 fua=1
	check "log of larger pages: the disk has them" equals 32768 queue /dev/ssd0 discard_granularity
	create d0 ssd0
	check "log of larger pages: discards as the normal disk" \
		equals 4096 ressd_queue discard_granularity
	destroy d0 ssd0
	ssd remove ssd0
	remove_disk d0
	remove_disk d1
}

# One disk with a volatile cache and one without: the flush must still reach the one that has it.
mixed_caches() {
	drive ssd0 fua=1
	drive ssd1 write_cache=0
	life "write-through normal area, write-back log" ssd1 ssd0
	ssd remove ssd0
	ssd remove ssd1
}

load dm-ressd
load ssdsim
scenario without_fua
scenario one_flush_for_a_preflush
scenario flush_of_one_block
scenario write_through
scenario block_sizes
scenario limits_of_the_log
scenario mixed_caches
finish
