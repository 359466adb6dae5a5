#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 29-writeback-throttling.sh: the block layer's writeback throttling (wbt, which Debian enables) holds up every
# write but those with REQ_SYNC and REQ_IDLE, as background writeback. Somebody waits for each write of the log, so
# it has both; the mover's have neither. By the flags of the bios that reach the block layer.
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

tracing=/sys/kernel/debug/tracing
reserved=16384

# watch: from now on each bio, with its operation and flags, and where it goes: by the names of struct bio's members
# where the kernel takes them (6.6 on; their order is another since 6.18), else by their places.
watch() {
	{ echo 'p:ressd_bios submit_bio_noacct opf=bio->bi_opf:x32 sector=bio->bi_iter.bi_sector:u64' ||
		echo 'p:ressd_bios submit_bio_noacct opf=+16(%di):x32 sector=+32(%di):u64'; } \
		>"$tracing/kprobe_events" 2>/dev/null &&
		echo >"$tracing/trace" && echo 1 >"$tracing/events/kprobes/ressd_bios/enable"
}

# writes AREA FLAGS: of the bios that were watched, writes (operation 1) to sectors of the log or, for "home", before
# it: how many have "both" flags, "some" but not both, or "none". REQ_SYNC is 1 << 11, REQ_IDLE 1 << 15.
writes() {
	sed -n 's/.* opf=0x\([0-9a-f]*\) sector=\([0-9]*\)$/\1 \2/p' "$tracing/trace" |
		while read -r opf sector; do
			opf=$((16#$opf))
			[ $((opf & 255)) -eq 1 ] || continue
			[ "$sector" -ge "$normal" ] && area=log || area=home
			case $((opf & (1 << 11 | 1 << 15))) in
			0) echo "$area none" ;;
			34816) echo "$area both" ;;
			*) echo "$area some" ;;
			esac
		done | grep -c "^$1 $2\$" || true
}

load dm-ressd
grep -q debugfs /proc/mounts || mount -t debugfs none /sys/kernel/debug
make_disk d0 64
normal=$(($(sectors_of /dev/d0) - reserved))
check "the kernel tells of bios" watch
check "a device, formatted" make_ressd ressd /dev/d0 "$reserved"
check "small writes" fio --name=small --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=8M --io_size=4M \
	--direct=1 --fsync=16 --output=/tmp/fio-output
check "drained" dmsetup message ressd 0 drain
dmsetup remove ressd
echo 0 >"$tracing/events/kprobes/ressd_bios/enable"
for kind in "log both" "log some" "log none" "home both" "home some" "home none"; do
	# shellcheck disable=SC2086
	echo "# writes, $kind: $(writes $kind)"
done
check "the log is written with both flags" test "$(writes log both)" -ge 30
check "never with one of them" equals 0 writes log some
check "nor without" equals 0 writes log none
check "what is written back has neither" test "$(writes home none)" -ge 30
finish
