#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 28-keep.sh: blocks that are overwritten again and again stay in the log, though its segments are used
# anew; what does not die is brought home; and what the log keeps survives a power cut.
#   28-keep.sh [SEED [FUNCTION]]
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384
tuning=(segment_sectors 512 on_full wait)

# small_writes MIB OFFSET SIZE: random ones with checksums, read back in the end.
small_writes() {
	seed=$((seed + 1))
	fio --name=small --filename=/dev/mapper/ressd --offset="$2" --size="$3" --rw=randwrite --bs=4k \
		--direct=1 --norandommap --randrepeat=0 --randseed="$seed" --io_size="${1}M" \
		--verify=crc32c --verify_fatal=1 --output=/tmp/fio-output
}

# 12 rounds of a log of 8 MiB, for 2 MiB: by the time that half of it is used, five sixths of the oldest
# segment have died.
hot_blocks_stay() {
	make_disk d0 96
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}"
	check "hot: nothing is kept before" equals 0 status_value ressd kept_blocks
	check "hot: small writes" small_writes 48 8M 2M
	check "hot: the log keeps what lives" at_least ressd kept_blocks 200
	echo "# kept $(status_value ressd kept_blocks), moved $(status_value ressd moved_blocks)"
	check "cold: the same number, over all of the device" small_writes 48 0 64M
	check "cold: it is moved" at_least ressd moved_blocks 4000
	check "hot: it drains" timeout 300 dmsetup message ressd 0 drain
	dmsetup remove ressd
	remove_disk d0
}

kept_blocks_survive_a_power_cut() {
	make_disk d0 96
	make_disk d1 88
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}"
	check "power cut: small writes" small_writes 24 8M 2M
	check "power cut: blocks were kept" at_least ressd kept_blocks 50
	sync /dev/mapper/ressd
	check "power cut: a copy of all that was flushed" copy_device /dev/mapper/ressd /dev/d1
	check "power cut: small writes that nobody flushes" small_writes 8 40M 3M
	dmsetup remove --force ressd
	cut_power d0
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}"
	check "power cut: what was flushed is there" cmp -n $((40 << 20)) /dev/mapper/ressd /dev/d1
	check "power cut: it drains" timeout 300 dmsetup message ressd 0 drain
	check "power cut: and is there" cmp -n $((40 << 20)) /dev/mapper/ressd /dev/d1
	dmsetup remove ressd
	remove_disk d0
	remove_disk d1
}

# What moving costs is known to route adaptive, and what keeping costs is not.
not_with_adaptive() {
	make_disk d0 96
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}" route adaptive
	check "adaptive: small writes" small_writes 24 8M 2M
	check "adaptive: nothing is kept" equals 0 status_value ressd kept_blocks
	dmsetup remove ressd
	remove_disk d0
}

load dm-ressd
scenario hot_blocks_stay
scenario kept_blocks_survive_a_power_cut
scenario not_with_adaptive
finish
