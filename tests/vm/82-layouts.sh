#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 82-layouts.sh: what people put on a disk besides one file system of 4 KiB blocks: FAT with clusters of
# 512 bytes, and a partition table, with partitions that start on sector 63 as they used to. Nearly all
# writes are then parts of blocks, many of them of blocks that are in the log.
#   82-layouts.sh [SEED]
# guest: --timeout 850
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=4096
mapper=/dev/mapper/ressd
folder=/run/mount
copy=/tmp/copy
mkdir -p "$folder"

make_copy() {
	local i
	mkdir -p "$copy/deep/er"
	cp /usr/bin/e2fsck "$copy/"
	for i in $(seq 60); do
		head -c $((i * 331)) /usr/bin/busybox >"$copy/deep/er/file $i"
	done
	: >"$copy/empty"
}

sums() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 md5sum)
}

same_tree() {
	cmp <(sums "$copy") <(sums "$folder/tree")
}

append_everywhere() {
	local file
	for file in "$1"/deep/er/*; do
		echo "some more of it" >>"$file"
	done
}

# use FILE_SYSTEM DEVICE [MOUNT_OPTION...]: files are copied, changed, synced and compared.
use() {
	local name=$1 device=$2
	shift 2
	rm -rf "$copy"
	make_copy
	check "$name: mount" mount "$@" "$device" "$folder"
	rm -rf "$folder/tree"
	cp -a "$copy" "$folder/tree"
	append_everywhere "$copy" && append_everywhere "$folder/tree"
	check "$name: small synced writes of an odd size" fio --name=db --filename="$folder/db" \
		--size=2M --bs=2560 --rw=randwrite --io_size=512k --fsync=8 --verify=crc32c \
		--output=/tmp/fio-output
	umount "$folder"
	forget_cache
	check "$name: mount again" mount "$@" "$device" "$folder"
	check "$name: the files are the same" same_tree
	umount "$folder"
}

# look FILE_SYSTEM DEVICE [MOUNT_OPTION...]: the files are still there.
look() {
	local name=$1 device=$2
	shift 2
	check "$name: mount" mount "$@" "$device" "$folder"
	check "$name: the files are the same" same_tree
	umount "$folder"
}

# fat BITS SECTORS_A_CLUSTER MIB. What is written as whole blocks is written as whole pages, of up to 16 KiB: these are
# small writes here.
fat() {
	local bits=$1 name="FAT$1"
	make_disk d0 "$3"
	make_ressd ressd /dev/d0 "$reserved" on_full wait small_write_sectors 32
	check "$name: mkfs" mkfs.fat -F "$bits" -s "$2" -S 512 "$mapper"
	use "$name" "$mapper" -t vfat -o flush
	check "$name: fsck" fsck.fat -n "$mapper"
	check "$name: the log was used" at_least ressd accepted 1
	dmsetup remove ressd
	make_ressd ressd /dev/d0 "$reserved"
	look "$name, recovered" "$mapper" -t vfat
	check "$name: drain" dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "$name: fsck of the bare device" fsck.fat -n /dev/d0
	look "$name, bare device" /dev/d0 -t vfat
	remove_disk d0
}

# map_partitions DEVICE: /dev/mapper/p1 ... as kpartx would make them.
map_partitions() {
	local number=0 start size
	while read -r start size; do
		number=$((number + 1))
		dmsetup create "p$number" --table "0 $size linear $1 $start" || return 1
	done < <(sfdisk -d "$1" | sed -n 's/.*start= *\([0-9]*\), size= *\([0-9]*\),.*/\1 \2/p')
	equals 3 echo "$number"
}

unmap_partitions() {
	dmsetup remove p1 && dmsetup remove p2 && dmsetup remove p3
}

oracle() {
	ressd-oracle "$1" --journal /tmp/journal --seed "$seed" "${@:2}" /dev/mapper/p3
}

partitions() {
	make_disk d0 64
	make_ressd ressd /dev/d0 "$reserved" on_full wait
	check "partitions: the table is written" sfdisk -q "$mapper" <<-END
		label: dos
		unit: sectors
		start=63, size=40001, type=83
		start=40065, size=40000, type=e
		start=81921, size=16385, type=83
	END
	check "partitions: are mapped" map_partitions "$mapper"
	check "ext4 from sector 63: mkfs" mkfs.ext4 -q -b 1024 /dev/mapper/p1
	check "FAT from sector 40065: mkfs" mkfs.fat -F 16 -s 1 -S 512 /dev/mapper/p2
	use "FAT from sector 40065" /dev/mapper/p2 -t vfat
	use "ext4 from sector 63" /dev/mapper/p1
	check "sectors from 81921 on: a load" oracle run --operations 500
	check "ext4 from sector 63: fsck" e2fsck -fn /dev/mapper/p1
	check "FAT from sector 40065: fsck" fsck.fat -n /dev/mapper/p2
	unmap_partitions
	dmsetup remove ressd
	make_ressd ressd /dev/d0 "$reserved"
	kernel_partitions
	check "partitions: drain" dmsetup message ressd 0 drain
	dmsetup remove ressd
	check "partitions: the table of the bare disk" map_partitions /dev/d0
	check "ext4 from sector 63: fsck of the bare disk" e2fsck -fn /dev/mapper/p1
	look "ext4 from sector 63, bare disk" /dev/mapper/p1
	check "sectors from 81921 on: bare disk" oracle check
	unmap_partitions
	remove_disk d0
}

# The same partitions as the kernel finds them, through a loop device that does direct I/O.
kernel_partitions() {
	local loop
	loop=$(losetup -f --show -P --direct-io=on "$mapper")
	check "partitions: the kernel finds them" test -b "${loop}p3"
	look "ext4 in the kernel's partition" "${loop}p1"
	use "ext4 in the kernel's partition" "${loop}p1" -o sync
	check "the kernel's partition: a load" ressd-oracle run --journal /tmp/journal --seed "$seed" \
		--operations 200 "${loop}p3"
	check "partitions: the loop is removed" losetup -d "$loop"
}

load dm-ressd
modprobe ext4
modprobe vfat
modprobe loop
fat 16 1 32
fat 32 1 40
partitions
finish
