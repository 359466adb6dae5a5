#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-peers.sh PROFILE OPTIONS SIDE LOAD...: loads on one fresh emulated drive, bare, with ressd or
# with one of the kernel's other write caches, in a benchmark guest.
# Cache and origin are two regions of the one drive: the cache has the place and the size that ressd
# has as its reserved area. OPTIONS: option words of ressd's table line in one word, or "probe": those
# that ressd-probe advises. SIDE: bare, ressd, writecache, dmcache or bcache. Figures: see
# guest-loads.sh. The load_*, start_*, drain_* and stop_* functions are called by name.
# shellcheck disable=SC2317
set -euo pipefail
profile=$1
options=$2
side=$3
shift 3
loads=("$@")
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh

# regions FIRST: the origin, and the cache without its first FIRST sectors.
regions() {
	dmsetup create origin --table "0 $normal linear $disk 0"
	dmsetup create cache --table "0 $((reserved - $1)) linear $disk $((normal + $1))"
}

remove_regions() {
	dmsetup remove cache
	dmsetup remove origin
}

start_bare() {
	target=$disk
}

drain_bare() {
	:
}

stop_bare() {
	:
}

start_ressd() {
	create_ressd
}

drain_ressd() {
	dmsetup message ressd 0 drain
}

stop_ressd() {
	dmsetup remove ressd
}

# As the kernel's documentation of dm-writecache has it for an SSD; all options at their defaults.
start_writecache() {
	regions 0
	dmsetup create peer --table \
		"0 $normal writecache s /dev/mapper/origin /dev/mapper/cache 4096 0"
	target=/dev/mapper/peer
}

drain_writecache() {
	dmsetup message peer 0 flush
}

stop_writecache() {
	dmsetup remove peer
	remove_regions
}

# As lvmcache makes it: chunks of 64 KiB, metadata format 2, writeback, smq. The metadata are a part
# of the reserved space: 4 MiB or, where that would be more than an eighth, an eighth.
start_dmcache() {
	metadata=$((reserved / 8 < 8192 ? reserved / 8 : 8192))
	regions "$metadata"
	dmsetup create metadata --table "0 $metadata linear $disk $normal"
	dmsetup create peer --table "$(dmcache_table smq)"
	target=/dev/mapper/peer
}

dmcache_table() {
	echo "0 $normal cache /dev/mapper/metadata /dev/mapper/cache /dev/mapper/origin" \
		"128 2 metadata2 writeback $1 0"
}

dmcache_policy() {
	dmsetup suspend peer
	dmsetup reload peer --table "$(dmcache_table "$1")"
	dmsetup resume peer
}

dmcache_dirty() {
	local words
	read -r -a words < <(dmsetup status peer)
	echo "${words[13]}"
}

drain_dmcache() {
	dmcache_policy cleaner
	until [ "$(dmcache_dirty)" = 0 ]; do
		sleep 0.1
	done
	dmcache_policy smq
}

stop_dmcache() {
	dmsetup remove peer
	dmsetup remove metadata
	remove_regions
}

# writeback, and without the latencies above which bcache takes a cache for congested: the kernel's
# documentation advises so where the cache is passed by. It wants buckets as large as erase blocks, but
# refuses a cache of less than 513 of them: a 1024th of the cache each.
start_bcache() {
	local wait
	regions 0
	make-bcache --writeback --block 4k --bucket "$((RESERVED_MB))k" \
		-C /dev/mapper/cache -B /dev/mapper/origin >/dev/null
	echo /dev/mapper/origin >/sys/fs/bcache/register
	echo /dev/mapper/cache >/sys/fs/bcache/register
	for ((wait = 0; wait < 100; wait++)); do
		[ ! -b /dev/bcache0 ] || break
		sleep 0.1
	done
	[ -b /dev/bcache0 ] || die "bcache made no device"
	cache_set=$(echo /sys/fs/bcache/*-*-*)
	echo 0 >"$cache_set/congested_read_threshold_us"
	echo 0 >"$cache_set/congested_write_threshold_us"
	[ "$(cat /sys/block/bcache0/bcache/state)" != "no cache" ] || die "bcache has no cache"
	target=/dev/bcache0
}

# Without a rate that the writeback is held to, until nothing is dirty.
drain_bcache() {
	local bcache=/sys/block/bcache0/bcache
	echo 0 >"$bcache/writeback_percent"
	echo 0 >"$bcache/writeback_delay"
	until [ "$(cat "$bcache/state")" = clean ]; do
		sleep 0.1
	done
	echo 30 >"$bcache/writeback_delay"
	echo 10 >"$bcache/writeback_percent"
}

stop_bcache() {
	echo 1 >"$cache_set/unregister"
	echo 1 >/sys/block/bcache0/bcache/stop
	until dmsetup remove cache 2>/dev/null; do
		sleep 0.1
	done
	until dmsetup remove origin 2>/dev/null; do
		sleep 0.1
	done
}

bring_home() {
	"drain_$side"
}

load_burst-4k() {
	step "$side-burst-4k"
	burst burst-4k 1
}

load ssdsim
load dm-ressd
for module in dm-writecache dm-cache dm-cache-smq bcache; do
	modprobe "$module" || die "the kernel has no module $module"
done
# A cache that writes back to a drive of four writes a second holds its users up for minutes.
echo 0 >/proc/sys/kernel/hung_task_timeout_secs
[ "$side" != ressd ] || ! asks_probe || probe
step "$side-start"
side_drive
"start_$side"
for load in "${loads[@]}"; do
	"load_$load"
done
"stop_$side"
remove_drive
step end
