#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 75-errors-move.sh: the mover where reads of the log and writes to the normal area fail, where the
# log is full, and beside direct writes, a suspend and a loss of power.
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

# The first record of a new log stands at the start of segment 1: header, then its blocks in the
# order in which they were written.
first_data() {
	echo $((normal + segment + 8 * (1 + $1)))
}

# a_log_of_ten: blocks 100, 103 ... 127 are in the log's first record, in that order,
# and in no buffer.
a_log_of_ten() {
	local i
	fresh
	dmsetup message ressd 0 mover off
	for ((i = 0; i < 10; i++)); do
		put $((100 + 3 * i)) a || return
	done
	commit && push_out
}

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
	mark_log
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
	mark_log
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

# piece BLOCK LETTER: 512 bytes of it.
piece() {
	local text
	letters "$2" 512
	dd of=/dev/mapper/ressd bs=512 seek=$(($1 * 8)) count=1 oflag=direct iflag=fullblock \
		conv=notrunc status=none <<<"$text"
}

# fill FIO_WORD...: with small writes, at 8 MiB.
fill() {
	fio --name=fill --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --offset=8M --size=32M --direct=1 \
		--output=/tmp/fio-output "$@"
}

# fill_behind NUMBER: the mover is off, and the log full: so many blocks, then block 112, many others, and 13000
# in the last segment, which no sweep for space takes.
fill_behind() {
	fresh move_batch_sectors 8
	dmsetup message ressd 0 mover off
	fill --offset=41M --size=2M --number_ios="$1" && put 112 a && fill --number_ios=$((1875 - $1)) && put 13000 a &&
		fill --offset=43M --size=6M --number_ios=100
	at_least ressd bypassed 1 && equals 0 status_value ressd sweeps
}

# A write that waits for a record may pass for one that waits for room, on a slow guest: then it is swept.
full_behind() {
	check "$1: the log is full" eval "fill_behind $2 || fill_behind $2 || fill_behind $2"
}

# A sweep of idle time meets a bad block, and ends, for there is a read, before it has freed the segment that
# it could free. A piece was refused then as if none could be freed.
interrupted_sweep_is_no_reason() {
	full_behind "interrupted" 40
	fault write "range=$((112 * 8))+8"
	drive_faults add write "range=0+$normal" slow_us=50000
	dmsetup message ressd 0 set pace idle
	pause 1
	dmsetup message ressd 0 mover on
	check "interrupted: some are moved" wait_until at_least ressd moved_blocks 3
	holds 13000 a
	check "interrupted: it ends early" wait_until equals 1 status_value ressd bad_blocks
	check "interrupted: it has freed nothing" at_most "$(status_value ressd moved_blocks)" 100
	fault write "range=$((112 * 8))+8"
	check "interrupted: a piece waits for the next one" piece 13000 b
	heal
}

# With the mover off none but who waits for room has it look again. Pieces of logged blocks were refused for
# good because of a block that was overwritten since.
overwriting_makes_room() {
	full_behind "overwritten, mover off" 5
	fault write "range=$((112 * 8))+8"
	check "overwritten, mover off: a piece is refused" fails piece 13000 b
	heal
	check "overwritten, mover off: the block that stays is overwritten" put_direct 96 c
	check "overwritten, mover off: there is room for the piece" piece 13000 b
	check "overwritten, mover off: it is merged" cmp -n 4096 /dev/mapper/ressd -i $((13000 * 4096)):0 \
		<(head -c 512 /dev/zero | tr '\0' b && head -c 3584 /dev/zero | tr '\0' a)
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

# fill_log BLOCKS: the blocks 0, 3, 6 ... of an empty log, in records as large as can be.
fill_log() {
	fio --name=fill --filename=/dev/mapper/ressd --direct=1 --rw=write:8k --bs=4k --size=2m \
		--number_ios="$1" --buffer_pattern=0x61 >/tmp/fio 2>&1 && commit
}

# fill_to_the_last_block FROM: the log has one block left, kept for the record that announces what the mover has
# freed; and there is the death of a block to be written. The blocks 3 * FROM and on are logged for that, then those
# from 60 on again.
fill_to_the_last_block() {
	local i total
	for ((i = $1; i < 100; i++)); do
		put $((3 * i)) a || return
		[ "$(status_value ressd bypassed)" = 0 ] || break
	done
	total=$(dmsetup status ressd | cut -d ' ' -f 4 | cut -d / -f 2)
	for ((i = 20; i < 40; i++)); do
		put $((3 * i)) b || return
		[ "$(dmsetup status ressd | cut -d ' ' -f 4)" != "$((total - 1))/$total" ] || break
		commit || return
	done
	check "full log: one block is left" \
		equals "$((total - 1))/$total" eval "dmsetup status ressd | cut -d ' ' -f 4"
	check "full log: the death of a block is to be written" at_least ressd unmaps_pending 1
}

# Of the blocks 0, 3, 6 ... 57 and 120 are in the log.
log_full_to_the_last_block() {
	local reserved=768 segment=128
	fresh on_full bypass
	dmsetup message ressd 0 mover off
	fill_log 50 || return
	fill_to_the_last_block 50
}

# A drain begins with a sync; the room for that only the mover itself can make.
full_log_is_drained() {
	log_full_to_the_last_block
	check "full log: a drain ends" timeout 300 dmsetup message ressd 0 drain
	check "full log: all is home" eval 'holds 0 a /dev/ssd0 && holds 60 b /dev/ssd0 && holds 120 a /dev/ssd0'
	check "full log: takes writes again" eval 'put 7 c && commit && holds 7 c'
}

# It cannot: nobody may wait for ever.
full_log_cannot_be_moved() {
	log_full_to_the_last_block
	fault write "range=0+$normal"
	check "full log, moves fail: an event follows" \
		event_follows fails timeout 300 dd if=/dev/null of=/dev/mapper/ressd conv=fsync,notrunc status=none
	check "full log, moves fail: state off" state_is off
	check "full log, moves fail: all is read" eval 'holds 0 a && holds 60 b && holds 120 a'
	heal
	check "full log, moves fail: recover" ressdctl recover ressd
	check "full log, moves fail: fsync succeeds" timeout 300 \
		dd if=/dev/null of=/dev/mapper/ressd conv=fsync,notrunc status=none
	check "full log, moves fail: is opened after a cut" eval "reserved=768 reopen_after_cut"
	check "full log, moves fail: all is there" eval 'holds 0 a && holds 60 b && holds 120 a'
}

# Block 0 cannot be moved, so the mover waits ever longer between its sweeps: 32 seconds by now. Meanwhile the
# log is filled to its last block, and a suspend needs space for the death of a block: it must not wait with the mover.
# Most of the log is filled before: on a busy machine it takes longer than a pause, and the sweep behind it would find
# the full log and switch it off.
suspend_cuts_the_pause_short() {
	local reserved=768 segment=128 started
	fresh on_full bypass pace burst move_threshold 95
	fault write range=0+8
	fill_log 50
	check "pause of the mover: six sweeps with errors" wait_until at_least ressd sweeps 6
	fill_to_the_last_block 50
	check "pause of the mover: and the log is in service" state_is damaged
	started=$(date +%s%N)
	check "pause of the mover: suspend" dmsetup suspend ressd
	check "pause of the mover: it has not waited for it" test \
		$((($(date +%s%N) - started) / 1000000)) -lt 8000
	heal
	check "pause of the mover: resume" dmsetup resume ressd
	check "pause of the mover: recover" ressdctl recover ressd
	check "pause of the mover: drains" timeout 300 dmsetup message ressd 0 drain
	check "pause of the mover: all is home" eval 'holds 0 a /dev/ssd0 && holds 60 b /dev/ssd0'
}

# drain_stops_at BLOCK [SECONDS]: a drain is under way, as $drain, and the drive takes its time for the
# mover's write to that block. (What it writes can be read at once.)
drain_stops_at() {
	fault write "range=$(($1 * 8))+8" slow_us="${2:-3}000000" times=1
	dmsetup message ressd 0 drain 2>/dev/null &
	drain=$!
	wait_until equals 1 fault_count hit
}

# The power fails in the middle of a drain: blocks 100 to 109 have been moved, but no flush has covered
# that, and the drive loses it. The log still has them.
cut_in_the_middle_of_a_drain() {
	local drain
	a_log_of_ten
	dmsetup message ressd 0 set move_batch_sectors 8
	drain_stops_at 112 20
	check "cut in a drain: some blocks are moved" equals 4 status_value ressd moved_blocks
	check "cut in a drain: is opened after it" reopen_after_cut
	check "cut in a drain: the drain has ended" ended "$drain"
	check "cut in a drain: the drive has lost them" \
		fails eval 'holds 100 a /dev/ssd0 || holds 109 a /dev/ssd0'
	check "cut in a drain: all are there" eval 'holds 100 a && holds 109 a && holds 127 a'
	check "cut in a drain: drains" dmsetup message ressd 0 drain
	check "cut in a drain: all are home" \
		eval 'holds 100 a /dev/ssd0 && holds 109 a /dev/ssd0 && holds 127 a /dev/ssd0'
}

# The mover's write to a block is on its way when a direct write to the same block comes: that must
# wait, or the older data would land over it.
direct_write_meets_move() {
	local drain
	a_log_of_ten
	drain_stops_at 112
	check "overlap: nothing is moved yet" equals 0 status_value ressd moved_blocks
	check "overlap: a direct write to a block on its way home" put 112 b
	check "overlap: it has waited for the move" at_least ressd moved_blocks 10
	check "overlap: the drain ends" ended "$drain"
	check "overlap: the newer data is home" eval 'holds 112 b && holds 112 b /dev/ssd0'
}

# a_log_of_ten_with_holes: as above, and the mover will rewrite the clustered block around the ten:
# blocks 64 to 127.
a_log_of_ten_with_holes() {
	a_log_of_ten
	dmsetup message ressd 0 set move_block_sectors 512
	dmsetup message ressd 0 set move_fill_blocks 4
}

# direct_put BLOCK LETTER: past the log.
direct_put() {
	dmsetup message ressd 0 set route never
	put "$@"
}

# Block 113 is read from home and written back; a direct write that comes in between must wait.
direct_write_meets_hole() {
	local drain
	a_log_of_ten_with_holes
	drain_stops_at 113
	check "hole: a direct write to a block that is being rewritten" put 113 b
	check "hole: it has waited" at_least ressd filled_blocks 54
	check "hole: the drain ends" ended "$drain"
	check "hole: the newer data stays" eval 'holds 113 b && holds 113 b /dev/ssd0'
	check "hole: the ten are home" eval 'holds 112 a /dev/ssd0 && holds 115 a /dev/ssd0'
}

# The same for a piece of a block.
piece_meets_hole() {
	local drain
	a_log_of_ten_with_holes
	drain_stops_at 113
	# shellcheck disable=SC2016 # eval expands it
	check "hole: a piece of a block that is being rewritten" eval \
		'head -c 512 /dev/zero | tr "\0" y | dd of=/dev/mapper/ressd bs=512 seek=$((113 * 8 + 3)) oflag=direct status=none'
	check "hole: the drain ends after the piece" ended "$drain"
	# shellcheck disable=SC2016 # eval expands it
	check "hole: the piece stays" equals y eval \
		'dd if=/dev/ssd0 bs=512 skip=$((113 * 8 + 3)) count=1 iflag=direct status=none | head -c 1'
}

# gated_drive: from now on writes to the blocks 0, 113 and 200 of the drive under ressd can be held up.
gated_drive() {
	local end=0 block
	remove_ressd
	for block in 0 113 200; do
		make_gate "gate$block" /dev/ssd0 $((block * 8)) 8
		[ "$end" -eq $((block * 8)) ] ||
			echo "$end $((block * 8 - end)) linear /dev/ssd0 $end"
		echo "$((block * 8)) 8 linear /dev/mapper/gate$block 0"
		end=$((block * 8 + 8))
	done >/tmp/gated
	echo "$end $(($(sectors_of /dev/ssd0) - end)) linear /dev/ssd0 $end" >>/tmp/gated
	dmsetup create gated /tmp/gated
}

# ungated_drive: as it was before.
ungated_drive() {
	dmsetup remove ressd
	dmsetup remove gated
	dmsetup remove gate0 gate113 gate200
}

# Nothing of the log has been read since `fault read`. A mover that does not wait has had the time.
nothing_is_read() {
	sleep 1
	equals 0 fault_count seen
}

# A direct write to block 200 is on its way when the same block is logged. Moved home before that
# write has landed, it would be overwritten with something older.
sweep_waits_for_direct_write() {
	local drive=/dev/mapper/gated reserved=768 segment=128 write i
	gated_drive
	fresh route never
	open_gate gate0 && open_gate gate113
	dmsetup message ressd 0 mover off
	put 200 a &
	write=$!
	wait_until equals 1 writes_at_gate gate200
	dmsetup message ressd 0 set route always
	# More than a segment, of which nothing dies: this one will be swept.
	put 200 b && commit
	for ((i = 0; i < 9; i++)); do
		put $((11000 + 7 * i)) p && commit
	done
	fault read "$log_range" slow_us=1
	dmsetup message ressd 0 set move_threshold 95
	dmsetup message ressd 0 mover on
	wait_until at_least ressd sweeps 1
	check "sweep meets a direct write: it waits" nothing_is_read
	open_gate gate200
	check "sweep meets a direct write: that ends" ended "$write"
	check "sweep meets a direct write: the newer one comes home" wait_until holds 200 b /dev/ssd0
	check "sweep meets a direct write: and is read" holds 200 b
	ungated_drive
}

# A sweep in idle time takes the segment in use, too: block 200 is logged after the sweep has begun, and
# a direct write from before that is still on its way when the mover comes to it.
idle_sweep_waits_for_direct_write() {
	local drive=/dev/mapper/gated write
	gated_drive
	fresh pace idle move_batch_sectors 8
	open_gate gate113
	put 0 f && commit && push_out
	wait_until equals 1 writes_at_gate gate0
	direct_put 200 a &
	write=$!
	wait_until equals 1 writes_at_gate gate200
	dmsetup message ressd 0 set route always
	put 200 b && commit && push_out
	fault read "$log_range" slow_us=1
	sleep 0.5
	open_gate gate0
	check "idle sweep meets a direct write: it waits" nothing_is_read
	open_gate gate200
	check "idle sweep meets a direct write: that ends" ended "$write"
	check "idle sweep meets a direct write: all comes home" wait_until equals 0 status_dirty ressd
	check "idle sweep meets a direct write: the newer one, too" holds 200 b /dev/ssd0
	ungated_drive
}

# A direct write to block 113 begins after the sweep, and is on its way when the mover comes to the
# clustered block around it. What the mover writes there must have been read after that write.
hole_waits_for_direct_write() {
	local drive=/dev/mapper/gated drain write
	gated_drive
	a_log_of_ten_with_holes
	open_gate gate200
	put 0 f && commit && push_out
	dmsetup message ressd 0 drain &
	drain=$!
	wait_until equals 1 writes_at_gate gate0
	direct_put 113 b &
	write=$!
	wait_until equals 1 writes_at_gate gate113
	fault read "$log_range" slow_us=1
	open_gate gate0
	wait_until at_least ressd moved_blocks 1
	check "hole after a direct write: the mover waits" nothing_is_read
	open_gate gate113
	check "hole after a direct write: the write ends" ended "$write"
	check "hole after a direct write: the drain ends" ended "$drain"
	check "hole after a direct write: the block was rewritten" at_least ressd filled_blocks 54
	check "hole after a direct write: the write is not lost" eval \
		'holds 113 b && holds 113 b /dev/ssd0'
	ungated_drive
}

errors_at_holes() {
	a_log_of_ten_with_holes
	fault read "range=$((113 * 8))+8"
	check "unreadable hole: the drain does without it" dmsetup message ressd 0 drain
	check "unreadable hole: nothing was rewritten" equals 0 status_value ressd filled_blocks
	heal
	check "unreadable hole: the ten are home" eval 'holds 112 a /dev/ssd0 && holds 115 a /dev/ssd0'
	a_log_of_ten_with_holes
	direct_put 113 h
	fault write "range=$((113 * 8))+8"
	mark_log
	check "unwritable hole: the drain does without it" dmsetup message ressd 0 drain
	check "unwritable hole: it was tried again and is named" \
		log_says 'block 113 cannot be written back'
	check "unwritable hole: the error counts" at_least ressd errors 1
	check "unwritable hole: state" state_is bypass
	heal
	check "unwritable hole: it holds what it held" holds 113 h /dev/ssd0
	check "unwritable hole: the ten are home" eval 'holds 112 a /dev/ssd0 && holds 115 a /dev/ssd0'
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

# With one open unit a record between two writes of a visit would cost two merges: a commit ends after the visit.
log_waits_for_a_visit() {
	local reserved=768 segment=128
	a_log_of_ten
	dmsetup message ressd 0 set move_block_sectors 512
	dmsetup message ressd 0 set open_units 1
	fault write "range=$((112 * 8))+8" slow_us=3000000 times=1
	dmsetup message ressd 0 set move_threshold 95
	dmsetup message ressd 0 mover on
	check "log waits for a visit: that begins" wait_until equals 1 fault_count hit
	check "log waits for a visit: nothing is moved yet" equals 0 status_value ressd moved_blocks
	check "log waits for a visit: a commit" eval 'put 500 z && commit'
	check "log waits for a visit: has waited" at_least ressd moved_blocks 10
	check "log waits for a visit: its data is there after a cut" eval 'reopen_after_cut && holds 500 z'
}

# reads_below: bios that have been read through the device "stack".
reads_below() {
	local reads rest
	read -r reads rest <"/sys/block/$(dmsetup info -c --noheadings -o blkdevname stack)/stat"
	echo "$reads"
}

# A large read looks at each block that the log has, under the lock. Those that are home stay in the log
# while a bad block keeps the segment before theirs.
large_read_looks_at_few_blocks() {
	local reads mapped
	dmsetup create stack --table "0 $(sectors_of /dev/ssd0) linear /dev/ssd0 0"
	drive=/dev/mapper/stack
	fresh
	dmsetup message ressd 0 mover off
	put 100 a && commit
	check "large read: the log fills" fio --name=fill --filename=/dev/mapper/ressd \
		--rw=randwrite --bs=4k --offset=8M --size=5M --direct=1 --output=/tmp/fio-output
	fault read "range=$(first_data 0)+8"
	check "large read: the drain fails" fails dmsetup message ressd 0 drain
	check "large read: but for one block all is home" equals 1 status_dirty ressd
	mapped=$(status_word ressd 5)
	check "large read: and still in the log" test "${mapped%/1[0-9][0-9][0-9]}" = 1
	echo 8 >/proc/sys/vm/nr_hugepages
	reads=$(reads_below)
	check "large read: of 5 MiB" fio --name=read --filename=/dev/mapper/ressd --rw=read --bs=5m \
		--offset=8M --size=5M --direct=1 --mem=shmhuge --output=/tmp/fio-output
	reads=$(($(reads_below) - reads))
	check "large read: looks at 512 blocks at a time ($reads reads)" \
		test "$reads" -ge 3 -a "$reads" -le 8
	echo 0 >/proc/sys/vm/nr_hugepages
	remove_ressd
	drive=/dev/ssd0
	dmsetup remove stack
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
scenario interrupted_sweep_is_no_reason
scenario overwriting_makes_room
scenario covered_blocks_beside_a_bad_one
scenario drained_without_covers
scenario covering_is_interrupted
scenario full_log_is_drained
scenario full_log_cannot_be_moved
scenario suspend_cuts_the_pause_short
scenario cut_in_the_middle_of_a_drain
scenario direct_write_meets_move
scenario direct_write_meets_hole
scenario piece_meets_hole
scenario sweep_waits_for_direct_write
scenario idle_sweep_waits_for_direct_write
scenario hole_waits_for_direct_write
scenario errors_at_holes
scenario visits_forget_a_bad_block
scenario record_before_a_visit_fails
scenario log_waits_for_a_visit
scenario large_read_looks_at_few_blocks
remove_ressd
finish
