#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stacks.sh: ressd below and above what others wrote: lvm2 with a snapshot and pvmove, md RAID1 and
# RAID5, dm-crypt, a loop device on ext4, and swap. The oracle writes to the top of each stack and
# reads all of it again: at once, after the stack was built anew, and after power cuts under load.
#   stacks.sh [SEED [FUNCTION [LAYER [OPERATIONS [CUTS]]]]]
# The LAYER linear has dm-linear in ressd's place: a difference that it shows, too, is not ressd's.
# guest: --timeout 600 --append init_on_alloc=0 --file /usr/sbin/lvm:/usr/local/bin/lvm --file /usr/sbin/mdadm:/usr/local/bin/mdadm
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
layer=${3:-ressd}
operations=${4:-100}
cuts=${5:-1}
reserved=4096 # sectors: the mover never rests
folder=/run/mount
mkdir -p "$folder"
export MDADM_NO_UDEV=1 LVM_SUPPRESS_FD_WARNINGS=1

# --- parts of a stack -----------------------------------------------------------------------------

top=      # the device on which the oracle writes
undo=()   # commands that take the stack down, in the order of its building

# part NAME TABLE: a device-mapper device.
part() {
	dmsetup create "$1" --table "$2" && undo+=("dmsetup remove --retry $1")
}

# The disk, and above it one device by which all of it fails at once.
insert_disk() {
	dmsetup create bottom --table "0 $(sectors_of /dev/d0) linear /dev/d0 0"
}

remove_bottom() {
	dmsetup remove --retry bottom
}

# slice NUMBER: each 40 MiB of the disk.
slice() {
	part "s$1" "0 81920 linear /dev/mapper/bottom $(($1 * 81920))"
}

# layer_on NUMBER DEVICE [OPTION VALUE]...: /dev/mapper/rNUMBER.
layer_on() {
	if [ "$layer" = ressd ]; then
		part "r$1" "$(table_line "$2" "$reserved" on_full wait "${@:3}")"
	else
		part "r$1" "0 $(($(sectors_of "$2") - reserved)) linear $2 0"
	fi
}

take_down() {
	local i status=0
	for ((i = ${#undo[@]} - 1; i >= 0; i--)); do
		${undo[i]} || status=1
	done
	undo=()
	return "$status"
}

# --- stacks: up_NAME new|again --------------------------------------------------------------------

# array new|again LEVEL DEVICE...: /dev/md0. Blank disks are in step.
array() {
	local level=$2 chunk=()
	[ "$level" = 1 ] || chunk=(--chunk=64)
	if [ "$1" = new ]; then
		mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --bitmap=none "${chunk[@]}" \
			--level="$level" --raid-devices=$(($# - 2)) "${@:3}"
	else
		mdadm --assemble /dev/md0 --run "${@:3}"
	fi || return 1
	undo+=("mdadm --stop /dev/md0")
	in_step
}

in_step() {
	wait_until grep -qx idle /sys/block/md0/md/sync_action
}

# The copies, or data and parity, agree.
no_mismatch() {
	echo check >/sys/block/md0/md/sync_action && in_step &&
		equals 0 cat /sys/block/md0/md/mismatch_cnt
}

up_raid1_above() {
	slice 0 && slice 1 && layer_on 0 /dev/mapper/s0 && layer_on 1 /dev/mapper/s1 &&
		array "$1" 1 /dev/mapper/r0 /dev/mapper/r1 && top=/dev/md0
}

up_raid5_above() {
	local i
	for i in 0 1 2; do
		slice "$i" && layer_on "$i" "/dev/mapper/s$i" || return 1
	done
	array "$1" 5 /dev/mapper/r[012] && top=/dev/md0
}

up_raid1_below() {
	slice 0 && slice 1 && array "$1" 1 /dev/mapper/s[01] && layer_on 0 /dev/md0 &&
		top=/dev/mapper/r0
}

up_raid5_below() {
	slice 0 && slice 1 && slice 2 && array "$1" 5 /dev/mapper/s[012] && layer_on 0 /dev/md0 &&
		top=/dev/mapper/r0
}

# Nothing is there that lvm2 could ask: no udev, no daemons, no list of devices.
lvm2() {
	lvm "$@" --config 'devices { obtain_device_list_from_udev=0 external_device_info_source="none"
		use_devicesfile=0 filter=["a|^/dev/mapper/[rs][0-9]$|", "r|.*|"] scan="/dev/mapper" }
		activation { udev_sync=0 udev_rules=0 monitoring=0 polling_interval=1 }
		global { use_lvmpolld=0 event_activation=0 } backup { backup=0 archive=0 }' 7>&-
}

# group new|again SIZE DEVICE...: the volume group vg with the volume lv.
group() {
	local size=$2
	if [ "$1" = new ]; then
		lvm2 vgcreate -qq -s 1m vg "${@:3}" && lvm2 lvcreate -qq -y -Wn -Zn -L "$size" -n lv vg "$3"
	else
		lvm2 vgchange -qq -ay vg
	fi && undo+=("dmsetup remove --retry vg-lv")
}

up_lvm_above() {
	slice 0 && slice 1 && layer_on 0 /dev/mapper/s0 &&
		group "$1" 24m /dev/mapper/r0 /dev/mapper/s1 && top=/dev/mapper/vg-lv
}

up_lvm_below() {
	slice 0 && slice 1 && group "$1" 32m /dev/mapper/s0 /dev/mapper/s1 &&
		layer_on 0 /dev/mapper/vg-lv && top=/dev/mapper/r0
}

up_crypt() {
	slice 0 && layer_on 0 /dev/mapper/s0 && part secret "0 $(sectors_of /dev/mapper/r0) crypt \
		aes-xts-plain64 $(printf '%064x' "$seed") 0 /dev/mapper/r0 0" || return 1
	top=/dev/mapper/secret
	# The oracle begins with zeros.
	[ "$1" = again ] || dd if=/dev/zero of="$top" bs=1M oflag=direct status=none count=$(($(sectors_of "$top") * 512))B
}

up_loop() {
	slice 0 && layer_on 0 /dev/mapper/s0 || return 1
	[ "$1" = again ] || mkfs.ext4 -q /dev/mapper/r0
	mount /dev/mapper/r0 "$folder" && undo+=("umount $folder") || return 1
	[ "$1" = again ] || fallocate -l 20M "$folder/file"
	losetup --direct-io=on /dev/loop0 "$folder/file" && undo+=("losetup -d /dev/loop0") &&
		top=/dev/loop0
}

# step NAME COMMAND...: like check, but in this shell: the command changes its variables.
step() {
	local status=0
	"${@:2}" >/tmp/step-output 2>&1 || status=$?
	check "$1" sh -c "cat /tmp/step-output; exit $status"
	return "$status"
}

# --- what each goes through -----------------------------------------------------------------------

oracle() {
	ressd-oracle "$1" --journal /tmp/journal --seed "$seed" "${@:2}" "$top"
}

compared() {
	forget_cache
	oracle check
}

# lose_power: in the midst of a load the disk takes no more requests, the load is killed, and only then
# do the requests fail: whoever loses power hears of no error. Found with RAID1 above two slow devices: md
# reports a flush as done when it has failed on all members (md_end_flush(), 6.1), and the oracle believed
# one. The disk forgets what it has not flushed.
lose_power() {
	local load status=0
	# No function, which would have a shell of its own, and that would be killed.
	ressd-oracle run --journal /tmp/journal --seed "$seed" --may-fail --flush-percent 8 "$top" \
		>/tmp/load-output 2>&1 &
	load=$!
	wait_until grep -q 'load of epoch' /tmp/load-output
	sleep 0.$((RANDOM % 8 + 1))
	dmsetup suspend --noflush --nolockfs bottom && kill -KILL "$load" && fail_all_io bottom || return 1
	wait "$load" || status=$?
	take_down && remove_bottom && cut_power d0 && insert_disk || return 1
	[ "$status" -eq 137 ] || {
		cat /tmp/load-output
		return 1
	}
}

# begin NAME: the stack, on a new disk.
begin() {
	make_disk d0 120 cache_size=2 irqmode=2 completion_nsec=100000
	insert_disk
	rm -f /tmp/journal
	step "$1: is built" "up_$1" new || finish
}

end() {
	step "$1: is taken down" take_down
	check "$1: and its disk" remove_bottom
	remove_disk d0
	rm -rf /dev/vg # lvm2 leaves the folder, and then makes no group of that name
}

log_was_used() {
	local name
	[ "$layer" = ressd ] || return 0
	for name in $(dmsetup ls --target ressd | cut -f 1); do
		at_least "$name" accepted 20 && equals 0 status_value "$name" errors || return 1
	done
}

# life NAME [TEST...]: of a stack; TEST is one more, with the stack up.
life() {
	local name=$1 i
	begin "$name"
	check "$name: no difference" oracle run --operations "$operations"
	check "$name: nor when all is read again" compared
	check "$name: the log was used" log_was_used
	for i in "${@:2}"; do
		check "$name: $i" "$i"
	done
	step "$name: is taken down to be built anew" take_down || finish
	step "$name: is built again" "up_$name" again || finish
	check "$name: nothing is lost by that" compared
	for ((i = 1; i <= cuts; i++)); do
		step "$name: power cut $i" lose_power || finish
		step "$name: is built after power cut $i" "up_$name" again || finish
		check "$name: what was acknowledged is there" compared
	done
	end "$name"
}

# What the volume held when the snapshot was made is in the snapshot, whatever is written then.
snapshot_keeps() {
	copy_device "$top" /tmp/before && lvm2 lvcreate -qq -y -s -L 12m -n snap vg/lv /dev/mapper/r0 &&
		oracle run --operations "$((operations / 4))" && forget_cache &&
		same_as /tmp/before /dev/mapper/vg-snap && lvm2 lvremove -qq -y vg/snap
}

# moved_under_load FROM TO: the volume moves there and back while the oracle writes.
moved_under_load() {
	local load status=0
	oracle run --operations "$((operations * 2))" >/tmp/load-output 2>&1 &
	load=$!
	lvm2 pvmove -qq "/dev/mapper/$1" "/dev/mapper/$2" &&
		lvm2 pvmove -qq "/dev/mapper/$2" "/dev/mapper/$1" || status=1
	wait "$load" || status=1
	cat /tmp/load-output
	[ "$status" -eq 0 ] && compared
}

moved_by_pvmove() {
	if [ "$top" = /dev/mapper/vg-lv ]; then
		moved_under_load r0 s1
	else
		moved_under_load s0 s1
	fi
}

lvm_above() {
	life lvm_above snapshot_keeps moved_by_pvmove
}

lvm_below() {
	life lvm_below moved_by_pvmove
}

# A member that had left comes back, and is brought into step again.
member_returns() {
	local member=${1:-r0}
	mdadm /dev/md0 --fail "/dev/mapper/$member" && mdadm /dev/md0 --remove "/dev/mapper/$member" &&
		oracle run --operations "$((operations / 4))" && mdadm --zero-superblock "/dev/mapper/$member" &&
		mdadm /dev/md0 --add "/dev/mapper/$member" &&
		wait_until grep -qx 0 /sys/block/md0/md/degraded && in_step && compared
}

raid1_above() {
	life raid1_above member_returns no_mismatch
}

raid5_above() {
	life raid5_above member_returns no_mismatch
}

raid1_below() {
	life raid1_below no_mismatch
}

raid5_below() {
	life raid5_below no_mismatch
}

crypt() {
	life crypt
}

loop() {
	life loop
}

# --- swap -----------------------------------------------------------------------------------------

# limited COMMAND...: in a group that has 12 MiB of memory.
limited() (
	echo "$BASHPID" >/run/groups/small/cgroup.procs && exec "$@"
)

# sort_words: more than twice that, in memory.
sort_words() {
	sort --parallel=1 --buffer-size=96M -o "$1" /run/words
}
export -f sort_words

pages_swapped_out() {
	sed -n 's/^pswpout //p' /proc/vmstat
}

# swapped_out PAGES BEFORE: so many since.
swapped_out() {
	local pages
	pages=$(($(pages_swapped_out) - $2))
	[ "$pages" -ge "$1" ] || {
		echo "$pages pages were swapped out, expected at least $1"
		return 1
	}
}

# swap_on NAME [OPTION VALUE]...: a program that needs more memory than it may have, on such a device.
swap_on() {
	local name=$1 before
	shift
	make_disk d0 120 irqmode=2 completion_nsec=100000
	insert_disk
	step "$name: a device" layer_on 0 /dev/mapper/bottom "$@"
	mkswap /dev/mapper/r0 >/dev/null
	check "$name: is on" swapon /dev/mapper/r0
	before=$(pages_swapped_out)
	rm -f /run/sorted
	check "$name: a program larger than its memory ends" limited bash -c "sort_words /run/sorted"
	check "$name: it has swapped" swapped_out 2000 "$before"
	check "$name: with the right result" cmp /run/expected /run/sorted
	check "$name: the log was used" log_was_used
	[ $# -eq 0 ] || check "$name: requests were held" at_least r0 most_held 2
	check "$name: is off" swapoff /dev/mapper/r0
	[ $# -eq 0 ] || check "$name: nothing is held any more" equals 0 status_value r0 held
	end "$name"
}

swap() {
	mkdir -p /run/groups
	mount -t cgroup2 none /run/groups
	echo +memory >/run/groups/cgroup.subtree_control
	mkdir /run/groups/small
	echo 12M >/run/groups/small/memory.max
	cat /usr/bin/bash /usr/bin/bash /usr/bin/bash /usr/bin/bash | head -c 4194304 |
		od -An -v -tx8 -w8 >/run/words
	check "swap: there is something to sort" test -s /run/words
	sort_words /run/expected
	swap_on swap
	[ "$layer" = ressd ] || return 0
	swap_on "swap, pai" dispatch pai split_read_sectors 512 split_write_sectors 512 align_sectors 32 dispatch_depth 1
	swap_on "swap, bundle" dispatch bundle bundle_sectors 2048 dispatch_depth 1
	swap_on "swap, bundle_rp" dispatch bundle_rp bundle_sectors 2048 dispatch_depth 1
}

load dm-ressd
for module in dm-crypt dm-mirror dm-snapshot raid1 raid456 loop ext4 xts; do
	modprobe "$module"
done
# Members come into step as fast as they can.
echo 1000000 >/proc/sys/dev/raid/speed_limit_min
for one in lvm_above lvm_below raid1_above raid1_below raid5_above raid5_below crypt loop swap; do
	scenario "$one"
done
finish
