#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-power.sh: power cuts and injected errors as the kernel and ext4 see them. Runs in a
# functional guest:
#   tools/vm/run --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles \
#     tests/ssdsim/test/guest-power.sh
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh

profile=profiles/samsung.conf
disk=/dev/ssd0

ssd() {
	sh ./ssdsim.sh "$@"
}

# create NAME [KEY=VALUE...]: a small drive whose power can be cut.
create() {
	local name=$1
	shift
	ssd create "$name" "$profile" capacity_mb=256 track_volatile=1 discard=1 "$@"
}

power_is() {
	[[ $(ssd power "$1") == "power $2"$'\n'* ]]
}

# put BLOCK FILE [DD_WORD...]: write a file's first 4 KB past the page cache.
put() {
	local block=$1 file=$2
	shift 2
	dd if="$file" of="$disk" bs=4k count=1 seek="$block" oflag=direct conv=notrunc status=none "$@"
}

# is BLOCK FILE: the block has the file's first 4 KB.
is() {
	dd if="$disk" bs=4k count=1 skip="$1" iflag=direct status=none | cmp -n 4096 - "$2"
}

# flush DISK: have the drive flush.
flush() {
	sync "/dev/$1" 2>/dev/null && dd if=/dev/null of="/dev/$1" conv=fsync,notrunc status=none
}

refusals() {
	check "a drive without tracking is made" ssd create ssd1 "$profile" capacity_mb=64
	expect_fail "create it with track_volatile=1" ssd cut ssd1 now
	check "it is removed" ssd remove ssd1
	expect_fail "the cut has no moment" ssd cut ssd0 seed=1
	expect_fail "a cut has one moment" ssd cut ssd0 writes=1 us=5
	expect_fail "writes=0 is not possible; give a whole number" ssd cut ssd0 writes=0
	expect_fail "'wirtes' is not known here" ssd cut ssd0 wirtes=1
	expect_fail "give FIRST.SECTORS within the drive" ssd cut ssd0 writes=1 range=0+999999999
	expect_fail "fate=luck is not possible" ssd cut ssd0 now fate=luck
	expect_fail "is no operation" ssd fault ssd0 wriet
	expect_fail "a flush has no range" ssd fault ssd0 flush range=0+8
	expect_fail "every=0 is out of range" ssd fault ssd0 write every=0
	expect_fail "effect=most is not known" ssd fault ssd0 write effect=most
	expect_fail "there is no fault '7'" ssd faults ssd0 remove 7
	expect_fail "there is no emulated drive 'ssd9'" ssd cut ssd9 now
	check "nothing was armed or added" eval "equals 'waiting none' sed -n 3p \
		/sys/block/ssd0/ssdsim/power && equals '' ssd faults ssd0"
}

switch() {
	check "the drive is on" power_is ssd0 on
	check "a block is written and flushed" put 10 /tmp/new conv=fsync
	check "another is only written" put 20 /tmp/new
	check "the power is cut" ssd cut ssd0 now fate=lost
	check "the drive is off" power_is ssd0 off
	check "reads fail" eval "! dd if=$disk of=/dev/null bs=4k count=1 iflag=direct"
	check "writes fail" eval "! put 30 /tmp/new"
	check "flushes fail" eval "! flush ssd0"
	expect_fail "switch it on first" ssd cut ssd0 now
	check "the power returns" ssd power ssd0 on
	check "the drive is on again" power_is ssd0 on
	check "flushed data survive" is 10 /tmp/new
	check "fate=lost takes the rest" is 20 /dev/zero
	check "what was refused was not done" is 30 /dev/zero
	check "lost sectors are counted" equals 8 ssd stats ssd0 power_lost_sectors
	check "refused commands are counted" test "$(ssd stats ssd0 power_refused)" -ge 3
	check "switching on twice is no error" ssd power ssd0 on
}

moments() {
	check "a cut waits for its byte" ssd cut ssd0 bytes=6144 fate=kept
	check "the write before it is complete" put 40 /tmp/new
	check "the write in which it comes fails" eval "! put 41 /tmp/new"
	check "power" ssd power ssd0 on
	check "the first write is kept" is 40 /tmp/new
	check "the second is torn where the power went" eval "dd if=$disk bs=512 skip=$((41 * 8)) \
		count=4 iflag=direct status=none | cmp -n 2048 - /tmp/new &&
		dd if=$disk bs=512 skip=$((41 * 8 + 4)) count=4 iflag=direct status=none |
		cmp -n 2048 - /dev/zero"
	check "a cut waits for a flush" ssd cut ssd0 flushes=1 fate=lost
	check "the flush fails" eval "! put 42 /tmp/new conv=fsync"
	check "power" ssd power ssd0 on
	check "a flush that failed covers nothing" is 42 /dev/zero
	check "a cut waits for a range" ssd cut ssd0 writes=1 range=$((50 * 8))+8 fate=lost
	check "elsewhere all is well" put 49 /tmp/new conv=fsync
	check "there it comes" eval "! put 50 /tmp/new"
	check "power" ssd power ssd0 on
	check "a cut waits for its time" ssd cut ssd0 us=200000
	check "load until it comes" eval "! fio --name=load --filename=$disk --direct=1 --rw=randwrite \
		--bs=4k --ioengine=libaio --iodepth=4 --size=64M --time_based --runtime=30 --end_fsync=1"
	check "the drive is off" power_is ssd0 off
	check "power" ssd power ssd0 on
	check "a cut is cancelled" eval "ssd cut ssd0 writes=1 && ssd cut ssd0 cancel &&
		put 51 /tmp/new && power_is ssd0 on"
	check "cuts are counted" equals 5 ssd stats ssd0 power_cuts
}

# The same commands on two new drives, with the same seed: the same contents.
reproducible() {
	local round
	for round in 1 2; do
		create ssd1 && ssd cut ssd1 writes=50-400 seed=7 fate=writes
		fio --name=load --filename=/dev/ssd1 --direct=1 --rw=randwrite --bsrange=512-64k \
			--size=16M --io_size=64M --fsync=40 --randseed=3 --allrandrepeat=1 \
			--refill_buffers >/dev/null 2>&1
		power_is ssd1 off || echo "# no cut came"
		ssd power ssd1 on
		md5sum </dev/ssd1 >"/tmp/round-$round"
		ssd stats ssd1 | grep '^power_' >"/tmp/stats-$round"
		ssd remove ssd1
	done
	check "the same seed gives the same contents" cmp /tmp/round-1 /tmp/round-2
	check "and the same counts" cmp /tmp/stats-1 /tmp/stats-2
	check "some sectors were kept, some lost, some writes torn" eval \
		"! grep -E '^power_(kept_sectors|lost_sectors|tears) 0$' /tmp/stats-1"
}

# write_until_cut: files, each followed by fsync; those that succeeded are noted in /tmp/done.
write_until_cut() {
	local file=0 size
	while [ "$file" -lt 2000 ]; do
		file=$((file + 1))
		size=$((1 + RANDOM % 100))
		dd if=/dev/urandom of=/tmp/data bs=1k count="$size" status=none
		dd if=/tmp/data of="/mnt/ssd/$1-$file" conv=fsync status=none 2>/dev/null || return 0
		echo "$(md5sum </tmp/data | cut -d ' ' -f 1)  /mnt/ssd/$1-$file" >>/tmp/done
		# Some work that nobody waits for.
		cp /tmp/data "/mnt/ssd/$1-$file.later" 2>/dev/null
		[ $((file % 5)) -ne 0 ] || rm -f "/mnt/ssd/$1-$((file - 2)).later" 2>/dev/null
	done
}

file_system() {
	local seed
	mkdir -p /mnt/ssd
	: >/tmp/done
	check "ext4 is made" mkfs.ext4 -q "$disk"
	for seed in 1 2 3; do
		mount "$disk" /mnt/ssd || break
		ssd cut ssd0 writes=20-100 seed=$seed
		write_until_cut "$seed"
		check "cut $seed came" power_is ssd0 off
		umount /mnt/ssd
		ssd power ssd0 on
		e2fsck -fp "$disk" >/tmp/e2fsck 2>&1
		check "e2fsck is content after cut $seed" test $? -le 1
		mount "$disk" /mnt/ssd || break
		check "all files with fsync are whole after cut $seed ($(wc -l </tmp/done))" \
			md5sum -s -c /tmp/done
		umount /mnt/ssd
	done
	check "files were written" test "$(wc -l </tmp/done)" -ge 20
}

liar() {
	check "a drive that lies is made" create ssd1 lies_about_flush=1
	disk=/dev/ssd1
	ssd cut ssd1 flushes=2 fate=lost
	check "its flush succeeds" put 10 /tmp/new conv=fsync
	put 11 /tmp/new conv=fsync 2>/dev/null
	check "power" ssd power ssd1 on
	check "nothing of it survives" is 10 /dev/zero
	# A whole clustered page, 16 KB: a part of one would wait for the rest of it.
	dd if=/dev/urandom of=/tmp/page bs=16k count=1 status=none
	dd if=/tmp/page of="$disk" bs=16k count=1 seek=3 oflag=direct conv=notrunc status=none
	sleep 1
	check "the power is cut" ssd cut ssd1 now fate=lost
	check "power" ssd power ssd1 on
	check "what was programmed survives" is 12 /tmp/page
	check "it is removed" ssd remove ssd1
	check "a cache is kept secret" create ssd1 report_write_through=1
	check "the kernel believes it" equals "write through" cat /sys/block/ssd1/queue/write_cache
	put 10 /tmp/new conv=fsync
	ssd cut ssd1 now fate=lost && ssd power ssd1 on
	check "but it is there" is 10 /dev/zero
	check "it is removed" ssd remove ssd1
	disk=/dev/ssd0
}

faults() {
	put 60 /tmp/new conv=fsync
	ssd reset ssd0
	check "a read error is added" ssd fault ssd0 read range=$((60 * 8 + 3))+1 after=1 times=2
	check "not yet" is 60 /tmp/new
	check "now" eval "! is 60 /tmp/new"
	check "other blocks are well" is 61 /dev/zero
	check "again" eval "! is 60 /tmp/new"
	check "no more" is 60 /tmp/new
	check "it is listed with its counts" equals \
		"1: read error effect=none range=$((60 * 8 + 3))+1 after=1 times=2 (seen 4, hit 2)" \
		ssd faults ssd0
	check "and counted" equals 2 ssd stats ssd0 fault_errors
	check "it is removed" eval "ssd faults ssd0 remove 1 && equals '' ssd faults ssd0"
	ssd fault ssd0 write times=1
	check "a write fails" eval "! put 62 /tmp/new"
	check "without effect" is 62 /dev/zero
	ssd faults ssd0 clear
	ssd fault ssd0 flush times=1
	check "a flush fails" eval "! put 62 /tmp/new conv=fsync"
	ssd cut ssd0 now fate=lost && ssd power ssd0 on
	check "and covers nothing" is 62 /dev/zero
	ssd faults ssd0 clear
	ssd fault ssd0 discard times=1
	check "a discard fails" eval "! blkdiscard -o 0 -l 1M $disk"
	check "the next does not" blkdiscard -o 0 -l 1M "$disk"
	ssd faults ssd0 clear
	ssd fault ssd0 read slow_us=700000 times=1
	local before after
	before=$(date +%s%N)
	is 100 /dev/zero
	after=$(date +%s%N)
	check "a slow read takes its time" test $((after - before)) -ge 700000000
	check "and is counted" equals 1 ssd stats ssd0 fault_slowed
	ssd faults ssd0 clear
}

check "the module loads" load ssdsim
check "a drive is made" create ssd0
head -c 4096 /dev/urandom >/tmp/new
refusals
switch
moments
reproducible
liar
faults
file_system
check "the drive is removed while off" eval "ssd power ssd0 off && power_is ssd0 off &&
	ssd remove ssd0"
check "the module unloads" rmmod ssdsim
finish
