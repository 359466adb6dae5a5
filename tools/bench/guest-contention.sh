#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-contention.sh THREADS...: how often a spinlock must be waited for in the target, by rounds with so
# many threads (at most 4) each; the disk does nothing (null_blk, as in guest-overhead.sh).
# The kernel counts the slow path of its spinlocks by call stack. Not in virtual time: a machine of two
# processors has none. What else runs on the host makes the figures larger, never smaller.
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh

null=/dev/nullb0
normal=8388608		# sectors: 1 GiB for each of four threads
reserved=2097152		# room for all small writes
transfers=20000		# of each thread
declare -A fastest rounds
numbers=("$@")
tracing=/sys/kernel/debug/tracing
waits=$tracing/events/kprobes/waits

begin_count() {
	echo "hist:keys=stacktrace:size=8192" >"$waits/trigger"
}

# contended MODULE: waits in a call stack through the module since begin_count; "." for any.
contended() {
	cat "$waits/hist" >/tmp/hist
	echo "!hist:keys=stacktrace:size=8192" >"$waits/trigger"
	awk -v module="$1" '
		/stacktrace:/ { inside = 0 }
		index($0, "[" module "]") || module == "." { inside = 1 }
		/hitcount:/ { if (inside) sum += $NF }
		END { print sum + 0 }' /tmp/hist
}

# threads KEY TARGET MODULE NUMBER FIO_WORD...: one round, with an area for each thread; the fastest
# round of KEY-NUMBER is kept.
threads() {
	local key=$1-$4 target=$2 module=$3 number=$4 direction=write output waited ms
	shift 4
	[[ " $* " != *" --rw=randread "* ]] || direction="read"
	begin_count
	output=$(fio_at "$target" 768M --numjobs="$number" --offset_increment=1G --thread \
		--group_reporting --number_ios="$transfers" "$@") || die "fio failed on $target: $output"
	waited=$(contended "$module")
	ms=$(fio_value "$direction" runtime <<<"$output")
	[ "$ms" -lt "${fastest[$key]:-1000000000}" ] || return 0
	fastest[$key]=$ms
	rounds[$key]="$waited $(fio_value "$direction" total_ios <<<"$output") $ms"
}

# tell: figures KEY-NUMBER.waits, .ios and .ms.
tell() {
	local key waited ios ms
	for key in "${!rounds[@]}"; do
		read -r waited ios ms <<<"${rounds[$key]}"
		figure "$key.waits" "$waited"
		figure "$key.ios" "$ios"
		figure "$key.ms" "$ms"
	done
}

# loads NAME TARGET MODULE: all of them in each round. Small writes come last: the blocks that they map
# are logged, and a direct write that supersedes one takes the lock.
loads() {
	local number
	step "$1"
	for number in "${numbers[@]}"; do
		threads "direct-write.$1" "$2" "$3" "$number" --rw=write --bs=4k
		threads "large-write.$1" "$2" "$3" "$number" --rw=write --bs=64k
		threads "read.$1" "$2" "$3" "$number" --rw=randread --bs=4k --randseed=1
	done
	[ "$1" = ressd ] || return 0
	for number in "${numbers[@]}"; do
		threads "small-write.$1" "$2" "$3" "$number" --rw=randwrite --bs=4k --randseed=2
	done
}

load dm-ressd
modprobe null_blk queue_mode=0 gb=5 bs=512
[ -b "$null" ] || die "$null did not appear"
echo 'p:waits native_queued_spin_lock_slowpath' >"$tracing/kprobe_events"
dmsetup create linear --table "0 $normal linear $null 0"
loads dm-linear /dev/mapper/linear dm_mod
dmsetup remove linear
dmsetup create ressd --table "0 $normal ressd $null 0 $null $normal $reserved"
# A disk without memory gives nothing back: the mover must not look.
dmsetup message ressd 0 mover off
loads ressd /dev/mapper/ressd dm_ressd
dmsetup remove ressd
tell
step end
