#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-normal-path.sh PROFILE LOAD SIDE...: requests to the normal area on one emulated drive, in a benchmark guest:
# cut and ordered by ressd (core/ressd-split.h, core/ressd-queue.h), or on the bare drive under a scheduler of the
# kernel. Nothing goes to the log (route never). docs/notebook/normal-path.md describes loads and sides.
# Figures are what the drive did: LOAD.SIDE.busy_ns, .rmw_reads, .merge_copies, .read_bytes, .write_bytes; with Postmark
# .ms, .requests, .aligned, .within as well. What fio says is LOAD.SIDE.json.
set -euo pipefail
profile=$1
part=$2
options=
shift 2
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh

tracing=/sys/kernel/tracing

# What ressd-probe may advise for the normal path.
normal_path='(split_write|align|bundle)_sectors [0-9]+|dispatch [a-z_]+|dispatch_depth [0-9]+'

# The drive's clustered page, clustered block, and longest read and write, in sectors: what PA measured (docs/ssdsim.md).
# A limit is its buffer in whole pages, or off where it has none or a smaller one than a page. The seconds are those in which it does
# some thousand random writes, or some hundred if one takes it a third of a second.
case $profile in
samsung) page=32 block=8192 longest_read=512 longest_write=480 seconds=30 ;;
supertalent | transcend) page=256 block=32768 longest_read=0 longest_write=256 seconds=200 ;;
intel) page=8 block=10240 longest_read=1024 longest_write=224 seconds=5 ;;
# Of these the geometry that tests/ssdsim/profiles gives them.
ocz) page=64 block=8192 longest_read=512 longest_write=256 seconds=10 ;;
ssdsim-sc) page=16 block=2048 longest_read=0 longest_write=4096 seconds=10 ;;
sdcard | sdcard-slow) page=32 block=8192 longest_read=32 longest_write=32 seconds=200 ;;
usbstick) page=16 block=16384 longest_read=32 longest_write=32 seconds=400 ;;
sdcard-a1) page=32 block=49152 longest_read=64 longest_write=64 seconds=30 ;;
sdcard-a2) page=128 block=49152 longest_read=128 longest_write=128 seconds=30 ;;
emmc) page=16 block=8192 longest_read=32 longest_write=128 seconds=10 ;;
tlc) page=256 block=98304 longest_read=512 longest_write=1024 seconds=10 ;;
*) die "the parameters of the profile '$profile' are not known; add them to $0" ;;
esac
# A load whose name ends so is measured on a drive that waits until a write longer than its buffer is programmed.
case $part in
*-through) DRIVE_WORDS+=" write_buffer_through=1" ;;
# On one that takes one command after the other.
*-single) DRIVE_WORDS+=" queue_depth=1" ;;
esac
limits="split_read_sectors $longest_read split_write_sectors $longest_write"

bring_home() {
	[ "$target" = "$disk" ] || dmsetup message ressd 0 drain
}

# policy_of SIDE: its words for the normal path.
policy_of() {
	case $1 in
	nopas) ;;
	# Not longer than the drive takes them anyway: pai needs a length to join to.
	nopas-pai) echo "split_read_sectors 1024 split_write_sectors 1024 dispatch pai" ;;
	pas) echo "$limits" ;;
	pasa) echo "$limits align_sectors $page" ;;
	pas-pai) echo "$limits dispatch pai" ;;
	pasa-pai) echo "$limits align_sectors $page dispatch pai" ;;
	bundle) echo "dispatch bundle bundle_sectors $block" ;;
	bundle-rp) echo "dispatch bundle_rp bundle_sectors $block" ;;
	*-[0-9]*) echo "$(policy_of "${1%-*}") dispatch_depth ${1##*-}" ;;
	*) die "the side '$1' is not known" ;;
	esac
}

# words_of SIDE: option words of the table line; nothing: a scheduler on the bare drive. With log-SIDE small writes go
# to the log, with the options that ressd-probe has advised, log-advised also for the normal path.
words_of() {
	case $1 in
	none | mq-deadline | kyber | bfq) ;;
	log-advised) echo "$advised" ;;
	log-*) echo "$(sed -E "s/ ($normal_path)//g" <<<"$advised") $(policy_of "${1#log-}")" ;;
	*) echo "route never $(policy_of "$1")" ;;
	esac
}

# choose_scheduler NAME: with a queue as long as ressd's. By default it has twice what the drive takes at once: two
# requests on a drive without a queue, of which there is nothing to choose.
choose_scheduler() {
	[ "$1" = none ] || [ "$1" = mq-deadline ] || modprobe "$1" 2>/dev/null || modprobe "$1-iosched"
	echo "$1" >"/sys/block/$drive/queue/scheduler"
	[ "$1" = none ] || echo 256 >"/sys/block/$drive/queue/nr_requests"
}

# open_side SIDE: a fresh drive, and $target on it.
open_side() {
	fresh_drive
	target=$disk
	options=$(words_of "$1")
	if [ -z "$options" ]; then
		choose_scheduler "$1"
	else
		choose_scheduler none
		create_ressd
	fi
}

close_side() {
	bring_home
	[ "$target" = "$disk" ] || dmsetup remove ressd
	remove_drive
}

# --- what the drive sees --------------------------------------------------------------------------------------------

counters="busy_ns rmw_reads merge_copies host_read_bytes host_write_bytes"

watch_drive() {
	local counter
	for counter in $counters; do
		before[$counter]=$(drive_stat "$counter")
	done
}
declare -A before

# count_drive KEY: since then.
count_drive() {
	local counter
	for counter in $counters; do
		figure "$1.${counter#host_}" "$(($(drive_stat "$counter") - before[$counter]))"
	done
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

# count_requests KEY: since then, all, those that begin at a page, those within the buffers.
count_requests() {
	echo 0 >"$tracing/events/block/block_rq_issue/enable"
	sed -n 's/.*block_rq_issue: [0-9,]* \([A-Z]*\) .* \([0-9]*\) + \([0-9]*\) .*/\1 \2 \3/p' "$tracing/trace" |
		awk -v page="$page" -v read="$longest_read" -v write="$longest_write" -v key="$1" '
			{ limit = $1 ~ /R/ ? read : write }
			{ n++; aligned += $2 % page == 0; within += !limit || $3 <= limit }
			END { print key ".requests", n + 0; print key ".aligned", aligned + 0; print key ".within", within + 0 }' \
			>>"$figures/figures"
}

# --- loads ----------------------------------------------------------------------------------------------------------

# postmark_part KEY MEMORY SMALLEST LARGEST FILES FOLDERS TRANSACTIONS: on a new ext3, as in both papers, with a sync at
# the end and all that is in a log brought home. Postmark removes its files at its end; with less memory than they take,
# most of what it writes reaches the drive before. A buffer of the largest file's size is its own.
postmark_part() {
	postmark_memory "$2"
	mkfs.ext4 -q -t ext3 -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$target" 480M
	mount -t ext3 "$target" /mnt
	settle
	printf 'set %s\n' "location /mnt" "size $3 $4" "number $5" "subdirectories $6" "transactions $7" "seed 712" \
		>/tmp/postmark.commands
	printf 'run\nquit\n' >>/tmp/postmark.commands
	watch_requests
	watch_drive
	timed "$1" postmark_to_the_end
	count_drive "$1"
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
	bring_home
}

# fio_part KEY FIO...: jobs on the raw device; what fio says is read by normal_path.py.
fio_part() {
	local key=$1
	shift
	watch_drive
	# As in fio_at: fio's first process looks for the end only when the guest is awake.
	(
		echo 100000000 >"/proc/$BASHPID/timerslack_ns"
		exec fio --output-format=json --output="$figures/$key.json" --filename="$target" --size="$span" \
			--direct=1 --ioengine=psync --group_reporting --norandommap --randrepeat=0 --lat_percentiles=1 \
			--clat_percentiles=0 "$@"
	) || die "fio failed on $target"
	count_drive "$key"
}

# measured_part KEY: $part on $target.
measured_part() {
	local load=${part%-through}
	case ${load%-single} in
	postmark-8m) postmark_part "$1" 24M 8388608 8388608 12 12 20 ;;
	postmark-256k) postmark_part "$1" 24M 262144 262144 300 300 300 ;;
	postmark-a) postmark_part "$1" 24M 1024 32768 2000 200 2000 ;;
	postmark-b) postmark_part "$1" 40M 1048576 16777216 12 12 20 ;;
	mixed)
		fio_part "$1" --time_based --runtime="$seconds" \
			--name=writes --rw=randwrite --bs=64k --numjobs=16 --randseed=71 \
			--name=reads --new_group --rw=randread --bs=4k --numjobs=1 --randseed=72
		;;
	fileserver)
		fio_part "$1" --time_based --runtime="$seconds" --name=mix --rw=randrw --rwmixread=80 --numjobs=16 --randseed=73 \
			--bssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10
		;;
	# A large file that does not begin at a page.
	stream)
		fio_part "$1" --name=writes --rw=write --bs=1M --offset=20k --io_size=64M --end_fsync=1
		;;
	# Nothing to cut and nothing to order.
	sequential)
		fio_part "$1" --name=writes --rw=write --bs=128k --io_size=64M --end_fsync=1
		;;
	*) die "the load '$part' is not known" ;;
	esac
}

load ssdsim
load dm-ressd
modprobe ext4
if [[ " $* " == *" log-"* ]]; then
	probe
	advised=$options
fi
for side; do
	step "$side"
	open_side "$side"
	measured_part "$part.$side"
	close_side
done
step end
