#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 75-errors-open.sh: formatting, recovery and resume meet errors, and succeed once the drive is
# well; a device on a dead drive is suspended, removed and opened again, one on a worn-out drive copied; a
# file system on a log that has failed is mounted again.
#   75-errors-open.sh [SEED [FUNCTION]]
# guest: --timeout 600 --file tests/vm/errors.sh --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/intel.conf
# shellcheck disable=SC2119 # fresh and reopen work without options
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/errors.sh
. ./errors.sh

take_arguments "$@"

# refused_recovery NAME REGEX: the device cannot be created, with a sentence, and nothing changes.
refused_recovery() {
	copy_device /dev/ssd0 /tmp/before
	fault "${@:3}"
	expect_fail "$2" make_ressd ressd /dev/ssd0 "$reserved"
	check "$1: no device is left" fails dmsetup info ressd
	heal
	check "$1: nothing was written" same_as /tmp/before /dev/ssd0
}

errors_of_recovery() {
	fresh
	oracle run --operations 400 --threads 2
	check "recovery: removed" dmsetup remove ressd
	refused_recovery "unreadable superblocks" 'superblock cannot be read' read "$log_range"
	refused_recovery "unreadable log" 'log cannot be read' read \
		"range=$((normal + 8))+$((reserved - 16))"
	refused_recovery "failed flush after recovery" 'cannot be flushed' flush
	refused_recovery "no opening record" 'its opening record cannot be written' \
		write "$log_range"
	check "recovery: on the healthy drive" make_ressd ressd /dev/ssd0 "$reserved"
	check "recovery: everything acknowledged is there" oracle check
}

# The same table is resumed again after its recovery has failed.
second_attempt() {
	fresh
	check "a second attempt: load" oracle run --operations 400 --threads 2
	dmsetup remove ressd
	dmsetup create ressd --notable
	dmsetup load ressd --table "$(table_line /dev/ssd0 "$reserved")"
	fault write "$log_range"
	expect_fail 'opening record' dmsetup resume ressd
	# It has no mover: a drain waited for ever, and with it all that was done to the table.
	expect_fail 'the device is not active' timeout 60 dmsetup message ressd 0 drain
	dmesg_mark
	# One that waits for a log that nobody serves cannot be killed.
	dmsetup message ressd 0 recover 2>/tmp/recover &
	check "a second attempt: recover ends at once" ended $!
	check "a second attempt: with an error" grep -q failed /tmp/recover
	check "a second attempt: which is told" \
		log_says 'the device is suspended; resume it, then recover'
	check "a second attempt: the status of a table that is not in service" dmsetup status ressd
	fault read "range=$((normal + 8))+$((reserved - 16))"
	expect_fail 'log cannot be read' dmsetup resume ressd
	fault flush times=1
	expect_fail 'cannot be flushed' dmsetup resume ressd
	fault flush after=1 times=1
	expect_fail 'opening record' dmsetup resume ressd
	heal
	check "a second attempt to resume" dmsetup resume ressd
	check "a second attempt: state rw" state_is rw
	check "a second attempt: everything acknowledged is there" oracle check
}

# leaves_log_off: the log of the device is off, and owes nothing.
leaves_log_off() {
	fault write "$log_range"
	fails dmsetup message ressd 0 drain && heal && state_is off && commit
}

# The drive may have dropped what was written under the table before when a flush of the activation failed,
# and the next one succeeds all the same.
activation_meets_a_failed_flush() {
	fresh
	put 10 a && push_out
	check "flush of an activation: a table is loaded" \
		dmsetup load ressd --table "$(table_line /dev/ssd0 "$reserved")"
	check "flush of an activation: the log of the one in use is off" leaves_log_off
	put_direct 64 b
	fault flush times=1
	expect_fail 'cannot be flushed' dmsetup resume ressd
	heal
	ssd cut ssd0 now fate=lost && ssd power ssd0 on
	check "flush of an activation: the second attempt" dmsetup resume ressd
	check "flush of an activation: what was not flushed is lost" fails holds 64 b
	check "flush of an activation: fsync fails" fails commit
	check "flush of an activation: but only once" commit
}

# A table that finds the log of the one before fails once. Another one would leave that log behind.
# shellcheck disable=SC2016 # eval expands it
no_other_areas_after_a_failed_activation() {
	local areas="/dev/ssd0 0 /dev/ssd0 $((normal - reserved)) $reserved"
	fresh
	put 10 a && commit
	dmsetup load ressd --table "$(table_line /dev/ssd0 "$reserved")"
	fault read "range=$((normal + 8))+$((reserved - 16))"
	expect_fail 'log cannot be read' dmsetup resume ressd
	heal
	expect_fail 'other devices or areas than the one before' \
		dmsetup load ressd --table "0 $((normal - reserved)) ressd $areas"
	check "other areas after an error: that one once more" eval \
		'dmsetup load ressd --table "$(table_line /dev/ssd0 "$reserved")" && dmsetup resume ressd'
	check "other areas after an error: and all is there" holds 10 a
	check "other areas after an error: drained" dmsetup message ressd 0 drain
	check "other areas after an error: others may follow" eval \
		'dmsetup load ressd --table "0 $((normal - reserved)) ressd $areas" && dmsetup resume ressd'
}

# Recovery waits for a read: until it is over the log is being set up, and nobody may look at it.
status_during_recovery() {
	local drive=/dev/mapper/gated resume status=0
	remove_ressd
	dmsetup create gated --table "0 $((normal + reserved)) linear /dev/ssd0 0"
	fresh
	put 10 a && push_out
	dmsetup remove ressd
	dmsetup create ressd --notable
	dmsetup load ressd --table "$(table_line "$drive" "$reserved")"
	close_gate gated reads
	dmsetup resume ressd &
	resume=$!
	check "status during recovery: that waits" wait_until equals 1 reads_at_gate gated
	check "status during recovery: shows no log" equals 0/0 status_word ressd 4
	open_gate gated
	wait "$resume" || status=$?
	check "status during recovery: that ends well" equals 0 echo "$status"
	check "status during recovery: then it shows the log" fails equals 0/0 status_word ressd 4
	check "status during recovery: and all is there" holds 10 a
	dmsetup remove ressd
	dmsetup remove gated
}

# A blank area whose superblocks cannot be written.
errors_of_formatting() {
	local sector
	for sector in "$normal" $((normal + reserved - 8)); do
		remove_ressd
		blkdiscard -f /dev/ssd0 2>/dev/null
		fault write "range=$sector+8"
		expect_fail 'superblock cannot be written' make_ressd ressd /dev/ssd0 "$reserved"
		heal
		check "a new attempt after it" make_ressd ressd /dev/ssd0 "$reserved"
		check "a new attempt after it: works" eval \
			'put 10 a && commit && dmsetup remove ressd'
		blkdiscard -f /dev/ssd0 2>/dev/null
		fault write "range=$sector+8"
		dmsetup create ressd --notable
		dmsetup load ressd --table "$(table_line /dev/ssd0 "$reserved")"
		expect_fail 'superblock cannot be written' dmsetup resume ressd
		heal
		check "formatted at the second attempt" dmsetup resume ressd
		check "formatted at the second attempt: works" eval \
			'put 10 a && commit && reopen && holds 10 a'
	done
}

# The drive takes no writes any more. Only a copy of it all can be opened, and the log of that has everything.
worn_out() {
	fresh
	oracle run --operations 400 --threads 2
	check "worn out: removed" dmsetup remove ressd
	fault write
	expect_fail 'takes no writes any more copy all of it to another one and open that' \
		make_ressd ressd /dev/ssd0 "$reserved"
	make_disk copy 80
	dd if=/dev/ssd0 of=/dev/copy bs=1M oflag=direct status=none
	check "worn out: a copy is opened" dmsetup create ressd --table \
		"0 $normal ressd /dev/copy 0 /dev/copy $normal $reserved"
	check "worn out: everything acknowledged is there" oracle check
	remove_ressd
	remove_disk copy
}

# A counterfeit card has no memory at its end: the log of a blank area would be nowhere.
counterfeit_is_not_formatted() {
	local sectors part attempt
	remove_ressd
	heal
	blkdiscard -f /dev/ssd0 2>/dev/null
	sectors=$(sectors_of /dev/ssd0)
	modprobe dm-flakey
	for part in "$normal" $((sectors - 8)); do
		dmsetup create fake --table "0 $part linear /dev/ssd0 0
			$part $((sectors - part)) flakey /dev/ssd0 $part 0 1000000 1 drop_writes"
		# One superblock, of the first attempt, was enough for the second.
		for attempt in first second; do
			expect_fail 'does not keep what is written there.*counterfeit' \
				make_ressd ressd /dev/mapper/fake "$reserved"
			check "counterfeit, from sector $part on, $attempt attempt: no device is left" \
				fails dmsetup info ressd
		done
		dmsetup remove fake
		blkdiscard -f /dev/ssd0 2>/dev/null
	done
}

# Everything under ressd is gone, in the middle of a load: nothing may hang.
dead_device() {
	local how=$1 load
	remove_ressd
	heal
	blkdiscard -f /dev/ssd0 2>/dev/null
	rm -f /tmp/journal
	dmsetup create lower --table "0 $(sectors_of /dev/ssd0) linear /dev/ssd0 0"
	make_ressd ressd /dev/mapper/lower "$reserved" on_full wait
	oracle run --may-fail --threads 4 >/tmp/load-output 2>&1 &
	load=$!
	wait_until grep -q 'load of epoch' /tmp/load-output
	wait_until at_least ressd moved_blocks 1
	fail_all_io lower
	check "dead device ($how): the load ends" ended "$load"
	# Before it, a write may succeed: while the log tries its last record again it takes more.
	check "dead device ($how): fsync ends" fails commit
	check "dead device ($how): writes end" fails put 10 a
	check "dead device ($how): a drain ends" fails dmsetup message ressd 0 drain
	# Also where it was pulled out and is back: as another device.
	expect_fail 'taken out meanwhile, unmount, close and open it again' ressdctl recover ressd
	if [ "$how" = "suspend" ]; then
		check "dead device: suspend" dmsetup suspend ressd
		check "dead device: resume" dmsetup resume ressd
	fi
	check "dead device ($how): remove" dmsetup remove ressd
	dmsetup remove lower
	check "dead device ($how): alive again" make_ressd ressd /dev/ssd0 "$reserved"
	check "dead device ($how): everything acknowledged is there" oracle check
	dmsetup remove ressd
}

new_file() {
	sync
	touch "/mnt/new.$RANDOM"
}

# After an error, where it turned read-only before Linux 6.12 (its commit d3476f3dad4a): nothing is
# read from files then, whatever the device does.
ext4_shuts_down() {
	local major minor rest
	IFS=. read -r major minor rest < <(uname -r)
	[ $((major * 1000 + ${minor%%[!0-9]*})) -ge 6012 ]
}

# The log fails under ext4: it turns read-only, is unmounted, and after a recover is mounted again
# with all that was synced.
file_system() {
	local i
	remove_ressd
	mkdir -p /mnt
	make_ressd ressd /dev/ssd0 "$reserved"
	mkfs.ext4 -q -F -b 4096 /dev/mapper/ressd
	mount -o errors=remount-ro /dev/mapper/ressd /mnt
	cp /bin/busybox /mnt/synced
	dd if=/dev/urandom of=/mnt/data bs=1M count=4 status=none
	sync
	fault write "$log_range"
	# Taken by the log, in RAM, and soon written by its timer: so the log is off before fsync.
	dd if=/dev/urandom of=/mnt/data bs=4k count=1 seek=1000 oflag=direct conv=notrunc \
		status=none
	check "ext4: the log is off" wait_until state_is off
	for ((i = 0; i < 20; i++)); do
		dd if=/dev/urandom of=/mnt/data bs=4k count=1 seek=$((i * 37)) conv=notrunc \
			status=none
	done
	# Its commit block has PREFLUSH and FUA. dm sends the data of such a write though the flush
	# failed.
	check "ext4: fsync fails" fails dd if=/dev/null of=/mnt/data conv=fsync,notrunc status=none
	# A new file each time: once the journal is aborted, times of an old one still change in
	# memory.
	check "ext4: is read-only" wait_until fails new_file
	forget_cache
	check "ext4: the device is read on" dd if=/dev/mapper/ressd of=/dev/null bs=1M status=none
	ext4_shuts_down || check "ext4: is read on" cmp /bin/busybox /mnt/synced
	check "ext4: is unmounted" umount /mnt
	heal
	check "ext4: recover" ressdctl recover ressd
	e2fsck -fy /dev/mapper/ressd >/tmp/fsck-output 2>&1
	check "ext4: fsck after its journal was replayed" e2fsck -fn /dev/mapper/ressd
	check "ext4: is mounted again" mount /dev/mapper/ressd /mnt
	check "ext4: what was synced is there" cmp /bin/busybox /mnt/synced
	check "ext4: is written again" eval 'echo more >/mnt/file && sync'
	umount /mnt
	dmsetup remove ressd
}

# The flush of a commit block fails while the device is being suspended. dm keeps the block itself until the
# next table is in force, which has to refuse it: what it stands for may be lost.
commit_block_meets_the_next_table() {
	local drive=/dev/mapper/lower writer suspend status=0
	remove_ressd
	dmsetup create lower --table "0 $(sectors_of /dev/ssd0) linear /dev/ssd0 0"
	fresh
	mkfs.ext4 -q -F -b 4096 /dev/mapper/ressd
	mkdir -p /mnt
	mount /dev/mapper/ressd /mnt
	echo old >/mnt/file
	sync
	dmsetup load ressd --table "$(table_line "$drive" "$reserved")"
	close_gate lower flushes
	dd if=/dev/urandom of=/mnt/new bs=4k count=5 conv=fsync status=none 2>/dev/null &
	writer=$!
	check "commit block: its flush is under way" wait_until equals 1 flushes_at_gate lower
	dmsetup suspend --nolockfs ressd &
	suspend=$!
	check "commit block: so is a suspend" wait_until grep -q dm_ "/proc/$suspend/wchan"
	fault flush times=1
	open_gate lower
	ends_well "commit block: suspended" "$suspend"
	heal
	ssd cut ssd0 now fate=lost && ssd power ssd0 on
	check "commit block: the next table is in force" dmsetup resume ressd
	wait "$writer" || status=$?
	check "commit block: fsync fails" equals 1 echo "$status"
	umount /mnt
	remove_ressd
	dmsetup remove lower
}

load dm-ressd
make_drive
scenario errors_of_recovery
scenario second_attempt
scenario activation_meets_a_failed_flush
scenario no_other_areas_after_a_failed_activation
scenario status_during_recovery
scenario errors_of_formatting
scenario worn_out
scenario counterfeit_is_not_formatted
scenario dead_device remove
scenario dead_device suspend
scenario file_system
scenario commit_block_meets_the_next_table
finish
