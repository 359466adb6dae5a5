#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 66-power-switch.sh: an emulated SSD loses power at every kind of moment: in a write of the log, in
# the mover's writes, in a flush, in recovery, or anywhere. What it had not flushed is then lost, kept
# or torn, sector by sector. Everything acknowledged must be there afterwards: sectors, files on ext4
# and on xfs, and the commits of a database.
#   66-power-switch.sh [CUTS [SEED [KIND...]]]
# guest: --timeout 850 --file tests/vm/database.sh --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/database.sh
. ./database.sh

cuts=${1:-20}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
kinds=("${@:3}")
[ ${#kinds[@]} -gt 0 ] || kinds=(sectors ext4 xfs database)
reserved=2048 # small, so that the mover is often at work
mapper=/dev/mapper/ressd
folder=/run/mount
echo "# seed $seed"
RANDOM=$((seed % 32768))
mkdir -p "$folder"

# What a life of each kind is made of. The drives differ in how they queue and whether they take FUA.
declare -A normal_mib=([sectors]=8 [ext4]=32 [xfs]=304 [database]=24)
declare -A drive=(
	[sectors]="profiles/samsung.conf capacity_mb=64 queue_depth=8 fua=1 discard=1"
	[ext4]="profiles/ocz.conf capacity_mb=64 fua=1"
	[xfs]="profiles/samsung.conf capacity_mb=512 queue_depth=4"
	[database]="profiles/ocz.conf capacity_mb=64 queue_depth=4"
)
options=(
	"on_full wait"
	"on_full bypass"
	"on_full wait log_align_sectors 32 pace burst log_discard on"
	"commit writethrough on_full wait"
	"on_full wait commit_interval_ms 5 move_threshold 90 log_discard on"
	"on_full wait move_block_sectors 1024 log_page_sectors 64 log_rewrite on"
	"on_full wait dispatch bundle_rp bundle_sectors 2048 dispatch_depth 1 split_write_sectors 72"
	"split_read_sectors 64 split_write_sectors 64 align_sectors 32 dispatch pai dispatch_depth 1 pending_expire_ms 50"
)

ssd() {
	sh ./ssdsim.sh "$@"
}

is_on() {
	[[ $(ssd power ssd0) == "power on"* ]]
}

random() {
	echo $(((RANDOM * 32768 + RANDOM) % $1))
}

# --- the kinds of load: each ends when the drive fails -------------------------------------

prepare_sectors() {
	rm -f /tmp/journal
}

# Checks and loads in one. Small writes alone take another way through the log, and then only the
# mover writes to the normal area.
use_sectors() {
	local small=()
	[ $((($1 / 5 + $1) % 2)) -eq 1 ] || small=(--small)
	arm "$2"
	ressd-oracle run --journal /tmp/journal --seed "$seed" --may-fail --threads 4 \
		--flush-percent 8 --seconds 120 "${small[@]}" "$mapper"
}

prepare_files() {
	rm -f /tmp/files-journal
	"$@" "$mapper" && sync
}

# This drive tears a write of 4 KiB at any of its sectors. ext4 with checksums takes a commit block that
# was being written then for damage of its journal, will not mount and wants e2fsck, on a bare drive as
# well (jbd2_journal_load() in Linux 6.1: seen with four bytes changed in the last sector of the last
# commit block). Without checksums only the first sector of a commit block matters. Of a file system of
# this size mkfs makes blocks of 1 KiB, of which little is logged, and nothing where pages have 16 KiB.
make_ext4() {
	mkfs.ext4 -q -b 4096 -O ^metadata_csum "$@"
}

prepare_ext4() {
	prepare_files make_ext4
}

prepare_xfs() {
	prepare_files mkfs.xfs -q
}

prepare_database() {
	prepare_files make_ext4 && mount "$mapper" "$folder" &&
		database_begin "$folder/bank" && umount "$folder"
}

# mount_clean FSCK...: the file system's log is replayed, then nothing is left to repair.
mount_clean() {
	mount "$mapper" "$folder" && umount "$folder" && "$@" "$mapper" && mount "$mapper" "$folder"
}

use_files() {
	arm "$1"
	ressd-oracle files-run --journal /tmp/files-journal --seed "$seed" --threads 4 \
		--seconds 120 "$folder"
}

use_ext4() {
	mount_clean e2fsck -fn && use_files "$2"
}

use_xfs() {
	mount_clean xfs_repair -n && use_files "$2"
}

use_database() {
	mount_clean e2fsck -fn && database_verify "$folder/bank" && arm "$2" &&
		database_load "$folder/bank" "$1"
}

# --- a life: from the return of the power to the next cut ----------------------------------

# arm MOMENT: the cut waits. Without a moment it has been waiting since before recovery.
arm() {
	echo "load begins"
	# shellcheck disable=SC2086
	[ -z "$1" ] || ssd cut ssd0 $1 seed="$(random 1000000)"
}

# moment NUMBER: where the cut comes.
moment() {
	case $(($1 % 5)) in
	0) echo "commands=1-60" ;; # recovery, or soon after it
	1) echo "writes=1-20 range=$normal+$reserved" ;;
	2) echo "writes=1-50 range=0+$normal" ;; # of small writes alone: the mover's
	3) echo "flushes=2-40" ;;
	4) echo "us=20000-1200000" ;;
	esac
}

create_ressd() {
	local words
	read -r -a words <<<"${options[$1 % ${#options[@]}]}"
	dmsetup create ressd --table \
		"0 $normal ressd /dev/ssd0 0 /dev/ssd0 $normal $reserved ${#words[@]} ${words[*]}"
}

clean_up() {
	! grep -q " $folder " /proc/mounts || umount "$folder" || return 1
	! dmsetup info ressd >/dev/null 2>&1 || dmsetup remove ressd
}

# one_life KIND NUMBER: recovery, comparison, load, cut. Every step may fail from the cut on, but no
# step before it, and nothing may differ.
one_life() {
	local kind=$1 number=$2 words later=""
	words=$(moment "$number")
	if [[ $words == commands=* ]]; then
		# shellcheck disable=SC2086
		ssd cut ssd0 $words seed="$(random 1000000)" || return 1
	else
		later=$words
	fi
	: >/tmp/life
	{ create_ressd "$number" && "use_$kind" "$number" "$later"; } >/tmp/life 2>&1
	if is_on; then
		echo "no cut came: it ended by itself"
		return 1
	fi
	if grep -q DIFFERENCE /tmp/life; then
		echo "something is not as acknowledged"
		return 1
	fi
	if [ -n "$later" ] && ! grep -q 'load begins' /tmp/life; then
		echo "it failed before its load"
		return 1
	fi
	clean_up && ssd power ssd0 on
}

# tell_life: where the cut came and what had been compared before.
tell_life() {
	local step="in the load" found
	grep -q 'load begins' /tmp/life || step="while it mounted or compared"
	[ -s /tmp/life ] && ! grep -q 'device-mapper: create ioctl' /tmp/life || step="in recovery"
	found=$(sed -n -e 's/.*\(compared.*\)/\1/p' -e 's/.* \([0-9]* files and logs.*\)/\1/p' \
		-e 's/^\([0-9]* transactions.*\)/\1/p' /tmp/life | tail -n 1)
	echo "$step${found:+; $found}"
}

# last_look KIND: after the last cut everything is there, and a drain leaves a plain disk.
last_look() {
	create_ressd 0 || return 1
	case $1 in
	sectors) ressd-oracle check --journal /tmp/journal --seed "$seed" "$mapper" ;;
	database) mount_clean e2fsck -fn && database_verify "$folder/bank" ;;
	ext4) mount_clean e2fsck -fn && files_are_there ;;
	xfs) mount_clean xfs_repair -n && files_are_there ;;
	esac
}

files_are_there() {
	ressd-oracle files-check --journal /tmp/files-journal --seed "$seed" "$folder"
}

# many_cuts KIND COUNT: on a new drive.
many_cuts() {
	local kind=$1 count=$2 number words
	normal=$((normal_mib[$kind] * 2048))
	read -r -a words <<<"${drive[$kind]}"
	ssd create ssd0 "${words[@]}" track_volatile=1 discard=1 || finish
	check "$kind: a new drive" eval "create_ressd 0 && prepare_$kind && dmsetup remove ressd"
	[ "$tests_failed" -eq 0 ] || finish
	for number in $(seq "$count"); do
		if ! one_life "$kind" "$number" >/tmp/why; then
			fail "$kind, cut $number ($(moment "$number"))" "$(cat /tmp/why)"
			sed 's/^/# /' /tmp/life
			dmesg | grep -i ressd | tail -n 5 | sed 's/^/# /'
			finish
		fi
		pass "$kind, cut $number ($(moment "$number")) $(tell_life)"
		done_cuts=$((done_cuts + 1))
	done
	check "$kind: after the last cut everything acknowledged is there" last_look "$kind"
	clean_up
	check "$kind: the drive was used according to its rules" \
		equals 0 ssd stats ssd0 nand_violations
	ssd remove ssd0
}

load dm-ressd
load ssdsim
modprobe ext4
modprobe xfs
done_cuts=0
share=$((cuts / ${#kinds[@]}))
for kind in "${kinds[@]:1}"; do
	many_cuts "$kind" "$share"
done
many_cuts "${kinds[0]}" $((cuts - share * (${#kinds[@]} - 1)))
echo "# result crash/power-switch/cuts $done_cuts 1 >=$cuts"
finish
