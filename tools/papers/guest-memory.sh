#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-memory.sh RESERVED_MB BLOCKS OPTIONS: what the target takes of the kernel's memory with so much
# reserved area of the emulated Samsung drive and so many blocks mapped, in a benchmark guest. OPTIONS:
# option words of the table line in one word.
# Figures: mapped; map, buffers: bytes by its status; vmalloc: bytes by the kernel's own list.
set -euo pipefail
profile=samsung
side=ressd
blocks=$2
options=$3
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh
reserved=$(($1 * 2048))

# vmalloc_bytes: of all areas that the module has asked for.
vmalloc_bytes() {
	awk '/ressd/ { sum += $2 } END { print sum + 0 }' /proc/vmallocinfo
}

load ssdsim
load dm-ressd
step fill
fresh_drive
before=$(vmalloc_bytes)
create_ressd
dmsetup message ressd 0 mover off
fio_at "$target" "$((blocks * 4))k" --rw=randwrite --bs=4k --io_size="$((blocks * 4))k" \
	--norandommap=0 --randseed=60 >/dev/null
figure mapped "$(dmsetup status ressd | awk '{ sub(".*/", "", $5); print $5 }')"
figure map "$(status_word map_bytes)"
figure buffers "$(status_word buffer_bytes)"
figure vmalloc "$(($(vmalloc_bytes) - before))"
dmsetup remove ressd
remove_drive
step end
