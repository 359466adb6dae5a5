#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# calibrate.sh [PROFILE...]: what fio measures on emulated drives beside what was published for the
# real ones. Runs in the benchmark guest (virtual time); tools/calibrate.sh calls it.
# Most drives are a sixteenth of the real ones (scale=16), 256 MiB stand for the 4 GB file of RE (docs/ssdsim.md).
# Random writes come before ordered and sequential ones so that each finds the other's leftovers.
# Prints lines "row ID VALUE UNIT BAR" for tools/results.py, and comments.
# The calibrate_* functions are called by name.
# shellcheck disable=SC2317
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh

# bandwidth FIO_OPTION...: bytes per second.
bandwidth() {
	fio --name=load --filename=/dev/ssd0 --direct=1 --ioengine=psync --randrepeat=1 --norandommap \
		--size="$span" --output-format=json "$@" >/tmp/fio.json || {
		cat /tmp/fio.json >&2
		return 1
	}
	sed -n 's/.*"bw_bytes" : \([0-9]*\),/\1/p' /tmp/fio.json | sort -n | tail -n 1
}

# decimal NUMBER DIGITS: NUMBER / 10^DIGITS as text.
decimal() {
	printf '%d.%0*d' $(($1 / 10 ** $2)) "$2" $(($1 % 10 ** $2))
}

# measure LOAD PUBLISHED FIO_OPTION...: a row in MB/s; PUBLISHED in bytes per second (0: none) also
# gives a row of the deviation, at most 15 %. The value is left in $last.
measure() {
	local load=$1 published=$2 deviation
	shift 2
	last=$(bandwidth "$@") || {
		fail "$load/$profile" "fio failed"
		last=1
		return
	}
	if [ "$published" -eq 0 ]; then
		echo "row $load/$profile/mb-s $(decimal "$last" 6) MB/s"
		return
	fi
	deviation=$(((last - published) * 1000 / published))
	echo "# $load/$profile: $(decimal "$last" 6) MB/s, published $(decimal "$published" 6)"
	echo "row $load/$profile/mb-s $(decimal "$last" 6) MB/s >=$(decimal $((published * 85 / 100)) 6)"
	echo "row $load/$profile/deviation $(decimal "${deviation#-}" 1) % <=15"
}

# ratio LOAD OVER UNDER BAR: a row with OVER / UNDER.
ratio() {
	echo "row $1/$profile/ratio $(decimal $(($2 * 100 / $3)) 2) x $4"
}

# warm FIO_OPTION...: the same without a row, towards the steady state.
warm() {
	bandwidth "$@" >/dev/null || fail "$profile" "fio failed"
}

# drive SCALE [KEY=VALUE...]: the drive of this profile, that many times smaller.
drive() {
	local scale=$1
	shift
	sh ./ssdsim.sh create ssd0 "profiles/$profile.conf" "scale=$scale" "$@" || exit 1
	last=1
}

finish_drive() {
	local violations
	violations=$(sh ./ssdsim.sh stats ssd0 nand_violations)
	check "$profile: NAND rules hold" test "$violations" = 0
	sh ./ssdsim.sh remove ssd0
}

calibrate_samsung() {
	drive 16
	span=256M
	measure read-128k 110000000 --rw=read --bs=128k --io_size=128M
	measure write-512k 85000000 --rw=write --bs=512k
	measure write-4k 85000000 --rw=write --bs=4k --io_size=64M
	measure randread-4k 16300000 --rw=randread --bs=4k --io_size=16M
	warm --rw=randwrite --bs=4k --io_size=4M --randseed=11
	measure randwrite-4k 421000 --rw=randwrite --bs=4k --io_size=16M --randseed=7
	random=$last
	warm --rw=write:124k --bs=4k --io_size=8M
	measure ordered-4k-128k 0 --rw=write:124k --bs=4k --io_size=16M
	ratio ordered-over-random "$last" "$random" ">=12"
	span=3816M
	measure randwrite-4k-whole 280000 --rw=randwrite --bs=4k --io_size=8M --randseed=3
	finish_drive
}

calibrate_supertalent() {
	drive 16
	span=256M
	measure read-512k 117000000 --rw=read --bs=512k
	measure write-512k 79000000 --rw=write --bs=512k
	sequential=$last
	measure randread-4k 8510000 --rw=randread --bs=4k --io_size=8M
	warm --rw=randwrite --bs=4k --io_size=1M --randseed=11
	measure randwrite-4k 18000 --rw=randwrite --bs=4k --io_size=8M --randseed=7
	random=$last
	warm --rw=write:124k --bs=4k --io_size=8M
	measure ordered-4k-128k 0 --rw=write:124k --bs=4k --io_size=16M
	ratio ordered-over-random "$last" "$random" ">=86"
	ratio sequential-over-random "$sequential" "$random" ">=3655"
	span=3580M
	# PA gives two decimals, 0.01: anything from 0.005 to 0.015.
	measure randwrite-4k-whole 0 --rw=randwrite --bs=4k --io_size=2M --randseed=3
	echo "row randwrite-4k-whole-rounded/$profile/mb-s $(decimal "$last" 6) MB/s <=0.015"
	finish_drive
}

calibrate_transcend() {
	drive 16
	span=256M
	measure read-512k 142000000 --rw=read --bs=512k
	measure write-512k 91000000 --rw=write --bs=512k
	measure randread-4k 9220000 --rw=randread --bs=4k --io_size=8M
	span=3808M
	warm --rw=randwrite --bs=4k --io_size=256k --randseed=11
	measure randwrite-4k-whole 0 --rw=randwrite --bs=4k --io_size=2M --randseed=7
	echo "row randwrite-4k-whole-rounded/$profile/mb-s $(decimal "$last" 6) MB/s <=0.015"
	finish_drive
}

calibrate_ocz() {
	drive 16
	span=256M
	measure read-512k 220000000 --rw=read --bs=512k
	measure write-512k 129000000 --rw=write --bs=512k --io_size=512M
	measure randread-4k 20200000 --rw=randread --bs=4k --io_size=16M
	warm --rw=randwrite --bs=4k --io_size=64M --randseed=11
	measure randwrite-4k 6540000 --rw=randwrite --bs=4k --io_size=64M --randseed=7
	random=$last
	warm --rw=write:124k --bs=4k --io_size=16M
	measure ordered-4k-128k 13080000 --rw=write:124k --bs=4k --io_size=32M
	ratio ordered-over-random "$last" "$random" ">=1.7"
	finish_drive
}

# PA turned NCQ off.
calibrate_intel() {
	drive 64 queue_depth=1
	span=952M
	measure read-512k 254000000 --rw=read --bs=512k --io_size=256M
	measure write-512k 78000000 --rw=write --bs=512k
	measure randread-4k 23590000 --rw=randread --bs=4k --io_size=16M
	warm --rw=randwrite --bs=4k --io_size=1800M --randseed=11
	measure randwrite-4k 11250000 --rw=randwrite --bs=4k --io_size=128M --randseed=7
	finish_drive
}

# SC publishes times, not bandwidths: one page is 500 us + 4096 x 25 ns to read, 900 us + the same
# to program; with the host's own 14 us a command.
calibrate_ssdsim-sc() {
	drive 1
	span=256M
	measure randread-4k 6650000 --rw=randread --bs=4k --io_size=8M
	measure randwrite-4k 4032000 --rw=randwrite --bs=4k --io_size=16M
	finish_drive
}

# streams UNITS: writes of 256 KB that go to UNITS allocation units in turn.
streams() {
	local round chunk unit
	{
		echo "fio version 2 iolog"
		echo "/dev/ssd0 add"
		echo "/dev/ssd0 open"
		for ((round = 0; round < 4; round++)); do
			for ((chunk = 0; chunk < 16; chunk++)); do
				for ((unit = round * $1; unit < (round + 1) * $1; unit++)); do
					echo "/dev/ssd0 write $((unit * 4194304 + chunk * 262144)) 262144"
				done
			done
		done
		echo "/dev/ssd0 close"
	} >/tmp/streams.log
	measure "open-units-$1" "$2" --rw=write --bs=256k --read_iolog=/tmp/streams.log
}

calibrate_sdcard() {
	drive 8
	span=64M
	measure read-512k 0 --rw=read --bs=512k
	measure write-512k 0 --rw=write --bs=512k
	streams 2 0
	two=$last
	streams 3 900000
	ratio two-over-three-units "$two" "$last" ">=5"
	measure randread-4k 0 --rw=randread --bs=4k --io_size=4M
	measure randwrite-4k 0 --rw=randwrite --bs=4k --io_size=2M
	# OLPC measured 8 to 907 KB/s on various cards.
	echo "row randwrite-4k-range/$profile/mb-s $(decimal "$last" 6) MB/s >=0.008"
	finish_drive
}

# Raspberry Pi's card test, its file of 64 MiB; then flashbench's writes behind the pseudo-SLC area.
calibrate_sdcard-a1() {
	drive 1
	span=64M
	measure write-512k 20000000 --rw=write --bs=512k
	measure randwrite-4k 3674000 --rw=randwrite --bs=4k --io_size=16M --randseed=7
	measure randread-4k 7684000 --rw=randread --bs=4k --io_size=16M
	finish_drive
	drive 16
	span=512M
	warm --rw=write --bs=512k --io_size=128M
	measure write-512k-direct 15900000 --rw=write --bs=512k --io_size=128M
	finish_drive
}

# like_kaiser READ WRITE RANDOM_READ RANDOM_WRITE: iozone over a file of 100 MB, bytes per second.
like_kaiser() {
	drive 1
	span=96M
	[ "$1" -eq 0 ] || measure read-512k "$1" --rw=read --bs=512k
	measure write-512k "$2" --rw=write --bs=512k
	measure randread-4k "$3" --rw=randread --bs=4k --io_size=16M
	[ "$4" -eq 0 ] || measure randwrite-4k "$4" --rw=randwrite --bs=4k --io_size=16M --randseed=7
}

calibrate_sdcard-a2() {
	like_kaiser 67000000 51000000 6840000 2445000
	finish_drive
}

calibrate_emmc() {
	like_kaiser 129000000 46700000 20242000 9322000
	finish_drive
}

# Each write of 16 KB to 1 MB costs a merge; 4 KB do not on the real card, which nothing here explains.
calibrate_sdcard-slow() {
	like_kaiser 43700000 10600000 6959000 0
	measure randwrite-128k 314000 --rw=randwrite --bs=128k --io_size=16M --randseed=7
	measure randwrite-512k 1260000 --rw=randwrite --bs=512k --io_size=32M --randseed=7
	measure randwrite-4k 0 --rw=randwrite --bs=4k --io_size=512k --randseed=7
	finish_drive
}

calibrate_usbstick() {
	drive 1
	span=96M
	measure read-120k 31800000 --rw=read --bs=120k
	measure write-120k 7730000 --rw=write --bs=120k
	span=1024M
	measure randread-1k 1551500 --rw=randread --bs=1k --blockalign=4k --io_size=1M
	measure randwrite-4k 3562 --rw=randwrite --bs=4k --io_size=512k --randseed=7
	finish_drive
}

calibrate_tlc() {
	drive 1
	span=256M
	measure read-512k 540000000 --rw=read --bs=512k
	measure write-512k 238000000 --rw=write --bs=512k
	finish_drive
	drive 16
	span=1024M
	warm --rw=write --bs=512k --io_size=512M
	measure write-512k-direct 81000000 --rw=write --bs=512k
	measure randread-4k 0 --rw=randread --bs=4k --io_size=16M
	measure randwrite-4k 0 --rw=randwrite --bs=4k --io_size=64M --randseed=7
	finish_drive
}

# speed NAME FIO_OPTION...: how fast the emulation itself is. The caller takes the processor time
# at each of the three lines; what the second job takes more than the first is that of 65536
# commands, without fio's own start.
speed() {
	local name=$1
	shift
	echo "speed begin"
	warm "$@" --io_size=1M
	echo "speed started"
	warm "$@" --io_size=257M
	echo "speed end $name 65536"
}

# Reads are little work for the emulation, random writes much: several copies each. So that the
# module is measured and not what stands before it, there is no I/O scheduler and fio does as
# little as it can; last, for comparison, one read at a time as other loads do them.
measure_speed() {
	local many=(--bs=4k --ioengine=io_uring --fixedbufs --registerfiles --iodepth=32
		--iodepth_batch=16 --iodepth_batch_complete_min=16 --gtod_reduce=1 --randrepeat=1
		--random_generator=lfsr)
	profile=intel
	drive 64
	span=952M
	echo none >/sys/block/ssd0/queue/scheduler
	warm --rw=randread "${many[@]}" --io_size=1M
	speed reads --rw=randread "${many[@]}"
	warm --rw=randwrite "${many[@]}" --io_size=512M
	speed writes --rw=randwrite "${many[@]}"
	echo mq-deadline >/sys/block/ssd0/queue/scheduler
	speed single-reads --rw=randread --bs=4k --gtod_reduce=1
	finish_drive
}

load ssdsim
[ $# -gt 0 ] || set -- samsung supertalent ocz intel transcend sdcard ssdsim-sc sdcard-a1 \
	sdcard-a2 sdcard-slow emmc usbstick tlc speed
for profile; do
	if [ "$profile" = speed ]; then
		measure_speed
	else
		"calibrate_$profile"
	fi
done
finish
