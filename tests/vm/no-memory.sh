#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# no-memory.sh: the kernel denies the constructor, an activation and messages each allocation that
# they make, one after the other. Each attempt succeeds or fails with a sentence, and afterwards the
# device works as before. Then writer, log and mover are denied all, and go on from their reserves.
#   tests/vm/other-kernel.sh memory "no-memory [SEED [FUNCTION]]"      no stock kernel can do this
# guest: --timeout 3600 --append log_buf_len=16M
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=4096
# All that takes memory in the constructor but is not there by default.
options=(segment_sectors 512 log_rewrite on log_page_sectors 64)
injection=/sys/kernel/debug

# deny RATIO KIND...: from now on allocations of these kinds, "slab" and "pages", count for
# ressd-starve, and RATIO of 100 are denied to the tasks that are marked.
deny() {
	local setting kind
	for kind in failslab fail_page_alloc; do
		for setting in "probability=$1" task-filter=Y times=-1 verbose=0 ignore-gfp-wait=N; do
			echo "${setting#*=}" >"$injection/$kind/${setting%%=*}" || return 1
		done
	done
	echo N >"$injection/fail_page_alloc/ignore-gfp-highmem"
	# A filter that no cache passes, an order that no allocation has.
	[[ " $* " == *" slab "* ]] && echo N >"$injection/failslab/cache-filter" ||
		echo Y >"$injection/failslab/cache-filter"
	[[ " $* " == *" pages "* ]] && echo 0 >"$injection/fail_page_alloc/min-order" ||
		echo 32 >"$injection/fail_page_alloc/min-order"
}

# each_denied NAME ATTEMPT [AFTER]: the command ATTEMPT NTH for 1, 2, ... until nothing is denied any
# more. It prints what ressd-starve prints. AFTER ERRNO runs after each that was denied something.
# First objects of slabs are denied, each of them; then pages, twice, since a slab may take one more
# page at one time than at another, which shifts the others by one.
each_denied() {
	local name=$1 attempt=$2 after=${3:-true} kind
	denied=0
	refused=0
	for kind in slab pages pages; do
		deny 0 "$kind"
		each_of_kind_denied "$name, $kind"
	done
	echo "# $name: $denied denied, of which $refused refused"
	check "$name: something was denied" test "$denied" -gt 0
}

each_of_kind_denied() {
	local nth outcome
	for ((nth = 1; nth < 5000; nth++)); do
		outcome=$("$attempt" "$nth" 2>&1)
		case $outcome in
		"spared 0") break ;;
		"denied "*) denied=$((denied + 1)) ;;
		*)
			fail "$1: attempt $nth" "$outcome"
			return
			;;
		esac
		[ "$outcome" = "denied 0" ] || refused=$((refused + 1))
		if ! "$after" "${outcome#denied }" >/tmp/after 2>&1; then
			fail "$1: the device after attempt $nth ($outcome)" "$(cat /tmp/after)"
			return
		fi
	done
	check "$1: in the end nothing is denied, after $((nth - 1))" equals "spared 0" echo "$outcome"
}

# sentences MARK REGEX: what the kernel log says since then in lines like that, after what matches.
sentences() {
	dmesg_since "$1" | sed -nE "s/.*$2//p" | sed 's/ in [0-9]* ms:.*//' | sort | uniq -c |
		sed 's/^/# /'
}

load_table() {
	ressd-starve "$1" load ressd "$normal" ressd "${line#0 "$normal" ressd }"
}

constructor() {
	local mark what
	dmesg_mark
	each_denied "constructor" load_table
	sentences "$mark" 'ressd: ([0-9:]+: )?'
	# device-mapper's own part of loading a table says nothing.
	check "constructor: some were refused" test "$refused" -gt 0
	check "constructor: each refusal is a whole sentence" fails grep -qE \
		'ressd: ([0-9:]+: )?(.*null|Unknown|\(|$)' <(dmesg_since "$mark")
	for what in 'for the target' 'for the reserve of bios' 'to read the superblock' 'for the map' \
		'for the buffers' 'for a page of the log' 'for the work queue' 'device .* cannot be opened'; do
		check "constructor: the refusal for want of memory $what" \
			grep -qE "ressd: .*$what" <(dmesg_since "$mark")
	done
	dmsetup clear ressd
	check "constructor: the device in use holds what it held" \
		same_as /tmp/wanted /dev/mapper/ressd
}

# activate NTH: the log is recovered by a new instance.
activate() {
	dmsetup load ressd --table "$line" && ressd-starve "$1" resume ressd
}

# works ERRNO: what did not succeed does, once there is memory, and the device holds what it held.
# Then a block is written, for the next activation to recover.
works() {
	[ "$1" = 0 ] || dmsetup resume ressd || return 1
	dd if=/dev/mapper/ressd of=/tmp/now bs=1M iflag=direct status=none && cmp /tmp/now /tmp/wanted ||
		return 1
	written=$(((written + 7) % (normal / 8)))
	dd if=/dev/urandom of=/tmp/block bs=4k count=1 status=none &&
		dd if=/tmp/block of=/dev/mapper/ressd bs=4k seek="$written" oflag=direct conv=fsync \
			status=none &&
		dd if=/tmp/block of=/tmp/wanted bs=4k seek="$written" conv=notrunc status=none
}

recovery() {
	local mark
	dmesg_mark
	each_denied "recovery" activate works
	sentences "$mark" 'ressd: [0-9:]+: '
	check "recovery: there was something to recover" fails grep -q 'recovered in .* blocks 0' \
		<(dmesg_since "$mark")
	check "recovery: it is refused without a thread for the mover" \
		grep -q 'the mover thread cannot be started' <(dmesg_since "$mark")
}

# activate_blank NTH: the reserved area is formatted.
activate_blank() {
	dmsetup load ressd --table "0 $normal linear /dev/d1 0" && dmsetup resume ressd &&
		dd if=/dev/zero of=/dev/d1 bs=1M oflag=direct status=none seek=$((normal / 2048)) \
			count=$((reserved / 2048)) &&
		dmsetup load ressd --table "${line//d0/d1}" && ressd-starve "$1" resume ressd
}

blank() {
	dmsetup load ressd --table "0 $normal linear /dev/d1 0" && dmsetup resume ressd
	each_denied "blank area" activate_blank resumes
}

resumes() {
	[ "$1" = 0 ] || dmsetup resume ressd
}

# set_option NTH: each time another value than before.
set_option() {
	ressd-starve "$1" message ressd "set move_batch_sectors $((1024 + $1 % 2 * 1024))"
}

messages() {
	local mark
	dmesg_mark
	each_denied "message set" set_option works_on
	sentences "$mark" 'ressd: [0-9:]+: '
	check "message set: some were refused" test "$refused" -gt 0
	check "message set: with a sentence" grep -q 'not enough memory' <(dmesg_since "$mark")
}

works_on() {
	dd if=/tmp/wanted of=/dev/mapper/ressd bs=4k count=1 oflag=direct status=none
}

# marked VALUE: from now on (1) the mover and the kernel's workers are denied what is to be denied.
marked() {
	local name
	for name in /proc/[0-9]*/comm; do
		grep -qsE '^(ressd_mv|kworker)' "$name" && echo "$1" >"${name%comm}make-it-fail"
	done 2>/dev/null
}

# The disk below has all of its memory, and no cache that takes more.
reserves() {
	local before
	make_ressd ressd /dev/d0 "$reserved" "${options[@]}" on_full wait
	dd if=/dev/urandom of=/tmp/random bs=1M count=3 status=none
	before=$(status_value ressd moved_blocks)
	marked 1
	deny 100 slab pages
	check "without memory: a writer writes and flushes" \
		ressd-starve write /dev/mapper/ressd /tmp/random
	check "without memory: to the log" at_least ressd accepted 500
	dmsetup message ressd 0 drain
	check "without memory: a drain ends" wait_until equals 0 status_dirty ressd
	deny 0
	marked 0
	check "without memory: blocks were moved" at_least ressd moved_blocks $((before + 100))
	check "without memory: no I/O failed" equals 0 status_value ressd errors
	forget_cache
	check "without memory: what was written is there" same_as /tmp/random /dev/mapper/ressd
	dmsetup remove ressd
}

if [ ! -e /proc/self/fail-nth ] || [ ! -d /sys/kernel/debug/fail_page_alloc ]; then
	fail "a kernel that can deny memory" "this one cannot: tests/vm/other-kernel.sh memory no-memory"
	finish
fi
load dm-ressd
written=0
for disk in d0 d1; do
	make_disk "$disk" 6 cache_size=0 discard=0
	dd if=/dev/zero of="/dev/$disk" bs=1M count=6 oflag=direct status=none
done
line=$(table_line /dev/d0 "$reserved" "${options[@]}")
normal=$(cut -d ' ' -f 2 <<<"$line")
cp /dev/d0 /tmp/wanted && truncate -s $((normal * 512)) /tmp/wanted
dmsetup create ressd --table "$line"
check "a block is in the log" works 0
scenario constructor
scenario recovery
scenario messages
scenario blank
dmsetup remove ressd
scenario reserves
check "the module is unloaded" rmmod dm_ressd
finish
