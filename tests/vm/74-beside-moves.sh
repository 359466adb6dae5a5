#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 74-beside-moves.sh: the mover beside direct writes, reads, a visit's records and a loss of power, and
# where it cannot fill the holes between what it moves.
#   74-beside-moves.sh [SEED [FUNCTION]]
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

# A direct write to block 200 does not end, as one that the block layer throttles for its control group: what is
# elsewhere is written back all the same. The mover waited for it, and the log was of no use to anybody meanwhile.
mover_passes_direct_write() {
	local drive=/dev/mapper/gated write
	gated_drive
	"$1"
	open_gate gate0 && open_gate gate113
	direct_put 200 b &
	write=$!
	wait_until equals 1 writes_at_gate gate200
	check "$1 beside a direct write that does not end: drained" timeout 60 dmsetup message ressd 0 drain
	check "$1 beside a direct write that does not end: the ten are home" eval \
		'holds 112 a /dev/ssd0 && holds 115 a /dev/ssd0'
	open_gate gate200
	check "$1 beside a direct write that does not end: it ends" ended "$write"
	check "$1 beside a direct write that does not end: and is read" holds 200 b
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
	dmesg_mark
	check "unwritable hole: the drain does without it" dmsetup message ressd 0 drain
	check "unwritable hole: it was tried again and is named" \
		log_says 'block 113 cannot be written back'
	check "unwritable hole: the error counts" at_least ressd errors 1
	check "unwritable hole: state" state_is bypass
	heal
	check "unwritable hole: it holds what it held" holds 113 h /dev/ssd0
	check "unwritable hole: the ten are home" eval 'holds 112 a /dev/ssd0 && holds 115 a /dev/ssd0'
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
	[ -e /proc/sys/vm/nr_hugepages ] || {
		echo "# a kernel of 32-bit ARM has no huge pages, without which no read is that large"
		return
	}
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
scenario cut_in_the_middle_of_a_drain
scenario direct_write_meets_move
scenario direct_write_meets_hole
scenario piece_meets_hole
scenario sweep_waits_for_direct_write
scenario idle_sweep_waits_for_direct_write
scenario hole_waits_for_direct_write
scenario mover_passes_direct_write a_log_of_ten
scenario mover_passes_direct_write a_log_of_ten_with_holes
scenario errors_at_holes
scenario log_waits_for_a_visit
scenario large_read_looks_at_few_blocks
remove_ressd
finish
