#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# adopt.sh: ressdctl adopt and leave on image files: the file system is found, where it ends is
# right, nothing before that changes, and what cannot be adopted is told with the way that works.
# tests/vm/59-adopt.sh does it on devices. Needs ressdctl, ressd-make-image and e2fsprogs in PATH.
set -euo pipefail

suite=adopt
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"

# new_disk MIB: full of something that a file system may have left.
new_disk() {
	rm -f "$disk"
	head -c "${1}M" < <(yes 'what was here before') >"$disk"
}

# adopted NAME TYPE BYTES: adopt takes the disk, and no byte of the file system changes.
adopted() {
	local name=$1 type=$2 bytes=$3 start
	cp "$disk" "$folder/before"
	expect "$name is adopted" 0 "^$type of .* stays as it is" ressdctl adopt --yes "$disk" on_full wait
	report "$name: nothing of it changes" \
		"$(cmp -n "$bytes" "$disk" "$folder/before" 2>&1)"
	start=$(ressdctl dump --json "$disk" | python3 -c 'import json, sys
super = json.load(sys.stdin)["superblocks"][0]
assert super["normal_start"] == 0 and super["normal_sectors"] == super["reserved_start"]
assert super["devices"] == 1 and super["options"] == "on_full wait"
print(super["reserved_start"] * 512)')
	report "$name: the log begins behind it" "$([ "$start" -ge "$bytes" ] || echo "at $start, not $bytes")"
	unchanged "$name: the log is clean" 0 "^clean" ressdctl check "$disk"
	unchanged "$name: once is enough" 3 "has a reserved area of ressd already" ressdctl adopt --yes "$disk"
	unchanged "$name: a file is not opened" 2 "is a file, .*attach it with losetup" ressdctl open x "$disk"
	expect "$name: leave" 0 "is a plain disk again" ressdctl leave "$disk"
	report "$name: nothing of it changes again" \
		"$(cmp -n "$bytes" "$disk" "$folder/before" 2>&1)"
	report "$name: nothing is left of the log" "$(tail -c "+$((start + 1))" "$disk" |
		tr -d '\0' | wc -c | grep -vx 0 || true)"
	expect "$name: it can be formatted, as if there had been none" 3 "no terminal" \
		ressdctl format "$disk" 0 $((start / 512)) "$disk" $((start / 512)) \
		$((($(stat -c %s "$disk") - start) / 512)) --force
}

test_types() {
	new_disk 64
	mkfs.ext4 -q -F -b 4096 "$disk" 48M
	adopted ext4 ext4 $((48 << 20))
	new_disk 64
	mkfs.ext4 -q -F -b 1024 -O 64bit "$disk" 50001k
	adopted "ext4 with blocks of 1 KiB" ext4 $((50001 << 10))
	new_disk 64
	mkfs.ext2 -q -F "$disk" 40M
	adopted ext2 ext2 $((40 << 20))
	new_disk 400
	mkfs.xfs -q -f -d size=320m "$disk"
	adopted xfs xfs $((320 << 20))
	new_disk 64
	mkfs.f2fs -q -f -w 512 "$disk" $((56 << 11)) >/dev/null 2>&1
	adopted f2fs f2fs $((56 << 20))
	new_disk 64
	mkfs.vfat -F 32 "$disk" $((48 << 10)) >/dev/null 2>&1
	adopted vfat vfat $((48 << 20))
	new_disk 8
	mkfs.vfat -F 12 "$disk" $((4 << 10)) >/dev/null 2>&1
	adopted "vfat with 16-bit sectors" vfat $((4 << 20))
	if command -v mkfs.btrfs >/dev/null; then
		new_disk 200
		mkfs.btrfs -q -f -b 160M "$disk"
		adopted btrfs btrfs $((160 << 20))
	fi
}

# What must not be adopted, and why.
test_refusals() {
	new_disk 64
	expect "no device" 2 "adopt needs the device" ressdctl adopt
	unchanged "no file system" 3 "has no file system; format it with" ressdctl adopt --yes "$disk"
	mkfs.ext4 -q -F "$disk"
	unchanged "ext4 to the end" 1 \
		"leaves 0 B.* resize2fs $disk [0-9]*s; then adopt again" ressdctl adopt --yes "$disk"
	eval "$(sed -n 's/.*with: \(.*\); then adopt again\.$/\1/p' "$output" | sed 's/-f/-f -y/')" >/dev/null 2>&1
	# resize2fs cuts an image file off behind the file system.
	truncate -s 64M "$disk"
	unchanged "it asks" 3 "no terminal" ressdctl adopt "$disk"
	expect "the printed command makes room" 0 "stays as it is" ressdctl adopt --yes "$disk"
	report "e2fsck" "$(e2fsck -fn "$disk" 2>&1 | grep -iE 'error|inconsistent|bad' || true)"
	new_disk 400
	mkfs.xfs -q -f "$disk"
	unchanged "xfs cannot shrink" 1 "xfs cannot be made smaller in its place" ressdctl adopt --yes "$disk"
	new_disk 64
	mkfs.ext4 -q -F "$disk" 60M
	unchanged "--reserved larger than what is free" 1 "leaves 4 MiB.*is to have 16 MiB" \
		ressdctl adopt --yes --reserved 16M "$disk"
	unchanged "--reserved 0" 2 "but the log needs some space" ressdctl adopt --yes --reserved 0 "$disk"
	unchanged "--reserved 1e9" 2 "is '1e9', but its unit is none of" \
		ressdctl adopt --yes --reserved 1e9 "$disk"
	unchanged "a wrong option" 2 "'colour' is not an option" ressdctl adopt --yes "$disk" colour blue
	expect "all that is free, if that is enough" 0 "stays" ressdctl adopt --yes "$disk"
	new_disk 64
	mkswap -q "$disk" 2>/dev/null
	unchanged "swap" 3 "holds swap; only a device that holds one file system" ressdctl adopt --yes "$disk"
	new_disk 64
	echo 2048,65536 | sfdisk -q "$disk" >/dev/null 2>&1
	unchanged "a partition table" 3 "holds a partition table \(dos\).*name the partition" \
		ressdctl adopt --yes "$disk"
	new_disk 64
	mkfs.ext4 -q -F "$disk" 40M
	truncate -s 4M "$folder/tail"
	mkswap -q "$folder/tail" 2>/dev/null
	dd if="$folder/tail" of="$disk" bs=1M seek=60 conv=notrunc status=none
	unchanged "something where the log would be" 3 "holds swap.*--force" \
		ressdctl adopt --yes --reserved 4M "$disk"
}

# A log with data is not left.
test_leave() {
	local normal reserved
	rm -f "$disk"
	read -r normal reserved < <(ressd-make-image 3 "$disk")
	report "the image has both areas" "$([ "$reserved" -gt 0 ] && [ "$normal" -gt 0 ] || echo no)"
	unchanged "leave: a log with data" 3 "holds [1-9][0-9]* blocks.*open it, and leave" \
		ressdctl leave "$disk"
	truncate -s 1M "$folder/empty"
	expect "leave: no log" 1 "no reserved area ends with" ressdctl leave "$folder/empty"
}

# The device was used as a plain disk, and its file system made larger: where the log was may now be
# files. Leave erased 8 MB of one, format --yes took the area, repair would have put a superblock back.
test_grown() {
	local words="ext4 on $disk reaches into the reserved area: it was made larger .*resize2fs $disk 122880s"
	new_disk 64
	mkfs.ext4 -q -F -b 4096 "$disk" 48M
	expect "adopt" 0 "stays as it is" ressdctl adopt --yes "$disk"
	expect "for udev it is a member" 0 "^ID_FS_TYPE=ressd_member$" ressdctl list --udev "$disk"
	resize2fs "$disk" >/dev/null 2>&1
	unchanged "leave: the file system has grown over the log" 3 "$words" ressdctl leave "$disk"
	unchanged "open" 3 "$words" ressdctl open grown "$disk"
	report "for udev it is no member, so it mounts by its UUID" "$(ressdctl list --udev "$disk" disk/by-uuid/x)"
	unchanged "format" 3 "$words" ressdctl format --yes --table "0 122880 ressd $disk 0 $disk 122880 8192"
	unchanged "check" 3 "$words" ressdctl check "$disk"
	unchanged "repair" 3 "$words" ressdctl repair --backup "$folder/backup" "$disk"
	head -c 2M </dev/zero | tr '\0' x >"$folder/big"
	# The area's first superblock becomes a file's, the last one stays.
	dd if="$folder/big" of="$disk" bs=1M seek=60 conv=notrunc status=none
	unchanged "leave: a file where the log was" 3 "$words" ressdctl leave "$disk"
	unchanged "check: a file where the log was" 3 "$words" ressdctl check "$disk"
	expect "a new log is told" 3 "then make a new log with ressdctl format --force" ressdctl leave "$disk"
}

# A new card comes with a file system over all of it. After format --force open told that it had been made
# larger, and that ways lead to its data only, not to an empty device.
test_older() {
	new_disk 64
	mkfs.ext4 -q -F -b 4096 "$disk"
	expect "older: format" 0 "^formatted" ressdctl format --yes --force "$disk" 0 122880 "$disk" 122880 8192
	unchanged "older: open" 3 "or is older than the log.*if the file system may go: wipefs -a $disk;" \
		ressdctl open older "$disk"
	wipefs -q -a "$disk"
	expect "older: what it says is the way" 0 "^clean" ressdctl check "$disk"
}

# The area of an old log that ends with the device, too: what was before it went unseen.
test_larger_area() {
	new_disk 64
	mkfs.ext4 -q -F -b 4096 "$disk" 58M
	expect "larger: adopt" 0 "stays as it is" ressdctl adopt --yes "$disk"
	dd if=/dev/zero of="$disk" bs=4096 seek=12288 count=1 conv=notrunc status=none
	unchanged "larger: format looks for what the new area would overwrite" 3 \
		"holds ext4, which may reach into the reserved area" \
		ressdctl format --yes "$disk" 0 98304 "$disk" 98304 32768
}

# Of a log with data and without covers the bare disk is not up to date: an old file system may be there.
test_data_without_covers() {
	local normal reserved
	rm -f "$disk"
	read -r normal reserved < <(ressd-make-image 3 "$disk")
	truncate -s 64M "$folder/old"
	mkfs.ext4 -q -F -b 4096 "$folder/old"
	dd if="$folder/old" of="$disk" bs=4096 count=16 conv=notrunc status=none
	expect "data: the log is looked at" 0 "not yet moved" ressdctl check "$disk"
	expect "data: leave says that it is there" 3 "holds [1-9][0-9]* blocks" ressdctl leave "$disk"
}

run_tests "${1:-}" \
	test_types \
	test_refusals \
	test_leave \
	test_grown \
	test_older \
	test_larger_area \
	test_data_without_covers
exit "$failed"
