#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tools-on-devices.sh: ressd-probe, ressdctl and ressd-trace on block devices. Runs in a guest, in virtual time so
# that a busy machine does not look like an unsteady drive:
#   tools/vm/run --mode benchmark --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/samsung.conf \
#       --file tests/ssdsim/profiles/sdcard.conf userspace/test/vm/tools-on-devices.sh
set -uo pipefail
. ./lib.sh

load brd rd_nr=1 rd_size=65536 max_part=4
load ssdsim
load dm-ressd
mount_point=/run/mount
mkdir -p "$mount_point"

# refused NAME EXIT REGEX COMMAND...: the command ends with EXIT and prints a line matching REGEX.
refused() {
	local name=$1 wanted=$2 regex=$3 output status=0
	shift 3
	output=$("$@" 2>&1 </dev/null) || status=$?
	if [ "$status" -eq "$wanted" ] && grep -qE -- "$regex" <<<"$output"; then
		pass "$name"
	else
		fail "$name" "exit code $status (not $wanted?) and: $output"
	fi
}

# All tools must refuse the RAM disk: refused_by_all NAME REGEX.
refused_by_all() {
	refused "ressd-probe refuses: $1" 3 "$2" ressd-probe --write --yes-destroy /dev/ram0 /dev/ram0
	refused "ressdctl format refuses: $1" 3 "$2" \
		ressdctl format --yes --force /dev/ram0 0 98304 /dev/ram0 98304 32768
	echo 0,0,4096,W,0 >/run/one.spc
	refused "ressd-trace refuses: $1" 3 "$2" \
		ressd-trace --write --yes-destroy /dev/ram0 /run/one.spc /dev/ram0
}

# An MBR with one Linux partition of 32 MiB at 1 MiB.
write_partition_table() {
	dd if=/dev/zero of=/dev/ram0 bs=1M count=4 status=none
	printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\0\001\0' |
		dd of=/dev/ram0 bs=1 seek=446 conv=notrunc status=none
	printf '\125\252' | dd of=/dev/ram0 bs=1 seek=510 conv=notrunc status=none
	blockdev --rereadpt /dev/ram0
}

test_users() {
	mkfs.ext4 -q -F /dev/ram0
	mount /dev/ram0 "$mount_point"
	refused_by_all "mounted" "/dev/ram0 is mounted on $mount_point"
	umount "$mount_point"

	busybox mkswap /dev/ram0 >/dev/null
	busybox swapon /dev/ram0
	refused_by_all "swap" "/dev/ram0 is swap space in use"
	busybox swapoff /dev/ram0

	dmsetup create user --table "0 1000 linear /dev/ram0 0"
	refused_by_all "built upon" "/dev/ram0 is in use: /dev/dm-[0-9]+ is built on it"
	dmsetup remove user

	blockdev --setro /dev/ram0
	refused_by_all "read-only" "/dev/ram0 is read-only"
	blockdev --setrw /dev/ram0
}

test_partitions() {
	write_partition_table
	check "partition appears" test -b /dev/ram0p1
	refused "partition table is a signature" 3 "holds a partition table \(dos\)" ressd-probe --write --yes /dev/ram0
	mkfs.ext4 -q -F /dev/ram0p1
	mount /dev/ram0p1 "$mount_point"
	refused_by_all "partition mounted" "/dev/ram0p1 is mounted on $mount_point"
	umount "$mount_point"
	dmsetup create user --table "0 1000 linear /dev/ram0p1 0"
	refused_by_all "partition built upon" "/dev/ram0p1 is in use"
	dmsetup remove user
	dd if=/dev/zero of=/dev/ram0 bs=1M count=4 status=none
	blockdev --rereadpt /dev/ram0
}

test_kernel_sentences() {
	local line="0 98304 ressd /dev/ram0 0 /dev/ram0 98304 32768"
	dd if=/dev/zero of=/dev/ram0 bs=1M count=64 status=none
	printf 'hidden' | dd of=/dev/ram0 bs=1 seek=$((60 << 20)) conv=notrunc status=none
	refused "the kernel's sentence is passed on" 1 "^ressdctl: the reserved area has no superblock" \
		ressdctl open test --table "$line"
	refused "and nothing is left behind" 1 "there is no device-mapper device" \
		ressdctl status test
	dd if=/dev/zero of=/dev/ram0 bs=1M seek=48 count=16 status=none
	check "a blank area is opened" ressdctl open test --table "$line"
	check "and gets its UUID" grep -q "RESSD-[0-9a-f-]\{36\}$" <(dmsetup info -c --noheadings -o uuid test)
	check "list shows it, and its UUID" eval "ressdctl list | grep -E '^test +rw +/dev/ram0 +48 MiB +[0-9a-f]{8}-[0-9a-f-]{27} +0 of'"
	check "but not as closed" eval "test \$(ressdctl list | grep -c /dev/ram0) -eq 1"
	check "nor is it if it is named" eval "ressdctl list /dev/ram0 | finds -E '^test +rw +/dev/ram0 '"
	check "status takes the path below /dev/mapper" eval "ressdctl status /dev/mapper/test |
		grep -qE '^device +test$'"
	check "status without a name shows it" eval "ressdctl status | finds -E '^device +test$'"
	check "as JSON" eval "ressdctl status --json | finds '\"devices\"'"
	refused "a name in use" 3 "exists already" ressdctl open test --table "$line"
	check "close" ressdctl close test
	check "list shows it as closed" eval "ressdctl list | grep -E '^- +closed +/dev/ram0 .*-'"
	check "status shows none" eval "ressdctl status | grep '^no ressd device is active'"
	refused "close what is not there" 1 "there is no" ressdctl close test
	dmsetup create user --table "0 1000 linear /dev/ram0 0"
	refused "close what is not ours" 2 "not a device of ressd but of 'linear'" ressdctl close user
	dmsetup remove user
	refused "a bad name" 2 "no device-mapper name" ressdctl open a/b --table "$line"
}

# What the probe finds is the emulated drive's business; here only the way to the device counts.
test_create() {
	./ssdsim.sh create ssd0 ./samsung.conf capacity_mb=1024 >/dev/null
	ressd-probe --write --yes --quick --json --create fast /dev/ssd0 >/run/probe.json
	check "probe --create" test -b /dev/mapper/fast
	check_profile samsung 16384
	check "its table is in the kernel" grep -q "^0 [0-9]* ressd .* on_full wait" <(dmsetup table fast)
	check "mkfs" mkfs.ext4 -q /dev/mapper/fast
	mount /dev/mapper/fast "$mount_point"
	refused "close a mounted device" 3 "is in use" ressdctl close fast
	refused "probe below a device" 3 "is built on it" \
		ressd-probe --write --yes-destroy /dev/ssd0 /dev/ssd0
	umount "$mount_point"
	check "status" grep -q '^state  *rw' <(ressdctl status fast)
	check "status --json" grep -q '"state":"rw"' <(ressdctl status --json fast)
}

dirty_blocks() {
	ressdctl status --json "$1" | sed -n 's/.*"dirty_blocks":\([0-9]*\),/\1/p'
}

# scatter COUNT: small writes at random, below the threshold at which the mover wakes by itself.
scatter() {
	fio --name=scatter --filename=/dev/mapper/fast --rw=randwrite --bs=4k --direct=1 \
		--number_ios="$1" --size=900M --randseed="$1" --end_fsync=1 --minimal >/dev/null
}

test_drain() {
	local before line status=0
	line=$(dmsetup table fast | sed -E 's#[0-9]+:[0-9]+#/dev/ssd0#g')
	dd if=/dev/zero of=/dev/mapper/fast bs=64k count=4 oflag=direct status=none # no ext4 any more
	scatter 4000
	before=$(dirty_blocks fast)
	check "the log holds data" test "$before" -gt 2000
	refused "format a log in use" 3 "in use" ressdctl format --yes --table "$line"
	timeout --preserve-status -s INT 2 ressdctl drain fast >/run/drain 2>&1 || status=$?
	check "Ctrl-C stops a drain" test "$status" -eq 130
	check "and says so" grep -q "was stopped" /run/drain
	check "part of it was moved" test "$(dirty_blocks fast)" -lt "$before"
	check "part of it was not" test "$(dirty_blocks fast)" -gt 0
	check "close with data in the log" ressdctl close fast
	refused "probe a log with data" 3 "[0-9] blocks not yet moved" \
		ressd-probe --write --yes /dev/ssd0
	refused "format a log with data" 3 "blocks of 4 KiB not moved" \
		ressdctl format --yes --table "$line"
	check "open by device" ressdctl open fast /dev/ssd0
	check "drain" ressdctl drain fast
	check "nothing is left" test "$(dirty_blocks fast)" -eq 0
	check "close" ressdctl close fast
	check "format a drained log" ressdctl format --yes --table "$line"
}

# finding NAME FIELD: of the probe's last JSON.
finding() {
	sed -n "/\"name\":\"$1\"/,/}/p" /run/probe.json | sed -n "s/.*\"$2\":\"\{0,1\}\([^\",]*\).*/\1/p" |
		head -n 1
}

# check_profile NAME PAGE: the way from an emulated drive in the kernel to a verdict; how good the
# findings are is the business of make probe-score.
check_profile() {
	local name=$1 page=$2 said
	said=$(sed -n 's/.*"verdict":"\([^"]*\)".*/\1/p' /run/probe.json | tail -n 1)
	check "$name is worth it" test "$said" = worth-it
	check "$name has a page of $page" test "$(finding clustered-page value)" = "$page"
	check "$name does what a flush asks for" test "$(finding flush-honoured value)" = 1
	check "$name was rehearsed" grep -q '"direct_ns"' /run/probe.json
}

# A card of two open blocks, on which every small random write is a merge.
test_card() {
	./ssdsim.sh create ssd1 ./sdcard.conf capacity_mb=1024 >/dev/null
	ressd-probe --write --yes --quick --json /dev/ssd1 >/run/probe.json
	check_profile sdcard 16384
	check "ressd-probe sends no discard" test "$(./ssdsim.sh stats ssd1 host_discards)" -eq 0
	./ssdsim.sh remove ssd1
}

# break_soon: the disk below /dev/mapper/weak answers nothing but errors from a second on, as one
# that was pulled out.
break_soon() {
	sleep 1
	dmsetup suspend --noflush weak
	dmsetup load weak --table "0 131072 error"
	dmsetup resume weak
}

# sector_writer SECTOR: the line of the trace that wrote it last.
sector_writer() {
	dd if=/dev/ram0 bs=512 skip="$1" count=1 status=none | od -A n -t u8 -N 8 | tr -d ' '
}

# Sectors of 512 bytes stay what they are; the first error ends a replay, with the request's line.
test_trace() {
	dd if=/dev/zero of=/dev/ram0 bs=1M count=64 status=none
	printf '0,%s\n' 3,512,W,0 8,4096,W,0.1 9,1024,W,0.2 0,8192,r,0.3 >/run/some.spc
	check "ressd-trace on a device" ressd-trace --write --yes /run/some.spc /dev/ram0
	check "it writes these sectors" test \
		"$(for sector in 2 3 4 8 9 10 11 15 16; do sector_writer "$sector"; done | paste -sd ' ')" = \
		"0 1 0 2 3 3 2 2 0"
	check "a mounted device is read" eval "mkfs.ext4 -q -F /dev/ram0 && mount /dev/ram0 '$mount_point' &&
		ressd-trace --reads-only /run/some.spc /dev/ram0 >/dev/null; umount '$mount_point'"
	dmsetup create weak --table "0 65536 linear /dev/ram0 0
65536 65536 error"
	printf '0,%s\n' 0,4096,W,0 70000,4096,W,0.1 8,4096,W,3600 >/run/some.spc
	refused "ressd-trace: an I/O error" 1 \
		"cannot write /dev/[^ ]+ at byte 35840000 .4096 bytes, line 2 of the trace.: Input/output error" \
		ressd-trace --write --yes-destroy /dev/mapper/weak /run/some.spc /dev/mapper/weak
	dmsetup remove weak
}

# Each error ends the measurement at once, and is told.  What was to be preserved stays in its file.
test_errors() {
	local status
	dd if=/dev/urandom of=/run/before bs=1M count=64 status=none
	dd if=/run/before of=/dev/ram0 bs=1M status=none
	dmsetup create weak --table "0 131072 linear /dev/ram0 0"
	break_soon &
	refused "probe: the drive goes away" 1 "cannot (read|write|flush) .*Input/output error" \
		ressd-probe --write --yes-destroy /dev/mapper/weak --region 32M:32M /dev/mapper/weak
	wait $!
	dmsetup reload weak --table "0 131072 linear /dev/ram0 0"
	dmsetup suspend weak
	dmsetup resume weak
	dd if=/run/before of=/dev/ram0 bs=1M oflag=direct status=none
	break_soon &
	refused "probe: and cannot be restored" 1 \
		"was not restored.*its contents are in /run/kept.*dd bs=4096 seek=8192 conv=notrunc,fsync of=/dev/[^ ]+ if=/run/kept" \
		ressd-probe --preserve --yes --save-file /run/kept --region 32M:16M /dev/mapper/weak
	wait $!
	dmsetup remove weak
	check "the file is kept" cmp -n 16777216 -i 0:33554432 /run/kept /run/before
	dd if=/run/kept of=/dev/ram0 bs=4096 seek=8192 conv=notrunc status=none
	check "the command that was told restores it" cmp -n 67108864 /run/before /dev/ram0
	rm /run/before /run/kept
}

test_users
test_partitions
test_trace
test_card
test_errors
test_kernel_sentences
test_create
test_drain
finish
