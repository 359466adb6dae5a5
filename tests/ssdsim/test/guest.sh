#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest.sh: the emulated SSD as a block device. Runs in a functional guest:
#   tools/vm/run --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles tests/ssdsim/test/guest.sh
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh

profile=profiles/samsung.conf

ssd() {
	sh ./ssdsim.sh "$@"
}

counter() {
	ssd stats "$1" "$2"
}

refusals() {
	expect_fail "not loaded" ssd create ssd0 "$profile"
	check "the module loads" load ssdsim
	expect_fail "exists; remove it first" eval "ssd create ssd0 $profile capacity_mb=512 &&
		ssd create ssd0 $profile"
	expect_fail "log_blocks=x is out of range.*0 to 32768" ssd create ssd1 "$profile" log_blocks=x
	expect_fail "'nonsense' is not a key" ssd create ssd1 "$profile" nonsense=1
	expect_fail "begin it with 'ssd'" ssd create loop0 "$profile"
	expect_fail "clustered blocks .* choose them" ssd create ssd1 "$profile" block_pages=4096 \
		capacity_mb=8 ways=8
	expect_fail "there is no drive 'ssd1'" ssd remove ssd1
	expect_fail "cannot read profile" ssd create ssd1 missing.conf
}

properties() {
	check "write-back cache is reported" equals "write back" cat /sys/block/ssd0/queue/write_cache
	check "largest request is 512 KB" equals 512 cat /sys/block/ssd0/queue/max_hw_sectors_kb
	check "not rotational" equals 0 cat /sys/block/ssd0/queue/rotational
	check "no discard on the Samsung drive" equals 0 cat /sys/block/ssd0/queue/discard_max_bytes
	check "capacity" equals $((512 << 20)) blockdev --getsize64 /dev/ssd0
	check "several drives" ssd create ssd1 "$profile" capacity_mb=256 discard=1 queue_depth=32
	check "the printed profile makes the same drive" eval "ssd profile ssd1 >/tmp/again.conf &&
		ssd create ssd2 /tmp/again.conf && ssd profile ssd2 | sed s/ssd2/ssd1/ |
		cmp - /tmp/again.conf"
	check "a drive is removed" ssd remove ssd2
	check "write-through when asked" eval "ssd create ssd2 $profile capacity_mb=64 write_cache=0 &&
		equals 'write through' cat /sys/block/ssd2/queue/write_cache && ssd remove ssd2"
}

data() {
	check "prefilled drive reads as zeros" cmp -n 16777216 /dev/ssd0 /dev/zero
	for disk in ssd0 ssd1; do
		check "$disk keeps data under mixed load" fio --name=mixed --filename=/dev/$disk \
			--direct=1 --rw=randrw --rwmixread=30 --bsrange=512-200k --bs_unaligned=0 \
			--size=48M --io_size=24M --verify=crc32c --verify_fatal=1 --do_verify=1 \
			--ioengine=libaio --iodepth=8 --fsync=50 --randseed=5
	done
	check "reads are whole" eval "dd if=/dev/urandom of=/tmp/data bs=1M count=8 status=none &&
		dd if=/tmp/data of=/dev/ssd0 bs=1M seek=100 oflag=direct status=none &&
		dd if=/dev/ssd0 bs=1M skip=100 count=8 iflag=direct status=none | cmp - /tmp/data"
	for disk in ssd0 ssd1; do
		check "NAND rules hold on $disk" equals 0 counter $disk nand_violations
	done
	check "flushes are counted" test "$(counter ssd0 host_flushes)" -gt 0
}

discards() {
	check "discarded pages read as zeros" eval "dd if=/tmp/data of=/dev/ssd1 bs=1M count=8 \
		oflag=direct status=none && blkdiscard -o 0 -l 8M /dev/ssd1 &&
		cmp -n 8388608 /dev/ssd1 /dev/zero"
	check "discards are counted" test "$(counter ssd1 host_discards)" -gt 0
	check "counters reset" eval "ssd reset ssd1; equals 0 ssd stats ssd1 host_discards"
}

file_systems() {
	mkdir -p /mnt/ssd
	for type in ext4 xfs; do
		check "$type is made" "mkfs.$type" -q /dev/ssd0
		check "$type holds files" eval "mount -t $type /dev/ssd0 /mnt/ssd &&
			cp /tmp/data /mnt/ssd/ && sync && umount /mnt/ssd &&
			mount -t $type /dev/ssd0 /mnt/ssd && cmp /tmp/data /mnt/ssd/data"
		expect_fail "is in use" ssd remove ssd0
		check "$type unmounts" umount /mnt/ssd
		wipefs -qa /dev/ssd0
	done
}

# A disk taken away while it is open must not crash the kernel: the module cannot be unloaded.
removal() {
	exec 9</dev/ssd1
	expect_fail "in use" ssd remove ssd1
	expect_fail "can.t unload" rmmod ssdsim
	exec 9<&-
	check "drive with all contents is removed" ssd remove ssd1
	check "node is gone" test ! -e /dev/ssd1
	check "the module unloads with a drive left" rmmod ssdsim
	check "that drive is gone" test ! -e /dev/ssd0
	check "the module loads again" load ssdsim
}

refusals
properties
data
discards
file_systems
removal
finish
