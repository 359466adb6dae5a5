#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest.sh bare|ressd: one side of the comparison, in a benchmark guest. A fresh emulated drive is
# probed, then takes the loads: raw ones by fio, then Postmark on ext4. Both sides run the same
# commands; with "ressd" they go to /dev/mapper/ressd, made by the line that ressd-probe printed.
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh
# shellcheck source=tools/demo/postmark-lib.sh
. ./postmark-lib.sh
# shellcheck source=tools/demo/demo.conf
. ./demo.conf

side=$1
target=$disk

make_and_probe() {
	step probe
	load ssdsim
	load dm-ressd
	make_drive "$CAPACITY_MB"
	figure drive.sectors "$(blockdev --getsz "$disk")"
	ressd-probe --write --yes --reserved "${RESERVED_MB}M" --json "$disk" \
		>"$figures/probe.json" || die "ressd-probe ended with $?"
}

# The line that ressd-probe printed, used as it is.
create_ressd() {
	step create
	local command line
	command=$(sed -n 's/^ *"command": *"\(.*\)",\{0,1\}$/\1/p' "$figures/probe.json")
	command=${command//\\\"/\"}
	line=${command#*\"}
	line=${line%\"*}
	[ -n "$line" ] || die "ressd-probe suggested no device"
	# The probe has written into the reserved area, so it is not blank.
	ressdctl format --yes --table "$line" >/dev/null
	say "$command"
	bash -c "$command"
	target=/dev/mapper/ressd
	figure reserved.start "$(cut -d ' ' -f 7 <<<"$line")"
	figure reserved.sectors "$(cut -d ' ' -f 8 <<<"$line")"
}

# 4 or 8 KB at a time, in steady state: the reserved area has gone round once before.
random_writes() {
	local kib=$1 seed=$2
	step "randwrite-${kib}k"
	measure "warm-${kib}k" "$target" "$SPAN" write --rw=randwrite --bs="${kib}k" \
		--io_size="$WARM_SIZE" --randseed="$seed"
	measure "randwrite-${kib}k" "$target" "$SPAN" write --rw=randwrite --bs="${kib}k" \
		--io_size="$RANDOM_SIZE" --randseed="$((seed + 1))"
}

note_log() {
	[ "$side" = ressd ] || return 0
	local used
	read -r _ _ _ used _ < <(dmsetup status ressd)
	figure "$1.log_used" "${used%/*}"
	figure "$1.log_total" "${used#*/}"
}

# drain KEY: what is left in the log counts too, for those who ask for it.
drain() {
	if [ "$side" = ressd ]; then
		timed "$1-drain" dmsetup message ressd 0 drain
	else
		timed "$1-drain" sync
	fi
}

# First while the mover may still work, then in peace, with a part of the data in the log.
random_reads() {
	step randread-4k
	measure randread-4k-busy "$target" "$SPAN" read --rw=randread --bs=4k \
		--io_size="$BUSY_READ_SIZE" --randseed=51
	drain randwrite-8k
	fio_at "$target" "$SPAN" --rw=randwrite --bs=4k --io_size="$LOGGED_SIZE" \
		--randseed=52 >/dev/null
	settle
	[ "$side" = bare ] || dmsetup message ressd 0 clear_stats
	measure randread-4k "$target" "$SPAN" read --rw=randread --bs=4k --io_size="$READ_SIZE" \
		--randseed=53
	[ "$side" = bare ] || figure randread-4k.log_permille \
		"$(($(status_word log_reads) * 1000 / $(status_word reads)))"
}

# After random writes a drive is slow at first, whoever writes: the first pass does not count.
sequential() {
	step sequential
	fio_at "$target" "$SPAN" --rw=write --bs=128k --io_size="$SEQUENTIAL_SIZE" >/dev/null
	settle
	measure seqwrite-128k "$target" "$SPAN" write --rw=write --bs=128k \
		--io_size="$SEQUENTIAL_SIZE"
	measure seqread-128k "$target" "$SPAN" read --rw=read --bs=128k \
		--io_size="$SEQUENTIAL_SIZE"
	measure seqwrite-4k "$target" "$SPAN" write --rw=write --bs=4k --ioengine=libaio \
		--iodepth=8 --io_size="$SEQUENTIAL_SIZE"
	measure seqread-4k "$target" "$SPAN" read --rw=read --bs=4k --ioengine=libaio \
		--iodepth=8 --io_size="$SMALL_READ_SIZE"
}

make_filesystem() {
	step mkfs
	postmark_filesystem "$target" "$FS_SIZE"
	figure fs.sectors "$(($(numfmt --from=iec "$FS_SIZE") / 512))"
	settle
	[ "$side" = bare ] || dmsetup message ressd 0 clear_stats
}

start_trace() {
	blktrace -d "$disk" -a write -a queue -a issue -b 1024 -n 8 -D "$figures/trace" \
		>"$figures/blktrace.txt" 2>&1 &
	tracer=$!
	sleep 1
}

end_trace() {
	kill -INT "$tracer"
	wait "$tracer"
	grep -q 'dropped 0)' "$figures/blktrace.txt" || die "blktrace has lost events"
}

postmark_load() {
	step postmark
	postmark_memory "$CACHE_SIZE"
	[ "$TRACE" = no ] || start_trace
	timed postmark postmark_run "$POSTMARK_FILES" "$POSTMARK_DIRECTORIES" \
		"$POSTMARK_TRANSACTIONS" "$figures/postmark.txt"
	[ "$TRACE" = no ] || end_trace
	note_log postmark
	[ "$side" = bare ] || dmsetup status ressd >"$figures/postmark.status"
	[ "$side" = bare ] || figure postmark.small_permille "$(status_word small_permille)"
}

# Drained, the file system is on the bare drive, and must be whole there.
back_to_bare() {
	step check
	umount /mnt
	drain postmark
	[ "$side" = bare ] || dmsetup remove ressd
	e2fsck -fn "$disk" >"$figures/e2fsck.txt" 2>&1 ||
		die "e2fsck found the file system damaged: $(cat "$figures/e2fsck.txt")"
	sh ./ssdsim.sh stats "$drive" >"$figures/drive.stats"
}

make_and_probe
[ "$side" = bare ] || create_ressd
settle
random_writes 4 11
note_log randwrite-4k
step drain
drain randwrite-4k
random_writes 8 21
note_log randwrite-8k
random_reads
sequential
make_filesystem
postmark_load
back_to_bare
step end
