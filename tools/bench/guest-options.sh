#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-options.sh SET: small random writes under different options, each on a fresh drive, in a
# benchmark guest: sizes of demo.conf, reserved area 1/8 of the span. SET: waiting, others, or
# throttling: commits beside a buffered writer, with the block layer's writeback throttling.
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh
# shellcheck source=tools/demo/demo.conf
. ./demo.conf

# create_ressd OPTION VALUE...
create_ressd() {
	local size reserved=$((RESERVED_MB * 2048))
	size=$(blockdev --getsz "$disk")
	dmsetup create ressd --table \
		"0 $((size - reserved)) ressd $disk 0 $disk $((size - reserved)) $reserved $# $*"
}

# both_sizes NAME TARGET: figures NAME-4k, NAME-8k; the reserved area has gone round once before.
both_sizes() {
	local name=$1 target=$2 kib
	for kib in 4 8; do
		fio_at "$target" "$SPAN" --rw=randwrite --bs="${kib}k" --io_size="$WARM_SIZE" \
			--randseed="${kib}1" >/dev/null
		measure "$name-${kib}k" "$target" "$SPAN" write --rw=randwrite --bs="${kib}k" \
			--io_size="$RANDOM_SIZE" --randseed="${kib}2"
	done
}

# whole NAME TARGET: figure NAME-whole, 4 KB over the whole normal area instead of 8 times the
# reserved one: hardly two blocks that the mover brings home are then in one erase unit.
whole() {
	measure "$1-whole" "$2" "$((CAPACITY_MB - RESERVED_MB))M" write --rw=randwrite --bs=4k \
		--io_size="$WARM_SIZE" --randseed=8
}

# each_synced NAME TARGET: figure NAME-sync, 4 KB and fdatasync each.
each_synced() {
	measure "$1-sync" "$2" "$SPAN" write --rw=randwrite --bs=4k --fdatasync=1 \
		--io_size=8M --randseed=7
}

# variant NAME OPTION VALUE...: one fresh drive with ressd.
variant() {
	local name=$1
	shift
	step "$name"
	make_drive "$CAPACITY_MB"
	create_ressd "$@"
	both_sizes "$name" /dev/mapper/ressd
	each_synced "$name" /dev/mapper/ressd
	whole "$name" /dev/mapper/ressd
	figure "$name.bypassed_permille" \
		"$(($(status_word bypassed) * 1000 / $(status_word small_writes)))"
	dmsetup remove ressd
	sh ./ssdsim.sh remove "$drive"
}

bare() {
	step bare
	make_drive "$CAPACITY_MB"
	both_sizes bare "$disk"
	each_synced bare "$disk"
	whole bare "$disk"
	sh ./ssdsim.sh remove "$drive"
}

# commits NAME LATENCY TARGET: figures NAME.ms and NAME.max_ns of 1500 writes of 4 KB with fdatasync to a
# file on ressd or bare, while four processes rewrite another one through the page cache. LATENCY: of
# the drive's writeback throttling, in us, as in wbt_lat_usec; 0 turns it off, -1 is the kernel's own.
commits() {
	local name=$1 target writer output
	step "$name"
	make_drive "$CAPACITY_MB"
	target=$disk
	echo "$2" >"/sys/block/$drive/queue/wbt_lat_usec"
	if [ "$3" = ressd ]; then
		create_ressd on_full wait
		target=/dev/mapper/ressd
	fi
	make_ext4 '' "$target"
	mount "$target" /mnt
	dd if=/dev/zero of=/mnt/commits bs=1M count=64 conv=fsync status=none
	dd if=/dev/zero of=/mnt/beside bs=1M count=128 conv=fsync status=none
	fio --name=beside --filename=/mnt/beside --rw=write --bs=1M --size=32M \
		--offset_increment=32M --numjobs=4 --time_based --runtime=3600 \
		--output=/tmp/beside &
	writer=$!
	sleep 3
	output=$(fio --name=commits --filename=/mnt/commits --rw=randwrite --bs=4k --size=64M \
		--direct=1 --fdatasync=1 --number_ios=1500 --output-format=json) ||
		die "fio failed: $output"
	kill "$writer"
	wait "$writer" || true
	figure "$name.ms" "$(fio_value write runtime <<<"$output")"
	figure "$name.max_ns" "$(fio_latency sync max <<<"$output")"
	umount /mnt
	[ "$3" = bare ] || dmsetup remove ressd
	sh ./ssdsim.sh remove "$drive"
}

load ssdsim
load dm-ressd
case $1 in
throttling)
	# The writers are held to what the drive takes, as on a small machine.
	echo 67108864 >/proc/sys/vm/dirty_bytes
	echo 16777216 >/proc/sys/vm/dirty_background_bytes
	commits throttled -1 ressd
	commits unthrottled 0 ressd
	commits throttled-bare -1 bare
	commits unthrottled-bare 0 bare
	;;
waiting)
	variant wait-even on_full wait pace even
	variant wait-burst on_full wait pace burst
	variant writethrough on_full wait commit writethrough
	;;
others)
	bare
	variant bypass on_full bypass
	;;
*)
	die "'$1' is not a set of options: waiting, others or throttling"
	;;
esac
step end
