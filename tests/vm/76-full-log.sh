#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 76-full-log.sh: a log that is full, to its last block or with what cannot be moved: who waits for
# room gets it, or an error.
#   76-full-log.sh [SEED [FUNCTION]]
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

load dm-ressd
make_drive
scenario interrupted_sweep_is_no_reason
scenario overwriting_makes_room
scenario full_log_is_drained
scenario full_log_cannot_be_moved
scenario suspend_cuts_the_pause_short
remove_ressd
finish
