#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 75-errors-log.sh: writes and flushes of the log fail. The caller learns of it, nothing that was
# acknowledged is lost, the state and an event tell, and ressdctl recover brings the log back.
#   75-errors-log.sh [SEED [FUNCTION]]
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

transient_errors() {
	fresh
	put 10 a
	fault write "$log_range" times=2
	check "a write error that is gone a moment later: fsync succeeds" commit
	check "it was tried again" at_least ressd write_retries 2
	check "and the state stays rw" state_is rw
	check "and it is in the log" eval 'heal && reopen && holds 10 a'
}

# What is in RAM when the log cannot be written: readable, not durable, and not lost.
failed_commit() {
	local effect=$1
	fresh
	put 10 a && push_out
	dmesg_mark
	put 10 b && put 11 b
	fault write "$log_range" effect="$effect"
	check "commit, $effect written: an event follows the failed fsync" event_follows fails commit
	check "commit, $effect written: state off" state_is off
	check "commit, $effect written: the kernel log says it" log_says 'log cannot be written and is off'
	check "commit, $effect written: what was accepted is readable" eval 'holds 10 b && holds 11 b'
	check "commit, $effect written: a small write goes direct" eval 'put 12 c && holds 12 c'
	check "commit, $effect written: over what is in the log, too" eval 'put 11 d && holds 11 d'
	check "commit, $effect written: a write with FUA fails, and writes nothing" \
		eval 'fails put 13 e oflag=direct,dsync 2>/dev/null && fails holds 13 e >/dev/null'
	expect_fail 'the device still returns errors' ressdctl recover ressd
	heal
	check "commit, $effect written: on a healthy drive fsync still fails" fails commit
	check "commit, $effect written: recover" event_follows ressdctl recover ressd
	check "commit, $effect written: state rw" state_is rw
	check "commit, $effect written: fsync succeeds" commit
	reopen_after_cut
	check "commit, $effect written: all is there after a cut" \
		eval 'holds 10 b && holds 11 d && holds 12 c'
}

# A log that failed owes the user what is in RAM. Removed with an error, it loses no more than that.
removed_without_recovery() {
	fresh
	put 10 a && push_out
	put 10 b
	fault write "$log_range"
	check "off and removed: fsync fails" fails commit
	dmesg_mark
	check "off and removed: is suspended" dmsetup suspend ressd
	check "off and removed: what that loses, and when, is said" log_says \
		'since the last flush is lost with this table: if it was only suspended, resume it'
	check "off and removed: is resumed" dmsetup resume ressd
	check "off and removed: nothing is lost so far" holds 10 b
	check "off and removed: is removed" dmsetup remove ressd
	heal
	check "off and removed: is created" make_ressd ressd /dev/ssd0 "$reserved"
	check "off and removed: what was synced is there" holds 10 a
}

# A table is loaded while all is well; then the sync before it takes over fails, and what only the old
# table's memory had is gone. Nobody was told so far: the next flush must not succeed.
reload_loses_last_writes() {
	fresh
	put 10 a && push_out
	check "lost in a reload: a table is loaded" \
		dmsetup load ressd --table "$(table_line "$drive" "$reserved" commit_interval_ms 60000)"
	put 10 b
	fault write "$log_range" effect=none times=4
	dmesg_mark
	check "lost in a reload: it takes over" dmsetup resume ressd
	check "lost in a reload: the log was tried four times" equals 4 fault_count hit
	heal
	check "lost in a reload: the kernel log says it" \
		log_says 'what was accepted since the last flush is lost'
	check "lost in a reload: what was synced is there" holds 10 a
	check "lost in a reload: fsync fails" fails commit
	check "lost in a reload: but only once" commit
	put 10 c
	check "lost in a reload: FUA is served then" put 11 d oflag=direct,dsync
	# shellcheck disable=SC2016 # eval expands it
	check "lost in a reload: another reload" eval \
		'dmsetup load ressd --table "$(table_line "$drive" "$reserved")" && dmsetup resume ressd'
	check "lost in a reload: loses nothing" eval 'commit && holds 10 c && holds 11 d'
}

# The oracle's load over a log that fails in the middle of it.
load_over_failing_log() {
	local name=$1
	shift
	fresh on_full "$1"
	shift
	fault "$@"
	check "$name: the load sees the error" load_fails
	heal
	check "$name: recover" ressdctl recover ressd
	check "$name: state rw" state_is rw
	check "$name: everything acknowledged is there" oracle check
	check "$name: and the device works" oracle run --operations 300
	reopen_after_cut
	check "$name: everything acknowledged is there after a cut" oracle check
}

failed_flush() {
	local name=$1 letter
	fresh
	put 10 a && push_out
	put_direct 64 a && commit
	put 10 b
	fault flush times=1
	dmesg_mark
	check "$name: an event follows" event_follows fails commit
	check "$name: the drive has flushed without an error since" commit_of_drive
	check "$name: state ro" state_is ro
	check "$name: the kernel log says it" log_says 'a flush has failed'
	check "$name: fsync fails again though the drive would flush" fails commit
	for letter in "put 10 c" "put_direct 96 c" "blkdiscard -o 4096 -l 8192 /dev/mapper/ressd"; do
		check "$name: refused: $letter" eval "fails $letter 2>/dev/null"
	done
	check "$name: what was durable is read" eval 'holds 64 a && holds 11007 p'
	check "$name: what may be gone is not" fails holds 10 b
	check "$name: recover" event_follows ressdctl recover ressd
	check "$name: state rw, and fsync succeeds" eval 'state_is rw && commit'
	reopen_after_cut
	check "$name: all is there after a cut" eval 'holds 10 b && holds 64 a'
}

commit_of_drive() {
	dd if=/dev/null of=/dev/ssd0 conv=fsync,notrunc status=none
}

# read_during_failed_flush BLOCK FILE RANGE: the block is read; while the drive takes its time for
# that, a flush fails. Ends as the read does.
read_during_failed_flush() {
	local reader
	fault read "range=$3" slow_us=3000000 times=1
	dd if=/dev/mapper/ressd bs=4096 skip="$1" count=1 iflag=direct of="$2" status=none 2>/dev/null &
	reader=$!
	wait_until equals 1 fault_count hit
	ssd fault ssd0 flush times=1
	check "read in flight: the flush fails" fails commit
	check "read in flight: which is known before it ends" eval 'state_is ro && kill -0 '"$reader"
	wait "$reader"
}

# What such a read returns may be older than what was durable, or nothing that ever was in that
# block; only what is durable in the log is safe.
reads_in_flight_of_a_failed_flush() {
	fresh
	put_direct 0 a && commit
	put 40 b && push_out
	check "read in flight: of the normal area: fails" \
		fails read_during_failed_flush 8 /tmp/read "$((8 * 8))+8"
	check "read in flight: of the normal area: later ones do not" holds 8 a
	check "read in flight: recover" ressdctl recover ressd
	check "read in flight: of what is durable in the log: succeeds" \
		read_during_failed_flush 40 /tmp/read "$normal+$reserved"
	check "read in flight: and is right" test "$(tr -s b </tmp/read)" = b
	check "read in flight: recover" ressdctl recover ressd
}

# A direct write reaches the drive's cache, and ends after a flush has failed: the drive may have dropped it.
# No later flush will say so, for that is the first one after a repair. So the write itself must fail.
direct_write_in_flight_of_a_failed_flush() {
	local writer status=0
	fresh
	put_direct 0 a && commit
	fault write "range=$((8 * 8))+256" slow_us=10000000 times=1
	put_direct 8 b 2>/dev/null &
	writer=$!
	wait_until equals 1 fault_count hit
	ssd fault ssd0 flush times=1
	check "direct write in flight: the flush fails" fails commit
	check "direct write in flight: which is known before it ends" eval "state_is ro && kill -0 $writer"
	wait "$writer" || status=$?
	check "direct write in flight: it fails" equals 1 echo "$status"
	check "direct write in flight: what was durable is read" holds 0 a
	check "direct write in flight: recover" ressdctl recover ressd
	check "direct write in flight: the same one succeeds" eval 'put_direct 8 b && commit && holds 8 b'
}

# A flush fails while a record is being written. Until that is done the map does not show what the
# flush may have taken along: home, where block 100 is to be found by the map, may then be older than
# what was durable in the log.
read_before_doubt_shows() {
	local flush write
	fresh
	put 100 a && push_out
	dmsetup message ressd 0 set commit writethrough
	fault flush error slow_us=1500000 times=1
	dmesg_mark
	commit &
	flush=$!
	wait_until equals 1 fault_count hit
	put_direct 96 b
	ssd fault ssd0 write "$log_range" slow_us=2000000 times=1
	put 200 c &
	write=$!
	check "flush fails beside a record: it ends" ended "$flush"
	check "flush fails beside a record: state ro" wait_until state_is ro
	check "flush fails beside a record: what it may have taken is not read" fails holds 100 b
	check "flush fails beside a record: what is durable in the log is" holds 11007 p
	check "flush fails beside a record: the record's write ends" ended "$write"
	check "flush fails beside a record: then what was durable is read" wait_until holds 100 a
	check "flush fails beside a record: the kernel log says it" wait_until log_says 'a flush has failed'
	check "flush fails beside a record: recover" ressdctl recover ressd
}

# put_durably BLOCK LETTER: as put_direct, with FUA.
put_durably() {
	head -c 131072 /dev/zero | tr '\0' "$2" |
		dd of=/dev/mapper/ressd bs=128k seek=$(($1 * 4096)) oflag=direct,dsync,seek_bytes \
			iflag=fullblock conv=notrunc status=none
}

# put_piece BLOCK: the first sector of it, so that the rest is read from where it is.
put_piece() {
	dd if=/dev/zero of=/dev/mapper/ressd bs=512 seek=$(($1 * 8)) count=1 oflag=direct conv=notrunc \
		status=none
}

# make_gated_log: $drive is the drive with the reserved area behind the gate "reads", and that behind the
# gate "writes".
make_gated_log() {
	drive=/dev/mapper/gated
	dmsetup create writes --table "0 $reserved linear /dev/ssd0 $normal"
	dmsetup create reads --table "0 $reserved linear /dev/mapper/writes 0"
	dmsetup create gated --table "0 $normal linear /dev/ssd0 0
$normal $reserved linear /dev/mapper/reads 0"
}

# A drive without FUA fails the flush that stands in for it, while a record is being written; and the bio
# worker, by which the log learns of it, waits for a read. Then the end of the record's write has to look for
# such news itself: the record may be gone, and would be the only copy of what it holds.
news_of_a_flush_comes_late() {
	local drive writer piece durable status=0
	make_gated_log
	fresh
	put_direct 0 a && commit
	put 100 a && push_out
	dmsetup message ressd 0 set commit writethrough
	close_gate writes writes && close_gate reads reads
	put 200 c 2>/dev/null &
	writer=$!
	wait_until equals 1 writes_at_gate writes
	put_piece 100 2>/dev/null &
	piece=$!
	wait_until equals 1 reads_at_gate reads
	fault flush times=1
	put_durably 4096 b 2>/dev/null &
	durable=$!
	check "late news: the flush fails, which reads learn at once" wait_until fails holds 8 a
	check "late news: but not the log" state_is rw
	open_gate writes
	check "late news: the record's write ends" ended "$writer"
	wait "$writer" || status=$?
	check "late news: the write in it fails" equals 1 echo "$status"
	check "late news: state ro" state_is ro
	check "late news: the bio worker still waits" equals 1 reads_at_gate reads
	open_gate reads
	wait "$piece" "$durable"
	check "late news: what no longer is on the drive is written again" eval \
		'lose_cache && ressdctl recover ressd && holds 200 c'
	reopen_after_cut
	check "late news: durably so" holds 200 c
	dmsetup remove ressd
	dmsetup remove gated && dmsetup remove reads && dmsetup remove writes
}

# A direct write over a logged block has reached the drive, but its older copy in the log is not yet
# invalidated, for the bio worker waits for a read, when a flush fails: whether the drive has kept that write is
# not known. So it must fail, and a repair must not begin before it has.
repair_waits_for_direct_writes() {
	local drive writer piece recover status=0
	make_gated_log
	fresh
	dmsetup message ressd 0 mover off
	put 100 a && put 300 a && put 500 a && push_out
	put_direct 480 b
	check "repair and direct write: a block's death is to be written" wait_until at_least ressd unmaps_pending 1
	close_gate reads reads
	put_piece 100 2>/dev/null &
	piece=$!
	wait_until equals 1 reads_at_gate reads
	put_direct 288 b 2>/dev/null &
	writer=$!
	wait_until equals b first_letter_on_drive 288
	fault flush times=1
	check "repair and direct write: a flush fails" fails commit
	check "repair and direct write: state ro" state_is ro
	lose_cache
	ressdctl recover ressd >/tmp/recover 2>&1 &
	recover=$!
	sleep 3
	check "repair and direct write: the repair waits for it" eval "state_is ro && kill -0 $recover"
	open_gate reads
	wait "$writer" || status=$?
	check "repair and direct write: the write fails" equals 1 echo "$status"
	wait "$piece"
	check "repair and direct write: the repair ends" ended "$recover"
	check "repair and direct write: state rw" state_is rw
	check "repair and direct write: the version that was durable is read" holds 300 a
	dmsetup remove ressd
	dmsetup remove gated && dmsetup remove reads && dmsetup remove writes
}

# first_letter_on_drive BLOCK
first_letter_on_drive() {
	dd if=/dev/ssd0 bs=4096 skip="$1" count=1 iflag=direct status=none | head -c 1 | tr '\0' 0
}

# While the device is suspended nothing is written to its log, not even by a repair.
no_repair_while_suspended() {
	fresh
	put 10 a && push_out
	put 10 b
	fault write "$log_range"
	check "repair while suspended: fsync fails" fails commit
	heal
	check "repair while suspended: suspended" dmsetup suspend ressd
	expect_fail 'is suspended; resume it, then recover' ressdctl recover ressd
	check "repair while suspended: nothing has changed" state_is off
	check "repair while suspended: resumed" dmsetup resume ressd
	check "repair while suspended: recover" ressdctl recover ressd
	check "repair while suspended: state rw" state_is rw
	check "repair while suspended: and all is there" eval 'commit && holds 10 b'
}

# A flush that goes straight to the drive, for the log has nothing to write.
failed_flush_beside_the_log() {
	fresh
	put 10 a && push_out
	put_direct 64 b
	fault flush times=1
	check "direct flush: its error arrives" fails commit
	check "direct flush: state ro" wait_until state_is ro
	check "direct flush: no later one succeeds before a recover" fails commit
	check "direct flush: recover" ressdctl recover ressd
	check "direct flush: fsync succeeds" commit
}

# Two flushes are on their way; the first one fails, and the drive has dropped what both were for. It
# then confirms the second one: that fsync must fail as well.
flush_beside_a_failed_one() {
	local drive=/dev/mapper/gated first second status=0
	dmsetup create gated --table "0 $((normal + reserved)) linear /dev/ssd0 0"
	fresh
	put 10 a && push_out
	put_direct 64 b
	close_gate gated flushes
	commit 2>/dev/null &
	first=$!
	wait_until equals 1 flushes_at_gate gated
	commit 2>/dev/null &
	second=$!
	wait_until equals 2 flushes_at_gate gated
	fault flush times=1
	open_gate gated
	wait "$first" || status=$?
	check "two flushes: the first one fails" equals 1 echo "$status"
	status=0
	wait "$second" || status=$?
	check "two flushes: so does the second one" equals 1 echo "$status"
	check "two flushes: of which the drive has confirmed one" test "$(fault_count seen)" -ge 2
	check "two flushes: state ro" wait_until state_is ro
	check "two flushes: recover" eval 'heal && ressdctl recover ressd && commit'
	dmsetup remove ressd
	dmsetup remove gated
}

# Of a write with PREFLUSH and FUA dm sends the data though its flush has failed, and the log may be
# in service again by then. So FUA fails until a flush has succeeded that began later, that of recover
# at the latest; but no longer, for who writes with O_DSYNC sends none.
fua_waits_for_a_good_flush() {
	local status=0
	fresh
	put 10 a && push_out
	put 10 b
	fault write "$log_range"
	check "FUA behind a failed flush: which fails" fails commit
	heal
	fault flush slow_us=5000000
	ressdctl recover ressd &
	check "FUA behind a failed flush: the log is in service before recover ends" wait_until state_is rw
	check "FUA behind a failed flush: the write fails, and writes nothing" \
		eval 'fails put 13 e oflag=direct,dsync 2>/dev/null && fails holds 13 e >/dev/null'
	check "FUA behind a failed flush: others do not" eval 'put 14 f && holds 14 f'
	wait $! || status=$?
	check "FUA behind a failed flush: recover" equals 0 echo "$status"
	heal
	check "FUA behind a failed flush: O_DSYNC is served from then on" \
		eval 'put 13 e oflag=direct,dsync && holds 13 e'
}

# many_blocks write|verify: more than one record.
many_blocks() {
	local mode=--do_verify=0
	[ "$1" = write ] || mode=--verify_only
	fio --name=many --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --offset=8M --size=1600k \
		--direct=1 --verify=crc32c --randseed="$seed" "$mode" --output=/tmp/fio-output
}

# A removal does not wait for messages before it stops the log, nor did it for a repair, whose writes might
# then come from memory that was free: what shows only there (KASAN), if at all.
removed_during_recover() {
	local recovers status=0
	fresh
	put 10 a && push_out
	fault write "$log_range"
	check "removed during recover: small writes" many_blocks write
	check "removed during recover: state off" wait_until state_is off
	# The device would work again, without what only the old table's memory has.
	expect_fail 'out of service.*send the message recover first' \
		dmsetup load ressd --table "$(table_line "$drive" "$reserved")"
	heal
	dmesg_mark
	fault flush slow_us=1500000 times=1
	dmsetup message ressd 0 recover &
	recovers=$!
	wait_until equals 1 fault_count seen
	check "removed during recover: is removed" dmsetup remove ressd
	wait "$recovers" || status=$?
	check "removed during recover: it has ended well" equals 0 echo "$status"
	check "removed during recover: nothing is said to be lost" \
		fails log_says 'what was accepted since the last flush is lost'
	heal
	check "removed during recover: is created again" make_ressd ressd "$drive" "$reserved"
	check "removed during recover: all is there" many_blocks verify
}

# The failed flush has thrown away what the drive had taken. A block that was durable in the log
# and then overwritten past it must not become older than that.
flush_loses_direct_writes() {
	fresh
	put_direct 0 a && commit
	put 10 b && push_out
	put_direct 0 c
	check "lost direct write: is read before the error" holds 10 c
	fault flush times=1
	check "lost direct write: fsync fails" fails commit
	lose_cache
	check "lost direct write: the version that was durable is back" holds 10 b
	check "lost direct write: recover" ressdctl recover ressd
	check "lost direct write: still there" eval 'commit && holds 10 b && holds 11 a'
	reopen_after_cut
	check "lost direct write: and after a cut" eval 'holds 10 b && holds 11 a'
}

# The same for what a drain had brought home.
flush_loses_moves() {
	fresh
	put_direct 0 a && commit
	put 10 b && push_out
	fault flush after=1 times=1
	check "lost move: the drain fails" fails dmsetup message ressd 0 drain
	check "lost move: the flush after the moves has failed" equals 1 fault_count hit
	check "lost move: state ro" state_is ro
	lose_cache
	check "lost move: the log's copy is current again" holds 10 b
	check "lost move: recover" ressdctl recover ressd
	check "lost move: drains now" dmsetup message ressd 0 drain
	dmsetup remove ressd
	lose_cache
	check "lost move: the bare drive has it" holds 10 b /dev/ssd0
}

# The failed flush has thrown away records: nothing brings them back, and nobody is told otherwise.
flush_loses_records() {
	local i lost newest stale=()
	fresh
	for i in 20 30 40; do
		put "$i" a || return
	done
	push_out
	# Written, for the record of a segment is full; flushed only as far as a summary asks for it.
	for ((i = 0; i < 50; i++)); do
		put $((20 + i * 3)) b || return
	done
	for ((i = 0; i < 14; i++)); do
		put $((20 + i * 3)) c || return
	done
	wait_until at_least ressd records 5
	fault flush times=1
	check "lost record: fsync fails" fails commit
	lose_cache
	dmesg_mark
	expect_fail 'data is lost; unmount the device, close and open it again' ressdctl recover ressd
	check "lost record: state Fail" state_is Fail
	# How many depends on which records the summary's flush comes after: more on a slow guest.
	check "lost record: and counted" at_least ressd lost_blocks 1
	lost=$(status_value ressd lost_blocks)
	check "lost record: as many as are told" log_says "not in the log on the device: $lost\$"
	check "lost record: fsync fails" fails commit
	check "lost record: writes fail" fails put 10 d
	check "lost record: closed" ressdctl close ressd
	check "lost record: and opened" make_ressd ressd /dev/ssd0 "$reserved"
	for ((i = 0; i < 50; i++)); do
		[ "$i" -lt 14 ] && newest=c || newest=b
		holds $((20 + i * 3)) "$newest" >/dev/null || stale+=($((20 + i * 3)))
	done
	check "lost record: so many blocks are stale" equals "$lost" echo ${#stale[@]}
	check "lost record: the first of them is named" \
		log_says "lost: 8 sectors from sector $((${stale[0]:-0} * 8))\$"
	check "lost record: what was durable is there" eval \
		'{ holds 20 a || holds 20 b || holds 20 c; } && holds 30 a && holds 40 a && commit'
}

# FUA of a logged write is carried out before the write completes: the drive flushes for it, and
# again for the flush that the kernel sends after an O_DSYNC write.
fua_of_a_logged_write() {
	fresh
	push_out
	fault flush slow_us=1
	put 10 a oflag=direct,dsync
	check "FUA of a logged write: two flushes reach the drive" equals 2 fault_count seen
	check "FUA of a logged write: it was logged" test "$(status_dirty ressd)" -ge 4
	reopen_after_cut
	check "FUA of a logged write: it is there after a cut" holds 10 a
}

# A drive without a volatile cache gets no flush, whatever writes ask for, so none can fail: the error
# of a write with FUA is that of the write.
without_a_cache() {
	fresh
	put 10 a && push_out
	check "no cache: a block is superseded" put_direct 8 b
	fault write "$log_range" times=2
	check "no cache: a record with UNMAPs fails twice: fsync succeeds" commit
	check "no cache: it was tried again" at_least ressd write_retries 2
	check "no cache: state rw" state_is rw
	fault write "range=0+$normal" times=1
	expect_fail "Input/output error" \
		dd if=/dev/zero of=/dev/mapper/ressd bs=128k seek=16 count=1 oflag=direct,dsync
	check "no cache: a direct FUA write fails alone" eval 'state_is rw && put 12 c && commit'
	check "no cache: all is there" eval 'reopen && holds 10 b && holds 12 c'
}

# A device of device-mapper or md may say that it knows FUA over a drive that does not: the drive is
# flushed then, and that flush may fail, with what others have written since the one before the record.
flush_below_a_stack() {
	make_disk recording 64
	modprobe dm-log-writes
	dmsetup create stack --table "0 $(sectors_of /dev/ssd0) log-writes /dev/ssd0 /dev/recording"
	drive=/dev/mapper/stack
	check "below a stack: it says that it knows FUA" \
		equals 1 cat "/sys/block/$(dmsetup info -c --noheadings -o blkdevname stack)/queue/fua"
	fresh
	put 10 a && push_out
	put_direct 8 b
	fault flush after=1 times=1
	check "below a stack: the flush of a record with UNMAPs fails: so does fsync" fails commit
	check "below a stack: it was the second flush" equals 2 fault_count seen
	check "below a stack: the record was not tried again" equals 0 status_value ressd write_retries
	check "below a stack: state ro" state_is ro
	heal
	check "below a stack: recover" ressdctl recover ressd
	check "below a stack: it is served again" \
		eval 'state_is rw && put 12 c && commit && reopen && holds 12 c'
	fault flush times=1
	expect_fail "Input/output error" \
		dd if=/dev/zero of=/dev/mapper/ressd bs=128k seek=16 count=1 oflag=direct,dsync
	check "below a stack: a direct FUA write does the same" state_is ro
	heal
	remove_ressd
	drive=/dev/ssd0
	dmsetup remove stack
	remove_disk recording
}

# To store options writes superblocks with FUA. Where the block layer flushes for that, and the flush
# fails, the drive may have lost what users have written.
store_meets_a_failed_flush() {
	fresh
	put 10 a && push_out
	put_direct 64 w
	fault flush times=1
	check "store, failed flush: the message fails" fails dmsetup message ressd 0 store pace burst
	check "store, failed flush: state ro" state_is ro
	check "store, failed flush: fsync fails" fails commit
	check "store, failed flush: recover" ressdctl recover ressd
	heal
	check "store, failed flush: the options can be stored" dmsetup message ressd 0 store pace burst
	check "store, failed flush: it is served" eval 'state_is rw && put 11 c && commit && holds 10 a'
}

load dm-ressd
make_drive
scenario transient_errors
scenario failed_commit none
scenario failed_commit part
scenario failed_commit all
scenario removed_without_recovery
scenario reload_loses_last_writes
scenario load_over_failing_log "writes fail for good" bypass write "$log_range" after=60
scenario load_over_failing_log "writes fail for good, on_full wait" wait write "$log_range" after=120
scenario load_over_failing_log "a flush fails" bypass flush after=9 times=1
scenario load_over_failing_log "a flush fails, on_full wait" wait flush after=14 times=1
scenario failed_flush "failed flush"
scenario reads_in_flight_of_a_failed_flush
scenario direct_write_in_flight_of_a_failed_flush
scenario read_before_doubt_shows
scenario repair_waits_for_direct_writes
scenario no_repair_while_suspended
scenario failed_flush_beside_the_log
scenario flush_beside_a_failed_one
scenario fua_waits_for_a_good_flush
scenario removed_during_recover
scenario flush_loses_direct_writes
scenario flush_loses_moves
scenario flush_loses_records
scenario fua_of_a_logged_write
dmsetup remove ressd
ssd remove ssd0
# Without FUA the block layer flushes after the write: its error is that of a flush.
make_drive fua=0
scenario failed_flush "failed flush, drive without FUA"
scenario news_of_a_flush_comes_late
scenario flush_below_a_stack
scenario store_meets_a_failed_flush
scenario load_over_failing_log "a flush fails, drive without FUA" bypass flush after=14 times=1
dmsetup remove ressd
ssd remove ssd0
make_drive fua=0 write_cache=0
scenario without_a_cache
finish
