#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 35-normal-path.sh: requests to the normal area are cut to the device's buffers and pages and stay cut below, by the
# requests that the block layer hands to the disk; policies order them, and nothing is lost by it.
# guest: --memory 1G --timeout 900
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
tracing=/sys/kernel/debug/tracing
reserved=16384
disk=/dev/d0

# watch: from now on each request that the disk gets.
watch() {
	echo >"$tracing/trace"
	echo 1 >"$tracing/tracing_on"
}

# requests W|R [THREAD]: since then, with data, but for those of a thread, one a line: first sector of the disk, sectors.
requests() {
	echo 0 >"$tracing/tracing_on"
	sed -n "${2:+/$2/d;} s/.*block_rq_issue: [0-9,]* \([A-Z]*\) [0-9]* ([^)]*) \([0-9]*\) + \([0-9]*\) .*/\1 \2 \3/p" \
		"$tracing/trace" | awk -v kind="$1" '$1 ~ kind && $3 > 0 { print $2, $3 }'
}

# share_aligned FILE PAGE: percent of the requests that begin at a boundary.
share_aligned() {
	awk -v page="$2" '{ n++; if ($1 % page == 0) aligned++ } END { print int(100 * aligned / n) }' "$1"
}

longest() {
	awk '$2 > longest { longest = $2 } END { print longest + 0 }' "$1"
}

# more_than LIMIT COMMAND...: it prints a larger number.
more_than() {
	local got
	got=$("${@:2}") || return 1
	[ "$got" -gt "$1" ] || {
		echo "expected more than $1, got '$got'"
		return 1
	}
}

# large_writes NAME, large_reads NAME: 16 MiB in requests of 1 MiB, not at a boundary of anything but a block.
large_writes() {
	fio --name="$1" --filename=/dev/mapper/ressd --rw=write --bs=1M --offset=20k --size=16M --direct=1 \
		--ioengine=libaio --iodepth=4 --verify=crc32c --do_verify=0 --randseed="$seed" --output=/tmp/fio-output
}

large_reads() {
	fio --name="$1" --filename=/dev/mapper/ressd --rw=write --bs=1M --offset=20k --size=16M --direct=1 \
		--ioengine=libaio --iodepth=4 --verify=crc32c --verify_only=1 --randseed="$seed" --output=/tmp/fio-output
}

# pieces NAME LONGEST PAGE PERCENT OPTION VALUE...: with these options large requests reach the disk in pieces of
# at most LONGEST sectors, PERCENT of them at boundaries of PAGE sectors, and status counts the same.
pieces() {
	local name=$1 limit=$2 page=$3 percent=$4
	shift 4
	# A write that reaches beyond covered blocks is cut there as well.
	check "$name: a device" make_ressd ressd "$disk" "$reserved" cover off route never "$@"
	watch
	check "$name: large writes" large_writes writes
	requests W >/tmp/writes
	watch
	check "$name: are read as written" large_reads reads
	requests R >/tmp/reads
	local kind
	for kind in writes reads; do
		check "$name: $kind: none is longer than $limit" equals "$limit" longest "/tmp/$kind"
		check "$name: $kind: $percent % begin at a boundary" more_than "$((percent - 1))" \
			share_aligned "/tmp/$kind" "$page"
		check "$name: $kind: status says how many" equals "$(wc -l <"/tmp/$kind")" \
			status_value ressd "${kind}_within"
		check "$name: $kind: ... none is over" equals 0 status_value ressd "${kind}_over"
		echo "# $name: $kind: $(wc -l <"/tmp/$kind") requests, $(share_aligned "/tmp/$kind" "$page") % aligned"
	done
	if [ "$page" -gt 1 ]; then
		check "$name: status counts the aligned ones" equals \
			"$(awk -v page="$page" '$1 % page == 0' /tmp/writes | wc -l)" status_value ressd writes_aligned
	fi
	check "$name: is removed" dmsetup remove ressd
}

# Neighbours of 4 KiB, plugged: they merge below, up to the limit and no further.
small_neighbours() {
	check "neighbours: a device" make_ressd ressd "$disk" "$reserved" route never split_write_sectors 512
	watch
	check "neighbours: buffered writes" dd if=/dev/zero of=/dev/mapper/ressd bs=4k count=2048 conv=fsync status=none
	requests W >/tmp/writes
	check "neighbours: the limit holds" fails more_than 512 longest /tmp/writes
	check "neighbours: they were merged" more_than 255 longest /tmp/writes
	check "neighbours: is removed" dmsetup remove ressd
}

# Switched while requests are in flight, to and fro; what is read is what was written.
switched_under_load() {
	local load n=0
	check "switched: a device" make_ressd ressd "$disk" "$reserved"
	fio --name=load --filename=/dev/mapper/ressd --rw=randrw --bsrange=4k-1M --size=32M --io_size=96M --direct=1 \
		--ioengine=libaio --iodepth=16 --verify=crc32c --verify_backlog=64 --randseed="$seed" \
		--output=/tmp/fio-output &
	load=$!
	while kill -0 "$load" 2>/dev/null; do
		dmsetup message ressd 0 set split_write_sectors 240
		dmsetup message ressd 0 set split_read_sectors 480
		dmsetup message ressd 0 set align_sectors 24
		sleep 0.05
		dmsetup message ressd 0 set align_sectors 0
		dmsetup message ressd 0 set split_read_sectors 0
		dmsetup message ressd 0 set split_write_sectors 0
		n=$((n + 1))
	done
	ends_well "switched: fio finds what it wrote" "$load"
	check "switched: more than once" test "$n" -gt 1
	check "switched: pieces were cut" at_least ressd writes_within 10
	check "switched: no errors" equals 0 status_value ressd errors
	check "switched: is removed" dmsetup remove ressd
}

# Pieces of large writes are not small writes: not even the last one, of 4 KiB, goes to the log.
pieces_are_not_small() {
	check "not small: a device" make_ressd ressd "$disk" "$reserved" split_write_sectors 512 align_sectors 32
	check "not small: writes of 260 KiB" fio --name=odd --filename=/dev/mapper/ressd --rw=randwrite --bs=260k \
		--blockalign=4k --size=20M --io_size=20M --direct=1 --randseed="$seed" --output=/tmp/fio-output
	check "not small: none is logged" equals 0 status_value ressd accepted
	check "not small: nor counted so" equals 0 status_value ressd small_writes
	check "not small: is removed" dmsetup remove ressd
}

# --- policies -------------------------------------------------------------------------------------------------------

# judged NAME OPTION VALUE...: with these options the oracle and fio find what was written; then nothing is held.
judged() {
	local name=$1
	shift
	check "$name: a blank disk" blkdiscard "$disk"
	check "$name: a device" make_ressd ressd "$disk" "$reserved" "$@"
	rm -f /tmp/journal
	check "$name: the oracle finds no difference" oracle run --operations 300 --threads 6
	check "$name: fio finds what it wrote" fio --name=mixed --filename=/dev/mapper/ressd --rw=randrw \
		--bsrange=512-256k --blockalign=512 --size=64M --io_size=24M --direct=1 --ioengine=libaio --iodepth=32 \
		--verify=crc32c --verify_backlog=64 --randseed="$seed" --output=/tmp/fio-output
	check "$name: nothing is held any more" equals 0 status_value ressd held
	check "$name: some was" at_least ressd most_held 4
	check "$name: no errors" equals 0 status_value ressd errors
	# Which way route adaptive takes, and when it tries the other one, is for the device to decide.
	case " $* " in
	*" route adaptive "*) check "$name: small writes came" at_least ressd small_writes 50 ;;
	*) check "$name: the log was at work" at_least ressd accepted 50 ;;
	esac
	check "$name: is removed" dmsetup remove ressd
}

# A slow disk: small requests queue up, pai joins them, and they reach the disk whole. 128 come at once, also where fio
# is slow: when it sent another for each that had ended, a busy machine made more than 400 requests of 1024.
joined() {
	check "joined: a device" make_ressd ressd "$disk" "$reserved" route never split_read_sectors 512 \
		split_write_sectors 512 align_sectors 512 dispatch pai dispatch_depth 1
	watch
	check "joined: neighbours of 16 KiB" fio --name=joined --filename=/dev/mapper/ressd --rw=write --bs=16k \
		--size=16M --direct=1 --ioengine=libaio --iodepth=128 --iodepth_batch=128 \
		--iodepth_batch_complete_min=128 --verify=crc32c --do_verify=1 --randseed="$seed" --output=/tmp/fio-output
	requests W >/tmp/writes
	check "joined: status says so" at_least ressd joined 500
	check "joined: none is longer than the limit" fails more_than 512 longest /tmp/writes
	check "joined: they were joined up to it" equals 512 longest /tmp/writes
	check "joined: fewer requests than writes" fails more_than 400 wc -l </tmp/writes
	check "joined: is removed" dmsetup remove ressd
}

# Of a bundle neighbours reach the disk as one request, also where one at a time is in flight.
joined_bundles() {
	check "bundles: a device" make_ressd ressd "$disk" "$reserved" route never dispatch bundle_rp \
		bundle_sectors 4096 dispatch_depth 1
	watch
	check "bundles: neighbours of 16 KiB" fio --name=joined --filename=/dev/mapper/ressd --rw=write --bs=16k \
		--size=16M --direct=1 --ioengine=libaio --iodepth=128 --iodepth_batch=128 \
		--iodepth_batch_complete_min=128 --verify=crc32c --do_verify=1 --randseed="$seed" --output=/tmp/fio-output
	requests W >/tmp/writes
	check "bundles: fewer requests than writes" fails more_than 400 wc -l </tmp/writes
	check "bundles: nothing is held any more" equals 0 status_value ressd held
	check "bundles: is removed" dmsetup remove ressd
}

# A sector that cannot be read, among reads that were joined: only the read of that sector fails.
unreadable_sector() {
	local bad=/sys/kernel/config/nullb/d1/badblocks
	check "unreadable: a device" make_ressd ressd "$disk" "$reserved" route never split_read_sectors 512 \
		align_sectors 512 dispatch pai dispatch_depth 1
	echo +1032-1032 >"$bad"
	fio --name=reads --filename=/dev/mapper/ressd --rw=read --bs=16k --size=4M --direct=1 --ioengine=libaio \
		--iodepth=128 --iodepth_batch=128 --continue_on_error=io --output-format=json --output=/tmp/fio-output
	echo -1032-1032 >"$bad"
	check "unreadable: one read has failed" equals 1 sed -n 's/.*"total_err" : \([0-9]*\).*/\1/p' /tmp/fio-output
	check "unreadable: reads were joined" at_least ressd joined 100
	check "unreadable: is removed" dmsetup remove ressd
}

# One writer at a time finds the disk at rest: its requests are never held, whatever the policy waits for.
alone() {
	local policy
	for policy in "pai split_write_sectors 512 align_sectors 512" "bundle bundle_sectors 2048" \
		"bundle_rp bundle_sectors 2048"; do
		# shellcheck disable=SC2086
		check "alone, $policy: a device" make_ressd ressd "$disk" "$reserved" route never \
			pending_expire_ms 1000 dispatch $policy
		check "alone, $policy: 100 writes do not wait" timeout 30 fio --name=alone \
			--filename=/dev/mapper/ressd --rw=randwrite --bs=12k --size=32M --io_size=1200k --direct=1 \
			--fsync=1 --randseed="$seed" --output=/tmp/fio-output
		check "alone, $policy: none has expired" equals 0 status_value ressd expired
		check "alone, $policy: is removed" dmsetup remove ressd
	done
}

# Held behind a request that does not end: the timer sends it, and a suspend does.
held_and_released() {
	local child synced children=()
	check "held: a gate" make_gate gate /dev/d1 0 65536
	check "held: a device" dmsetup create ressd --table \
		"0 65536 ressd /dev/mapper/gate 0 /dev/d1 65536 $reserved 12 cover off route never dispatch pai split_write_sectors 512 dispatch_depth 2 pending_expire_ms 1000"
	dd if=/dev/urandom of=/dev/mapper/ressd bs=12k count=1 seek=1 oflag=direct status=none &
	children+=($!)
	check "held: one is below" wait_until equals 1 writes_at_gate gate
	dd if=/dev/urandom of=/dev/mapper/ressd bs=12k count=1 seek=5 oflag=direct status=none &
	children+=($!)
	check "held: another one is held" wait_until equals 1 status_value ressd held
	check "held: sent when its time has come" wait_until equals 2 writes_at_gate gate
	check "held: it has expired" equals 1 status_value ressd expired
	dd if=/dev/urandom of=/dev/mapper/ressd bs=12k count=1 seek=9 oflag=direct status=none &
	children+=($!)
	check "held: a third one waits for the depth" wait_until equals 1 status_value ressd held
	sleep 2
	check "held: however long" equals 1 status_value ressd held
	dd if=/dev/null of=/dev/mapper/ressd conv=fsync,notrunc status=none &
	children+=($!)
	check "held: a flush waits for nothing that is held" ended "${children[-1]}"
	dd if=/dev/urandom of=/dev/mapper/ressd bs=12k count=1 seek=13 oflag=direct,dsync status=none &
	synced=$!
	check "held: nor does a FUA write" wait_until equals 3 writes_at_gate gate
	check "held: which it still is" equals 1 status_value ressd held
	dmsetup suspend ressd &
	children+=($!)
	sleep 0.5
	check "held: the gate opens" open_gate gate
	for child in "${children[@]}"; do
		ends_well "held: the suspend and each write end" "$child"
	done
	check "held: the resume" dmsetup resume ressd
	ends_well "held: the kernel's own flush behind the FUA write comes through then" "$synced"
	check "held: nothing is left" equals 0 status_value ressd held
	check "held: is removed" dmsetup remove ressd
	dmsetup remove gate
}

# held_pair GROUP...: a write by each group, one behind the other on the disk, held while a third one is in flight.
held_pair() {
	local group seek=20 children=()
	make_gate gate /dev/d1 0 65536
	dmsetup create ressd --table "0 65536 ressd /dev/mapper/gate 0 /dev/d1 65536 $reserved 12 cover off route never \
dispatch pai split_write_sectors 512 dispatch_depth 1 pending_expire_ms 1000"
	dd if=/dev/zero of=/dev/mapper/ressd bs=12k count=1 oflag=direct status=none &
	children+=($!)
	wait_until equals 1 writes_at_gate gate
	for group; do
		(echo "$BASHPID" >"/run/groups/$group/cgroup.procs" && exec dd if=/dev/zero of=/dev/mapper/ressd \
			bs=12k count=1 seek="$seek" oflag=direct status=none) &
		children+=($!)
		seek=$((seek + 1))
	done
	check "groups, $*: two are held" wait_until equals 2 status_value ressd held
	open_gate gate
	for group in "${children[@]}"; do
		ends_well "groups, $*: each write ends" "$group"
	done
}

# What control groups write is not joined, or one would be charged with, and slowed down for, what is the other one's.
groups_stay_apart() {
	mkdir -p /run/groups
	mount -t cgroup2 none /run/groups
	echo +io >/run/groups/cgroup.subtree_control
	mkdir /run/groups/a /run/groups/b
	held_pair a a
	check "groups: neighbours of one are joined" equals 1 status_value ressd joined
	dmsetup remove ressd && dmsetup remove gate
	held_pair a b
	check "groups: those of two are not" equals 0 status_value ressd joined
	dmsetup remove ressd && dmsetup remove gate
}

# held_or_sent: the second write of held_at_suspend has come.
held_or_sent() {
	equals 1 status_value ressd held || equals 2 writes_at_gate gate
}

# held_at_suspend: a suspend begins while pai holds a write for its neighbours, and the depth has room for it; tells how
# many have expired.
held_at_suspend() {
	local child children=()
	make_gate gate /dev/d1 0 65536 && dmsetup create ressd --table \
		"0 65536 ressd /dev/mapper/gate 0 /dev/d1 65536 $reserved 12 cover off route never dispatch pai split_write_sectors 512 dispatch_depth 2 pending_expire_ms 1000" ||
		return
	dd if=/dev/urandom of=/dev/mapper/ressd bs=12k count=1 seek=1 oflag=direct status=none >/dev/null &
	children+=($!)
	wait_until equals 1 writes_at_gate gate || return
	dd if=/dev/urandom of=/dev/mapper/ressd bs=12k count=1 seek=5 oflag=direct status=none >/dev/null &
	children+=($!)
	wait_until held_or_sent || return
	dmsetup suspend ressd >/dev/null &
	children+=($!)
	wait_until equals 2 writes_at_gate gate && open_gate gate || return
	for child in "${children[@]}"; do
		wait "$child" || return
	done
	status_value ressd expired
	dmsetup resume ressd && dmsetup remove ressd && dmsetup remove gate
}

# A suspend sends what is held, without its timer. Where the machine is so slow that this comes first it is tried again.
suspend_sends() {
	local i expired=1
	for ((i = 0; i < 10 && expired; i++)); do
		expired=$(held_at_suspend) || break
	done
	check "suspend: what is held does not wait for its timer" equals 0 echo "$expired"
}

# A write that a policy holds, then a read of the same blocks: in their order, while the disk is busy.
order_of_overlapping() {
	local i load
	check "order: a device" make_ressd ressd "$disk" "$reserved" route never dispatch bundle_rp \
		bundle_sectors 4096 dispatch_depth 1
	fio --name=load --filename=/dev/mapper/ressd --rw=randrw --bs=16k --size=1M --time_based --runtime=300 \
		--direct=1 --ioengine=libaio --iodepth=32 --randseed="$seed" --output=/tmp/fio-output &
	load=$!
	for ((i = 0; i < 50; i++)); do
		printf '%04096d' "$i" >/tmp/block
		dd if=/tmp/block of=/dev/mapper/ressd bs=4k count=1 seek=1024 oflag=direct status=none
		cmp -n 4096 /tmp/block \
			<(dd if=/dev/mapper/ressd bs=4k count=1 skip=1024 iflag=direct status=none) || break
	done
	check "order: the disk was busy all the while" kill "$load"
	wait "$load"
	check "order: a read sees what was written" equals 50 echo "$i"
	check "order: some were held" at_least ressd most_held 4
	check "order: is removed" dmsetup remove ressd
}

# Writes that wait for a trial of route adaptive, which is lost, go direct in their order, and those that come meanwhile
# behind them, large ones, too. (Found with buffered writes on the OCZ drive: two ascending streams, which shared its
# pages no more.)
# order_after_a_lost_trial NAME SHARES DIRECT: of small and large writes, as fio's bssplit; more than DIRECT are then direct
order_after_a_lost_trial() {
	local name="lost trial, $1" load status=0
	blkdiscard "$disk"
	dmsetup create log --table "0 $reserved linear $disk 131072"
	check "$name: a device" dmsetup create ressd --table \
		"0 131072 ressd $disk 0 /dev/mapper/log 0 $reserved 8 cover off route adaptive on_full wait commit_interval_ms 60000"
	close_gate log writes
	fio --name=load --filename=/dev/mapper/ressd --rw=write:4k --bssplit="$2" --size=64M --number_ios=6000 \
		--direct=1 --ioengine=libaio --iodepth=1024 --iodepth_batch=64 --verify=crc32c --output=/tmp/fio-output &
	load=$!
	check "$name: a record waits" wait_until fails equals 0 writes_at_gate log
	check "$name: and all small writes behind it" wait_until equals 1024 status_value ressd small_in_flight
	sleep 0.5
	watch
	open_gate log
	wait "$load" || status=$?
	check "$name: fio finds what it wrote" equals 0 echo "$status"
	check "$name: few were logged" at_most 32 "$(status_value ressd accepted)"
	requests W ressd_mv | awk '$1 < 131072 { n += $2 / 8; if ($1 < last) back++; last = $1 } END { print n + 0, back + 0 }' >/tmp/order
	echo "# $name: $(cat /tmp/order): blocks written, and how often they go back"
	check "$name: they were direct" more_than "$3" cut -d ' ' -f 1 /tmp/order
	check "$name: they ascend" fails more_than 4 cut -d ' ' -f 2 /tmp/order
	check "$name: is removed" dmsetup remove ressd
	dmsetup remove log
}

# Policies change under load, with a suspend now and then, and options change with them.
policies_switched() {
	local load n=0 policy
	check "policies: a blank disk" blkdiscard "$disk"
	check "policies: a device" make_ressd ressd "$disk" "$reserved" on_full wait
	oracle run --operations 2500 --threads 6 >/tmp/load-output 2>&1 &
	load=$!
	dmsetup message ressd 0 set split_write_sectors 512
	dmsetup message ressd 0 set split_read_sectors 480
	dmsetup message ressd 0 set bundle_sectors 2040
	while kill -0 "$load" 2>/dev/null; do
		for policy in pai bundle bundle_rp none; do
			dmsetup message ressd 0 set dispatch "$policy"
			dmsetup message ressd 0 set dispatch_depth $((1 + n % 5))
			sleep 0.03
		done
		[ $((n % 3)) -eq 0 ] && dmsetup suspend ressd && dmsetup resume ressd
		n=$((n + 1))
	done
	ends_well "policies: the oracle finds no difference" "$load"
	check "policies: switched often" test "$n" -gt 3
	check "policies: some were held" at_least ressd most_held 2
	check "policies: nothing is held any more" equals 0 status_value ressd held
	check "policies: is removed" dmsetup remove ressd
}

# Large writers that sleep while a policy holds as many as it can, each with what is left of a write that was cut: of
# 260 KiB, 4 KiB or less than a page. No piece is judged again, whoever was cut meanwhile.
rests_are_not_judged() {
	check "rests: a blank disk" blkdiscard "$disk"
	check "rests: a device" make_ressd ressd "$disk" "$reserved" split_write_sectors 512 align_sectors 32 \
		dispatch bundle_rp bundle_sectors 8192 dispatch_depth 1
	check "rests: eight writers of 260 KiB" fio --name=odd --filename=/dev/mapper/ressd --rw=randwrite --bs=260k \
		--blockalign=4k --size=8M --offset=4M --offset_increment=8M --io_size=26000k --numjobs=8 --direct=1 \
		--ioengine=libaio --iodepth=64 --randseed="$seed" --output=/tmp/fio-output
	check "rests: as many were held as can be" at_least ressd most_held 256
	check "rests: and hardly more" at_most "$(status_value ressd most_held)" 264
	check "rests: 800 writes came" equals 800 status_value ressd writes
	check "rests: none was small" equals 0 status_value ressd small_writes
	check "rests: none is logged" equals 0 status_value ressd accepted
	check "rests: is removed" dmsetup remove ressd
}

# The same writes, small and large, in order and at random: their route does not depend on who holds them. From one
# processor: without a policy each processor notes the large writes, and their order is known on each of them only.
same_route() {
	local policy routed usual=
	for policy in none "bundle_rp bundle_sectors 2048 dispatch_depth 2" \
		"pai split_write_sectors 1024 dispatch_depth 2"; do
		check "route, $policy: a blank disk" blkdiscard "$disk"
		# shellcheck disable=SC2086
		check "route, $policy: a device" make_ressd ressd "$disk" "$reserved" move_block_sectors 2048 \
			open_units 12 dispatch $policy
		check "route, $policy: the mover is off" dmsetup message ressd 0 mover off
		check "route, $policy: writes" fio --name=mixed --filename=/dev/mapper/ressd --rw=randwrite:4 \
			--bssplit=4k/60:16k/20:128k/20 --offset=4M --size=56M --io_size=16M --direct=1 --ioengine=libaio \
			--iodepth=64 --norandommap --randseed="$seed" --cpus_allowed=0 --output=/tmp/fio-output
		routed="$(status_value ressd writes) $(status_value ressd small_writes) $(status_value ressd accepted)"
		check "route, $policy: some were small" at_least ressd small_writes 20
		usual=${usual:-$routed}
		check "route, $policy: writes, small ones, logged blocks as without" equals "$usual" echo "$routed"
		[ "$policy" = none ] || check "route, $policy: some were held" at_least ressd most_held 4
		check "route, $policy: is removed" dmsetup remove ressd
	done
}

load dm-ressd
grep -q debugfs /proc/mounts || mount -t debugfs none /sys/kernel/debug
# Once for all scenarios: it patches the kernel's code, by interrupts between the processors, one of which
# QEMU lost in one run of some hundred.
echo 0 >"$tracing/tracing_on"
echo 1 >"$tracing/events/block/block_rq_issue/enable"
make_disk d0 96 max_sectors=2560
echo 1280 >/sys/block/d0/queue/max_sectors_kb
scenario pieces "PAS" 512 1 100 split_read_sectors 512 split_write_sectors 512
scenario pieces "PASA" 512 32 80 split_read_sectors 512 split_write_sectors 512 align_sectors 32
scenario pieces "PASA, no power of two" 336 48 85 split_read_sectors 336 split_write_sectors 336 align_sectors 48
scenario small_neighbours
scenario pieces_are_not_small
scenario switched_under_load

# Longer pieces than the disk takes would be cut once more below: whoever asks for them is told.
too_long_for_the_disk() {
	local mark
	dmesg_mark
	check "too long: a device" make_ressd ressd "$disk" "$reserved" split_read_sectors 2560 split_write_sectors 2568
	check "too long: the kernel log says so" grep -q \
		'split_write_sectors is 2568, but the device takes 2560 sectors at most' <(dmesg_since "$mark")
	check "too long: only of what is" fails grep -q split_read_sectors <(dmesg_since "$mark")
	check "too long: is removed" dmsetup remove ressd
}
scenario too_long_for_the_disk

# A disk that takes its time, so that there is something to hold.
make_disk d1 96 max_sectors=2560 irqmode=2 completion_nsec=400000
disk=/dev/d1
scenario joined
scenario joined_bundles
scenario unreadable_sector
scenario alone
scenario held_and_released
scenario groups_stay_apart
scenario suspend_sends
scenario order_of_overlapping
scenario order_after_a_lost_trial "small writes" 4k 3000
scenario order_after_a_lost_trial "small and large writes" 4k/70:24k/30 1000
scenario policies_switched
scenario rests_are_not_judged
scenario same_route
scenario judged "pai" dispatch pai split_read_sectors 512 split_write_sectors 512 align_sectors 32 dispatch_depth 2
scenario judged "pai without pages, writethrough" dispatch pai split_write_sectors 240 dispatch_depth 1 \
	pending_expire_ms 100 commit writethrough on_full wait
scenario judged "bundle, rewriting" dispatch bundle bundle_sectors 3072 on_full wait dispatch_depth 1 \
	move_block_sectors 3072 move_fill_blocks 1 log_page_sectors 128 log_rewrite on
scenario judged "bundle_rp, adaptive" dispatch bundle_rp bundle_sectors 8192 dispatch_depth 3 route adaptive pace idle \
	log_discard on
scenario judged "bundle_rp, pieces" dispatch bundle_rp bundle_sectors 1000 split_write_sectors 48 align_sectors 24 \
	split_read_sectors 240 pace burst
disk=/dev/d0

# Boundaries count from the start of the disk: the partition begins at sector 63.
partition() {
	check "a partition" sfdisk -q /dev/d0 <<<"63,180000"
	disk=/dev/d0p1
	check "it is there" wait_until test -b "$disk"
	pieces "in a partition" 512 32 80 split_read_sectors 512 split_write_sectors 512 align_sectors 32
}
scenario partition
finish
