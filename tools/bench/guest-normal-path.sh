#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-normal-path.sh PROFILE LOAD SEEDS SIDE...: requests to the normal area on one emulated drive, in a benchmark guest:
# cut and ordered by ressd (core/ressd-split.h, core/ressd-queue.h), or on the bare drive under a scheduler of the
# kernel. Nothing goes to the log (route never). docs/notebook/normal-path.md describes loads and sides.
# Figures are what the drive did: LOAD.SIDE.busy_ns, .rmw_reads, .merge_copies, .read_bytes, .write_bytes; with Postmark
# and Filebench's profiles .ms, .requests, .aligned, .within as well. What fio says is LOAD.SIDE.json. Of a load whose
# name ends in -responses there is LOAD.SIDE.bios instead, when each request came and was answered (bio_trace.py).
set -euo pipefail
profile=$1
part=$2
seeds=$3
options=
shift 3
# shellcheck source=tools/bench/guest-loads.sh
. ./guest-loads.sh
# shellcheck source=tools/bench/bio-trace.sh
. ./bio-trace.sh

# What ressd-probe may advise for the normal path.
normal_path='(split_write|align|bundle)_sectors [0-9]+|dispatch [a-z_]+|dispatch_depth [0-9]+'

# The drive's clustered page, clustered block, and longest read and write, in sectors: what PA measured (tests/ssdsim/profiles).
# A limit is its buffer in whole pages, or off where it has none or a smaller one than a page. The seconds are those in which it does
# some thousand random writes, or some hundred if one takes it a third of a second.
web_files=16
case $profile in
samsung) page=32 block=8192 longest_read=512 longest_write=480 seconds=30 ;;
supertalent | transcend) page=256 block=32768 longest_read=0 longest_write=256 seconds=200 web_files=6 ;;
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

# bring_home: to start dmsetup counts on each side.
bring_home() {
	if [ -n "$options" ]; then
		dmsetup message ressd 0 drain
	else
		dmsetup table >/dev/null
	fi
}

# is_recorded: whether each request's response is wanted.
is_recorded() {
	[[ $part == *-responses ]]
}

# policy_of SIDE: its words for the normal path.
policy_of() {
	case $1 in
	*-on-none) policy_of "${1%-on-none}" ;;
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

# words_of SIDE: option words of the table line; nothing: a scheduler on the bare drive, or dm-linear. With log-SIDE small writes go
# to the log, with the options that ressd-probe has advised, log-advised also for the normal path.
words_of() {
	case $1 in
	none | mq-deadline | kyber | bfq | linear-on-none) ;;
	log-advised) echo "$advised" ;;
	log-*) echo "$(sed -E "s/ ($normal_path)//g" <<<"$advised") $(policy_of "${1#log-}")" ;;
	*) echo "route never $(policy_of "$1")" ;;
	esac
}

# choose_scheduler NAME: of the drive, with a queue as long as ressd's. By default it has twice what the drive takes at
# once: two requests on a drive without a queue, of which there is nothing to choose.
choose_scheduler() {
	[ "$1" = none ] || [ "$1" = mq-deadline ] || modprobe "$1" 2>/dev/null || modprobe "$1-iosched"
	echo "$1" >"/sys/block/$drive/queue/scheduler"
	[ "$1" = none ] || echo 256 >"/sys/block/$drive/queue/nr_requests"
}

# open_side SIDE: a fresh drive, and $target on it. Below ressd is what the kernel gives a drive with a single queue,
# with SIDE-on-none no scheduler.
open_side() {
	local below=mq-deadline
	side_drive
	target=$disk
	options=$(words_of "$1")
	[[ $1 != *-on-none ]] || below=none
	if [ -n "$options" ]; then
		choose_scheduler "$below"
		create_ressd
	elif [ "$1" = linear-on-none ]; then
		choose_scheduler none
		dmsetup create linear --table "0 $(blockdev --getsz "$disk") linear $disk 0"
		target=/dev/mapper/linear
	else
		choose_scheduler "$1"
	fi
	! is_recorded || trace_open "$target"
}

# close_side SIDE
close_side() {
	! is_recorded || trace_close "$part.$1.bios"
	bring_home
	[ "$target" = "$disk" ] || dmsetup remove "${target##*/}"
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
	! is_recorded || return 0
	mount_tracing
	numbers=$(cat "/sys/block/$drive/dev")
	echo 65536 >"$tracing/buffer_size_kb"
	echo >"$tracing/trace"
	echo "dev == $((${numbers%:*} << 20 | ${numbers#*:})) && nr_sector > 0" \
		>"$tracing/events/block/block_rq_issue/filter"
	echo 1 >"$tracing/events/block/block_rq_issue/enable"
}

# count_requests KEY: since then, all, those that begin at a page, those within the buffers; the reads among them.
count_requests() {
	! is_recorded || return 0
	echo 0 >"$tracing/events/block/block_rq_issue/enable"
	sed -n 's/.*block_rq_issue: [0-9,]* \([A-Z]*\) .* \([0-9]*\) + \([0-9]*\) .*/\1 \2 \3/p' "$tracing/trace" |
		awk -v page="$page" -v read="$longest_read" -v write="$longest_write" -v key="$1" '
			{ limit = $1 ~ /R/ ? read : write }
			{ n++; aligned += $2 % page == 0; within += fits = !limit || $3 <= limit }
			$1 ~ /R/ { reads++; reads_within += fits }
			END { print key ".requests", n + 0; print key ".aligned", aligned + 0; print key ".within", within + 0
				print key ".reads", reads + 0; print key ".reads_within", reads_within + 0 }' \
			>>"$figures/figures"
}

# --- loads ----------------------------------------------------------------------------------------------------------

# files_part KEY MEMORY COMMAND...: on a new ext3, as in both papers, with a sync at the end and all that is in a log
# brought home. With less memory than its files take, most of what COMMAND writes reaches the drive before its end.
files_part() {
	postmark_memory "$2"
	make_ext4 "" -t ext3 "$target" 480M
	mount -t ext3 "$target" /mnt
	"prepare_$3" "${@:4}"
	sync
	bring_home # of the preparations; not a part of the time
	echo 3 >/proc/sys/vm/drop_caches
	settle
	! is_recorded || trace_mark run
	watch_requests
	watch_drive
	timed "$1" to_the_end "${@:3}"
	! is_recorded || trace_mark end
	count_drive "$1"
	count_requests "$1"
	umount /mnt
}

# same_number: of the next process on every side, another one with another seed. ext3 begins the files of a process at one
# of 16 places in their block group, by its number.
same_number() {
	echo "$((20000 + seed))" >/proc/sys/kernel/ns_last_pid
}

# to_the_end COMMAND...: until all is written back.
to_the_end() {
	(
		echo "$BASHPID" >/sys/fs/cgroup/load/cgroup.procs
		"$@"
	)
	sync
	bring_home
	# A drain ends with a flush: so does every side, or the drive's buffer would keep some merges to itself.
	sync "$disk"
}

# run_postmark LOCATION SMALLEST LARGEST FILES FOLDERS TRANSACTIONS: it removes its files at its end. A buffer of the largest
# file's size is its own.
run_postmark() {
	local name=${1##*/}
	printf 'set %s\n' "location $1" "size $2 $3" "number $4" "subdirectories $5" "transactions $6" "seed $seed" \
		>"/tmp/postmark.$name"
	printf 'run\nquit\n' >>"/tmp/postmark.$name"
	same_number
	postmark "/tmp/postmark.$name" >"/tmp/postmark.$name.report"
	grep -q '^Time:' "/tmp/postmark.$name.report" || die "postmark did not come to its end"
}

prepare_run_postmark() { :; }

# Filebench's profiles as PA 6.3 has them. It is not to be had in Debian, so its file sets, threads and operations are
# those of fio and Postmark here. They do a fixed work, not one for a fixed time.
fio_files() {
	echo 100000000 >"/proc/$BASHPID/timerslack_ns"
	# Each thread has all files open.
	ulimit -n 4096
	fio --thread --norandommap --randrepeat=0 --output="$figures/fio.txt" "$@" || die "fio failed on /mnt"
}

# names_of COUNT PREFIX: of files, as fio has them.
names_of() {
	local number names=
	for number in $(seq "$1"); do
		names+=:/mnt/$2$number
	done
	echo "${names#:}"
}

# preallocate COUNT MB PREFIX
preallocate() {
	local number
	same_number
	for number in $(seq "$1"); do
		dd if=/dev/zero of="/mnt/$3$number" bs=1M count="$2" status=none
	done
}

# webserver FILES: 16 threads read whole files of 16 MB, one appends 16 KB to a log for ten of them. PA has 1,000 files
# on a drive of 16 times the size, 100 on the slow ones.
webserver() {
	fio_files --name=web --rw=read --bs=128k --numjobs=16 --io_size=32m --filename="$(names_of "$1" web)" \
		--file_service_type=random:128 --randseed=$((74 + seed - first_seed)) --name=log --rw=write --bs=16k --io_size=48k \
		--filename=/mnt/log --thinktime=1s --filesize=48k
}

prepare_webserver() {
	preallocate "$1" 16 web
}

# fileserver: 50 threads that create, append to, read and remove files of 1 MB, 10,000 of them on a drive of 16 times
# the size: ten times Postmark with 25 files.
fileserver() {
	local number
	local -a running=()
	for number in $(seq 10); do
		run_postmark "/mnt/$number" 524288 1572864 25 1 50 &
		running+=($!)
	done
	for number in "${running[@]}"; do
		wait "$number" || die "one of ten runs of postmark failed"
	done
}

prepare_fileserver() {
	local number
	for number in $(seq 10); do
		mkdir "/mnt/$number"
	done
}

# oltp: Filebench's profile of that name with files of 10 MB: ten writers send 100 writes of 2 KB each to ten files, all at
# once by the C library's asynchronous writes, and wait until they are on the drive (O_DSYNC); 200 shadows read 2 KB
# ten times for a write; one thread writes a log, 256 KB for 3,200 reads. Three rounds of that.
oltp() {
	fio_files --name=dbwr --rw=randwrite --bs=2k --numjobs=10 --ioengine=posixaio --iodepth=100 --sync=dsync \
		--io_size=600k --filename="$(names_of 10 data)" --randseed=75 --name=shadow --rw=randread --bs=2k \
		--numjobs=200 --io_size=300k --filename="$(names_of 10 data)" --randseed=76 --name=lgwr --rw=randwrite \
		--bs=256k --sync=dsync --io_size=2304k --filename=/mnt/log1 --randseed=77
}

prepare_oltp() {
	preallocate 10 10 data
	preallocate 1 10 log
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
	load=${load%-single}
	case ${load%-responses} in
	postmark-8m) files_part "$1" 24M run_postmark /mnt 8388608 8388608 12 12 20 ;;
	postmark-256k) files_part "$1" 24M run_postmark /mnt 262144 262144 300 300 300 ;;
	postmark-a) files_part "$1" 24M run_postmark /mnt 1024 32768 2000 200 2000 ;;
	postmark-b) files_part "$1" 40M run_postmark /mnt 1048576 16777216 12 12 20 ;;
	filebench-webserver) files_part "$1" 32M webserver "$web_files" ;;
	filebench-fileserver) files_part "$1" 96M fileserver ;;
	filebench-oltp) files_part "$1" 256M oltp ;;
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

# Of a work on files there are several seeds, PA's own and the next: how long it takes depends on when the kernel happens to
# write back. On Super Talent bundle-rp-2 needed 13 to 35 seconds with five of them. A key that is noted several times
# stands for its mean.
first_seed=712

load ssdsim
load dm-ressd
modprobe ext4
if [[ " $* " == *" log-"* ]]; then
	probe
	advised=$options
fi
for side; do
	step "$side"
	for seed in $(seq $first_seed $((first_seed + seeds - 1))); do
		open_side "$side"
		measured_part "$part.$side"
		close_side "$side"
	done
done
step end
