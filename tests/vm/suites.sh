#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# suites.sh: what others wrote to find errors of file systems and disks: stress-ng's stressors of files,
# each checking what it reads, and fio; and ressd-fsx. On ext4, xfs and f2fs, on dm-linear first, which
# must pass as well; then on ressd, whose reserved area is so small that the mover is busy.
#   suites.sh [SEED [FUNCTION [OPERATIONS]]]
# guest: --memory 1G --timeout 900 --file /usr/bin/stress-ng:/usr/local/bin/stress-ng --file /usr/sbin/fsck.f2fs:/usr/local/bin/fsck.f2fs
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
operations=${3:-20}
folder=/run/mount
mkdir -p "$folder"

# Each changes files or folders, and is run for so many operations a tenth of $operations.
stressors=(aio:4 hdd:1 iomix:2 readahead:4 revio:4 seek:4 sync-file:1 # I/O
	fallocate:1 fpunch:1 fsize:2 copy-file:1                      # contents
	dentry:2 dir:1 dirdeep:1 link:1 rename:20 symlink:1 xattr:1)  # names

# stress NAME OPERATIONS: one of them, by two processes.
stress() {
	stress-ng --seed "$seed" --temp-path "$folder" --verify --timeout 0 --oom-avoid \
		--hdd-bytes 4M --iomix-bytes 4M --readahead-bytes 4M --revio-bytes 4M --seek-size 4M \
		--sync-file-bytes 4M --fallocate-bytes 4M \
		--"$1" 2 --"$1-ops" "$2"
}

# fio_verifies DIRECT: random reads, writes and trims of 512 bytes to 128 KB, four jobs, one file each.
fio_verifies() {
	fio --name=verify --directory="$folder" --size=6M --io_size=4M --numjobs=4 --direct="$1" --rw=randrw \
		--rwmixread=30 --bsrange=4k-128k --bs_unaligned="$((1 - $1))" --ioengine=libaio --iodepth=8 \
		--verify=crc32c --verify_backlog=64 --fsync=32 --randseed="$seed" --group_reporting \
		--output=/tmp/fio-output || {
		cat /tmp/fio-output
		return 1
	}
	rm -f "$folder"/verify.*
}

# use NAME: all of it on the mounted file system.
use() {
	local stressor
	for stressor in "${stressors[@]}"; do
		check "$1: stress-ng ${stressor%:*}" stress "${stressor%:*}" $((${stressor#*:} * operations / 10))
	done
	check "$1: fio verifies direct I/O" fio_verifies 1
	check "$1: fio verifies buffered I/O" fio_verifies 0
	mkdir -p "$folder/fsx" /tmp/fsx
	check "$1: ressd-fsx" ressd-fsx run --seed "$seed" --operations $((operations * 5)) "$folder/fsx" /tmp/fsx
	rm -r /tmp/fsx
}

# on NAME DEVICE FSCK MKFS...: a file system's life there.
on() {
	local name=$1 device=$2 fsck=$3
	shift 3
	check "$name: mkfs" "$@" "$device"
	check "$name: mount" mount "$device" "$folder"
	use "$name"
	check "$name: umount" umount "$folder"
	check "$name: fsck" "$fsck" "$device"
}

# file_system NAME RESERVED_SECTORS FSCK MKFS...
file_system() {
	local name=$1 reserved=$2 fsck=$3
	shift 3
	make_disk d0 340
	dmsetup create plain --table "0 $(($(sectors_of /dev/d0) - reserved)) linear /dev/d0 0"
	on "$name on dm-linear" /dev/mapper/plain "$fsck" "$@"
	dmsetup remove plain
	blkdiscard -f /dev/d0
	make_ressd ressd /dev/d0 "$reserved" on_full wait pace even move_threshold 90
	on "$name on ressd" /dev/mapper/ressd "$fsck" "$@"
	check "$name on ressd: the log was used" at_least ressd accepted 100
	check "$name on ressd: the mover was busy" at_least ressd sweeps 2
	check "$name on ressd: no errors" equals 0 status_value ressd errors
	check "$name on ressd: drain" dmsetup message ressd 0 drain
	dmsetup remove ressd
	forget_cache
	check "$name on ressd: fsck of the bare device" "$fsck" /dev/d0
	remove_disk d0
}

check_ext4() {
	e2fsck -fn "$1"
}

check_xfs() {
	xfs_repair -n "$1"
}

check_f2fs() {
	fsck.f2fs --dry-run "$1"
}

ext4() {
	file_system ext4 8192 check_ext4 mkfs.ext4 -q -b 4096
}

xfs() {
	file_system xfs 8192 check_xfs mkfs.xfs -q
}

# It writes few blocks at random by itself.
f2fs() {
	file_system f2fs 1024 check_f2fs mkfs.f2fs -q
}

load dm-ressd
modprobe ext4
modprobe xfs
modprobe f2fs
scenario ext4
scenario xfs
scenario f2fs
finish
