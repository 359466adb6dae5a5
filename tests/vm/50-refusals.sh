#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 50-refusals.sh: every table line and message that cannot be right is refused with a sentence that
# says why, and nothing on the disk changes.
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

# A disk of 32 MiB: 24 MiB normal, 8 MiB reserved.
disk=/dev/d0
total=65536
normal=49152
reserved=16384
good="$disk 0 $disk $normal $reserved"

# refused REGEX LENGTH ARGUMENTS...: a table line that ressd must refuse with such a sentence.
# Afterwards no device may be left.
refused() {
	local regex=$1
	shift
	expect_fail "$regex" dmsetup create bad --table "0 $1 ressd ${*:2}"
	if dmsetup info bad >/dev/null 2>&1; then
		fail "nothing is left of: $*" "the device bad exists"
		dmsetup remove bad
	fi
}

# refused_options REGEX WORDS...: likewise for the option words after a good line.
refused_options() {
	local regex=$1
	shift
	refused "$regex" "$normal" "$good" "$#" "$@"
}

positional() {
	refused 'needs: <normal dev> <normal start>' "$normal" ""
	refused 'needs: <normal dev> <normal start>' "$normal" "$disk 0 $disk $normal"
	refused "normal start is 'x', but must be a decimal" "$normal" "$disk x $disk $normal 8"
	refused "normal start is '-8', but must be" "$normal" "$disk -8 $disk $normal 8"
	refused "reserved start is '0x10', but must be" "$normal" "$disk 0 $disk 0x10 8"
	refused "reserved sectors is '1k', but must be" "$normal" "$disk 0 $disk $normal 1k"
	refused "reserved sectors is '99999999999999999999', but" "$normal" \
		"$disk 0 $disk $normal 99999999999999999999"
	refused "normal device '/dev/none' cannot be opened" "$normal" \
		"/dev/none 0 $disk $normal $reserved"
	refused "reserved device '/dev/none' cannot be opened" "$normal" \
		"$disk 0 /dev/none $normal $reserved"
}

sizes() {
	refused 'normal area starts at sector 4 .*multiples of 8' "$((normal - 8))" \
		"$disk 4 $disk $normal $reserved"
	refused 'normal area .* has 49148 sectors, .*multiples of 8' "$((normal - 4))" \
		"$disk 0 $disk $normal $reserved"
	refused 'reserved area starts at sector 49156 ' "$normal" \
		"$disk 0 $disk $((normal + 4)) $((reserved - 8))"
	refused 'reserved area .* has 16380 sectors' "$normal" "$disk 0 $disk $normal 16380"
	refused 'normal area ends at sector 0 \+ 73728.*only 65536' 73728 \
		"$disk 0 $disk $normal $reserved"
	refused 'normal area ends at sector 65544 ' "$normal" "$disk 65544 $disk 0 $reserved"
	refused 'reserved area ends at sector 49152 \+ 16392' "$normal" \
		"$disk 0 $disk $normal $((reserved + 8))"
	refused 'reserved area ends at sector 18446744073709551608' "$normal" \
		"$disk 0 $disk 18446744073709551608 $reserved"
	refused 'overlap; move one of them' "$normal" "$disk 0 $disk $((normal - 8)) $reserved"
	refused 'overlap; move one of them' "$normal" "$disk 0 $disk 0 $reserved"
	refused 'overlap; move one of them' "$normal" "$disk 16376 $disk 0 $reserved"
	refused 'must .* hold at least 4 segments' "$normal" "$disk 0 $disk $normal 0"
	refused 'must .* hold at least 4 segments' "$normal" "$disk 0 $disk $normal 8"
	refused 'must .* hold at least 4 segments' "$normal" "$disk 0 $disk $normal 504"
}

options() {
	refused "the number of option words is 'two'" "$normal" "$good two on_full wait"
	refused 'announces 4 option words, but has 2' "$normal" "$good 4 on_full wait"
	refused 'announces 0 option words, but has 2' "$normal" "$good 0 on_full wait"
	refused_options "'colour' is not an option of ressd" colour blue
	refused_options 'option on_full has no value; write: on_full <value>' on_full
	refused_options 'option on_full is given twice' on_full wait on_full wait
	refused_options 'option streams is given twice' streams 4 on_full wait streams 5
	refused_options "on_full is 'panic', but must be one of: bypass wait" on_full panic
	refused_options "commit is 'never', but must be one of: writeback writethrough" commit never
	refused_options "pace is 'slow', but must be one of: burst even idle" pace slow
	refused_options "route is 'home', but must be one of: always never" route home
	local key
	for key in small_write_sectors:7 small_write_sectors:12 small_write_sectors:264 streams:0 \
		streams:65 move_threshold:0 move_threshold:96 move_batch_sectors:4 \
		move_batch_sectors:8200 move_block_sectors:4 move_block_sectors:524296 \
		move_fill_blocks:65537 commit_interval_ms:0 commit_interval_ms:60001 \
		log_align_sectors:4 log_align_sectors:1032 segment_sectors:120 \
		segment_sectors:129 segment_sectors:524296 streams:-1 streams:1x \
		split_read_sectors:4 split_read_sectors:131080 split_write_sectors:12 \
		align_sectors:131080 bundle_sectors:4 bundle_sectors:524296 pending_expire_ms:0 \
		pending_expire_ms:1001 dispatch_depth:0 dispatch_depth:257; do
		refused_options "${key%:*} is '${key#*:}', but must be a (multiple|number)" \
			"${key%:*}" "${key#*:}"
	done
	refused_options 'hold at least 4 segments of 8192 sectors' segment_sectors 8192
	refused_options 'align_sectors is 32, but only what is split is aligned' align_sectors 32
	refused_options 'split_write_sectors is 40, but must be a multiple of align_sectors' \
		split_write_sectors 40 align_sectors 32
	refused_options "dispatch is 'fifo', but must be one of: none pai bundle bundle_rp" dispatch fifo
	refused_options 'dispatch is pai, but which requests are well-formed is not known' dispatch pai
	refused_options 'dispatch is bundle, but the size of a bundle is not known' dispatch bundle
	refused_options 'dispatch is bundle_rp, but the size .*: set bundle_sectors first' dispatch bundle_rp
}

read_only() {
	expect_fail 'ressd cannot be read-only' \
		dmsetup create bad --readonly --table "0 $normal ressd $good"
	blockdev --setro "$disk"
	refused 'normal device.*read-only.*copy all of it to another' "$normal" "$good"
	blockdev --setrw "$disk"
	expect_fail 'must be|table must|target' dmsetup create bad --table \
		"0 8192 ressd $good
		8192 8192 linear $disk 0"
}

other_kinds_of_device() {
	make_disk z0 64 zoned=1 zone_size=4 blocksize=4096 cache_size=0
	refused 'normal device is zoned' 8192 "/dev/z0 0 $disk 0 $reserved"
	refused 'reserved device is zoned' "$normal" "$disk 0 /dev/z0 0 $reserved"
	remove_disk z0
}

# A map that would take nearly all memory: nobody is killed to make room for it.
huge_map() {
	local memory sectors
	memory=$(awk '/^MemTotal/ {print $2}' /proc/meminfo)
	# 48 blocks for each KiB: their nodes have 960 bytes.
	sectors=$((memory * 48 * 8))
	load dm-zero
	dmsetup create zeros --table "0 $sectors zero"
	refused 'not enough memory for the map .*; use a smaller reserved area' "$normal" \
		"$disk 0 /dev/mapper/zeros 0 $sectors"
	dmsetup remove zeros
}

# unchanged NAME COMMAND...: what the command tests must leave the disk as it was.
unchanged() {
	local name=$1
	shift
	copy_device "$disk" /tmp/before
	"$@"
	forget_cache
	check "$name: the disk is unchanged" same_as /tmp/before "$disk"
}

write_at() {
	dd of="$disk" bs=512 seek="$1" conv=notrunc oflag=direct status=none
}

# A reserved area with somebody's data in a place: at its start, its end, or in the middle.
not_blank() {
	local place regex
	for place in 0 1 16376 8192 16383; do
		blkdiscard -f "$disk"
		head -c 512 /dev/urandom | write_at $((normal + place))
		regex='neither blank nor formatted for ressd'
		if [ "$place" = 8192 ]; then
			regex='has no superblock but is not blank'
		fi
		unchanged "data in sector $place of the reserved area" refused "$regex" "$normal" "$good"
	done
	blkdiscard -f "$disk"
	dd if=/dev/urandom of="$disk" bs=1M count=32 oflag=direct status=none
	unchanged "a disk full of random bytes" refused 'neither blank nor formatted' \
		"$normal" "$good"
	mkfs.ext4 -q -F -b 4096 "$disk"
	unchanged "a file system in the reserved area" refused 'neither blank nor formatted' \
		"$((total - reserved))" "$disk $reserved $disk 0 $reserved"
}

format() {
	blkdiscard -f "$disk"
	make_ressd ressd "$disk" "$reserved" "$@"
	fio --name=fill --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=20M \
		--io_size=1M --direct=1 --output=/tmp/fio-output
	dmsetup remove ressd
}

other_superblocks() {
	format segment_sectors 512
	unchanged "a shorter normal area" refused \
		"normal area has $normal sectors and cannot shrink to $((normal - 8)).*ressdctl format" \
		"$((normal - 8))" "$good"
	unchanged "another normal start" refused 'superblock describes another device' \
		"$((normal - 8))" "$disk 8 $disk $normal $reserved"
	unchanged "a shorter reserved area" refused 'superblock copy is missing|is damaged|another' \
		"$normal" "$disk 0 $disk $normal $((reserved - 8))"
	unchanged "another segment size" refused_options \
		'segment_sectors is 1024, but the reserved area was formatted with 512' \
		segment_sectors 1024
	# The whole reserved area copied to another place of the disk.
	dd if="$disk" of="$disk" bs=512 skip="$normal" seek=0 count="$reserved" oflag=direct \
		conv=notrunc status=none
	unchanged "a superblock from another place" refused \
		'superblock describes another device: normal area 0 \+ 49152, reserved area 49152' \
		"$((total - reserved))" "$disk $reserved $disk 0 $reserved"
}

# damage NAME REGEX BLOCK OFFSET BYTES: the superblocks with some bytes changed.
damaged_superblocks() {
	format
	head -c 4096 /dev/urandom | write_at $((normal + reserved - 8))
	unchanged "copy 1 overwritten" refused 'neither blank nor formatted|copy 1' "$normal" "$good"
	format
	printf '\377' | dd of="$disk" bs=1 seek=$((normal * 512 + 60)) conv=notrunc status=none
	check "one damaged copy is no reason to refuse" dmsetup create ressd --table \
		"0 $normal ressd $good"
	check "but one to warn" eval 'dmesg | grep "superblock copy 0 is damaged"'
	dmsetup remove ressd
	printf '\377' |
		dd of="$disk" bs=1 seek=$(((normal + reserved - 8) * 512 + 60)) conv=notrunc status=none
	unchanged "both copies damaged" refused 'superblock copy 0 has a bad checksum' \
		"$normal" "$good"
}

two_instances() {
	format
	make_ressd ressd "$disk" "$reserved"
	unchanged "a second instance" refused 'areas overlap those of the ressd device .*in use' \
		"$normal" "$good"
	refused 'areas overlap those of the ressd device' 8192 "$disk 0 $disk 16384 $reserved"
	refused 'areas overlap those of the ressd device' 8192 "$disk $normal $disk 16384 $reserved"
	check "the first instance still works" eval 'dd if=/dev/urandom of=/dev/mapper/ressd \
		bs=4k count=10 oflag=direct && dmsetup message ressd 0 drain'
	dmsetup remove ressd
}

messages() {
	local before
	format
	make_ressd ressd "$disk" "$reserved"
	before=$(dmsetup table ressd)
	expect_fail "message 'explode' with 1 words is not known" dmsetup message ressd 0 explode
	expect_fail "message 'drain' with 3 words is not known" \
		dmsetup message ressd 0 drain cancel now
	# The whole sentence, however long the word is.
	expect_fail 'or clear_stats$' dmsetup message ressd 0 "$(printf '%01000d' 0)"
	expect_fail "drain takes no word but cancel, and not 'now'" dmsetup message ressd 0 drain now
	expect_fail "mover is 'maybe', but must be on or off" dmsetup message ressd 0 mover maybe
	expect_fail "message 'set' with 2 words is not known" dmsetup message ressd 0 set streams
	expect_fail "message 'clear_stats' with 2 words" dmsetup message ressd 0 clear_stats x
	expect_fail "'colour' is not an option" dmsetup message ressd 0 set colour blue
	expect_fail 'segment_sectors is fixed when' dmsetup message ressd 0 set segment_sectors 512
	expect_fail "streams is '0', but must be a number from 1 to 64" \
		dmsetup message ressd 0 set streams 0
	expect_fail "on_full is 'x', but must be one of: bypass wait" \
		dmsetup message ressd 0 set on_full x
	expect_fail 'dispatch is bundle, but the size of a bundle is not known' \
		dmsetup message ressd 0 set dispatch bundle
	expect_fail "pending_expire_ms is '1001', but must be a number from 1 to 1000" \
		dmsetup message ressd 0 set pending_expire_ms 1001
	check "refused messages change nothing" equals "$before" dmsetup table ressd
	dmsetup remove ressd
}

# A reload with a wrong line leaves the running device as it is.
bad_reloads() {
	local before
	make_ressd ressd "$disk" "$reserved"
	before=$(dmsetup table ressd)
	expect_fail "'colour' is not an option" dmsetup load ressd --table \
		"0 $normal ressd $good 2 colour blue"
	expect_fail 'only its normal area may grow' dmsetup load ressd --table "0 $((normal - 8)) ressd $good"
	check "a refused reload changes nothing" equals "$before" dmsetup table ressd
	check "the device works after refused reloads" dd if=/dev/urandom of=/dev/mapper/ressd \
		bs=4k count=10 oflag=direct
	dmsetup remove ressd
}

load dm-ressd
make_disk d0 32
dd if=/dev/urandom of="$disk" bs=1M count=24 oflag=direct status=none
unchanged "wrong positional arguments" positional
unchanged "wrong sizes" sizes
unchanged "wrong options" options
unchanged "a read-only device" read_only
unchanged "other kinds of device" other_kinds_of_device
unchanged "a huge map" huge_map
not_blank
other_superblocks
damaged_superblocks
two_instances
messages
bad_reloads
finish
