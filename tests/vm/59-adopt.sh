#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 59-adopt.sh: a file system that is there already gets a log behind it, is used, loses power, and
# leaves again for a plain disk, with every file as it was; what is in use stays as it is, and the
# power fails while the log is erased.
#   59-adopt.sh [SEED]
# guest: --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
mapper=/dev/mapper/ressd
folder=/run/mount
mkdir -p "$folder"

# put_files: some, of which the sums are known.
put_files() {
	cp /usr/bin/e2fsck /usr/bin/bash "$folder/" && (cd "$folder" && sha256sum e2fsck bash) >/tmp/sums
}

files_are_right() {
	(cd "$folder" && sha256sum -c /tmp/sums)
}

# mounted DEVICE COMMAND...: while it is mounted.
mounted() {
	local device=$1 status=0
	shift
	mount "$device" "$folder" || return 1
	"$@" || status=$?
	umount "$folder"
	return "$status"
}

small_writes() {
	fio --name=db --filename="$folder/db" --size=4M --bs=4k --rw=randwrite --io_size=4M --fsync=16 \
		--verify=crc32c --randseed="$seed" --output=/tmp/fio-output
}

ext4_comes_and_goes() {
	local dirty
	mkfs.ext4 -q -F -b 4096 /dev/d0 40M
	mounted /dev/d0 put_files
	mount /dev/d0 "$folder"
	expect_fail "/dev/d0 is mounted on $folder" ressdctl adopt --yes /dev/d0
	umount "$folder"
	check "adopt" ressdctl adopt --yes /dev/d0 on_full wait
	check "open" ressdctl open ressd /dev/d0
	check "with the options" eval "dmsetup table ressd | finds ' on_full wait'"
	check "the files are there, and it can be used" eval \
		"mounted $mapper files_are_right && mounted $mapper small_writes"
	mount "$mapper" "$folder"
	# It may move blocks at any time, also while leave is refused.
	dmsetup message ressd 0 mover off
	dirty=$(status_dirty ressd)
	check "small writes are in the log" test "$dirty" -gt 0
	expect_fail "is in use \(open count 1\); unmount it" ressdctl leave ressd
	check "that changes nothing" equals "$dirty" status_dirty ressd
	umount "$folder"
	ressdctl close ressd
	expect_fail "holds [0-9]* blocks.*leave with the name of the open device" ressdctl leave /dev/d0
	cut_power d0
	check "open again, after the power was lost" ressdctl open ressd /dev/d0
	check "the files are right" mounted "$mapper" files_are_right
	check "leave" ressdctl leave ressd
	check "the device is gone" test ! -e "$mapper"
	check "and the log as well" equals "" ressdctl list
	check "the plain disk is whole" e2fsck -fn /dev/d0
	check "its files are right" mounted /dev/d0 files_are_right
	check "it may have all of the disk" eval "e2fsck -fy /dev/d0; resize2fs /dev/d0"
	check "and is still right" mounted /dev/d0 files_are_right
	check "nothing remembers the log" eval "e2fsck -fy /dev/d0; resize2fs /dev/d0 40M &&
		ressdctl adopt --yes /dev/d0"
	check "leave without having been open" ressdctl leave /dev/d0
}

partition() {
	printf '2048,131072\n' | sfdisk -q /dev/d1 >/dev/null
	wait_until test -b /dev/d1p1
	mkfs.ext4 -q -F /dev/d1p1 56M
	expect_fail "holds a partition table.*name the partition" ressdctl adopt --yes /dev/d1
	check "a partition is adopted" ressdctl adopt --yes /dev/d1p1
	name=$(ressdctl open /dev/d1p1)
	check "and used" eval "mounted $name put_files && mounted $name files_are_right"
	check "leave, by the path of the device" ressdctl leave "$name"
	check "its files are right" mounted /dev/d1p1 files_are_right
}

# The power fails in one of the writes of leave: the same command, once more, comes to its end.
cut_in_leave() {
	local write=$1 name="leave, cut in write $1"
	sh ./ssdsim.sh create ssd0 profiles/ocz.conf capacity_mb=64 track_volatile=1 fua=1
	mkfs.ext4 -q -F -b 4096 /dev/ssd0 48M
	mounted /dev/ssd0 put_files
	ressdctl adopt --yes /dev/ssd0 >/dev/null
	ressdctl open ressd /dev/ssd0
	mounted "$mapper" small_writes
	ressdctl drain ressd >/dev/null
	ressdctl close ressd
	sh ./ssdsim.sh cut ssd0 "writes=$write" fate=mix seed="$seed"
	check "$name: it fails" eval "! ressdctl leave /dev/ssd0"
	sh ./ssdsim.sh power ssd0 on
	if ressdctl open ressd /dev/ssd0 2>/dev/null; then
		check "$name: the log can be opened" mounted "$mapper" files_are_right
		check "$name: leave again" ressdctl leave ressd
	fi
	check "$name: the plain disk is right" mounted /dev/ssd0 files_are_right
	check "$name: fsck" e2fsck -fn /dev/ssd0
	expect_fail "no reserved area ends with /dev/ssd0" ressdctl list /dev/ssd0
	sh ./ssdsim.sh remove ssd0
}

# The signals were blocked for the drain, and stayed so while the log was erased.
leave_is_interrupted() {
	local leave status=0
	make_disk d2 96
	mkfs.ext4 -q -F -b 4096 /dev/d2 48M
	mounted /dev/d2 put_files
	ressdctl adopt --yes /dev/d2 >/dev/null
	load dm-delay
	dmsetup create slow --table "0 196608 delay /dev/d2 0 0 /dev/d2 0 1000"
	ressdctl open ressd /dev/mapper/slow
	ressdctl leave ressd &
	leave=$!
	check "leave erases the log" wait_until test ! -e "$mapper"
	kill -TERM "$leave"
	wait "$leave" || status=$?
	check "SIGTERM ends it" equals 143 echo "$status"
	dmsetup remove slow
	check "the plain disk has all files" mounted /dev/d2 files_are_right
	remove_disk d2
}

# is_recovering: the device is being activated for the first time.
is_recovering() {
	[ "$(dmsetup info -c --noheadings -o tables_loaded,suspended ressd)" = Live:Suspended ]
}

# Ctrl-C in a long recovery left a suspended device, or one without a table, which open took for one that
# is open and close for none of ressd.
open_is_interrupted() {
	local open
	make_disk d2 96
	mkfs.ext4 -q -F -b 4096 /dev/d2 48M
	ressdctl adopt --yes /dev/d2 >/dev/null
	is_loaded dm_delay || load dm-delay
	# Recovery reads forty times.
	dmsetup create slow --table "0 196608 delay /dev/d2 0 300"
	ressdctl open ressd /dev/mapper/slow 2>/dev/null &
	open=$!
	check "open recovers the log" wait_until is_recovering
	kill -TERM "$open"
	wait "$open"
	dmsetup reload slow --table "0 196608 linear /dev/d2 0" && dmsetup resume slow
	check "SIGTERM leaves no device" wait_until eval "! dmsetup info ressd >/dev/null 2>&1"
	check "the same once more" ressdctl open ressd /dev/mapper/slow
	ressdctl close ressd
	dmsetup remove slow
	remove_disk d2
}

load dm-ressd
load ssdsim
modprobe ext4
make_disk d0 64
make_disk d1 72
scenario ext4_comes_and_goes
scenario partition
scenario leave_is_interrupted
scenario open_is_interrupted
for write in 1 2 3; do
	scenario cut_in_leave "$write"
done
finish
