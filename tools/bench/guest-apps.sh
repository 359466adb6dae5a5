#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-apps.sh PROFILE OPTIONS LOAD SIDE...: one application load on an emulated drive, in a benchmark
# guest, each side on a fresh drive. SIDE: bare, ressd, linear (dm-linear; all ext4), xfs, xfs-ressd, f2fs,
# f2fs-tuned, f2fs-ressd, or record: bare, with a trace of the bios.
# If apps.conf sets REQUESTS, what reaches the drive is recorded.
# OPTIONS: option words of the table line in one word; "probe" and words: see guest-loads.sh.
# Figures, of each side: SIDE.run_ms, SIDE.unmount_ms, SIDE.drain_ms (writing back what the log holds, and
# a flush of the drive), SIDE.erases (of all three), SIDE.bytes (written to the drive) and, where the
# load tells, SIDE.p99_us; of ressd SIDE.small_permille, the writes taken for small and random, and of oltp
# the mover's writes until the load has ended (guest-postmark.sh). The functions of loads and sides are called
# by name.
# shellcheck disable=SC2317
set -euo pipefail
profile=$1
options=$2
load=$3
shift 3
inputs=/apps
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh
# shellcheck source=tools/bench/apps.conf
. ./apps.conf
# shellcheck source=tools/bench/app-loads.sh
. ./app-loads.sh
# shellcheck source=tools/bench/bio-trace.sh
. ./bio-trace.sh

# fs_make KIND: on all of the normal area, which the bare drive has, too. Nothing is discarded: the
# drive is a used one, as ssdsim has filled it.
fs_make() {
	case $1 in
	ext4) make_ext4 ,nodiscard "$target" "$((normal / 8))" ;;
	xfs) mkfs.xfs -q -f -K -d "size=$((normal / 2))k" "$target" ;;
	f2fs) mkfs.f2fs -q -f -t 0 "$target" "$normal" >/dev/null ;;
	f2fs-tuned)
		mkfs.f2fs -q -f -t 0 -s "$(unit_segments)" "$target" "$normal" >/dev/null
		;;
	vfat) mkfs.fat -s 8 "$target" "$((normal / 2))" >/dev/null ;;
	swap) mkswap "$target" "$((normal / 2))" >/dev/null ;;
	esac
}

# fs_mount KIND
fs_mount() {
	case $1 in
	f2fs-tuned) mount -t f2fs -o mode=lfs "$target" /mnt ;;
	swap) swapon "$target" ;;
	*) mount -t "$1" "$target" /mnt ;;
	esac
}

# fs_unmount KIND
fs_unmount() {
	case $1 in
	swap) swapoff "$target" ;;
	*) umount /mnt ;;
	esac
}

# unit_segments: f2fs segments of 2 MiB in an erase unit of the drive, as ressd-probe has found it.
unit_segments() {
	local sectors
	sectors=$(sed -n 's/.*move_block_sectors \([0-9]*\).*/\1/p' <<<"$options")
	echo "$((${sectors:-8192} > 4096 ? ${sectors:-8192} / 4096 : 1))"
}

# file_system SIDE: of a side; a swap area instead for the load of that name.
file_system() {
	case $1 in
	bare | ressd | linear | record)
		if [ "$load" = swap ]; then
			echo swap
		else
			echo "$APPS_FS"
		fi
		;;
	xfs*) echo xfs ;;
	f2fs-tuned) echo f2fs-tuned ;;
	f2fs*) echo f2fs ;;
	esac
}

# open_side: a fresh drive, and what is between it and the file system; sets $target.
open_side() {
	side_drive
	target=$disk
	case $side in
	*ressd) create_ressd ;;
	linear)
		dmsetup create linear --table "0 $normal linear $disk 0"
		target=/dev/mapper/linear
		;;
	record) trace_open "$disk" ;;
	esac
}

close_side() {
	case $side in
	*ressd)
		[ "$(status_word errors)" = 0 ] || die "ressd met errors on $profile"
		dmsetup remove ressd
		;;
	linear) dmsetup remove linear ;;
	record) trace_close bios ;;
	esac
	remove_drive
}

# write_back: until nothing is left in a log, nor in the drive's volatile buffer.
write_back() {
	case $side in
	*ressd) dmsetup message ressd 0 drain ;;
	esac
	sync "$disk"
}

# mark WORDS...: of a trace.
mark() {
	[ "$side" != record ] || trace_mark "$@"
}

# lap KEY: figure SIDE.KEY_ms, the time since the one before.
lap() {
	local now
	now=$(uptime_ms)
	figure "$side.$1_ms" "$((now - lap_start))"
	lap_start=$now
}

# with_requests COMMAND...: if they are recorded.
with_requests() {
	[ -z "${REQUESTS:-}" ] || "$@"
}

# of_load prepare|app: that function of the load, or another load's (other_loads.py).
of_load() {
	if declare -F "$1_$load" >/dev/null; then
		"$1_$load"
	else
		python3 -SE -X utf8 ./other_loads.py "${1/app/run}" "$load" "$SEED" "$OTHER_PERCENT"
	fi
}

prepare() {
	mark setup
	fs_make "$kind"
	fs_mount "$kind"
	of_load prepare
	fs_unmount "$kind"
	write_back
	settle
	fs_mount "$kind"
	settle
}

# on_ressd COMMAND...: where the target is.
on_ressd() {
	[ "$target" != /dev/mapper/ressd ] || "$@"
}

# count_writes, counted_load, counted_writes: of oltp what the mover writes from the first to the second, and
# what the target counts from the first to the third.
count_writes() {
	writes=$(status_word writes)
	small=$(status_word small_writes)
	[ "$load" != oltp ] || count_moves
}

counted_load() {
	[ "$load" != oltp ] || counted_moves "$side"
}

counted_writes() {
	writes=$(($(status_word writes) - writes))
	small=$(($(status_word small_writes) - small))
	figure "$side.small_permille" "$((writes ? small * 1000 / writes : 0))"
}

# A second mount, so the page cache is cold.
run_side() {
	local kind erases bytes lap_start writes small
	side=$1
	kind=$(file_system "$side")
	p99_us=
	step "$side"
	open_side
	prepare
	erases=$(drive_stat nand_erases)
	bytes=$(drive_stat host_write_bytes)
	on_ressd count_writes
	with_requests requests_open
	mark run
	lap_start=$(uptime_ms)
	of_load app
	lap run
	on_ressd counted_load
	mark unmount
	fs_unmount "$kind"
	lap unmount
	mark drain
	write_back
	lap drain
	mark end
	with_requests requests_close "requests.$side"
	figure "$side.erases" "$(($(drive_stat nand_erases) - erases))"
	figure "$side.bytes" "$(($(drive_stat host_write_bytes) - bytes))"
	[ -z "$p99_us" ] || figure "$side.p99_us" "$p99_us"
	on_ressd counted_writes
	close_side
}

load ssdsim
load dm-ressd
RESERVED_MB=$APPS_RESERVED_MB
reserved=$((RESERVED_MB * 2048))
! asks_probe || probe
for side; do
	run_side "$side"
done
echo "$options" >"$figures/options"
touch "$figures/figures"
step end
