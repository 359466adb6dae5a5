#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 67-log-writes.sh: dm-log-writes under ressd records every write, and what a crash could leave is made
# again for the moment of each flush and FUA write: only what was durable then; and for a moment before
# each flush: of what it covers any sectors, drawn at random. ressd must come up on it and hold
# everything that was acknowledged by then. The oracle's journal is on the recorded disk too, so that it
# comes back as it was at that moment.
#   67-log-writes.sh [MOMENTS [SEED]]     MOMENTS: so many of each load, drawn at random; 0 is all
# guest: --timeout 850
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

moments=${1:-12}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
reserved=4096
folder=/run/mount
echo "# seed $seed"
RANDOM=$((seed % 32768))
mkdir -p "$folder"

# devices PREFIX DISK: on the disk, a ressd device and a place for the journal.
devices() {
	local prefix=$1 disk=$2 size
	size=$(sectors_of "$disk")
	dmsetup create "$prefix-lower" --table "0 $((normal + reserved)) linear $disk 0" &&
		dmsetup create "$prefix-journal" --table "0 $((size - normal - reserved)) linear \
			$disk $((normal + reserved))" &&
		dmsetup create "$prefix-ressd" --table "0 $normal ressd /dev/mapper/$prefix-lower 0 \
			/dev/mapper/$prefix-lower $normal $reserved ${#options[@]} ${options[*]}"
}

no_devices() {
	local name
	for name in ressd journal lower; do
		! dmsetup info "$1-$name" >/dev/null 2>&1 || dmsetup remove "$1-$name" || return 1
	done
}

# make_turns: /dev/mapper/turns over the recorder, for which its flushes end in their order (see
# flushes_are_noted_as_they_end): dm-delay sends flushes from one thread, and the disk has no cache, so
# that each has ended before the next one begins.
make_turns() {
	is_loaded dm_delay || modprobe dm-delay
	dmsetup create turns --table "0 $(sectors_of /dev/disk) delay /dev/mapper/recorder 0 0 \
		/dev/mapper/recorder 0 0 /dev/mapper/recorder 0 1"
}

# record LOAD...: the load on a new disk, with everything that reaches the disk recorded.
record() {
	make_disk disk "$disk_mib" cache_size=0
	make_disk log 1024 cache_size=0
	dmsetup create recorder --table \
		"0 $(sectors_of /dev/disk) log-writes /dev/disk /dev/log" &&
		make_turns && devices recorded /dev/mapper/turns && "$@" && no_devices recorded &&
		dmsetup remove turns && dmsetup remove recorder && remove_disk disk
}

# at_moment "[FIRST LAST SEED]" LOOK...: a view of the replayed disk that may be written to, with ressd on
# it; also with a part of these entries.
at_moment() {
	local part status=0
	read -r -a part <<<"$1"
	shift
	dmsetup create view --table \
		"0 $(sectors_of /dev/disk) snapshot /dev/disk /dev/changes N 8" || return 1
	[ ${#part[@]} -eq 0 ] || ressd-replay subset /dev/log /dev/mapper/view "${part[@]}" || return 1
	devices view /dev/mapper/view && "$@" || status=$?
	no_devices view && dmsetup remove view || return 1
	return "$status"
}

# chosen: numbers of the entries to look at, ascending; only those behind a mark "ready", if any.
chosen() {
	ressd-replay list /dev/log >/tmp/entries
	! grep -q ' mark ready$' /tmp/entries || sed -i '1,/ mark ready$/d' /tmp/entries
	sed -n 's/ \(flush\|fua\)$//p' /tmp/entries >/tmp/all
	if [ "$moments" -eq 0 ]; then
		cat /tmp/all
	else
		awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $1 }' /tmp/all | sort -n |
			head -n "$moments" | cut -d ' ' -f 2 | sort -n
	fi
}

# flush_before ENTRY: the number of the last flush before it, or nothing.
flush_before() {
	awk -v entry="$1" '$1 >= entry { exit } $2 == "flush" { last = $1 } END { print last }' /tmp/entries
}

# look NAME WHEN "[FIRST LAST SEED]" LOOK...
look() {
	local name=$1 when=$2
	shift 2
	at_moment "$@" >/tmp/look 2>&1 && return
	fail "$name, $when" "what was acknowledged is not there"
	sed 's/^/# /' /tmp/look
	return 1
}

# apply LAST: the entries from $next to LAST.
apply() {
	[ "$next" -gt "$1" ] || ressd-replay apply /dev/log /dev/disk "$next" "$1" || return
	next=$(($1 + 1))
}

# replay NAME LOOK...: the recording, stopping to look at each chosen moment; if that is a flush which
# covers something, also before it. What is FUA behind the flush before was durable by then.
replay() {
	local name=$1 number numbers next=0 looks=0 parts=0 before
	shift
	make_disk disk "$disk_mib" cache_size=0
	make_disk changes 256 cache_size=0
	mapfile -t numbers < <(chosen)
	for number in "${numbers[@]}"; do
		before=$(flush_before "$number")
		if [ -n "$before" ] && grep -q "^$number flush" /tmp/entries &&
			[ $((before + 1)) -lt "$number" ]; then
			apply "$before" || return 1
			look "$name" "a part of entries $next to $((number - 1))" \
				"$next $((number - 1)) $RANDOM" "$@" || return 1
			parts=$((parts + 1))
		fi
		apply "$number" && look "$name" "entry $number" "" "$@" || return 1
		looks=$((looks + 1))
	done
	[ "$looks" -gt 0 ] || fail "$name" "there is no moment to look at"
	pass "$name: right at $looks of $(wc -l </tmp/all) flushes and FUA writes, before $parts of them with a part of what they cover; $(tail -n 1 /tmp/look)"
	all_looks=$((all_looks + looks + parts))
	remove_disk disk
	remove_disk changes
	remove_disk log
}

# --- why the load makes no FUA writes ------------------------------------------------------------

# one_block LETTER DD_FLAGS: to the recorded disk.
one_block() {
	head -c 4096 /dev/zero | tr '\0' "$1" |
		dd of=/dev/mapper/recorder bs=4096 iflag=fullblock oflag="$2" conv=notrunc status=none
}

letter_of() {
	head -c 1 "$1"
}

# A block is written, and written again with FUA; then all is flushed. The disk has the second one. The
# recording, replayed whole, leaves the first: it notes a FUA write when it completes, and a plain one
# only at the next flush (normal_end_io() in Linux 6.1). Should this fail, a newer kernel does better,
# and load_sectors may do without --no-fua.
fua_is_noted_too_early() {
	local last
	make_disk disk 16 cache_size=0
	make_disk log 64 cache_size=0
	dmsetup create recorder --table \
		"0 $(sectors_of /dev/disk) log-writes /dev/disk /dev/log" &&
		one_block o direct && one_block n direct,dsync && sync /dev/mapper/recorder
	dmsetup remove recorder
	check "FUA after a plain write: the disk has the newer one" equals n letter_of /dev/disk
	last=$(ressd-replay list /dev/log | tail -n 1 | cut -d ' ' -f 1)
	check "FUA after a plain write: is replayed" ressd-replay apply /dev/log /dev/disk 0 "$last"
	forget_cache
	check "FUA after a plain write: in the wrong order" equals o letter_of /dev/disk
	remove_disk disk
	remove_disk log
}

# --- why a replay may show an older file -------------------------------------------------------------

# make_slow_to_flush NAME: a disk of 32 MiB that begins with quick writes and whose flushes take seconds,
# those of one processor one after the other.
make_slow_to_flush() {
	make_disk fast 16 cache_size=0
	make_disk slow 16 irqmode=2 completion_nsec=2000000000
	dmsetup create "$1" --table "$(
		echo "0 32768 linear /dev/fast 0"
		echo "32768 32768 linear /dev/slow 0"
	)"
}

no_slow_to_flush() {
	dmsetup remove "$1" && remove_disk fast && remove_disk slow
}

# let_flushes_pass: a block is written and a flush begins, which waits behind another one; the block is
# written again, and a second flush by another processor passes the first one, unless this machine is
# slow.
let_flushes_pass() {
	local before first passed=
	dmsetup create recorder --table "0 $(sectors_of /dev/mapper/tardy) log-writes \
		/dev/mapper/tardy /dev/log"
	taskset 1 sync /dev/mapper/recorder &
	before=$!
	wait_until sleeps_in_kernel "$before"
	one_block o direct
	taskset 1 sync /dev/mapper/recorder &
	first=$!
	wait_until sleeps_in_kernel "$first" && one_block n direct &&
		taskset 2 sync /dev/mapper/recorder && kill -0 "$first" && passed=1
	wait "$before" "$first"
	dmsetup remove recorder
	[ -n "$passed" ]
}

# Each write is covered by a flush, and the disk has the newer block. But the recording has the older one
# last, for it notes what a flush covers when that has ended. So a replay may show an older block
# though neither the disk nor what is above it is at fault: fstests that replay the load of several
# processes may fail by this on any disk with more than one queue.
flushes_are_noted_as_they_end() {
	local last tries passed=
	make_slow_to_flush tardy
	make_disk log 64 cache_size=0
	make_disk disk 32 cache_size=0
	for ((tries = 1; tries <= 5; tries++)); do
		let_flushes_pass && passed=1 && break
	done
	echo "# flushes that pass: ${passed:-0} in $tries tries"
	if [ -n "$passed" ]; then
		forget_cache
		check "flushes that pass: the disk has the newer block" \
			equals n letter_of /dev/mapper/tardy
		last=$(ressd-replay list /dev/log | tail -n 1 | cut -d ' ' -f 1)
		check "flushes that pass: are replayed" \
			ressd-replay apply /dev/log /dev/disk 0 "$last"
		forget_cache
		check "flushes that pass: in the wrong order" equals o letter_of /dev/disk
	fi
	check "flushes that pass: all is removed" no_slow_to_flush tardy
	remove_disk disk
	remove_disk log
}

# --- sectors -----------------------------------------------------------------------------------

# No FUA writes, see above. The log's own never follow a plain write of the same place that is not
# flushed.
load_sectors() {
	ressd-oracle run --journal /dev/mapper/recorded-journal --seed "$seed" --threads 3 \
		--operations "$operations" --flush-percent 6 --no-fua "$@" /dev/mapper/recorded-ressd
}

look_at_sectors() {
	ressd-oracle check --journal /dev/mapper/view-journal --seed "$seed" /dev/mapper/view-ressd
}

# --- files ---------------------------------------------------------------------------------------

load_files() {
	mkfs.ext4 -q /dev/mapper/recorded-ressd && sync &&
		dmsetup message recorder 0 mark ready &&
		mount /dev/mapper/recorded-ressd "$folder" || return 1
	ressd-oracle files-run --journal /dev/mapper/recorded-journal --seed "$seed" --threads 3 \
		--operations "$operations" "$folder"
	umount "$folder"
}

look_at_files() {
	local status=0
	mount /dev/mapper/view-ressd "$folder" && umount "$folder" &&
		e2fsck -fn /dev/mapper/view-ressd && mount /dev/mapper/view-ressd "$folder" || return 1
	ressd-oracle files-check --journal /dev/mapper/view-journal --seed "$seed" "$folder" ||
		status=$?
	umount "$folder"
	return "$status"
}

load dm-ressd
modprobe dm-log-writes
modprobe dm-snapshot
modprobe ext4
all_looks=0

fua_is_noted_too_early
flushes_are_noted_as_they_end
normal=8192
disk_mib=80
operations=60
options=(on_full wait)
check "sectors: recorded" record load_sectors
replay "sectors" look_at_sectors
options=(on_full bypass log_align_sectors 32)
check "small writes: recorded" record load_sectors --small
replay "small writes" look_at_sectors
normal=49152
disk_mib=32
operations=20
options=(commit writethrough on_full wait)
moments=$((moments / 3))
check "files: recorded" record load_files
replay "files" look_at_files
echo "# result crash/log-writes/moments $all_looks 1 >0"
finish
