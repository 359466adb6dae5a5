#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 46-cover.sh: while the log holds anything nobody takes the bare disk for a file system, and after a
# drain everybody does: for several file systems and partition tables, and over cuts of the power under
# load (47-cover-cuts.sh has them at every step). A plain disk that was written to without ressd keeps
# what was written; a damaged copy of a covered block is named, and nothing else is lost by it; format
# --force gives back what is covered.
#   46-cover.sh [SEED [FUNCTION]]
# guest: --timeout 400
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
RANDOM=$((seed % 32768))
reserved=16384
cuts=4
states=/tmp/states # what the cuts have left, a line each

# looks_like DEVICE: what libblkid finds on the bare disk; nothing if it is covered.
looks_like() {
	forget_cache
	{ blkid -p -o value -s TYPE -s PTTYPE "$1" || true; } | paste -s -d ' '
}

# covers DEVICE: how many of the 136 sectors in the first 68 KiB are covers.
covers() {
	dd if="$1" bs=512 count=136 iflag=direct status=none | { grep -a -o ressdcov || true; } |
		wc -l
}

is_covered() {
	equals "" looks_like "$1" && equals 136 covers "$1"
}

# small_write DEVICE OFFSET: one block, durably.
small_write() {
	dd if=/dev/urandom of="$1" bs=4k count=1 seek="$2" oflag=direct conv=notrunc,fsync status=none
}

# rough_life, or short_life, NAME LOOKS COMMAND...: COMMAND makes the file system or the table on the
# disk given to it, which was there before ressd. In a rough one covered blocks are written to as well.
rough_life() {
	life rough_writes "$@"
}

short_life() {
	life true "$@"
}

# A large write and a discard over the covered blocks and others, and a piece of one.
rough_writes() {
	local name=$1
	check "$name: the cover says what to do" grep -q -a "Do not mount" <(head -c 512 /dev/d0)
	check "$name: copied" copy_device /dev/mapper/ressd /tmp/before 4096
	check "$name: a large write" dd if=/tmp/before of=/dev/mapper/ressd bs=2M count=1 \
		oflag=direct conv=notrunc,fsync status=none
	check "$name: is covered after a large write" is_covered /dev/d0
	check "$name: a piece of a covered block" dd if=/tmp/before of=/dev/mapper/ressd bs=512 skip=2 \
		seek=2 count=1 oflag=direct conv=notrunc,fsync status=none
	blkdiscard -f -o 0 -l 65536 /dev/mapper/ressd 2>/dev/null
	check "$name: is covered after a discard" is_covered /dev/d0
	check "$name: reads the same" same_as /tmp/before /dev/mapper/ressd
}

life() {
	local writes=$1 name=$2 looks=$3
	shift 3
	make_disk d0 64
	truncate -s "$((($(sectors_of /dev/d0) - reserved) * 512))" /tmp/fs
	check "$name: made" "$@" /tmp/fs
	dd if=/tmp/fs of=/dev/d0 bs=1M conv=notrunc,sparse status=none
	rm /tmp/fs
	check "$name: is recognised before" equals "$looks" looks_like /dev/d0
	make_ressd ressd /dev/d0 "$reserved"
	check "$name: is recognised while nothing is logged" equals "$looks" looks_like /dev/d0
	check "$name: a small write" small_write /dev/mapper/ressd 5000
	check "$name: is covered" is_covered /dev/d0
	check "$name: and still on ressd" equals "$looks" looks_like /dev/mapper/ressd
	"$writes" "$name"
	check "$name: copied whole" copy_device /dev/mapper/ressd /tmp/before
	check "$name: drains" timeout 300 dmsetup message ressd 0 drain
	check "$name: no cover is left" equals 0 covers /dev/d0
	dmsetup remove ressd
	forget_cache
	check "$name: is recognised after a drain" equals "$looks" looks_like /dev/d0
	check "$name: the bare disk is the same" same_as /tmp/before /dev/d0
	remove_disk d0
}

partition() {
	echo ",,L" | sfdisk -q --label "$1" "$2"
}

# Covered blocks go round in a small log with all the rest.
many_rounds() {
	make_disk d0 96
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	copy_device /dev/d0 /tmp/before 136
	make_ressd ressd /dev/d0 "$reserved" "$@"
	check "rounds ($*): small writes" fio --name=small --filename=/dev/mapper/ressd --offset=1M \
		--size=60M --rw=randwrite --bs=4k --direct=1 --norandommap --randrepeat=0 \
		--randseed="$seed" --io_size=20M --verify=crc32c --verify_fatal=1 --output=/tmp/fio-output
	check "rounds ($*): is covered" is_covered /dev/d0
	check "rounds ($*): the covered blocks are the same" same_as /tmp/before /dev/mapper/ressd
	check "rounds ($*): drains" timeout 300 dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "rounds ($*): is recognised after a drain" equals ext4 looks_like /dev/d0
	check "rounds ($*): so are the first blocks of the bare disk" same_as /tmp/before /dev/d0
	remove_disk d0
}

lower() {
	dmsetup create lower --table "0 $(sectors_of /dev/d0) linear /dev/d0 0"
}

# The device as it is after a cut; what the bare disk looks like tells what there may be in the log.
start_again() {
	local looks covered
	looks=$(looks_like /dev/d0)
	covered=$(covers /dev/d0)
	lower
	make_ressd ressd /dev/mapper/lower "$reserved" || return 1
	if [ -n "$looks" ] && [ "$covered" -eq 0 ]; then
		echo plain >>"$states"
		equals 0 status_value ressd covered || return 1
		equals 0 status_dirty ressd || return 1
	elif [ "$(status_value ressd covered)" -eq 1 ]; then
		echo covered >>"$states"
		equals " 136" echo "$looks $covered" || return 1
	else
		echo between >>"$states"
		equals "" echo "$looks" || return 1
	fi
	same_as /tmp/first /dev/mapper/ressd
}

# one_cut NUMBER: writers on a device that is plain, or that is being drained.
one_cut() {
	local load delay=$((RANDOM % 60))
	start_again || return 1
	fio --name=small --filename=/dev/mapper/ressd --offset=8M --size=40M --rw=randwrite --bs=4k \
		--direct=1 --fsync=4 --time_based --runtime=20 --randseed="$((seed + $1))" \
		--output=/tmp/fio-output >/dev/null 2>&1 &
	load=$!
	wait_until equals 1 status_value ressd covered
	if [ $(($1 % 2)) -eq 0 ]; then
		timeout 10 dmsetup message ressd 0 drain 2>/dev/null &
	fi
	sleep "0.$(printf %03d "$delay")"
	fail_all_io lower
	wait "$load"
	wait
	dmsetup remove ressd && dmsetup remove lower && cut_power d0
}

cuts_of_the_power() {
	local number
	make_disk d0 96 cache_size=2 irqmode=2 completion_nsec=500000
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	copy_device /dev/d0 /tmp/first 136
	sync /dev/d0
	for number in $(seq "$cuts"); do
		check "cut $number" one_cut "$number"
		[ "$tests_failed" -eq 0 ] || finish
	done
	check "after the last cut" start_again
	sort "$states" | uniq -c | sed 's/^/# found/'
	check "some cuts left it covered" grep -q covered "$states"
	check "after all cuts it drains" timeout 300 dmsetup message ressd 0 drain
	dmsetup remove ressd
	dmsetup remove lower
	check "after all cuts it is recognised" equals ext4 looks_like /dev/d0
	check "after all cuts the first blocks are the same" same_as /tmp/first /dev/d0
	remove_disk d0
}

# Another computer mounts it while it is plain: what that has written stays.
plain_disk_is_used() {
	make_disk d0 96
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	make_ressd ressd /dev/d0 "$reserved"
	check "used bare: a small write" small_write /dev/mapper/ressd 5000
	check "used bare: drains" dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "used bare: mounts" mount /dev/d0 /mnt
	echo hello >/mnt/file
	umount /mnt
	make_ressd ressd /dev/d0 "$reserved"
	mount /dev/mapper/ressd /mnt
	check "used bare: the file is there" equals hello cat /mnt/file
	for number in $(seq 200); do
		echo "$number" >"/mnt/$number"
	done
	sync /dev/mapper/ressd
	umount /mnt
	# What the file system has written may have been one stream, and that is not logged.
	dd if=/dev/mapper/ressd of=/tmp/block bs=4k count=1 skip=5000 status=none
	dd if=/tmp/block of=/dev/mapper/ressd bs=4k seek=5000 oflag=direct conv=notrunc,fsync status=none
	check "used bare: is covered" is_covered /dev/d0
	dmsetup remove ressd
	expect_fail "wrong fs type|can't find|unknown filesystem" mount -t ext4 /dev/d0 /mnt
	make_ressd ressd /dev/d0 "$reserved"
	check "used bare: is clean" e2fsck -fn /dev/mapper/ressd
	check "used bare: drains again" dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "used bare: the bare disk is clean" e2fsck -fn /dev/d0
	remove_disk d0
}

# cover off: as before there were covers.
without_covers() {
	make_disk d0 96
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	make_ressd ressd /dev/d0 "$reserved" cover off
	check "off: a small write" small_write /dev/mapper/ressd 5000
	check "off: nothing is covered" equals 0 covers /dev/d0
	check "off: nor will it be" equals 0 status_value ressd cover_blocks
	check "off: the table says it" eval "dmsetup table ressd | finds ' cover off'"
	dmsetup remove ressd
	check "off: it stays so" eval "make_ressd ressd /dev/d0 $reserved && equals 0 covers /dev/d0"
	dmsetup remove ressd
	remove_disk d0
	make_disk d0 96
	make_ressd ressd /dev/d0 "$reserved"
	dmsetup remove ressd
	expect_fail "cover is off, but the reserved area was formatted with covers" \
		make_ressd ressd /dev/d0 "$reserved" cover off
	remove_disk d0
}

# With two disks it is the normal one that is covered.
two_disks() {
	make_disk d0 64
	make_disk d1 16
	mkfs.ext4 -q -F /dev/d0
	dmsetup create ressd --table "0 $(sectors_of /dev/d0) ressd /dev/d0 0 /dev/d1 0 16384 0"
	check "two disks: a small write" small_write /dev/mapper/ressd 5000
	check "two disks: is covered" is_covered /dev/d0
	check "two disks: the normal one is a member for udev" eval \
		"ressdctl list --udev /dev/d0 | finds '^ID_FS_TYPE=ressd_member$'"
	dmsetup remove ressd
	expect_fail "/dev/d0 has the covers of the ressd device [0-9a-f-]*, .*drain it first" \
		ressdctl adopt --yes /dev/d0
	expect_fail "/dev/d0 has the covers of the ressd device .*drain it first" \
		ressdctl format --yes /dev/d0 0 98304 /dev/d0 98304 16384
	expect_fail "holds the covers of the ressd device" ressd-probe --write --yes /dev/d0
	dmsetup create ressd --table "0 $(sectors_of /dev/d0) ressd /dev/d0 0 /dev/d1 0 16384 0"
	check "two disks: drains" dmsetup message ressd 0 drain
	check "two disks: is recognised" equals ext4 looks_like /dev/d0
	dmsetup remove ressd
	remove_disk d0
	remove_disk d1
}

# What the tools say of a covered device that is closed, and what format --force leaves of it.
formatted_anew() {
	local normal
	make_disk d0 96
	normal=$(($(sectors_of /dev/d0) - reserved))
	mkfs.ext4 -q -F /dev/d0 "$((normal / 2))k"
	copy_device /dev/d0 /tmp/first 136
	check "anew: adopt" ressdctl adopt --yes /dev/d0
	check "anew: open" ressdctl open ressd /dev/d0
	check "anew: a small write" small_write /dev/mapper/ressd 5000
	check "anew: status knows it" eval "ressdctl status ressd | finds -E '^covered +1'"
	check "anew: close" ressdctl close ressd
	check "anew: is covered" is_covered /dev/d0
	check "anew: check is content" ressdctl check /dev/d0
	check "anew: check knows it" eval "ressdctl check /dev/d0 | finds '^covered .*first 17 blocks'"
	check "anew: it is a member for udev" eval \
		"ressdctl list --udev /dev/d0 | finds '^ID_FS_TYPE=ressd_member$'"
	expect_fail "[0-9]+ blocks not yet moved, where the new areas would be; open that device as it was and drain it" \
		ressdctl format --yes /dev/d0 0 "$normal" /dev/d0 "$normal" "$reserved"
	check "anew: is still covered" is_covered /dev/d0
	check "anew: format --force" ressdctl format --yes --force /dev/d0 0 "$normal" /dev/d0 \
		"$normal" "$reserved"
	check "anew: no cover is left" equals 0 covers /dev/d0
	check "anew: is recognised" equals ext4 looks_like /dev/d0
	check "anew: the first blocks are the same" same_as /tmp/first /dev/d0
	remove_disk d0
}

# Somebody writes to the bare disk in spite of the cover: the log counts, and both tell so.
written_behind() {
	make_disk d0 96
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	copy_device /dev/d0 /tmp/first 136
	make_ressd ressd /dev/d0 "$reserved"
	check "behind: a small write" small_write /dev/mapper/ressd 5000
	dmsetup remove ressd
	dd if=/dev/zero of=/dev/d0 bs=512 count=3 oflag=direct conv=notrunc,fsync status=none
	expect_fail "3 of the 136 sectors .* are not covered" ressdctl check /dev/d0
	make_ressd ressd /dev/d0 "$reserved"
	check "behind: the kernel tells so" eval "dmesg | finds '3 of the first 136 sectors were written'"
	check "behind: drains" dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "behind: the log's version counts" same_as /tmp/first /dev/d0
	remove_disk d0
}

# A card with a log that holds data is written anew, as by an installer of systems: the old log was
# written into the new file system.
made_anew() {
	make_disk d0 96
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	check "made anew: adopt" ressdctl adopt --yes /dev/d0
	check "made anew: open" ressdctl open ressd /dev/d0
	dmsetup message ressd 0 mover off
	check "made anew: many small writes" fio --name=small --filename=/dev/mapper/ressd --offset=1M \
		--size=60M --rw=randwrite --bs=4k --direct=1 --number_ios=400 --randseed="$seed" \
		--end_fsync=1 --output=/tmp/fio-output
	check "made anew: close" ressdctl close ressd
	check "made anew: is covered" is_covered /dev/d0
	mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0 /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	copy_device /dev/d0 /tmp/new
	expect_fail "/dev/d0 has ext4 where its covers would be: it was made anew" ressdctl open ressd /dev/d0
	[ ! -e /dev/mapper/ressd ] || ressdctl leave ressd
	check "made anew: the new file system is as it was" e2fsck -fn /dev/d0
	expect_fail "add --force" ressdctl adopt --yes /dev/d0
	check "made anew: every byte is" same_as /tmp/new /dev/d0
	check "made anew: adopt --force" ressdctl adopt --yes --force /dev/d0
	check "made anew: then it opens" ressdctl open ressd /dev/d0
	check "made anew: and is right" e2fsck -fn /dev/mapper/ressd
	check "made anew: leave" ressdctl leave ressd
	check "made anew: the bare disk is right" e2fsck -fn /dev/d0
	remove_disk d0
}

# e2fsck in another computer finds the copies of the superblock that are not covered, and repairs what was
# there before the log. Files that an fsync had covered were given up with the log, as open advised for a
# file system that was made anew.
repaired_bare() {
	local number table
	make_disk d0 200
	mkfs.ext4 -q -F -b 4096 /dev/d0 160M
	check "repaired: adopt" ressdctl adopt --yes /dev/d0
	check "repaired: open" ressdctl open ressd /dev/d0
	dmsetup message ressd 0 mover off
	mount /dev/mapper/ressd /mnt
	for number in 1 2 3 4 5 6 7 8; do
		echo "$number" >"/mnt/$number"
		sync "/mnt/$number"
	done
	umount /mnt
	check "repaired: close" ressdctl close ressd
	check "repaired: is covered" is_covered /dev/d0
	e2fsck -fy /dev/d0 >/tmp/e2fsck 2>&1
	check "repaired: is recognised" equals ext4 looks_like /dev/d0
	expect_fail "it was made anew, or repaired by fsck, without ressd.*if it was repaired, open it with --table" \
		ressdctl open ressd /dev/d0
	table=$(ressdctl open ressd /dev/d0 2>&1 | sed "s/.*--table '\([^']*\)'.*/\1/")
	check "repaired: by the table that it says" ressdctl open ressd --table "$table"
	e2fsck -fy /dev/mapper/ressd >/tmp/e2fsck 2>&1
	check "repaired: and again" e2fsck -fn /dev/mapper/ressd
	mount /dev/mapper/ressd /mnt
	check "repaired: every file is there" equals "$(seq 8)" eval "cat /mnt/[1-8]"
	umount /mnt
	check "repaired: leave" ressdctl leave ressd
	check "repaired: the bare disk is right" e2fsck -fn /dev/d0
	remove_disk d0
}

# A copy of a covered block is damaged in the log: it is named, all else can be had.
damaged_copy() {
	local place
	make_disk d0 96
	mkfs.ext4 -q -F /dev/d0 "$((($(sectors_of /dev/d0) - reserved) / 2))k"
	make_ressd ressd /dev/d0 "$reserved"
	yes "the fifth block" | head -c 4096 >/tmp/block
	check "damaged: block 5 is written" dd if=/tmp/block of=/dev/mapper/ressd bs=4k seek=5 \
		oflag=direct conv=notrunc,fsync status=none
	check "damaged: a small write" small_write /dev/mapper/ressd 5000
	copy_device /dev/mapper/ressd /tmp/before
	# The next activation says that it is durable: then it is no loss of power that has damaged it.
	dmsetup remove ressd
	make_ressd ressd /dev/d0 "$reserved"
	dmsetup remove ressd
	place=$(tr '\0' '\n' </dev/d0 | grep -a -b -m 1 "^the fifth block" | cut -d : -f 1)
	check "damaged: the copy is in the log" test "${place:-0}" -gt 69632
	dd if=/dev/zero of=/dev/d0 bs=512 seek="$((place / 512 + 3))" count=1 oflag=direct conv=notrunc \
		status=none
	forget_cache
	expect_fail "normal block 5: " ressdctl check /dev/d0
	make_ressd ressd /dev/d0 "$reserved"
	expect_fail "copy of normal block 5 is damaged" dmsetup message ressd 0 drain
	check "damaged: the state tells" equals damaged status_state ressd
	check "damaged: is covered" is_covered /dev/d0
	check "damaged: all else is home" equals 0 status_dirty ressd
	check "damaged: the block is written anew" dd if=/tmp/block of=/dev/mapper/ressd bs=4k seek=5 \
		oflag=direct conv=notrunc,fsync status=none
	# With another block there is a sweep before the covers go, which took the copy for damaged still.
	check "damaged: another small write" small_write /dev/mapper/ressd 5001
	copy_device /dev/mapper/ressd /tmp/before
	check "damaged: drains" dmsetup message ressd 0 drain
	check "damaged: the state is well" equals rw status_state ressd
	dmsetup remove ressd
	check "damaged: the plain disk has it all" same_as /tmp/before /dev/d0
	remove_disk d0
}

# Large writes take no lock, but not where a run reads and covers the bare disk: one of the covered
# blocks waits until the run that has begun is over, and what it wrote is read.
large_write_waits_for_a_run() {
	local normal small large status=0
	make_disk d0 96
	normal=$(($(sectors_of /dev/d0) - reserved))
	mkfs.ext4 -q -F /dev/d0 "$((normal / 2))k"
	lower
	dmsetup create ressd --table "0 $normal ressd /dev/mapper/lower 0 /dev/d0 $normal $reserved 0"
	yes "a large write" | head -c 262144 >/tmp/large
	check "large write: the normal area is behind a gate" close_gate lower reads
	small_write /dev/mapper/ressd 5000 &
	small=$!
	check "large write: a run reads what it will cover" wait_until fails equals 0 reads_at_gate lower
	dd if=/tmp/large of=/dev/mapper/ressd bs=256k count=1 oflag=direct conv=notrunc,fsync \
		status=none &
	large=$!
	check "large write: is under way" wait_until sleeps_in_kernel "$large"
	check "large write: nothing of it is on the bare disk" fails grep -q -a "a large write" \
		<(dd if=/dev/d0 bs=68k count=1 iflag=direct status=none)
	open_gate lower
	wait "$small" && wait "$large" || status=$?
	check "large write: both end well" equals 0 echo "$status"
	check "large write: is covered" is_covered /dev/d0
	check "large write: is read" same_as /tmp/large /dev/mapper/ressd
	check "large write: drains" timeout 300 dmsetup message ressd 0 drain
	dmsetup remove ressd
	forget_cache
	check "large write: is on the bare disk" same_as /tmp/large /dev/d0
	dmsetup remove lower
	remove_disk d0
}

# A drain that is cancelled while it waits for the device, with everything home: a small write that came
# then waited for covers which nobody made any more, until another write came.
cancelled_drain_leaves_no_writer() {
	local normal drain small spinners=()
	make_disk d0 96
	normal=$(($(sectors_of /dev/d0) - reserved))
	lower
	dmsetup create ressd --table "0 $normal ressd /dev/mapper/lower 0 /dev/mapper/lower $normal $reserved 0"
	check "cancelled: the device is behind a gate" close_gate lower flushes
	dmsetup message ressd 0 drain &
	drain=$!
	check "cancelled: the drain waits there" wait_until fails equals 0 flushes_at_gate lower
	check "cancelled: is cancelled" dmsetup message ressd 0 drain cancel
	dd if=/dev/zero of=/dev/mapper/ressd bs=4k count=1 seek=5000 oflag=direct conv=notrunc status=none &
	small=$!
	check "cancelled: a small write waits for covers" wait_until sleeps_in_kernel "$small"
	# Processors that are busy: the mover learns of the flush when the log has tried that write again.
	yes >/dev/null &
	spinners+=($!)
	yes >/dev/null &
	spinners+=($!)
	open_gate lower
	sleep 1
	kill "${spinners[@]}"
	wait "$drain" "${spinners[@]}"
	check "cancelled: the write ends" wait_until fails test -e "/proc/$small"
	small_write /dev/mapper/ressd 6000
	wait "$small"
	check "cancelled: the log has both" equals 2 status_dirty ressd
	check "cancelled: another drain" timeout 300 dmsetup message ressd 0 drain
	dmsetup remove ressd
	dmsetup remove lower
	remove_disk d0
}

# A record announces at most 512 segments that have died, so an activation after a cut takes
# several rounds until the log, in which home counts by then, is empty. The cut is in a drain, when
# the covers begin to go. Each write takes a segment of its own.
restored_in_rounds() {
	local reserved=$((6000 * 128)) normal drain
	make_disk d0 408
	normal=$(($(sectors_of /dev/d0) - reserved))
	mkfs.ext4 -q -F /dev/d0 "$((normal / 2))k"
	copy_device /dev/d0 /tmp/first 136
	lower
	dmsetup create first --table "0 136 linear /dev/mapper/lower 0"
	dmsetup create whole --table "0 136 linear /dev/mapper/first 0
136 $((normal + reserved - 136)) linear /dev/mapper/lower 136"
	make_ressd ressd /dev/mapper/whole "$reserved" segment_sectors 128 log_align_sectors 128 \
		commit writethrough
	dmsetup message ressd 0 mover off
	check "many segments: are written" fio --name=small --filename=/dev/mapper/ressd \
		--offset=1M --size=16M --rw=randwrite --bs=4k --direct=1 --norandommap --number_ios=4096 \
		--randseed="$seed" --output=/tmp/fio-output
	check "many segments: so many" at_least ressd records 4000
	close_gate first writes
	dmsetup message ressd 0 drain 2>/dev/null &
	drain=$!
	check "many segments: the covers begin to go" wait_until equals 1 writes_at_gate first
	check "many segments: everything else is home" equals 17 status_dirty ressd
	fail_all_io lower
	open_gate first
	check "many segments: the drain ends" ended "$drain"
	dmsetup remove ressd
	dmsetup remove whole
	dmsetup remove first
	dmsetup remove lower
	check "many segments: is activated" make_ressd ressd /dev/d0 "$reserved"
	check "many segments: and plain" wait_until equals 0/0 status_word ressd 5
	check "many segments: the first blocks are the same" same_as /tmp/first /dev/mapper/ressd
	dmsetup remove ressd
	check "many segments: and those of the bare disk" same_as /tmp/first /dev/d0
	remove_disk d0
}

load dm-ressd
scenario formatted_anew
scenario written_behind
scenario made_anew
scenario repaired_bare
scenario damaged_copy
scenario rough_life ext4 ext4 mkfs.ext4 -q -F
scenario short_life f2fs f2fs mkfs.f2fs -q -f
scenario short_life vfat vfat mkfs.fat
scenario short_life swap swap mkswap
scenario short_life MBR dos partition dos
scenario rough_life GPT gpt partition gpt
scenario many_rounds segment_sectors 512 on_full wait
scenario many_rounds segment_sectors 512 move_block_sectors 512 move_fill_blocks 8
scenario plain_disk_is_used
scenario without_covers
scenario two_disks
scenario large_write_waits_for_a_run
scenario cancelled_drain_leaves_no_writer
scenario restored_in_rounds
scenario cuts_of_the_power
finish
