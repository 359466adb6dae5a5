#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 30-reload.sh: options change under load, by reload and by message, and nothing is lost; the line
# that `dmsetup table` prints makes the same device again.
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384

start_load() {
	begin_load oracle run --operations 1500 --threads 4
}

# stop_load NAME: everything must be as it was written.
stop_load() {
	end_load "$1"
	forget_cache
	check "$1: nor does a look at everything" oracle check
}

# reload FLAGS KEY VALUE...: the device gets new options; FLAGS are those of suspend.
reload() {
	local flags=()
	read -r -a flags <<<"$1"
	shift
	dmsetup load ressd --table "$(table_line /dev/d0 "$reserved" "$@")" || return 1
	dmsetup suspend "${flags[@]}" ressd && dmsetup resume ressd
}

# options_are WORDS: the end of the table line.
options_are() {
	equals "$1" eval 'dmsetup table ressd | cut -d " " -f 9-'
}

reload_under_load() {
	local flags options i=0
	start_load
	for flags in "" "--noflush" "--nolockfs" "--noflush --nolockfs"; do
		# The words in the order in which the table prints them.
		for options in "streams 4 commit writethrough" "route never" \
			"move_batch_sectors 2048 log_align_sectors 64 on_full wait" \
			"split_write_sectors 48 align_sectors 24 dispatch pai pending_expire_ms 100 dispatch_depth 1" \
			"dispatch bundle_rp bundle_sectors 4096 dispatch_depth 2"; do
			i=$((i + 1))
			# shellcheck disable=SC2086
			check "reload $i with '$flags' to '$options'" reload "$flags" $options
			# shellcheck disable=SC2086
			set -- $options
			check "reload $i: the table says so" options_are "$#${options:+ $options}"
		done
	done
	stop_load "reload"
}

# The resume of another table while nothing was suspended; and a table that is cleared again.
swap_tables() {
	check "a table is loaded" dmsetup load ressd --table \
		"$(table_line /dev/d0 "$reserved" streams 8)"
	check "and cleared" dmsetup clear ressd
	check "the live one stays" options_are 0
	check "a table is loaded again" dmsetup load ressd --table \
		"$(table_line /dev/d0 "$reserved" streams 8)"
	check "resume alone puts it in force" dmsetup resume ressd
	check "the new one is live" options_are "2 streams 8"
}

suspend_under_load() {
	local i
	start_load
	for i in $(seq 8); do
		check "suspend $i" dmsetup suspend ressd
		check "suspend $i: status and table answer" eval \
			'dmsetup status ressd && dmsetup table ressd'
		check "resume $i" dmsetup resume ressd
		sleep 0.1
	done
	stop_load "suspend"
}

set_under_load() {
	local option
	start_load
	for option in "on_full wait" "commit writethrough" "log_align_sectors 128" "pace burst" \
		"move_batch_sectors 64" "move_threshold 90" "move_batch_sectors 8192" "streams 1" "small_write_sectors 64" \
		"route never" "route adaptive" "pace idle" "move_block_sectors 1024" \
		"move_fill_blocks 2" "log_discard on" "log_page_sectors 32" "pace even" "route always" \
		"commit_interval_ms 3" "commit writeback" \
		"log_align_sectors 0" "on_full bypass" "small_write_sectors 8"; do
		# shellcheck disable=SC2086
		check "set $option" dmsetup message ressd 0 set $option
		check "the table says: $option" grep -q -- "${option% *}" <(
			dmsetup table ressd
			# An option that is at its default is not printed.
			echo "log_align_sectors on_full route commit pace"
		)
		sleep 0.1
	done
	check "mover off" dmsetup message ressd 0 mover off
	check "mover on" dmsetup message ressd 0 mover on
	check "the log has been at work" at_least ressd accepted 100
	check "and the mover" at_least ressd moved_blocks 100
	check "clear_stats" dmsetup message ressd 0 clear_stats
	stop_load "set"
}

# The mover's buffer grows by message: blocks side by side, logged out of order, are written back several in one
# write. With batches of one block each would need its own.
larger_batch() {
	blkdiscard -f /dev/d0
	make_ressd ressd /dev/d0 "$reserved" move_batch_sectors 8
	dmsetup message ressd 0 mover off
	check "larger batch: small writes" fio --name=small --filename=/dev/mapper/ressd --rw=randwrite \
		--bs=4k --size=1M --direct=1 --end_fsync=1 --output=/tmp/fio-output
	copy_device /dev/mapper/ressd /tmp/before 2048
	check "larger batch: set by a message" dmsetup message ressd 0 set move_batch_sectors 2048
	check "larger batch: the table says so" options_are "2 move_batch_sectors 2048"
	check "larger batch: drained" dmsetup message ressd 0 drain
	check "larger batch: most blocks" at_least ressd moved_blocks 150
	check "larger batch: in few writes" test \
		$((4 * $(status_value ressd moved_runs))) -le "$(status_value ressd moved_blocks)"
	dmsetup remove ressd
	forget_cache
	check "larger batch: everything is in its place" same_as /tmp/before /dev/d0
}

# The printed line, options set by message included, makes the same device again.
round_trip() {
	local line
	line=$(dmsetup table ressd)
	check "the line has what was set" grep -q 'move_threshold 90' <<<"$line"
	check "the printed line can be loaded" dmsetup load ressd --table "$line"
	check "and put in force" dmsetup resume ressd
	check "and is printed again" equals "$line" dmsetup table ressd
	check "is removed" dmsetup remove ressd
	check "the printed line makes the device again" dmsetup create ressd --table "$line"
	check "which is printed once more" equals "$line" dmsetup table ressd
	check "and holds everything" oracle check
	dmsetup remove ressd
}

load dm-ressd
keep_shaping
make_disk d0 96 irqmode=2 completion_nsec=200000
make_ressd ressd /dev/d0 "$reserved"
reload_under_load
check "back to the defaults" reload ""
swap_tables
suspend_under_load
set_under_load
round_trip
larger_batch
dmsetup remove shaped
finish
