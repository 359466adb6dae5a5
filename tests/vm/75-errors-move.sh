#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 75-errors-move.sh: the mover where reads of the log and writes to the normal area fail, and
# where the first blocks cannot be covered.
#   75-errors-move.sh [SEED [FUNCTION]]
# guest: --timeout 850 --file tests/vm/errors.sh --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/intel.conf
# shellcheck disable=SC2119 # fresh and reopen work without options
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/errors.sh
. ./errors.sh

take_arguments "$@"

unreadable_log_block() {
	a_log_of_ten
	fault read "range=$(first_data 4)+8"
	check "read error in the log: the reader sees it" fails holds 112 a
	check "read error in the log: other blocks are read" eval 'holds 109 a && holds 115 a'
	check "read error in the log: a large read fails, too" \
		fails dd if=/dev/mapper/ressd of=/dev/null bs=1M count=1 iflag=direct status=none
	check "read error in the log: a piece of the block cannot be written" \
		fails eval 'head -c 512 /dev/zero | dd of=/dev/mapper/ressd bs=512 seek=896 oflag=direct status=none'
	check "read error in the log: state rw" state_is rw
	check "read error in the log: fsync succeeds" commit
	heal
	check "read error in the log: it is read once the drive is well" holds 112 a
}

# one_bad_block NAME: the mover cannot move block 112; all others are moved, and the drain says so.
one_bad_block() {
	local name=$1 sweeps
	dmesg_mark
	check "$name: an event follows the failed drain" \
		event_follows fails dmsetup message ressd 0 drain
	check "$name: the drain says it" log_says 'the drain has ended with an error'
	check "$name: state damaged" state_is damaged
	check "$name: one block is bad" equals 1 status_value ressd bad_blocks
	check "$name: it is named" log_says 'block 112 \(log block [0-9]+\)'
	check "$name: all others are home" equals 1 status_dirty ressd
	check "$name: the others are read" eval 'holds 109 a && holds 115 a && holds 11014 p'
	check "$name: writes and fsync go on" eval 'put 500 z && commit && holds 500 z'
	# The mover would now sweep for each write; it must not do so again and again.
	dmsetup message ressd 0 mover on
	dmsetup message ressd 0 set move_threshold 95
	sweeps=$(status_value ressd sweeps)
	check "$name: many small writes" fio --name=small --filename=/dev/mapper/ressd --rw=randwrite \
		--bs=4k --offset=8M --size=16M --io_size=9M --direct=1 --output=/tmp/fio-output
	sweeps=$(($(status_value ressd sweeps) - sweeps))
	check "$name: few sweeps ($sweeps)" test "$sweeps" -le 60
	check "$name: fsync after them" commit
}

# all_is_well_again NAME LETTER: the bad block can be moved again, and holds that.
all_is_well_again() {
	local name=$1
	check "$name: recover" ressdctl recover ressd
	check "$name: drains" dmsetup message ressd 0 drain
	check "$name: state rw" wait_until state_is rw
	check "$name: no block is bad" equals 0 status_value ressd bad_blocks
	check "$name: the bare drive has the block" holds 112 "$2" /dev/ssd0
	check "$name: and the others" eval 'holds 109 a /dev/ssd0 && holds 500 z /dev/ssd0'
}

mover_cannot_read() {
	a_log_of_ten
	fault read "range=$(first_data 4)+8"
	one_bad_block "the mover cannot read"
	heal
	all_is_well_again "the mover could not read" a
}

mover_reads_damage() {
	a_log_of_ten
	# Behind the back of ressd.
	head -c 512 /dev/urandom |
		dd of=/dev/ssd0 bs=512 seek="$(first_data 4)" oflag=direct conv=notrunc status=none
	one_bad_block "damage in the log"
	check "damage in the log: the block is overwritten" eval 'put 112 b && commit'
	all_is_well_again "damage in the log, overwritten" b
}

# Seven blocks of the oldest segment are live, so the log keeps them (dm-ressd-keep.c); but not what is
# damaged there, which the mover names.
damage_is_not_kept() {
	a_log_of_ten
	check "damage is not kept: small writes" fio --name=hot --filename=/dev/mapper/ressd \
		--rw=randwrite --bs=4k --offset=8M --size=1M --io_size=4M --direct=1 \
		--output=/tmp/fio-output
	for block in 100 103 106; do
		put "$block" b
	done
	push_out
	head -c 512 /dev/urandom |
		dd of=/dev/ssd0 bs=512 seek="$(first_data 4)" oflag=direct conv=notrunc status=none
	dmesg_mark
	dmsetup message ressd 0 mover on
	dmsetup message ressd 0 set pace burst
	dmsetup message ressd 0 set move_threshold 60
	put 500 z && commit
	check "damage is not kept: the mover finds it" \
		wait_until equals 1 status_value ressd bad_blocks
	check "damage is not kept: it is named" log_says 'block 112 \(log block [0-9]+\)'
	check "damage is not kept: the others were" at_least ressd kept_blocks 6
	check "damage is not kept: and are read" \
		eval 'holds 103 b && holds 109 a && holds 115 a && holds 127 a'
	check "damage is not kept: the block is overwritten" eval 'put 112 b && commit'
	all_is_well_again "damage is not kept" b
}

mover_cannot_write() {
	a_log_of_ten
	fault write "range=$((112 * 8))+8"
	one_bad_block "the mover cannot write"
	check "the mover cannot write: the block is read from the log" holds 112 a
	heal
	all_is_well_again "the mover could not write" a
}

# a_block_that_stays NAME: the log has block 112, and its place could not be written.
a_block_that_stays() {
	fault write "range=$((112 * 8))+8"
	put 112 a && commit
	check "$1: the drain fails" fails dmsetup message ressd 0 drain
	heal
	check "$1: state damaged" state_is damaged
}

# Nothing else happens then, so that no sweep came, and the state stayed damaged for good. That sweep
# has something to move, and does not wait for writers to catch up.
# shellcheck disable=SC2016 # eval expands it
overwriting_ends_damage() {
	local cover=on
	fresh
	a_block_that_stays "overwritten in the log"
	check "overwritten in the log: others before it" fio --name=small \
		--filename=/dev/mapper/ressd --rw=randwrite --bs=4k --offset=8M --size=16M \
		--io_size=200k --direct=1 --output=/tmp/fio-output
	check "overwritten in the log: once more" eval 'put 112 b && commit'
	check "overwritten in the log: state rw" wait_until state_is rw
	check "overwritten in the log: it is read" holds 112 b
	a_block_that_stays "discarded"
	check "discarded: the block" \
		eval 'blkdiscard -f -o $((112 * 4096)) -l 4096 /dev/mapper/ressd && commit'
	check "discarded: state rw" wait_until state_is rw
}

# The first 68 KiB are in the log only. A block that cannot be moved had writes to them fail, though the
# log had room; and route adaptive counted these as in flight for ever.
covered_blocks_beside_a_bad_one() {
	local cover=on
	fresh
	for block in 112 700 800; do
		put "$block" a
	done
	commit
	check "bad block and covers: is covered" equals 1 status_value ressd covered
	fault write "range=$((112 * 8))+8"
	check "bad block and covers: the drain fails" fails dmsetup message ressd 0 drain
	check "bad block and covers: state damaged" state_is damaged
	check "bad block and covers: a large write to covered blocks" put_direct 0 c
	check "bad block and covers: a small one" put 3 d
	check "bad block and covers: fsync" commit
	check "bad block and covers: they are read" eval 'holds 2 c && holds 3 d && holds 20 c'
	dmsetup message ressd 0 mover off
	check "bad block and covers: the log is filled" fio --name=fill --filename=/dev/mapper/ressd \
		--rw=randwrite --bs=4k --offset=8M --size=32M --io_size=12M --direct=1 --output=/tmp/fio-output
	dmsetup message ressd 0 mover on
	check "bad block and covers: no room is left" wait_until eval 'fails put 5 e 2>/dev/null'
	dmsetup message ressd 0 set route adaptive
	check "bad block and covers: refused" fails put 5 e
	check "bad block and covers: refused writes are not in flight" \
		equals 0 status_value ressd small_in_flight
	heal
	check "bad block and covers: recover" ressdctl recover ressd
	check "bad block and covers: drains" dmsetup message ressd 0 drain
	check "bad block and covers: the bare drive has them" \
		eval 'holds 2 c /dev/ssd0 && holds 3 d /dev/ssd0 && holds 112 a /dev/ssd0'
}

# The first blocks cannot be read, so nothing is logged. A drain ended the attempts for good, and the log
# was never used again.
drained_without_covers() {
	local cover=on
	fresh
	fault read range=0+136
	put 100 a
	check "no covers: a small write goes direct" equals 0 status_value ressd covered
	check "no covers: a drain" dmsetup message ressd 0 drain
	heal
	check "no covers: the log is used when the drive is well" \
		wait_until eval 'put 100 b && equals 1 status_value ressd covered'
	check "no covers: and has the block" eval 'commit && holds 100 b'
	check "no covers: drains" dmsetup message ressd 0 drain
}

# The log fails when the first blocks have just been copied into it, and by the time of its repair they
# cannot be read. Nothing has to be read: but writes to them waited for that for ever, and a suspend for
# these writes.
covering_is_interrupted() {
	local cover=on writer
	fresh
	fault write "$log_range"
	check "interrupted cover: a small write goes direct" put 100 a
	check "interrupted cover: state off" state_is off
	fault read range=0+136
	check "interrupted cover: recover" ressdctl recover ressd
	put_direct 0 c &
	writer=$!
	check "interrupted cover: a write to the first blocks ends" ended "$writer"
	check "interrupted cover: is covered" equals 1 status_value ressd covered
	heal
	check "interrupted cover: the write is there" eval 'commit && holds 0 c && holds 20 c'
	check "interrupted cover: drains" dmsetup message ressd 0 drain
	check "interrupted cover: the bare drive has all" \
		eval 'holds 0 c /dev/ssd0 && holds 20 c /dev/ssd0 && holds 100 a /dev/ssd0'
}

# put_again BLOCK: writes what it holds.
put_again() {
	dd if=/dev/mapper/ressd of=/tmp/block bs=4096 skip="$1" count=1 iflag=direct status=none &&
		dd if=/tmp/block of=/dev/mapper/ressd bs=4096 seek="$1" oflag=direct conv=notrunc status=none
}

# Everything is home, but the record that says so is not written: nothing may be reused.
failed_announcement() {
	local operation=$1
	shift
	fresh on_full wait
	check "failed announcement ($operation): load" oracle run --operations 400 --threads 2
	dmsetup message ressd 0 mover off
	# So that the last segment holds data: only then a summary of it comes before the announcement.
	put_again 10 && put_again 5000 && commit
	fault "$@"
	check "failed announcement ($operation): the drain fails" fails dmsetup message ressd 0 drain
	check "failed announcement ($operation): out of service" fails state_is rw
	check "failed announcement ($operation): is created again" reopen_after_cut on_full wait
	check "failed announcement ($operation): everything acknowledged is there" oracle check
	check "failed announcement ($operation): and the device works" oracle run --operations 200
}

small_load() {
	fio --name=small --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --offset=8M --size=16M \
		--io_size=9M --direct=1 --output=/tmp/fio-output
}

# Found in review: with visits a sweep ends when the oldest segment is empty, so none was ever
# complete, and the state stayed damaged after the bad block had been moved.
visits_forget_a_bad_block() {
	fresh move_block_sectors 512 move_threshold 95
	fault write "range=$((112 * 8))+8"
	put 112 a && commit
	check "visits with a bad block: load" small_load
	check "visits with a bad block: state damaged" wait_until state_is damaged
	heal
	check "visits after a bad block: load" small_load
	check "visits after a bad block: state rw" wait_until state_is rw
	check "visits after a bad block: it is home" holds 112 a /dev/ssd0
}

# With two open units the mover has what is in RAM written before it visits one. It must not wait for ever.
record_before_a_visit_fails() {
	fresh move_block_sectors 512 open_units 2 move_threshold 95
	dmsetup message ressd 0 mover off
	check "record before a visit: load" fio --name=some --filename=/dev/mapper/ressd --rw=randwrite \
		--bs=4k --offset=8M --size=16M --io_size=800k --direct=1 --output=/tmp/fio-output
	commit && push_out
	put 500 z
	fault write "$log_range"
	dmsetup message ressd 0 mover on
	check "record before a visit: its error is seen" wait_until state_is off
	check "record before a visit: its data is read" holds 500 z
	dmsetup suspend ressd &
	check "record before a visit: a suspend ends, and so does the mover" ended $!
	dmsetup resume ressd
	heal
	check "record before a visit: recover" ressdctl recover ressd
	check "record before a visit: drains" dmsetup message ressd 0 drain
	check "record before a visit: blocks were moved" at_least ressd moved_blocks 150
	check "record before a visit: its data is home" holds 500 z /dev/ssd0
}

load dm-ressd
make_drive
scenario unreadable_log_block
scenario mover_cannot_read
scenario mover_reads_damage
scenario damage_is_not_kept
scenario mover_cannot_write
scenario failed_announcement write write "$log_range" after=1
scenario failed_announcement flush flush after=1
scenario overwriting_ends_damage
scenario covered_blocks_beside_a_bad_one
scenario drained_without_covers
scenario covering_is_interrupted
scenario visits_forget_a_bad_block
scenario record_before_a_visit_fails
remove_ressd
finish
