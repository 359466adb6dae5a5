#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 58-described.sh: a device is opened by what its superblock keeps, options included: those that the
# kernel stored when it formatted a blank area, that the message "store" or ressdctl tune has
# changed, under load and with the power failing meanwhile; growth keeps them.
#   58-described.sh [SEED [FUNCTION]]
# guest: --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
disk=/dev/d0
normal=32768
reserved=16384
line="$disk 0 $disk $normal $reserved"
mapper=/dev/mapper/ressd

# options NAME: those of the live device.
options() {
	dmsetup table "$1" | cut -d ' ' -f 9-
}

first_line() {
	"$@" | head -n 1
}

# stored WHAT: that is what the superblock keeps.
stored() {
	equals "stored  $1" first_line ressdctl tune "$disk"
}

stored_live() {
	equals "stored  $1" first_line ressdctl tune ressd
}

kernel_stores() {
	blkdiscard -f "$disk"
	dmsetup create ressd --table "0 $normal ressd $line 4 streams 4 on_full wait"
	dmsetup remove ressd
	check "formatting stores the options" stored "streams 4 on_full wait"
	check "open needs only the device" ressdctl open ressd "$disk"
	check "the options are in use" equals "4 streams 4 on_full wait" options ressd
	check "close" ressdctl close ressd
	check "options of the command line come on top" ressdctl open ressd "$disk" streams 5
	check "and are in use" equals "4 streams 5 on_full wait" options ressd
	check "but are not stored" stored_live "streams 4 on_full wait"
	ressdctl close ressd
	check "--defaults" eval "ressdctl open --defaults ressd $disk && test \"\$(options ressd)\" = 0"
	ressdctl close ressd
	name=$(ressdctl open "$disk")
	check "without a name it is called by its UUID" grep -qE '^/dev/mapper/ressd-[0-9a-f]{8}$' <<<"$name"
	check "and is there" test -b "$name"
	uuid=$(dmsetup info -c --noheadings -o uuid "${name##*/}")
	ressdctl close "${name##*/}"
	check "a device is found by its UUID" eval "ressdctl open ressd UUID=${uuid#RESSD-} &&
		test \"\$(options ressd)\" = '4 streams 4 on_full wait'"
	ressdctl close ressd
	expect_fail "no device has the UUID=0-0" ressdctl open ressd UUID=0-0
}

tune_live() {
	ressdctl open ressd "$disk" pace burst
	oracle run --operations 800 >/tmp/load &
	load=$!
	check "tune under load" ressdctl tune ressd streams 6 move_threshold 60
	check "it is stored" stored_live "streams 6 move_threshold 60 on_full wait"
	check "and in use, beside what the command line gave" equals \
		"8 streams 6 move_threshold 60 pace burst on_full wait" options ressd
	check "options that need each other, in the wrong order" ressdctl tune ressd open_units 2 \
		move_block_sectors 256
	check "are stored" stored_live \
		"streams 6 open_units 2 move_threshold 60 move_block_sectors 256 on_full wait"
	check "and in use" eval "options ressd | finds 'open_units 2 .*move_block_sectors 256'"
	check "what takes another table is stored for the next time" eval \
		"ressdctl tune ressd log_page_sectors 64 log_rewrite on 2>&1 |
		finds 'log_rewrite on is stored, but not in use before.*takes a reload'"
	expect_fail "streams is '0', but must be" ressdctl tune ressd streams 0
	expect_fail "segment_sectors is fixed" ressdctl tune ressd segment_sectors 512
	expect_fail "segment_sectors is fixed" dmsetup message ressd 0 store segment_sectors 512
	expect_fail "option streams has no value" dmsetup message ressd 0 store streams
	check "refused ones change nothing" stored_live \
		"streams 6 open_units 2 move_threshold 60 move_block_sectors 256 log_page_sectors 64 log_rewrite on on_full wait"
	ends_well "the load goes on" "$load"
	check "--reset" eval "ressdctl tune --reset ressd streams 9 | finds -x 'stored  streams 9'"
	ressdctl close ressd
	check "the next open takes it" eval "ressdctl open ressd $disk &&
		test \"\$(options ressd)\" = '2 streams 9'"
	forget_cache
	check "nothing is lost" oracle check
	dmsetup suspend ressd
	check "store while it is suspended" dmsetup message ressd 0 store streams 3
	dmsetup resume ressd
	check "is stored" stored_live "streams 3"
	ressdctl close ressd
	check "the area is clean" ressdctl check "$disk"
}

# The area first, so that the normal one has room.  What the old table stores after the new one
# was loaded must not be lost, either.
growth() {
	local old=16384
	blkdiscard -f "$disk"
	line="$disk $reserved $disk 0 $reserved"
	dmsetup create ressd --table "0 $old ressd $line 2 streams 4"
	dmsetup load ressd --table "0 $normal ressd $line 2 streams 4"
	check "store between load and resume" dmsetup message ressd 0 store streams 8 pace idle
	check "growth" dmsetup resume ressd
	check "keeps the options" stored_live "streams 8 pace idle"
	check "and what is stored after it stays" dmsetup message ressd 0 store streams 7
	dmsetup remove ressd
	check "with the new length" eval "ressdctl open ressd $disk &&
		test \"\$(sectors_of $mapper)\" = $normal && test \"\$(options ressd)\" = '2 streams 7'"
	check "the device is found at its beginning" stored_live "streams 7"
	ressdctl close ressd
}

# A log on a device of its own.
two_devices() {
	blkdiscard -f "$disk"
	blkdiscard -f /dev/d1
	dmsetup create ressd --table "0 $normal ressd $disk 0 /dev/d1 0 $reserved 2 streams 4"
	dmsetup remove ressd
	expect_fail "name that one with --normal" ressdctl open ressd /dev/d1
	expect_fail "if its log is on another device, name that one" ressdctl open ressd "$disk"
	check "both are named" ressdctl open --normal "$disk" ressd /dev/d1
	check "with the stored options" equals "2 streams 4" options ressd
	check "tune finds the log of a live device" eval "ressdctl tune ressd | finds -x 'stored  streams 4'"
	ressdctl close ressd
	printf 'wrong\nressd /dev/d1 normal=%s\n' "$disk" >/tmp/ressdtab
	check "by /etc/ressdtab, beside a wrong line" env RESSDTAB=/tmp/ressdtab ressdctl open ressd
	ressdctl close ressd
}

small_write() {
	dd if=/tmp/block of="$1" bs=4k count=1 seek=1000 oflag=direct conv=notrunc,fsync status=none
}

# Another disk of the right size was taken for the normal one: the log would be moved to it.
wrong_disk() {
	local other=/dev/d2
	blkdiscard -f "$disk"
	blkdiscard -f /dev/d1
	make_disk d2 24
	head -c 4096 /dev/urandom >/tmp/block
	dmsetup create ressd --table "0 $normal ressd $disk 0 /dev/d1 0 $reserved 0"
	check "wrong disk: a write on the right one" small_write "$mapper"
	ressdctl close ressd
	expect_fail "the log on /dev/d1 holds data, but $other has none of its covers" \
		ressdctl open --normal "$other" ressd /dev/d1
	dmsetup create ressd --table "$(table_line "$other" "$reserved")"
	check "wrong disk: has a log of its own" small_write "$mapper"
	ressdctl close ressd
	expect_fail "$other has the covers of .* not those of the log on /dev/d1" \
		ressdctl open --normal "$other" ressd /dev/d1
	check "wrong disk: the right one is opened" ressdctl open --normal "$disk" ressd /dev/d1
	check "wrong disk: nothing is lost" cmp /tmp/block \
		<(dd if="$mapper" bs=4k skip=1000 count=1 iflag=direct status=none)
	check "wrong disk: drains" ressdctl drain ressd
	ressdctl close ressd
	remove_disk d2
}

# The power fails in a write of a copy, or an error comes.
cut_in_store() {
	local copy=$1 fate=$2 name="cut in copy $1, $2" place=$((normal + reserved - 8)) after
	[ "$copy" -eq 1 ] || place=$normal
	sh ./ssdsim.sh create ssd0 profiles/ocz.conf capacity_mb=64 track_volatile=1 fua=1
	dmsetup create ressd --table \
		"0 $normal ressd /dev/ssd0 0 /dev/ssd0 $normal $reserved 2 streams 4"
	ressd-oracle run --small --journal /tmp/journal-cut --seed "$seed" --operations 50 "$mapper" >/dev/null
	sh ./ssdsim.sh cut ssd0 writes=1 range="$place+8" "fate=$fate" seed="$seed"
	expect_fail "superblock cannot be written" dmsetup message ressd 0 store streams 9
	dmsetup remove --force ressd 2>/dev/null || dmsetup remove ressd
	sh ./ssdsim.sh power ssd0 on
	check "$name: the device opens" dmsetup create ressd --table \
		"0 $normal ressd /dev/ssd0 0 /dev/ssd0 $normal $reserved"
	forget_cache
	check "$name: nothing is lost" ressd-oracle check --journal /tmp/journal-cut --seed "$seed" "$mapper"
	after=$(ressdctl tune ressd | head -n 1)
	check "$name: old options or new ones" grep -qE '^stored  streams [49]$' <<<"$after"
	dmsetup remove ressd
	sh ./ssdsim.sh remove ssd0
	rm -f /tmp/journal-cut
}

# Copy 1 of the superblock, when it is the only good one, is not written before the other one stands.
damaged_copy() {
	local last=$((normal + reserved - 8)) store
	local table="0 $normal ressd /dev/mapper/lower 0 /dev/mapper/lower $normal $reserved"
	blkdiscard -f "$disk"
	dmsetup create last --table "0 8 linear $disk $last"
	dmsetup create lower <<-END
		0 $last linear $disk 0
		$last 8 linear /dev/mapper/last 0
	END
	dmsetup create ressd --table "$table"
	dmsetup remove ressd
	dd if=/dev/urandom of=/dev/mapper/lower seek=$((normal + 1)) count=1 oflag=direct status=none
	check "damaged copy 0: is opened by copy 1" dmsetup create ressd --table "$table"
	close_gate last writes
	dmsetup message ressd 0 store streams 7 &
	store=$!
	check "damaged copy 0: copy 1 is written at last" wait_until equals 1 writes_at_gate last
	check "damaged copy 0: when the other one stands" stored_live "streams 7"
	open_gate last
	ends_well "damaged copy 0: the options are stored" "$store"
	dmsetup remove ressd
	dmsetup remove lower
	dmsetup remove last
	check "damaged copy 0: both tell them" stored "streams 7"
}

load dm-ressd
load ssdsim
make_disk d0 24
make_disk d1 8
scenario kernel_stores
scenario tune_live
scenario growth
scenario two_devices
scenario wrong_disk
scenario damaged_copy
scenario cut_in_store 1 lost
scenario cut_in_store 1 sectors
scenario cut_in_store 1 kept
scenario cut_in_store 0 sectors
scenario cut_in_store 0 kept
finish
