#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-normal-path.sh PROFILE PART...: requests to the normal area on one emulated drive, in a benchmark guest, with
# the options of core/ressd-split.h and core/ressd-queue.h and beside the kernel's schedulers on the bare drive. Nothing
# goes to the log (route never). PART: postmark-8m, postmark-256k (PA Table 4 and Fig. 9), mixed (reads beside heavy
# writes), sequential (nothing to do).
# Figures are PART.SIDE.ms, of Postmark .requests, .aligned and .within as well, of mixed .read_p99_ns and .bytes, of
# sequential .bytes.
set -euo pipefail
profile=$1
options=
shift
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh

tracing=/sys/kernel/tracing
page=32    # sectors: the clustered page of the Samsung drive, as in PA Table 4
buffer=512 # its buffers

# The schedulers of the kernel on the bare drive; then what ressd has.
declare -A sides=(
	[none]=bare [mq-deadline]=bare [bfq]=bare [kyber]=bare
	[nopas]="route never"
	[pas]="route never split_read_sectors $buffer split_write_sectors $buffer"
	[pasa]="route never split_read_sectors $buffer split_write_sectors $buffer align_sectors $page"
	[pas-pai]="route never split_read_sectors $buffer split_write_sectors $buffer dispatch pai"
	[pasa-pai]="route never split_read_sectors $buffer split_write_sectors $buffer align_sectors $page dispatch pai"
	[bundle]="route never dispatch bundle bundle_sectors 8192"
	[bundle-rp]="route never dispatch bundle_rp bundle_sectors 8192"
	[bundle-rp-1]="route never dispatch bundle_rp bundle_sectors 8192 dispatch_depth 1"
)
postmark_sides="none mq-deadline nopas pas pasa pas-pai pasa-pai bundle bundle-rp"
mixed_sides="none mq-deadline bfq kyber nopas bundle bundle-rp bundle-rp-1"
sequential_sides="none nopas pas pasa pasa-pai bundle-rp"

bring_home() {
	:
}

# open_side SIDE: a fresh drive, and $target on it.
open_side() {
	side=$1
	fresh_drive
	target=$disk
	if [ "${sides[$1]}" = bare ]; then
		echo "$1" >"/sys/block/$drive/queue/scheduler"
	else
		echo none >"/sys/block/$drive/queue/scheduler"
		options=${sides[$1]}
		create_ressd
	fi
}

# has_scheduler SIDE: the kernel has it, if it is one.
has_scheduler() {
	[ "${sides[$1]}" != bare ] || [ "$1" = none ] || modprobe "$1" 2>/dev/null ||
		modprobe "$1-iosched" 2>/dev/null ||
		[ "$1" = mq-deadline ] || {
		say "this kernel has no scheduler $1"
		return 1
	}
}

close_side() {
	[ "$target" = "$disk" ] || dmsetup remove ressd
	remove_drive
}

watch_requests() {
	local numbers
	[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
	numbers=$(cat "/sys/block/$drive/dev")
	echo 65536 >"$tracing/buffer_size_kb"
	echo >"$tracing/trace"
	echo "dev == $((${numbers%:*} << 20 | ${numbers#*:})) && nr_sector > 0" \
		>"$tracing/events/block/block_rq_issue/filter"
	echo 1 >"$tracing/events/block/block_rq_issue/enable"
}

# count_requests KEY: since then, all, those that begin at a page, those within the buffer.
count_requests() {
	echo 0 >"$tracing/events/block/block_rq_issue/enable"
	sed -n 's/.*block_rq_issue: .* \([0-9]*\) + \([0-9]*\) .*/\1 \2/p' "$tracing/trace" |
		awk -v page="$page" -v buffer="$buffer" -v key="$1" '
			{ n++; aligned += $1 % page == 0; within += $2 <= buffer }
			END { print key ".requests", n + 0; print key ".aligned", aligned + 0; print key ".within", within + 0 }' \
			>>"$figures/figures"
}

# postmark_part KEY SIZE FILES TRANSACTIONS: PA 6.2 on a smaller scale: files of one size, each in a folder of its own.
# Postmark removes its files at its end; with less memory than they take, most of what it writes reaches the drive.
postmark_part() {
	postmark_memory 24M
	postmark_filesystem "$target" 400M
	settle
	printf 'set %s\n' "location /mnt" "number $3" "subdirectories $3" "transactions $4" "size $2 $2" "seed 712" \
		>/tmp/postmark.commands
	printf 'run\nquit\n' >>/tmp/postmark.commands
	watch_requests
	timed "$1" postmark_to_the_end
	count_requests "$1"
	umount /mnt
}

postmark_to_the_end() {
	(
		echo "$BASHPID" >/sys/fs/cgroup/load/cgroup.procs
		exec postmark /tmp/postmark.commands >/tmp/postmark.report
	)
	grep -q '^Time:' /tmp/postmark.report || die "postmark did not come to its end"
	sync
}

# Reads one at a time beside 32 random writes of 64 KiB in flight (IR).
mixed_part() {
	local writer
	mixed_job "$1" writes --rw=randwrite --bs=64k --ioengine=libaio --iodepth=32 --randseed=71 --runtime=22 &
	writer=$!
	sleep 1
	mixed_job "$1" reads --rw=randread --bs=4k --ioengine=psync --randseed=72 --runtime=20
	wait "$writer"
	figure "$1.bytes" "$(fio_value write io_bytes <"/tmp/writes.json")"
	figure "$1.ms" "$(fio_value write runtime <"/tmp/writes.json")"
	figure "$1.reads" "$(fio_value read total_ios <"/tmp/reads.json")"
	figure "$1.read_mean_ns" "$(fio_latency read mean <"/tmp/reads.json" | cut -d . -f 1)"
	figure "$1.read_p99_ns" "$(sed -n 's/.*"99.000000" : \([0-9]*\).*/\1/p' /tmp/reads.json | head -n 1)"
}

# mixed_job KEY NAME FIO...: into /tmp/NAME.json.
mixed_job() {
	fio --name="$2" --filename="$target" --size="$span" --direct=1 --time_based --norandommap --randrepeat=0 \
		--lat_percentiles=1 --clat_percentiles=0 --output-format=json --output="/tmp/$2.json" "${@:3}"
}

sequential_part() {
	measure "$1" "$target" "$span" write --rw=write --bs=128k --io_size="$span" --ioengine=libaio --iodepth=4
}

# one_part PART
one_part() {
	local name list
	case $1 in
	postmark-*) list=$postmark_sides ;;
	mixed) list=$mixed_sides ;;
	sequential) list=$sequential_sides ;;
	*) die "the part '$1' is not known" ;;
	esac
	for name in $list; do
		has_scheduler "$name" || continue
		step "$1-$name"
		open_side "$name"
		case $1 in
		postmark-8m) postmark_part "$1.$name" 8388608 12 50 ;;
		postmark-256k) postmark_part "$1.$name" 262144 100 300 ;;
		mixed) mixed_part "$1.$name" ;;
		sequential) sequential_part "$1.$name" ;;
		esac
		close_side
	done
}

load ssdsim
load dm-ressd
for part; do
	one_part "$part"
done
step end
