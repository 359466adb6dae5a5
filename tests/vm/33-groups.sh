#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 33-groups.sh: a control group has a limit on the disk below (io.max), and the block layer holds up its bios for as
# long as that takes. The mover must not wait for such a write, the log not for such a read, nor others for the space
# that they make.
#   33-groups.sh [SEED [FUNCTION]]
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=4096

# limit WORD: of the group on the disk.
limit() {
	echo "$(</sys/block/d0/dev) $1" >/run/groups/slow/io.max
}

# in_group COMMAND...: in the background, as $slow.
in_group() {
	(echo "$BASHPID" >/run/groups/slow/cgroup.procs && exec "$@") &
	slow=$!
}

# others_write NAME: six times what the log holds, long before the group is done.
others_write() {
	check "$1: others write" timeout 60 fio --name=others --filename=/dev/mapper/ressd --rw=randwrite --bs=4k \
		--size=2M --io_size=12000k --direct=1 --randseed="$seed" --output=/tmp/fio-output
	check "$1: and the log has taken it" at_least ressd accepted 2000
}

# A direct write, which takes two minutes.
writer() {
	check "writer: a device" make_ressd ressd /dev/d0 "$reserved" cover off on_full wait
	limit wbps=1000
	in_group dd if=/dev/zero of=/dev/mapper/ressd bs=128k count=1 seek=100 oflag=direct status=none
	check "writer: it waits" wait_until sleeps_in_kernel "$slow"
	others_write writer
	check "writer: it still waits" kill -0 "$slow"
	limit wbps=max
	ends_well "writer: ends without the limit" "$slow"
	check "writer: is removed" dmsetup remove ressd
}

sectors_read() {
	awk '{ print $3 }' "/sys/block/$(dmsetup info -c --noheadings -o blkdevname ressd)/stat"
}

# A read of what is in the log, which is not in its reader's group: it would keep the log's head from its segment.
reader() {
	check "reader: a device" make_ressd ressd /dev/d0 "$reserved" cover off on_full wait
	dmsetup message ressd 0 mover off
	dd if=/dev/urandom of=/tmp/pattern bs=128k count=1 status=none
	for i in $(seq 31 -1 0); do
		dd if=/tmp/pattern of=/dev/mapper/ressd bs=4k count=1 "skip=$i" "seek=$((3200 + i))" oflag=direct status=none
	done
	check "reader: it is in the log" equals 32 status_value ressd accepted
	limit rbps=1000
	in_group dd if=/dev/mapper/ressd of=/tmp/read bs=128k count=1 skip=100 iflag=direct status=none
	check "reader: reads the log" wait_until at_least ressd log_reads 1
	dmsetup message ressd 0 mover on
	others_write reader
	limit rbps=max
	ends_well "reader: ends without the limit" "$slow"
	check "reader: it was as written" cmp /tmp/pattern /tmp/read
	check "reader: it is accounted" equals 256 sectors_read
	check "reader: is removed" dmsetup remove ressd
}

# A read at home of blocks that are covered before the log takes anything.
reader_of_covered() {
	check "covered: a device" make_ressd ressd /dev/d0 "$reserved" on_full wait
	limit rbps=1000
	in_group dd if=/dev/mapper/ressd of=/dev/null bs=128k count=1 iflag=direct status=none
	check "covered: reads" wait_until at_least ressd reads 1
	sleep 0.2
	others_write covered
	limit rbps=max
	ends_well "covered: ends without the limit" "$slow"
	check "covered: is removed" dmsetup remove ressd
}

# In the first five minutes of a kernel of 32 bits its ticks are before 0, which is where blk-throttle takes slices to
# begin that never did: "kernel BUG at block/blk-throttle.c:742" (6.1).
ticks_are_positive() {
	local up
	[ "$(uname -m)" = armv7l ] || return
	up=$(cut -d . -f 1 /proc/uptime)
	[ "$up" -gt 300 ] || sleep $((301 - up))
}

load dm-ressd
ticks_are_positive
mkdir -p /run/groups
mount -t cgroup2 none /run/groups
echo +io >/run/groups/cgroup.subtree_control
mkdir /run/groups/slow
make_disk d0 64
scenario writer
scenario reader
scenario reader_of_covered
finish
