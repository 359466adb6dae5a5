#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 57-slips.sh: slips that need block devices: what is in use by way of a loop device or of
# device-mapper is refused by the tools and by the target, and nothing on the disks changes. The
# others are in userspace/test/slips.sh.
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
disk=/dev/d0
image=/run/image
mkdir -p /run/mount

# exits CODE NAME REGEX COMMAND...: with that code, and a line of its output matches.
exits() {
	local wanted=$1 name=$2 regex=$3 output status=0
	shift 3
	output=$("$@" 2>&1 </dev/null) || status=$?
	if [ "$status" -eq "$wanted" ] && grep -qE -- "$regex" <<<"$output"; then
		pass "$name"
	else
		fail "$name" "exit code $status (not $wanted?) and: $output"
	fi
}

refused() {
	exits 3 "$@"
}

# refused_by_all NAME REGEX DEVICE: every command that writes to the device, of 64 MiB, or says what it
# would write.
refused_by_all() {
	refused "$1: format" "$2" ressdctl format --yes --force "$3" 0 98304 "$3" 98304 32768
	refused "$1: format with the area elsewhere" "$2" \
		ressdctl format --yes --force "$3" 0 98304 /dev/d1 0 32768
	refused "$1: probe" "$2" ressd-probe --write --yes-destroy "$3" --quick "$3"
	refused "$1: probe --preserve" "$2" ressd-probe --preserve --yes --quick "$3"
	refused "$1: probe --dry-run" "$2" ressd-probe --write --yes-destroy "$3" --dry-run "$3"
}

new_image() {
	rm -f "$image"
	truncate -s 64M "$image"
}

# A file system in an image.
mounted_image() {
	new_image
	mkfs.ext4 -q -F "$image"
	mount -o loop "$image" /run/mount
	echo precious >/run/mount/file
	refused_by_all "a mounted image" "attached to /dev/loop[0-9]+, which is in use.*is mounted on /run/mount" \
		"$image"
	echo more >>/run/mount/file
	umount /run/mount
	check "a mounted image: it is as it was" e2fsck -fn "$image"
}

# Attached is enough: the loop device has a cache of its own.
attached_image() {
	local loop other
	new_image
	loop=$(losetup -f --show "$image")
	refused_by_all "an attached image" "is attached to $loop; name that device.*losetup -d $loop" "$image"
	other=$(losetup -f --show "$image")
	refused_by_all "attached twice" "what $loop stands on is attached to $other; name that device" "$loop"
	losetup -d "$other"
	other=$(losetup -f --show -o 33554432 "$image")
	losetup -d "$loop"
	loop=$(losetup -f --show --sizelimit 33554432 "$image")
	check "two parts of an image" ressdctl format --yes "$loop" 0 49152 "$loop" 49152 16384
	losetup -d "$loop"
	losetup -d "$other"
}

loop_over_a_mounted_disk() {
	local loop
	mkfs.ext4 -q -F "$disk"
	loop=$(losetup -f --show "$disk")
	refused_by_all "below a loop" "/dev/d0 is attached to $loop; name that device" "$disk"
	mount "$disk" /run/mount
	refused_by_all "a loop over a mounted disk" "/dev/d0 is mounted on /run/mount" "$loop"
	umount /run/mount
	mount "$loop" /run/mount
	refused_by_all "a disk below a mounted loop" "attached to $loop, which is in use" "$disk"
	umount /run/mount
	losetup -d "$loop"
}

# The image of a device that is active.
image_below_ressd() {
	local loop
	new_image
	loop=$(losetup -f --show "$image")
	make_ressd ressd "$loop" 32768
	refused_by_all "an image below ressd" "attached to $loop, which is in use.*is built on it" "$image"
	dmsetup remove ressd
	losetup -d "$loop"
}

# Device-mapper shares a device with all others of its own, and sees no loop over it: a file system was
# mounted there, and ressd opened below it.
open_in_use() {
	local loop
	blkdiscard -f "$disk"
	blkdiscard -f /dev/d1
	mkfs.ext4 -q -F -b 4096 "$disk" 48M
	ressdctl adopt --yes "$disk" >/dev/null
	loop=$(losetup -f --show "$disk")
	mount "$loop" /run/mount
	refused "open below a mounted loop" "attached to $loop, which is in use" ressdctl open ressd "$disk"
	umount /run/mount
	losetup -d "$loop"
	dmsetup create linear --table "0 65536 linear $disk 0"
	refused "open below another device" "/dev/d0 is in use: /dev/dm-[0-9]+ is built on it" \
		ressdctl open ressd "$disk"
	dmsetup remove linear
	ln -s "$disk" "/run/a name"
	check "open, by a name with a space" ressdctl open ressd "/run/a name"
	refused "the same name" "ressd exists already; close it" ressdctl open ressd "$disk"
	refused "another name" "open already, as /dev/mapper/ressd; .*ressdctl close ressd" \
		ressdctl open other "$disk"
	# As a stick that was pulled out and comes back as another device.
	copy_device "$disk" /tmp/copy
	dd if=/tmp/copy of=/dev/d1 bs=1M oflag=direct status=none
	refused "the log on another device" "open already, as /dev/mapper/ressd" ressdctl open other /dev/d1
	ressdctl close ressd
	# Two logs on one disk are in use at once.
	blkdiscard -f /dev/d1
	check "a second log" ressdctl format --yes /dev/d1 0 65536 /dev/d1 98304 32768
	check "a first one" ressdctl format --yes "$disk" 0 98304 /dev/d1 65536 32768 --force
	check "open the first" ressdctl open one --table "0 98304 ressd $disk 0 /dev/d1 65536 32768"
	check "and the second" ressdctl open two /dev/d1
	ressdctl close one
	ressdctl close two
	rm "/run/a name" /tmp/copy
}

# copy_card: the card /dev/d1 becomes a copy of $disk, whose partition has a log.
copy_card() {
	copy_device "$disk" /tmp/copy
	dd if=/tmp/copy of=/dev/d1 bs=1M oflag=direct status=none
	rm /tmp/copy
	blockdev --rereadpt /dev/d1
	wait_until test -b /dev/d1p1
}

# A copy of the card that is left in its reader has the same UUIDs. By PARTUUID, as the page about the
# Raspberry Pi has it, any of the two was opened: the copy, which from then on was newer than the card.
copy_of_the_card() {
	local uuid
	blkdiscard -f "$disk"
	blkdiscard -f /dev/d1
	printf 'label: dos\nlabel-id: 0x12345678\n2048,\n' | sfdisk -q "$disk" >/dev/null
	wait_until test -b /dev/d0p1
	mkfs.ext4 -q -F -b 4096 /dev/d0p1 48M
	ressdctl adopt --yes /dev/d0p1 >/dev/null
	uuid=$(ressdctl list | sed -n 's/.* //p')
	check "one card: open by PARTUUID" ressdctl open ressd PARTUUID=12345678-01
	check "one card: close" ressdctl close ressd
	copy_card
	refused "a copy of the card: open by UUID" "^ressdctl: 2 devices have the UUID=$uuid, so one is a copy" \
		ressdctl open ressd "UUID=$uuid"
	refused "a copy of the card: open by PARTUUID" "2 devices have the PARTUUID=12345678-01, so one is a copy" \
		ressdctl open ressd PARTUUID=12345678-01
	check "a copy of the card: none is open" fails dmsetup info ressd
	check "a copy of the card: by its path" ressdctl open ressd /dev/d0p1
	refused "a copy of the card: both at once" "or the one that it is a copy of, is open already, as /dev/mapper/ressd" \
		ressdctl open other /dev/d1p1
	ressdctl close ressd
	sfdisk -q --delete "$disk" >/dev/null
	sfdisk -q --delete /dev/d1 >/dev/null
}

# A disk without partitions, copied to a larger one, which nobody can make as long as the disk was.
copy_on_a_larger_disk() {
	local loop table
	blkdiscard -f "$disk"
	mkfs.ext4 -q -F -b 4096 "$disk" 48M
	ressdctl adopt --yes "$disk" >/dev/null
	ressdctl open ressd "$disk"
	dmsetup message ressd 0 mover off
	mount /dev/mapper/ressd /run/mount
	echo precious >/run/mount/file
	sync /run/mount/file
	umount /run/mount
	ressdctl close ressd
	rm -f "$image"
	copy_device "$disk" "$image"
	truncate -s 80M "$image"
	loop=$(losetup -f --show "$image")
	exits 1 "a larger disk: open" "does not end with it: .*ressdctl check --search $loop" \
		ressdctl open ressd "$loop"
	exits 1 "a larger disk: the way is named" "made larger\? .*131072 sectors long, as it was, or open it with --table" \
		ressdctl check --search "$loop"
	table=$(ressdctl check --search "$loop" 2>&1 | sed "s/.*--table '\([^']*\)'.*/\1/")
	check "a larger disk: it is one" ressdctl open ressd --table "$table"
	check "a larger disk: the log counts" equals precious eval \
		'mount /dev/mapper/ressd /run/mount && cat /run/mount/file; umount /run/mount'
	check "a larger disk: leave" ressdctl leave ressd
	mount "$loop" /run/mount
	check "a larger disk: a plain disk is left" equals precious cat /run/mount/file
	umount /run/mount
	losetup -d "$loop"
}

# By UUID nothing is found then, and nobody said why.
newer_version() {
	blkdiscard -f /dev/d1
	{
		printf 'dm0ressd\2\0\0\0\305\144\133\073'
		head -c 28 /dev/zero
		printf '\1'
		head -c 4051 /dev/zero
	} | dd of=/dev/d1 bs=4096 seek=16383 oflag=direct iflag=fullblock conv=fsync,notrunc status=none
	exits 1 "a newer version: open by UUID" "^ressdctl: warning: /dev/d1: the reserved area has format version 2" \
		ressdctl open ressd UUID=17f91ba5-b1c5-4b9b-8491-8d2c241392fa
	exits 0 "a newer version: list" "warning: /dev/d1: the reserved area has format version 2" ressdctl list
	blkdiscard -f /dev/d1
}

# A card that cannot be read at its end was left out without a word: "no device has the UUID".
unreadable_end() {
	local uuid
	blkdiscard -f /dev/d1
	ressdctl format --yes /dev/d1 0 98304 /dev/d1 98304 32768 >/dev/null
	uuid=$(ressdctl list /dev/d1 | sed -n 's/.* //p')
	mv /dev/d1 /dev/hidden
	dmsetup create bad --table "0 131064 linear /dev/hidden 0
		131064 8 error"
	exits 1 "an unreadable end: open by UUID" "^ressdctl: warning: cannot read /dev/[^ ]* at byte 67104768: Input/output error" \
		ressdctl open ressd "UUID=$uuid"
	exits 0 "an unreadable end: list" "warning: cannot read /dev/[^ ]* at byte 67104768: Input/output error" ressdctl list
	dmsetup remove bad
	mv /dev/hidden /dev/d1
}

# What was only in RAM goes with a device that does not take it: close said nothing.
close_of_a_broken_device() {
	local status=0
	blkdiscard -f "$disk"
	dmsetup create lower --table "0 131072 linear $disk 0"
	dmsetup create ressd --table "$(table_line /dev/mapper/lower 32768 commit_interval_ms 60000)"
	write_block a
	check "a broken device: closed while it is well" ressdctl close ressd
	dmsetup create ressd --table "$(table_line /dev/mapper/lower 32768 commit_interval_ms 60000)"
	dd if=/dev/zero of=/dev/mapper/ressd bs=4096 seek=100 count=1 oflag=direct conv=notrunc status=none
	fail_all_io lower
	ressdctl close ressd >/run/output 2>&1 || status=$?
	check "a broken device: close fails" equals 1 echo "$status"
	check "a broken device: and says why" grep -q "^ressdctl: ressd is closed, but .* may be lost: " /run/output
	check "a broken device: it is closed" fails dmsetup info ressd
	dmsetup remove lower
}

# The same bytes by two names: a normal area over the reserved one.
areas_below() {
	local sentence="overlap on what both devices stand on; move one" linear=/dev/mapper/linear loop
	blkdiscard -f "$disk"
	dmsetup create linear --table "0 65536 linear $disk 0
		65536 32768 linear /dev/d1 0"
	exits 2 "dm-linear over the reserved area: format" "$sentence" \
		ressdctl format --yes --force "$linear" 0 65536 "$disk" 32768 32768
	exits 2 "dm-linear over the reserved area: open" "$sentence" \
		ressdctl open x --table "0 65536 ressd $linear 0 $disk 32768 32768"
	exits 2 "two ways to the second disk" "$sentence" \
		ressdctl format --yes --force "$linear" 0 98304 /dev/d1 0 65536
	dmsetup create second --table "0 98304 linear $linear 0"
	exits 2 "dm-linear twice" "$sentence" \
		ressdctl format --yes --force /dev/mapper/second 0 65536 "$disk" 32768 32768
	dmsetup remove second
	dmsetup remove linear
	dmsetup create linear --table "0 65536 linear $disk 0"
	dmsetup create second --table "0 65536 linear $disk 65536"
	check "two halves of a disk" ressdctl format --yes "$linear" 0 65536 /dev/mapper/second 0 32768
	dmsetup remove second
	dmsetup remove linear
	unknown_mapping
	printf '2048,65536\n98304,32768\n' | sfdisk -q "$disk" >/dev/null
	wait_until test -b /dev/d0p2
	exits 2 "a partition and its disk: format" "$sentence" \
		ressdctl format --yes --force /dev/d0p1 0 65536 "$disk" 32768 32768
	expect_fail "the reserved device .* cannot be opened .*nothing else uses it" \
		dmsetup create x --table "0 65536 ressd /dev/d0p1 0 $disk 32768 32768"
	loop=$(losetup -f --show "$disk")
	exits 2 "a loop over the disk" "$sentence" \
		ressdctl format --yes --force "$loop" 0 65536 /dev/d0p1 0 32768
	losetup -d "$loop"
	sfdisk -q --delete "$disk" >/dev/null
	blkdiscard -f "$disk"
}

# What may be anywhere on the disk below it, as RAID and encryption: two areas of one such device were
# refused as if they overlapped, so that what adopt had made could not be opened.
unknown_mapping() {
	local sentence="overlap on what both devices stand on; move one" one=/dev/mapper/one
	dmsetup create one --table "0 65536 striped 1 8 $disk 0"
	dmsetup create two --table "0 65536 striped 1 8 $disk 65536"
	check "striped: both areas on it" ressdctl format --yes "$one" 0 49152 "$one" 49152 16384
	check "striped: open" ressdctl open ressd "$one"
	dmsetup remove ressd
	check "striped: one area on each of two" ressdctl format --yes --force "$one" 0 65536 \
		/dev/mapper/two 0 32768
	exits 2 "striped, and the disk below it" "$sentence" \
		ressdctl format --yes --force "$one" 0 65536 "$disk" 98304 32768
	dmsetup remove one
	dmsetup remove two
}

# write_block VALUE: an fsynced block full of it, at sector 800.
write_block() {
	head -c 4096 /dev/zero | tr '\0' "$1" |
		dd of=/dev/mapper/ressd bs=4096 seek=100 oflag=direct conv=fsync,notrunc status=none
}

# holds VALUE: it reads back.
holds() {
	forget_cache
	equals "$1" eval 'dd if=/dev/mapper/ressd bs=1 skip=409600 count=1 status=none'
}

# A table with other areas on a live device was accepted, and an fsynced block read back old.
other_areas() {
	local line other sentence="has other devices or areas than the one before.*send the message drain"
	blkdiscard -f "$disk"
	blkdiscard -f /dev/d1
	line="0 65536 ressd $disk 0 $disk"
	dmsetup create ressd --table "$line 98304 32768"
	write_block a
	write_block b
	for other in "$line 65536 32768" "0 65536 ressd $disk 0 /dev/d1 0 32768" \
		"0 65536 ressd /dev/d1 0 $disk 98304 32768" "0 65528 ressd $disk 8 $disk 98304 32768"; do
		expect_fail "$sentence" dmsetup load ressd --table "$other"
		check "areas: the device is as it was" holds b
	done
	check "areas: growth" eval "dmsetup load ressd --table '0 98304 ressd $disk 0 $disk 98304 32768' &&
		dmsetup resume ressd"
	check "areas: after growth" holds b
	check "areas: drain" dmsetup message ressd 0 drain
	line="0 98304 ressd $disk 0 /dev/d1 0 32768"
	check "areas: a drained device takes another area" dmsetup load ressd --table "$line"
	write_block c
	expect_fail "$sentence" dmsetup resume ressd
	# dm has destroyed the old table by then, so a second attempt was taken, and left its log behind.
	expect_fail "$sentence" dmsetup resume ressd
	expect_fail "$sentence" dmsetup load ressd --table "$line"
	check "areas: the old table can be loaded again" dmsetup load ressd --table \
		"0 98304 ressd $disk 0 $disk 98304 32768"
	check "areas: and resumed" dmsetup resume ressd
	check "areas: nothing is lost" holds c
	check "areas: drain once more" dmsetup message ressd 0 drain
	check "areas: then the other area" eval "dmsetup load ressd --table '$line' && dmsetup resume ressd"
	check "areas: is in use" holds c
	write_block d
	check "areas: and works" holds d
	dmsetup remove ressd
}

load dm-ressd
modprobe ext4
modprobe loop
make_disk d0 64
make_disk d1 64
scenario mounted_image
scenario attached_image
scenario loop_over_a_mounted_disk
scenario image_below_ressd
scenario open_in_use
scenario copy_of_the_card
scenario copy_on_a_larger_disk
scenario newer_version
scenario unreadable_end
scenario close_of_a_broken_device
scenario other_areas
scenario areas_below
finish
