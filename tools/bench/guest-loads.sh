# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# guest-loads.sh: what the comparisons with the bare drive and with other caches share in a guest: the
# emulated drive, what ressd-probe advises for it, and the loads.
#
# Whoever sources it has set $profile and $options, keeps $side (the name in the figures) and $target
# (where the loads go), and defines bring_home, which ends when nothing is left in a log or cache.
# Figures are SIDE.LOAD.bytes, .ms, .max_ns, .erases as in guest-lib.sh; SIDE.LOAD.drain_ms and
# .drain_erases: bringing home what was left then.
# The load_* functions are called by name.
# shellcheck disable=SC2154
# shellcheck source=/dev/null
. ./lib.sh
# shellcheck source=tools/demo/guest-lib.sh
. ./guest-lib.sh
# shellcheck source=tools/demo/postmark-lib.sh
. ./postmark-lib.sh
# shellcheck source=tools/bench/drives.conf
. ./drives.conf

drive_sizes "$profile"
span=${SPAN_MB}M
reserved=$((RESERVED_MB * 2048))	# sectors, as $normal

fresh_drive() {
	# shellcheck disable=SC2086
	sh ./ssdsim.sh create "$drive" "profiles/$profile.conf" "capacity_mb=$CAPACITY_MB" \
		$DRIVE_WORDS
	[ -b "$disk" ] || die "the emulated drive $disk did not appear"
	normal=$(($(blockdev --getsz "$disk") - reserved))
	if [ "$AGE_MB" -gt 0 ]; then
		fio_at "$disk" "$span" --rw=randwrite --bs=4k --io_size="${AGE_MB}M" \
			--randseed=5 >/dev/null
	fi
}

# side_drive: a fresh drive for one side. The two blocks that ressd is formatted with are written on each, as zeroes: the
# drive merges their units later, on Samsung 511 of 5323 pages that it copied in a load of two seconds.
side_drive() {
	local blocks block area=$reserved
	fresh_drive
	[ "$area" -gt 0 ] || area=$((RESERVED_MB * 2048))
	blocks=$(($(blockdev --getsz "$disk") / 8))
	for block in $((blocks - area / 8)) $((blocks - 1)); do
		dd if=/dev/zero of="$disk" bs=4k count=1 seek="$block" oflag=direct conv=notrunc,fsync status=none
	done
}

remove_drive() {
	[ "$(drive_stat nand_violations)" = 0 ] || die "the drive broke a rule of its NAND"
	sh ./ssdsim.sh remove "$drive"
}

# probe: where $options is "probe", what ressd-probe advises takes its place, and words behind it go
# before what is advised for the same option. Where it advises against ressd (it ends with 4 then) or
# cannot tell (5), the target has to find out itself what is good.
probe() {
	local status=0 own=${options#probe}
	step probe
	fresh_drive
	ressd-probe --write --yes --reserved "${RESERVED_MB}M" --json "$disk" \
		>"$figures/probe.json" || status=$?
	sh ./ssdsim.sh remove "$drive"
	case $status in
	0 | 6) advised_options ;;
	4 | 5) options="on_full wait route adaptive log_discard on" ;;
	*) die "ressd-probe ended with $status" ;;
	esac
	# shellcheck disable=SC2086
	set_options $own
	say "options: $options"
}

# asks_probe: whether $options wants it.
asks_probe() {
	[ "${options%% *}" = probe ]
}

# set_options [KEY VALUE]...: in $options, once each.
set_options() {
	while [ $# -gt 0 ]; do
		[ $# -gt 1 ] || die "the option $1 has no value"
		options=$(printf ' %s' "$options" | sed "s/ $1 [^ ]*//")
		options="${options# } $1 $2"
		shift 2
	done
}

# advised_options: the option words of the table line in what ressd-probe has printed.
advised_options() {
	options=$(sed -n 's/^ *"table": *"\(.*\)",\{0,1\}$/\1/p' "$figures/probe.json" |
		cut -d ' ' -f 10-)
	[ -n "$options" ] || die "ressd-probe advises ressd, but without options"
}

# create_ressd: the target on the drive, the reserved area at its end.
create_ressd() {
	# shellcheck disable=SC2086
	set -- $options
	dmsetup create ressd --table "0 $normal ressd $disk 0 $disk $normal $reserved $# $*"
	target=/dev/mapper/ressd
}

# all_home LOAD: figures of what was still to be done.
all_home() {
	local before start
	before=$(drive_stat nand_erases)
	start=$(uptime_ms)
	bring_home
	sync
	figure "$side.$1.drain_ms" "$(($(uptime_ms) - start))"
	figure "$side.$1.drain_erases" "$(($(drive_stat nand_erases) - before))"
}

# in_use: as below a mounted file system, at rest, with the covers of ressd: the first small write
# after a format or a drain, figure SIDE.cover, writes them.
in_use() {
	settle
	[ "$side" = ressd ] || return 0
	timed "$side.cover" \
		dd if=/dev/zero of="$target" bs=4k count=1 oflag=direct conv=fsync status=none
	settle
}

# steady LOAD PART FIO...: warm-up until the log has gone round once, then three times round; 1 / PART
# of the log is data. (In the first round after the warm-up dm-writecache is still twice as fast as it
# is then.) On the bare drive (whose speed is the same from the start) BARE_MB / PART.
steady() {
	local load=$1 part=$2 warm=$((RESERVED_MB / $2)) measured=$((3 * RESERVED_MB / $2))
	shift 2
	if [ "$side" = bare ] && [ "$measured" -gt "$((BARE_MB / part))" ]; then
		measured=$((BARE_MB / part))
		warm=$(((measured + 3) / 4))
	fi
	step "$side-$load"
	fio_at "$target" "$span" "$@" --io_size="${warm}M" --randseed=11 >/dev/null
	measure "$side.$load" "$target" "$span" write "$@" --io_size="${measured}M" --randseed=12
	all_home "$load"
}

load_randwrite-4k() {
	steady randwrite-4k 1 --rw=randwrite --bs=4k
}

load_randwrite-8k() {
	steady randwrite-8k 1 --rw=randwrite --bs=8k
}

# Each write is followed by a flush, as a commit of a database is: a block of header for each.
load_fsync-4k() {
	steady fsync-4k 2 --rw=randwrite --bs=4k --fdatasync=1
}

# After random writes a drive is slow at first, whoever writes: the first pass does not count.
load_sequential() {
	step "$side-sequential"
	in_use
	fio_at "$target" "$span" --rw=write --bs=512k --io_size="$span" >/dev/null
	settle
	measure "$side.seqwrite" "$target" "$span" write --rw=write --bs=512k --io_size="$span"
	settle
	measure "$side.seqread" "$target" "$span" read --rw=read --bs=512k --io_size="$span"
}

# With a part of the data in the log, the mover at rest (RE 4.2).
load_randread() {
	step "$side-randread"
	fio_at "$target" "$span" --rw=randwrite --bs=4k --io_size="$((RESERVED_MB / 4))M" \
		--randseed=52 >/dev/null
	settle
	measure "$side.randread" "$target" "$span" read --rw=randread --bs=4k --io_size=8M \
		--randseed=53
	bring_home
}

# burst LOAD PART: a burst that fits half of the log, of which 1 / PART is data; at rest before.
burst() {
	in_use
	measure "$side.$1" "$target" "$span" write --rw=randwrite --bs=4k \
		--io_size="$((RESERVED_MB * 1024 * 7 / 16 / $2))k" --randseed=61
	all_home "$1"
}

# scaled_intervals: with a 16th of the files a run takes a 16th of the time, and so do the intervals in
# which the kernel writes back (by default 5 and 30 s). A commit of ext4 comes each second instead of 5:
# it has no shorter interval (scaled_writeback). Otherwise PM-A ends before anything but a lack of memory
# writes. With files POSTMARK_TIMES as many, so much longer.
scaled_intervals() {
	echo $((POSTMARK_TIMES * 500 / 16)) >/proc/sys/vm/dirty_writeback_centisecs
	echo $((POSTMARK_TIMES * 3000 / 16)) >/proc/sys/vm/dirty_expire_centisecs
}

scaled_writeback() {
	scaled_intervals
	mount -o remount,commit=$((POSTMARK_TIMES > 4 ? POSTMARK_TIMES * 5 / 16 : 1)) /mnt
}

# postmark_load CONFIGURATION LOAD: Postmark on a new ext4, a sync at its end included. As bytes counts
# what Postmark says that it has written: the same on all sides.
postmark_load() {
	local report="$figures/$side.$2.txt"
	postmark_sizes "$1"
	postmark_memory "$CACHE_SIZE"
	postmark_filesystem "$target" "$FS_SIZE"
	scaled_writeback
	settle
	timed "$side.$2" postmark_run "$FILES" "$DIRECTORIES" "$TRANSACTIONS" "$report"
	figure "$side.$2.bytes" "$(awk '/ megabytes written / { print int($1 * 1048576) }' "$report")"
	umount /mnt
	all_home "$2"
}

load_postmark() {
	step "$side-postmark"
	postmark_load b postmark
}

tracing=/sys/kernel/tracing
trigger=$tracing/events/block/block_bio_queue
of_mover='comm ~ "ressd_mv*" && rwbs ~ "W*"'
mover_writes="hist:keys=nr_sector:size=4096 if $of_mover"

mount_tracing() {
	[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
}

# count_moves, counted_moves KEY: the kernel counts the mover's writes by their sizes in between, and notes when it began
# to move: its first write that is no cover.
count_moves() {
	mount_tracing
	echo "$mover_writes" >"$trigger/trigger"
	echo "$of_mover && sector >= $((8 * $(status_word cover_blocks)))" >"$trigger/filter"
	echo mono >"$tracing/trace_clock"
	echo 0 >"$tracing/options/overwrite"
	echo 1 >"$trigger/enable"
	read -r counted_since _ </proc/uptime
}

counted_moves() {
	local moves moves_12k sectors sectors_12k first
	first=$(sed -n '/block_bio_queue/ { s/.* \([0-9.]*\): block_bio_queue.*/\1/p; q }' "$tracing/trace")
	[ -z "$first" ] || figure "$1.first_move_ms" \
		"$(awk -v first="$first" -v since="$counted_since" 'BEGIN { print int(1000 * (first - since)) }')"
	echo 0 >"$trigger/enable"
	echo >"$tracing/trace"
	read -r moves moves_12k sectors sectors_12k < <(sed -n \
		's/^{ nr_sector: *\([0-9]*\) } hitcount: *\([0-9]*\)$/\1 \2/p' "$trigger/hist" | awk '
		{ moves += $2; sectors += $1 * $2 }
		$1 >= 24 { moves_12k += $2; sectors_12k += $1 * $2 }
		END { print moves + 0, moves_12k + 0, sectors + 0, sectors_12k + 0 }')
	echo "!$mover_writes" >"$trigger/trigger"
	figure "$1.moves" "$moves"
	figure "$1.moves_12k" "$moves_12k"
	figure "$1.moved_sectors" "$sectors"
	figure "$1.moved_sectors_12k" "$sectors_12k"
	figure "$1.logged" "$(status_word accepted)"
	figure "$1.moved" "$(status_word moved_blocks)"
}
