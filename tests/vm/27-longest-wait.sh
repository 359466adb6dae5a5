#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 27-longest-wait.sh: how long the longest small write waits in steady state, in the guest's virtual
# time, on an emulated SD card whose clustered block has 1 MiB and costs 60 ms to merge. What a visit
# of the mover takes is the drive's; to wait for all visits of a sweep at once is ours.
#   27-longest-wait.sh [SEED [FUNCTION]]
# guest: --mode benchmark --memory 1G --timeout 900 --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/sdcard.conf
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=$((8 * 2048))
first=()	# what fio is run by

# small_writes MIB SEED [FIO-OPTION...]: over 64 MiB; fio's JSON.
small_writes() {
	local mib=$1 fio_seed=$2
	shift 2
	"${first[@]}" fio --name=load --filename=/dev/mapper/ressd --size=64M --rw=randwrite --bs=4k --direct=1 \
		--norandommap --randrepeat=0 --randseed="$fio_seed" --io_size="${mib}M" --output-format=json "$@"
}

# longest_ms: from fio's JSON.
longest_ms() {
	sed -n '/"write" : {/,/^      }/p' | sed -n '/"lat_ns" : {/,/}/s/^ *"max" : \([0-9]*\)[0-9]\{6\},$/\1/p'
}

# Found on the SD card profile: between two sweeps a writer used up all that the first one had gained, in
# milliseconds, and then waited for the whole of the next one: 4.5 s of eight visits.
writers_wait_for_few_visits_at_once() {
	local longest
	make_ressd ressd /dev/ssd0 "$reserved" on_full wait move_block_sectors 2048 \
		log_page_sectors 32
	small_writes 8 1 >/dev/null
	longest=$(small_writes 8 2 | longest_ms)
	check "the mover has moved" at_least ressd moved_blocks 2000
	check "fio says how long" test -n "$longest"
	echo "# result longest-wait/sdcard/ms ${longest:-0} ms <=1200"
	check "no write waits for many visits" test "${longest:-99999}" -le 1200
	check "it drains" timeout 300 dmsetup message ressd 0 drain
	check "it is removed" dmsetup remove ressd
}

# longest_while_keeping NAME SEED [COMMAND...]: the longest write, by fio under that command, while the log also keeps
# blocks.
longest_while_keeping() {
	local name=$1 fio_seed=$2 longest
	first=("${@:3}")
	make_ressd ressd /dev/ssd0 "$reserved" on_full wait move_block_sectors 2048 \
		log_page_sectors 32 move_threshold 20
	small_writes 8 "$((fio_seed - 1))" --random_distribution=zoned:80/20:20/80 >/dev/null
	longest=$(small_writes 16 "$fio_seed" --random_distribution=zoned:80/20:20/80 | longest_ms)
	first=()
	check "$name: the log has kept blocks" at_least ressd kept_blocks 30
	check "$name: fio says how long" test -n "$longest"
	echo "# result longest-wait-$name/sdcard/ms ${longest:-0} ms <=1200"
	check "$name: no write waits for many visits" test "${longest:-99999}" -le 1200
	check "$name: it drains" timeout 300 dmsetup message ressd 0 drain
	check "$name: it is removed" dmsetup remove ressd
}

# Found by mover-model with a low threshold: while the log kept what lived of its oldest segment, writers used up
# all the room there was; then nothing could be kept, and a writer waited for a sweep that had to free it: 5.5 s.
writers_wait_while_the_log_keeps() {
	longest_while_keeping keeping 4
}

# Found on Linux 6.12, where who is woken waits for a few milliseconds for the processor: until the mover had it,
# writers wrote two records into RAM, and waited for a sweep that began without room, 5.1 s. Here fio never leaves
# the processor to it.
writers_wait_for_the_mover_to_begin() {
	longest_while_keeping beginning 44 chrt -f 10
}

load ssdsim
load dm-ressd
check "a drive" sh ./ssdsim.sh create ssd0 sdcard.conf capacity_mb=256 block_pages=64
scenario writers_wait_for_few_visits_at_once
scenario writers_wait_while_the_log_keeps
scenario writers_wait_for_the_mover_to_begin
finish
