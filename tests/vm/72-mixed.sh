#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 72-mixed.sh: all at once, at random: a drive, options of the table line, and beside the oracle's load
# other options by reload and by message, suspends, drains, flushes, recovers, the mover off and on,
# status. A life of the device ends by itself, after errors of the drive, or in a power cut; everything
# acknowledged must be there in the next one.
#   72-mixed.sh [LIVES [SEED]]
# guest: --timeout 900 --file tests/vm/errors.sh --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/errors.sh
. ./errors.sh

lives=${1:-9}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
drive_lives=3 # of each drive
echo "# seed $seed"
RANDOM=$((seed % 32768))

profiles=(samsung ocz intel transcend)
unit="move_block_sectors 1024 log_page_sectors 64 move_fill_blocks 1"
bundle_rp="dispatch bundle_rp bundle_sectors 2048 dispatch_depth 2"
pai="split_write_sectors 64 align_sectors 32 dispatch pai dispatch_depth 1 pending_expire_ms 50"
# Of each group one is chosen, among them nothing.
choices=(
	"on_full wait|on_full wait|on_full bypass"
	"|commit writethrough|commit_interval_ms 5|commit_interval_ms 60000"
	"|log_discard on"
	"||route adaptive|route never"
	"|pace burst|pace even|pace idle"
	"|small_write_sectors 8|small_write_sectors 128"
	"|move_threshold 10|move_threshold 90"
	"|move_batch_sectors 64|move_batch_sectors 4096"
	"|streams 1|log_align_sectors 32|$unit open_units 4|$unit log_rewrite on"
	"|split_write_sectors 72|split_read_sectors 48 split_write_sectors 96 align_sectors 24|$pai"
	"|dispatch bundle bundle_sectors 512 dispatch_depth 1|$bundle_rp"
)
settings=("pace even" "pace burst" "pace idle" "move_threshold 5" "move_threshold 80"
	"commit_interval_ms 20" "route always" "route adaptive" "small_write_sectors 32"
	"on_full bypass" "on_full wait")
events=(reload reload message suspend drain commit mover recover status)

# draw WORD...: sets drawn to one of them.
draw() {
	local number=$((RANDOM % $# + 1))
	drawn=${!number}
}

# draw_options: sets options. There is one dispatch only.
draw_options() {
	local group alternatives
	options=()
	for group in "${choices[@]}"; do
		IFS='|' read -r -a alternatives <<<"$group"
		draw "${alternatives[@]}"
		[[ " ${options[*]}" == *" dispatch "* && $drawn == dispatch* ]] && continue
		# shellcheck disable=SC2206 # words
		options+=($drawn)
	done
}

# new_drive: and a blank device on it, with covers or without.
new_drive() {
	remove_ressd
	[ ! -e /dev/ssd0 ] || ssd remove ssd0
	draw "${profiles[@]}"
	ssd create ssd0 "profiles/$drawn.conf" capacity_mb=64 track_volatile=1 prefill=0 \
		discard=1 fua=$((RANDOM % 2)) queue_depth=$((RANDOM % 8 + 1)) || return 1
	echo "# drive: $drawn"
	normal=$(($(sectors_of /dev/ssd0) - reserved))
	# shellcheck disable=SC2034 # of errors.sh
	log_range="range=$normal+$reserved"
	draw on off
	cover=$drawn fresh && dmsetup remove ressd
}

# --- what happens beside the load; each may fail once the drive does ------------------------

event_reload() {
	local flags
	draw "" --noflush --nolockfs "--noflush --nolockfs"
	flags=$drawn
	draw_options
	dmsetup load ressd --table "$(table_line /dev/ssd0 "$reserved" "${options[@]}")" || return 1
	# shellcheck disable=SC2086 # words
	dmsetup suspend $flags ressd && dmsetup resume ressd
}

event_message() {
	draw "${settings[@]}"
	# shellcheck disable=SC2086 # words
	dmsetup message ressd 0 set $drawn
}

event_suspend() {
	dmsetup suspend ressd && pause "0.$((RANDOM % 3))" && dmsetup resume ressd
}

event_drain() {
	dmsetup message ressd 0 drain
}

event_commit() {
	commit
}

event_mover() {
	dmsetup message ressd 0 mover off && pause "0.$((RANDOM % 4))" &&
		dmsetup message ressd 0 mover on
}

# Nothing is wrong, or it may not help.
event_recover() {
	dmsetup message ressd 0 recover || [ "$(status_state ressd)" != rw ]
}

event_status() {
	dmsetup status ressd && dmsetup table ressd
}

# --- a life -----------------------------------------------------------------------------------

# arm ENDING: the drive fails, some time from now.
arm() {
	case $1 in
	errors) random_fault ;;
	cut) ssd cut ssd0 us=$((RANDOM * 60 + 50000)) seed="$RANDOM" ;;
	esac
}

is_suspended() {
	[ "$(dmsetup info -c --noheadings -o suspended ressd)" = Suspended ]
}

# happen ENDING LOAD: events, until the load has ended, or a reload could not be ended.
happen() {
	local event status
	while kill -0 "$2" 2>/dev/null; do
		draw "${events[@]}"
		event=$drawn status=0
		"event_$event" >/tmp/event 2>&1 || status=$?
		echo "$event: $status"
		[ "$status" -eq 0 ] || [ "$1" != nothing ] || { cat /tmp/event; return 1; }
		if is_suspended && ! dmsetup resume ressd; then
			echo "it stays suspended"
			return
		fi
		pause "0.$((RANDOM % 3))"
	done
}

# The device goes, whatever its state. What waits for it ends.
let_go() {
	if is_suspended; then
		kill -9 "$1" 2>/dev/null
		dmsetup remove --force ressd
	fi
	wait "$1"
	load_status=$?
	dmsetup info ressd >/dev/null 2>&1 || return 0
}

# one_life ENDING: leaves no device.
one_life() {
	local ending=$1 load
	draw_options
	echo "options ${options[*]}"
	make_ressd ressd /dev/ssd0 "$reserved" "${options[@]}" || return 1
	: >/tmp/load-output
	oracle run --may-fail --threads 4 --flush-percent 8 --seconds 3 >/tmp/load-output 2>&1 &
	load=$!
	load_begins "$load" || return 1
	arm "$ending"
	happen "$ending" "$load" || return 1
	let_go "$load"
	case $ending-$load_status in
	nothing-0) dmsetup remove ressd ;;
	errors-* | cut-*) [ "$load_status" -ne 1 ] && end_errors "$ending" ;;
	*)
		echo "the load ended with $load_status"
		return 1
		;;
	esac
}

# The drive is well again when nothing of the log's memory is left that could pass for durable.
end_errors() {
	local state
	state=$(status_state ressd 2>/dev/null)
	echo "state ${state:-none}"
	if [ "$1" = cut ]; then
		remove_ressd && ssd power ssd0 on
		return
	fi
	heal
	if [ -n "$state" ] && [ $((RANDOM % 2)) -eq 0 ]; then
		back_in_service rw bypass || return 1 # bypass: with route never
	fi
	remove_ressd
}

# all_there: to a new life, and with the last drain at home.
all_there() {
	draw_options
	make_ressd ressd /dev/ssd0 "$reserved" "${options[@]}" && oracle check &&
		if [ $((RANDOM % 3)) -eq 0 ]; then
			dmsetup message ressd 0 drain
		fi && dmsetup remove ressd
}

# try NAME COMMAND...: a check whose command changes this shell, of which its choices are a part.
try() {
	if "${@:2}" >/tmp/said 2>&1; then
		pass "$1"
		return
	fi
	fail "$1" "'${*:2}' ended with an error"
	sed 's/^/# /' /tmp/said /tmp/load-output
	finish
}

load dm-ressd
load ssdsim
: >/tmp/load-output
for ((life = 1; life <= lives; life++)); do
	[ $((life % drive_lives)) -ne 1 ] || try "a new drive" new_drive
	draw nothing errors cut
	ending=$drawn
	try "life $life ends by $ending" one_life "$ending"
	sed 's/^/# /' /tmp/said
	try "life $life: everything acknowledged is there" all_there
done
echo "# result mixed/lives/count $lives 1 >0"
finish
