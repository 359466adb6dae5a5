#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-options.sh SET: small random writes under different options, each on a fresh drive, in a
# benchmark guest: sizes of demo.conf, reserved area 1/8 of the span. SET: waiting or others.
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

load ssdsim
load dm-ressd
case $1 in
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
	die "'$1' is not a set of options: waiting or others"
	;;
esac
step end
