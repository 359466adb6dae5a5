#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 84-grow.sh: the normal area grows by a table with a larger length: under load, with a file system
# on it, and with the power failing in the middle of it. It never shrinks.
#   84-grow.sh [SEED]
# guest: --timeout 850 --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
# The reserved area comes first, so that the normal area has room to grow.
reserved=8192
old=8192
new=16384
mapper=/dev/mapper/ressd

ssd() {
	sh ./ssdsim.sh "$@"
}

# line DEVICE LENGTH: the table, with a normal area of that length.
line() {
	echo "0 $2 ressd $1 $reserved $1 0 $reserved 2 on_full wait"
}

# oracle COMMAND old|new [OPTION...]: on the part that was always there, or the one that came.
oracle() {
	local command=$1 part=$2 offset=0 span=$old
	shift 2
	[ "$part" = old ] || { offset=$old span=$((new - old)); }
	ressd-oracle "$command" --journal "/tmp/journal-$part" --seed "$seed" --offset "$offset" \
		--span "$span" "$@" "$mapper"
}

# reload DEVICE LENGTH [SUSPEND_FLAG]
reload() {
	dmsetup load ressd --table "$(line "$1" "$2")" || return 1
	# shellcheck disable=SC2086
	dmsetup suspend ${3:-} ressd && dmsetup resume ressd
}

both_parts_are_right() {
	forget_cache
	oracle check old && oracle check new
}

grow_under_load() {
	local load
	dmsetup create ressd --table "$(line /dev/d0 "$old")"
	begin_load oracle run old --operations 300
	check "the area grows under load" reload /dev/d0 "$new" --noflush
	check "the device is larger" equals "$new" sectors_of "$mapper"
	check "the table says so" eval "dmsetup table ressd | finds '^0 $new ressd '"
	check "the new part takes a load" oracle run new --operations 300 --flush-percent 8
	end_load "the old part"
	check "all is as it was written" both_parts_are_right
	expect_fail 'only its normal area may grow' reload /dev/d0 "$old"
	check "the device goes on after the refusal" oracle run new --operations 50
	oracle run new --small --operations 300
	check "there are blocks in the log" test "$(status_dirty ressd)" -ge 1
	check "they stay in the log over a reload" eval "reload /dev/d0 $new &&
		test \$(status_dirty ressd) -ge 1"
}

# The power fails after growth: what is mapped beyond the old end is recovered.
cut_after_growth() {
	oracle run new --small --operations 200
	dmsetup wipe_table --noflush lower
	dmsetup remove ressd
	dmsetup remove lower
	cut_power d0
	expect_fail "has $new sectors and cannot shrink to $old" dmsetup create ressd --table \
		"$(line /dev/d0 "$old")"
	check "the grown device is recovered" dmsetup create ressd --table "$(line /dev/d0 "$new")"
	check "with all that was synced" both_parts_are_right
	dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "drained, the bare disk holds the new part" eval "dd if=/dev/d0 of=/tmp/bare bs=1M \
		iflag=skip_bytes,count_bytes skip=$((reserved * 512)) count=$((new * 512)) status=none &&
		ressd-oracle check --journal /tmp/journal-new --seed $seed --offset $old /tmp/bare"
}

file_system() {
	local old=16384 new=32768
	dd if=/dev/zero of=/dev/d0 bs=1M count=4 oflag=direct status=none
	dmsetup create ressd --table "$(line /dev/d0 "$old")"
	mkfs.ext4 -q "$mapper"
	mkdir -p /run/mount
	mount "$mapper" /run/mount
	cp /usr/bin/e2fsck /run/mount/
	check "ext4: the device grows beneath" reload /dev/d0 "$new"
	check "ext4: it takes the room" resize2fs "$mapper"
	check "ext4: it has the room" test "$(stat -f -c %b /run/mount)" -gt $((old * 3 / 16))
	check "ext4: it is used" fio --name=db --filename=/run/mount/db --size=8M --bs=4k \
		--rw=randwrite --io_size=4M --fsync=16 --verify=crc32c --output=/tmp/fio-output
	check "ext4: the file is whole" cmp /usr/bin/e2fsck /run/mount/e2fsck
	umount /run/mount
	check "ext4: fsck" e2fsck -fn "$mapper"
	dmsetup remove ressd
}

# start_growth: a device of the old length with data in its log, on an emulated drive.
start_growth() {
	rm -f /tmp/journal-*
	ssd create ssd0 profiles/ocz.conf capacity_mb=64 track_volatile=1 fua=1
	dmsetup create ressd --table "$(line /dev/ssd0 "$old")" &&
		oracle run old --small --operations 200 && dmsetup remove ressd
}

# cut_in_growth COPY FATE: the power fails in the write of a superblock copy.
cut_in_growth() {
	local copy=$1 fate=$2 name="cut in copy $1, $2" place=$((reserved - 8))
	[ "$copy" -eq 1 ] || place=0
	check "$name: there is a device" start_growth
	ssd cut ssd0 writes=1 range=$place+8 "fate=$fate" seed="$seed"
	expect_fail "superblock cannot be written" dmsetup create ressd --table \
		"$(line /dev/ssd0 "$new")"
	dmsetup remove ressd 2>/dev/null
	ssd power ssd0 on
	if dmsetup create ressd --table "$(line /dev/ssd0 "$old")" 2>/dev/null; then
		pass "$name: the old length is accepted"
		check "$name: it holds what it held" oracle run old --small --operations 50
		dmsetup remove ressd
	else
		check "$name: only a complete growth refuses the old length" test "$copy$fate" = 0kept
	fi
	check "$name: the new length is accepted" dmsetup create ressd --table \
		"$(line /dev/ssd0 "$new")"
	check "$name: it holds what it held" oracle check old
	check "$name: the new part is used" oracle run new --operations 50
	dmsetup remove ressd
	expect_fail "cannot shrink to $old" dmsetup create ressd --table "$(line /dev/ssd0 "$old")"
	check "$name: it is recovered" dmsetup create ressd --table "$(line /dev/ssd0 "$new")"
	check "$name: both parts are right" both_parts_are_right
	dmsetup remove ressd
	ssd remove ssd0
}

load dm-ressd
load ssdsim
modprobe ext4
make_disk d0 24 irqmode=2 completion_nsec=100000
dmsetup create lower --table "0 $(sectors_of /dev/d0) linear /dev/d0 0"
grow_under_load
dmsetup remove ressd
dmsetup create ressd --table "$(line /dev/mapper/lower "$new")"
cut_after_growth
file_system
cut_in_growth 1 lost	# nothing of it was written
cut_in_growth 1 kept	# the copies differ
cut_in_growth 0 kept	# all of it was, though nobody was told
finish
