#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cover/guest.sh PLACES: adopts /dev/vda, uses and leaves it, while dm-log-writes records on
# /dev/vdb what the disk gets; started by 48-cover-steps.sh. A mark says what begins, and which
# version the disk has when nothing of the log counts: the file versions has the blocks at these
# PLACES of each.
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

disk=/dev/mapper/recorder
mapper=/dev/mapper/ressd
read -r -a places <<<"$1"

# begin PHASE VERSION
begin() {
	dmsetup message recorder 0 mark "$1-$2"
}

# small_writes VERSION: each durably.
small_writes() {
	local i
	for i in "${!places[@]}"; do
		dd if=versions of="$mapper" bs=4k count=1 skip=$((($1 - 1) * ${#places[@]} + i)) \
			seek="${places[i]}" oflag=direct conv=notrunc,fsync status=none || return 1
	done
}

load dm-ressd
modprobe dm-log-writes
dmsetup create recorder --table "0 $(sectors_of /dev/vda) log-writes /dev/vda /dev/vdb"
begin adopt 0
check "adopt" ressdctl adopt --yes "$disk" on_full wait
check "open" ressdctl open ressd "$disk"
begin cover 0
check "small writes" small_writes 1
begin drain 1
check "drain" ressdctl drain ressd
begin cover 1
check "small writes again" small_writes 2
check "close" ressdctl close ressd
begin activation 2
check "open with data" ressdctl open ressd "$disk"
begin drain 2
check "drain again" ressdctl drain ressd
begin cover 2
check "small writes once more" small_writes 3
begin leave 3
check "leave" ressdctl leave ressd
dmsetup remove recorder
finish
