#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 10-filesystems.sh: ext4 and xfs on ressd, with a reserved area so small that the mover is busy all
# the time: make, fill, change, check, mount again, compare; then recovered, then drained and bare.
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

reserved=8192
tree=/run/mount/tree
copy=/tmp/copy
mkdir -p /run/mount

# names: every name below the working folder, with kind and size.
names() {
	find . ! -type d -print0 | sort -z | xargs -0 stat -c '%n %F %s'
	find . -type d | sort
}

contents() {
	find . -type f -print0 | sort -z | xargs -0 cat
}

# tree_is_the_same: names, kinds and contents of the tree on ressd, compared with the copy in RAM.
tree_is_the_same() {
	cmp <(cd "$copy" && names) <(cd "$tree" && names) || return 1
	cmp <(cd "$copy" && contents) <(cd "$tree" && contents)
}

# on_both COMMAND...: the same change to the tree and to the copy.
on_both() {
	(cd "$copy" && "$@") && (cd "$tree" && "$@")
}

# make_copy FOLDER: a tree of real files: programs, small ones, deep folders, sparse and empty files.
make_copy() {
	local copy=$1 i
	mkdir -p "$copy/bin"
	cp /usr/bin/bash /usr/bin/fio /usr/bin/e2fsck "$copy/bin/"
	for i in $(seq 150); do
		mkdir -p "$copy/d$((i % 10))/e$((i % 7))"
		head -c $((i * i)) /usr/bin/busybox >"$copy/d$((i % 10))/e$((i % 7))/f$i"
	done
	: >"$copy/empty"
	truncate -s 3M "$copy/sparse"
	echo end | dd of="$copy/sparse" bs=1 seek=2000000 conv=notrunc status=none
	ln -s bin/bash "$copy/link"
	sync
}

append_everywhere() {
	find . -name 'f*' -type f -exec sh -c 'for file; do echo "more" >>"$file"; done' _ {} +
}

overwrite_inside() {
	local i
	for i in $(seq 20 30); do
		dd if=/usr/bin/fio of=bin/bash bs=1000 skip="$i" seek=$((i * 7)) count=3 conv=notrunc \
			status=none || return 1
	done
}

change() {
	on_both append_everywhere && on_both overwrite_inside && on_both rm -r d3 &&
		on_both mv d4 moved && sync
}

remount() {
	umount /run/mount && forget_cache && mount "$1" /run/mount
}

# file_system NAME LOGGED FSCK MKFS...: the whole life of a file system on a new disk; at least
# LOGGED blocks must have gone to the log.
file_system() {
	local name=$1 logged=$2 fsck=$3
	shift 3
	rm -rf "$copy"
	cp -a "$copy.new" "$copy"
	make_disk d0 340
	# 4 MiB of log for some 30 MiB of files and databases.
	make_ressd ressd /dev/d0 "$reserved" on_full wait pace even
	check "$name: mkfs" "$@" /dev/mapper/ressd
	check "$name: mount" mount /dev/mapper/ressd /run/mount
	cp -a "$copy" "$tree"
	check "$name: the tree is the same after a copy" tree_is_the_same
	check "$name: files change" change
	check "$name: small synced writes" fio --name=db --filename=/run/mount/db --size=8M --bs=4k \
		--rw=randwrite --io_size=6M --fsync=16 --verify=crc32c --output=/tmp/fio-output
	check "$name: mounts again" remount /dev/mapper/ressd
	check "$name: the tree is the same after changes" tree_is_the_same
	umount /run/mount
	check "$name: fsck" "$fsck" -n /dev/mapper/ressd
	check "$name: the log was used" at_least ressd accepted "$logged"
	check "$name: the mover was busy" at_least ressd sweeps "$((logged / 250))"
	check "$name: no errors" equals 0 status_value ressd errors

	dmsetup remove ressd
	check "$name: is created again" make_ressd ressd /dev/d0 "$reserved"
	check "$name: fsck after recovery" "$fsck" -n /dev/mapper/ressd
	check "$name: mount after recovery" mount /dev/mapper/ressd /run/mount
	check "$name: the tree is the same after recovery" tree_is_the_same
	umount /run/mount
	check "$name: drain" dmsetup message ressd 0 drain
	dmsetup remove ressd
	forget_cache
	check "$name: fsck of the bare device" "$fsck" -n /dev/d0
	check "$name: mount of the bare device" mount /dev/d0 /run/mount
	check "$name: the tree is the same on the bare device" tree_is_the_same
	umount /run/mount
	remove_disk d0
}

load dm-ressd
modprobe ext4
modprobe xfs
make_copy "$copy.new"
file_system "ext4" 500 e2fsck mkfs.ext4 -q -b 4096
# Most of what it writes are pieces of blocks, which only go to the log when their block is there.
file_system "ext4 with 1 KiB blocks" 20 e2fsck mkfs.ext4 -q -b 1024
file_system "xfs" 500 xfs_repair mkfs.xfs -q
file_system "xfs with 512 byte sectors" 500 xfs_repair mkfs.xfs -q -s size=512
finish
