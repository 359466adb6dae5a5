#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-fast-device.sh [SIDE...]: what the target costs beside dm-linear on a device that answers in
# 40 us whatever else it does, in a benchmark guest (an instruction takes 1 ns). null_blk with memory, so
# that the log and the mover work as on any device, and with a write cache, so that flushes reach it.
# SIDEs: linear, and the values of the option route; without one: all.
# Figures: SIDE.LOAD.us, microseconds for each transfer; adaptive.small_to_log.
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh

config=/sys/kernel/config/nullb/nullb0
null=/dev/nullb0
normal=393216		# sectors: 192 MB
reserved=131072		# 64 MB
transfers=45000		# most of the blocks once; fio tells the time in ms
deep=(--ioengine=libaio --iodepth=32)
sides=("$@")
[ "${#sides[@]}" -gt 0 ] || sides=(linear never adaptive always)

make_disk() {
	modprobe null_blk nr_devices=0
	[ -d "${config%/*}" ] || mount -t configfs none /sys/kernel/config
	mkdir "$config"
	echo 1 >"$config/memory_backed"
	echo 1 >"$config/cache_size"
	echo "$(((normal + reserved) / 2048))" >"$config/size"
	echo 1 >"$config/submit_queues"
	echo 128 >"$config/hw_queue_depth"
	echo 2 >"$config/queue_mode"
	echo 2 >"$config/irqmode"
	echo 40000 >"$config/completion_nsec"
	echo 1 >"$config/power"
	[ -b "$null" ] || die "$null did not appear"
	# Else the first write to each page would pay for the page.
	fio_at "$null" "$(((normal + reserved) / 2))k" --rw=write --bs=512k >/dev/null
}

# start_side SIDE: sets $target.
start_side() {
	target=/dev/mapper/$1
	if [ "$1" = linear ]; then
		dmsetup create linear --table "0 $normal linear $null 0"
		return
	fi
	target=/dev/mapper/ressd
	blkdiscard -o "$((normal * 512))" -l "$((reserved * 512))" -z "$null"
	dmsetup create ressd --table "0 $normal ressd $null 0 $null $normal $reserved 2 route $1"
}

end_side() {
	local errors=0
	if [ "$1" = linear ]; then
		dmsetup remove linear
		return
	fi
	errors=$(status_word errors)
	[ "$errors" = 0 ] || die "ressd met $errors errors"
	dmsetup remove ressd
}

# transfer SIDE LOAD DIRECTION FIO_WORD...: the load once, so that the trials of route adaptive are over,
# and once measured. fio tells its time in ms.
transfer() {
	local key=$1.$2 direction=$3 output
	shift 3
	step "$key"
	fio_at "$target" "$((normal / 2))k" --number_ios=10000 --randseed=1 "$@" >/dev/null
	output=$(fio_at "$target" "$((normal / 2))k" --number_ios="$transfers" --randseed=2 \
		"$@") || die "fio failed on $target: $output"
	figure "$key.us" "$(awk -v ms="$(fio_value "$direction" runtime <<<"$output")" \
		-v ios="$(fio_value "$direction" total_ios <<<"$output")" \
		'BEGIN { print ms * 1000 / ios }')"
}

load dm-ressd
make_disk
for side in "${sides[@]}"; do
	start_side "$side"
	transfer "$side" fdatasync write --rw=randwrite --bs=4k --fdatasync=1
	transfer "$side" randwrite-deep write --rw=randwrite --bs=4k "${deep[@]}"
	[ "$side" != adaptive ] || figure adaptive.small_to_log "$(status_word small_to_log)"
	[ "$side" = linear ] || dmsetup message ressd 0 drain
	transfer "$side" randread-deep read --rw=randread --bs=4k "${deep[@]}"
	end_side "$side"
done
step end
