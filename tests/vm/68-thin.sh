#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 68-thin.sh: file systems on thin volumes, whose pool has its data and its metadata on ressd, with
# discards down to the disk.  Several processes change files in every way that a file system knows;
# dm-log-writes over the volume records what reaches it. The recording is then replayed onto thin
# volumes of the same pool up to moments at which a file was synced; the file system recovers, and the
# file must be what it was, or at least what the same recording gives on a plain disk, for a recording
# may be wrong (ressd-thin does all this).
#   68-thin.sh [RUNS [SEED [LAYERS [FILE_SYSTEMS [LOOKS [OPERATIONS]]]]]]
# RUNS of each file system on each layer with the seeds SEED, SEED + 1 ...; LAYERS and FILE_SYSTEMS are
# names from below with commas between them. The layer linear is dm-linear instead of ressd.
# guest: --timeout 850
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

runs=${1:-1}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
layers=${3:-always,switching}
file_systems=${4:-xfs,ext4}
looks=${5:-6}
operations=${6:-100}
echo "# seed $seed"

reserved=4096            # sectors: the mover never rests
metadata=$((4 * 2048))
# mkfs.xfs makes file systems of less than 300 MB only for those who say that they test.
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1

# --- layers under the pool ------------------------------------------------------------------------

# options_of LAYER: of ressd.
options_of() {
	case $1 in
	always) echo on_full wait pace burst move_threshold 90 ;;
	adaptive) echo route adaptive move_threshold 90 ;;
	switching) echo route adaptive move_threshold 90 small_write_sectors 32 ;;
	even) echo on_full wait pace even move_threshold 90 log_discard on ;;
	idle) echo on_full bypass pace idle small_write_sectors 64 log_discard on ;;
	*)
		echo "there is no layer $1" >&2
		return 1
		;;
	esac
}

# linear_part NAME DEVICE FIRST SECTORS
linear_part() {
	dmsetup create "$1" --table "0 $4 linear $2 $3"
}

# make_lower LAYER: /dev/mapper/lower.
make_lower() {
	local line options
	if [ "$1" = linear ]; then
		linear_part lower /dev/disk 0 "$(sectors_of /dev/disk)"
	else
		line=$(options_of "$1") && read -r -a options <<<"$line" &&
			make_ressd lower /dev/disk "$reserved" "${options[@]}"
	fi
}

# make_pool NAME DEVICE
make_pool() {
	local size=$(($(sectors_of "$2") - metadata))
	linear_part "$1-meta" "$2" 0 "$metadata" && linear_part "$1-data" "$2" "$metadata" "$size" &&
		dmsetup create "$1" --table \
			"0 $size thin-pool /dev/mapper/$1-meta /dev/mapper/$1-data 128 0"
}

# make_layer LAYER: with the pool on it.
make_layer() {
	# A disk that takes its time, so that I/Os meet.
	make_disk disk 320 irqmode=2 completion_nsec=100000 && make_lower "$1" &&
		make_pool pool /dev/mapper/lower
}

remove_layer() {
	local name
	for name in pool pool-data pool-meta lower; do
		dmsetup remove "$name" || return 1
	done
	remove_disk disk
}

# The route changes every now and then, as long as the file /run/switching is there.
switch_routes() {
	local route
	while :; do
		for route in always never adaptive; do
			[ -e /run/switching ] || return
			dmsetup message lower 0 set route "$route"
			sleep 0.2
		done
	done
}

# --- file systems -----------------------------------------------------------------------------------

# make_of NAME, check_of NAME: commands that make and check it.
make_of() {
	case $1 in
	xfs) echo mkfs.xfs -q -f -d agcount=2 -l size=6m -m reflink=1 ;;
	xfs-plain) echo mkfs.xfs -q -f -d agcount=2 -l size=6m -m reflink=0 ;;
	ext4) echo mkfs.ext4 -q -b 4096 -N 64 -J size=4 ;;
	*)
		echo "there is no file system $1" >&2
		return 1
		;;
	esac
}

check_of() {
	[ "$1" = ext4 ] && echo e2fsck -fn || echo xfs_repair -n
}

# --- all of them ------------------------------------------------------------------------------------

# series NAME FILE_SYSTEM RUNS [OPTION]
series() {
	local make check started=$SECONDS status=0
	make=$(make_of "$2") && check=$(check_of "$2") || return 1
	ressd-thin --runs "$3" --seed "$seed" --looks "$looks" --operations "$operations" "${@:4}" \
		"${2%-*}" "$make" "$check" >/tmp/runs 2>/tmp/errors || status=$?
	check "$1, $2: $(sed -n 's/^ressd-thin: \(.* runs\)/\1/p' /tmp/runs)" test "$status" -eq 0
	echo "# $1, $2: $((SECONDS - started)) s"
	if [ "$status" -ne 0 ]; then
		sed 's/^/# /' /tmp/runs /tmp/errors
	else
		grep -E 'DIFFERENCE|found on|on a plain disk' /tmp/runs | sed 's/^/# /'
	fi
}

# counters LAYER: ressd had work to do.
counters() {
	echo "# $1: $(dmsetup status lower)"
	check "$1: no errors" equals 0 status_value lower errors
	check "$1: discards reached it" at_least lower discards 1
	# Whether it takes the log at all is adaptive's own business.
	[ "$1" != adaptive ] || return
	check "$1: the log was used" at_least lower accepted "$((50 * runs))"
	check "$1: the mover moved" at_least lower moved_blocks "$((10 * runs))"
}

layer_runs() {
	local file_system switcher=
	check "$1: a pool" make_layer "$1"
	if [ "$1" = switching ]; then
		: >/run/switching
		switch_routes &
		switcher=$!
	fi
	for file_system in ${file_systems//,/ }; do
		series "$1" "$file_system" "$runs"
	done
	rm -f /run/switching
	wait $switcher
	[ "$1" = linear ] || counters "$1"
	check "$1: all is removed" remove_layer
}

# flush_is_passed LAYER: the smallest load whose recording is wrong by itself: the file is, and that is not
# held against the layer.
flush_is_passed() {
	local file_system
	check "a flush is passed: a pool" make_layer "$1"
	for file_system in ${file_systems//,/ }; do
		series "a flush is passed" "$file_system" 1 --passing
		check "a flush is passed, $file_system: the recording is wrong" \
			grep -q ' 1 recorded wrongly, 0 different$' /tmp/runs
	done
	check "a flush is passed: all is removed" remove_layer
}

load dm-ressd
for module in dm-log-writes dm-thin-pool dm-delay dm-multipath dm-round-robin ext4 xfs; do
	modprobe "$module"
done
make_disk log 512 cache_size=0
make_disk plain-disk 112
check "a pool on a plain disk" make_pool plain /dev/plain-disk
for layer in ${layers//,/ }; do
	layer_runs "$layer"
done
flush_is_passed "${layers%%,*}"
finish
