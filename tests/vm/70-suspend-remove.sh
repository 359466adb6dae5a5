#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 70-suspend-remove.sh: a busy device is not removed, a removed one has lost nothing, the module goes
# only when nothing needs it, and no memory stays behind.
#   70-suspend-remove.sh [SEED [FUNCTION]]
# Memory is wiped when it is freed, so that nobody gets away with using it afterwards.
# guest: --memory 1G --timeout 600 --append init_on_free=1
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384

busy_device() {
	make_ressd ressd /dev/d0 "$reserved"
	mkfs.ext4 -q -b 4096 /dev/mapper/ressd
	mount /dev/mapper/ressd /mnt
	echo "before" >/mnt/file
	expect_fail 'Device or resource busy' dmsetup remove ressd
	expect_fail 'in use|Resource temporarily unavailable|busy' rmmod dm_ressd
	check "the mounted device still works" eval 'echo after >>/mnt/file && sync'
	check "nothing is wrong with the file" equals "before after" eval 'paste -sd " " /mnt/file'
	umount /mnt
	check "is removed once it is free" dmsetup remove ressd
}

# A forced remove puts an error table under the open device: its users see errors, the log keeps
# what was synced, and the next activation has it.
forced_remove() {
	make_ressd ressd /dev/d0 "$reserved"
	mount /dev/mapper/ressd /mnt
	echo "synced" >/mnt/synced
	sync
	dmsetup remove --force ressd
	check "a forced remove leaves an error table" grep -q ' error ' <(dmsetup table ressd)
	expect_fail 'Input/output error|Read-only file system' dd if=/dev/zero of=/mnt/more bs=4k \
		count=10 conv=fsync
	umount /mnt
	dmsetup remove ressd
	check "is created again after a forced remove" make_ressd ressd /dev/d0 "$reserved"
	mount /dev/mapper/ressd /mnt
	check "what was synced is there" equals synced cat /mnt/synced
	umount /mnt
	check "fsck after a forced remove" e2fsck -fn /dev/mapper/ressd
	dmsetup remove ressd
}

suspended_device() {
	local writer
	make_ressd ressd /dev/d0 "$reserved"
	check "suspend" dmsetup suspend ressd
	dd if=/dev/urandom of=/dev/mapper/ressd bs=4k count=4 oflag=direct 2>/dev/null &
	writer=$!
	sleep 0.3
	check "a write waits while it is suspended" kill -0 "$writer"
	check "resume" dmsetup resume ressd
	check "the write goes on" wait_for "$writer"
	check "suspend again" dmsetup suspend ressd
	check "is removed while suspended" dmsetup remove ressd
}

# wait_for PID: it ends by itself within ten seconds.
wait_for() {
	local i
	for i in $(seq 100); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	echo "process $1 still runs after $i looks"
	return 1
}

remove_after_load() {
	local round
	rm -f /tmp/journal
	blkdiscard -f /dev/d0
	for round in 1 2 3 4 5; do
		make_ressd ressd /dev/d0 "$reserved" on_full wait
		check "remove after load, round $round: no difference" oracle run --operations 400
		# The last writes are in RAM only when the remove comes.
		check "remove after load, round $round: remove" dmsetup remove ressd
	done
	make_ressd ressd /dev/d0 "$reserved"
	check "remove after load: everything is there" oracle check
	dmsetup remove ressd
}

# ressd on /dev/d0, but that the area "normal" or "reserved", as the argument says, is behind the gate
# "area", and behind that on the linear device "below". Without covers, which would have to pass it first.
gated_ressd() {
	local normal=$(($(sectors_of /dev/d0) - reserved)) line
	blkdiscard -f /dev/d0
	dmsetup create below --table "0 $(sectors_of /dev/d0) linear /dev/d0 0"
	if [ "$1" = normal ]; then
		dmsetup create area --table "0 $normal linear /dev/mapper/below 0"
		line="/dev/mapper/area 0 /dev/d0 $normal"
	else
		dmsetup create area --table "0 $reserved linear /dev/mapper/below $normal"
		line="/dev/d0 0 /dev/mapper/area 0"
	fi
	dmsetup create ressd --table "0 $normal ressd $line $reserved 4 cover off commit_interval_ms 100"
}

# put BLOCKS LETTER: at the beginning, past the page cache.
put() {
	head -c $(($1 * 4096)) /dev/zero | tr '\0' "$2" |
		dd of=/dev/mapper/ressd bs=$(($1 * 4096)) oflag=direct iflag=fullblock status=none
}

# fails_at_gate: what waits there fails, in the process that opens it. Ends as that does.
fails_at_gate() {
	fail_all_io below && open_gate area
}

# The write of a record fails: in the end whoever is told so must be done with the target before that
# goes.
log_write_ends_as_target_goes() {
	local opener status=0
	gated_ressd reserved
	close_gate area writes
	put 1 a
	check "a record in flight: it is written by itself" wait_until equals 1 writes_at_gate area
	fails_at_gate &
	opener=$!
	check "a record in flight: is removed when it has failed" dmsetup remove ressd
	wait "$opener" || status=$?
	check "a record in flight: the gate is open" equals 0 echo "$status"
	dmsetup remove area
	dmsetup remove below
}

# The same for a direct write, whose end the bio worker deals with, for it kills what is in the log.
direct_write_ends_as_target_goes() {
	local opener writer status=0
	gated_ressd normal
	put 1 a && sync /dev/mapper/ressd
	close_gate area writes
	put 32 b 2>/dev/null &
	writer=$!
	check "a direct write in flight: it is" wait_until equals 1 writes_at_gate area
	fails_at_gate &
	opener=$!
	wait "$writer" || status=$?
	check "a direct write in flight: it fails" equals 1 echo "$status"
	check "a direct write in flight: is removed then" dmsetup remove ressd
	status=0
	wait "$opener" || status=$?
	check "a direct write in flight: the gate is open" equals 0 echo "$status"
	dmsetup remove area
	dmsetup remove below
}

# A small write waits for room; the mover, which is off, moves for it alone, and waits for a read. A suspend
# must not wait until that has made room, which may take minutes: the write goes to the normal area.
suspend_waits_for_no_room() {
	local writer suspend sweeps i
	gated_ressd reserved
	dmsetup message ressd 0 mover off
	# A write that waits for a record while the last one ends may pass for one that waits for room, on a slow
	# guest: then it is swept.
	for ((i = 0; i < 5; i++)); do
		sweeps=$(status_value ressd sweeps)
		check "no room: the log is filled" fio --name=fill --filename=/dev/mapper/ressd --direct=1 \
			--bs=4k --rw=randwrite --size=32m --number_ios=2500
		! equals "$sweeps" status_value ressd sweeps >/dev/null || break
	done
	check "no room: the log is full" at_least ressd bypassed 1
	close_gate area reads
	dmsetup message ressd 0 set on_full wait
	dd if=/dev/zero of=/dev/mapper/ressd bs=4k seek=12000 count=1 oflag=direct status=none &
	writer=$!
	check "no room: the mover moves for the write" wait_until fails equals 0 reads_at_gate area
	check "no room: which waits" kill -0 "$writer"
	dmsetup suspend ressd &
	suspend=$!
	check "no room: a suspend lets it go" ended "$writer"
	check "no room: before there is any" fails equals 0 reads_at_gate area
	open_gate area
	ends_well "no room: it has written" "$writer"
	ends_well "no room: suspended" "$suspend"
	dmsetup remove ressd
	dmsetup remove area
	dmsetup remove below
}

module_goes() {
	check "the module is unloaded after use" rmmod dm_ressd
	check "and loaded again" load dm-ressd
}

# vmalloc_of_ressd: what the module holds, by the kernel's own account.
vmalloc_of_ressd() {
	grep -c 'dm_ressd' /proc/vmallocinfo || true
}

# The disk's cache is emptied first, up to 16 MiB of memory. The pages that each processor keeps for
# itself, up to 26 MiB of them here, are free as well, but MemAvailable does not count them. And a kernel
# with KASAN keeps what was freed in a quarantine, which is emptied with each cache that is shrunk.
available_kb() {
	local cache
	sync /dev/d0
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1 # what is freed after a grace period
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
	awk '/^MemAvailable:/ { kilobytes = $2 } $1 == "count:" { kilobytes += $2 * 4 }
		END { print kilobytes }' /proc/meminfo /proc/zoneinfo
}

cycle() {
	make_ressd ressd /dev/d0 "$1" move_batch_sectors 8192 &&
		dd if=/dev/urandom of=/dev/mapper/ressd bs=4k count=8 seek=$((RANDOM % 1000)) \
			oflag=direct status=none && dmsetup remove ressd
}

# Each device holds 4 MiB of move buffer, 1 MiB of records and the map: fifty that leaked 20 KiB each
# would be seen. The constructor's refusals give back what they took, too.
memory_is_given_back() {
	local before after i allocations bad_line
	# The disk is memory too, which comes and goes with writes and discards: take all of it before,
	# and let nothing be discarded.
	remove_disk d0
	make_disk d0 64 discard=0
	dd if=/dev/zero of=/dev/d0 bs=1M oflag=direct status=none 2>/dev/null
	bad_line=$(table_line /dev/d0 "$reserved" segment_sectors 4096)
	allocations=$(vmalloc_of_ressd)
	for i in $(seq 5); do
		cycle "$reserved"
	done
	before=$(available_kb)
	for i in $(seq 50); do
		cycle "$reserved" || break
		if [ $((i % 5)) -eq 0 ] && dmsetup create bad --table "$bad_line" 2>/dev/null; then
			break
		fi
	done
	check "fifty devices are made, used and removed" equals 50 echo "$i"
	after=$(available_kb)
	echo "# MemAvailable before $before kB, after $after kB"
	check "memory is given back, within 1 MiB" test $((before - after)) -lt 1024
	check "the kernel lists no allocation of the module" equals "$allocations" vmalloc_of_ressd
}

load dm-ressd
make_disk d0 64
scenario busy_device
scenario forced_remove
scenario suspended_device
scenario remove_after_load
scenario log_write_ends_as_target_goes
scenario direct_write_ends_as_target_goes
scenario suspend_waits_for_no_room
scenario module_goes
scenario memory_is_given_back
scenario module_goes
finish
