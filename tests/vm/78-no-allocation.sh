#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 78-no-allocation.sh: nothing on the way of a bio, of the log or of the mover takes memory, except
# from mempools and bio sets, which have reserves. The kernel counts every allocation by its call stack
# (histograms of the kmem events) while all ways are taken.
# guest: --memory 1G --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

tracing=/sys/kernel/debug/tracing
events=(kmalloc kmalloc_node kmem_cache_alloc kmem_cache_alloc_node mm_page_alloc)
stacks_per_event=16384

# each_event FUNCTION: for the folders of those that this kernel has.
each_event() {
	local event
	for event in "${events[@]}"; do
		[ ! -d "$tracing/events/kmem/$event" ] || "$1" "$tracing/events/kmem/$event"
	done
}

watch_event() {
	echo "hist:keys=stacktrace:size=$stacks_per_event" >"$1/trigger"
}

collect_event() {
	cat "$1/hist"
	echo "!hist:keys=stacktrace:size=$stacks_per_event" >"$1/trigger"
}

begin_watch() {
	each_event watch_event
}

# end_watch: what was counted goes to /tmp/stacks.
end_watch() {
	each_event collect_event >/tmp/stacks
}

histograms_with_room() {
	awk -v size="$stacks_per_event" \
		'/^ *Entries:/ && $2 < size { roomy++ } END { print roomy + 0 }' /tmp/stacks
}

# no_stack_is_missing: every histogram had room for more. "Dropped" would say less: an allocation is
# dropped, too, while the other processor enters the same stack, and does not go on with it at once,
# since its thread does not run on a busy host. Only its count is lost then, the stack is there.
no_stack_is_missing() {
	equals "$(each_event echo | wc -l)" histograms_with_room
}

# stacks reserved|own: call stacks of allocations made by the module, with their counts: from reserves,
# or by itself. A stack is read from the allocation outwards, until it says whose it is: an interrupt
# and the device below are not the module's, nor is what the allocator takes in a free, and can do
# without (Linux 7.2's caches of a processor).
stacks() {
	awk -v wanted="$1" '
		/stacktrace:/ { verdict = stack = ""; pool = 0; next }
		/hitcount:/ {
			if (verdict == wanted)
				print stack "\n" $0
			next
		}
		{ stack = stack "\n" $0 }
		verdict { next }
		/interrupt|sysvec|submit_bio|blk_mq|blk_flush_plug|kmem_cache_free|kfree/ { verdict = "other" }
		/mempool_alloc|bio_alloc_bioset|bvec_alloc/ { pool = 1 }
		/\[dm_ressd\]/ { verdict = pool ? "reserved" : "own" }' /tmp/stacks
}

# some reserved|own: there are any.
some() {
	[ -n "$(stacks "$1")" ]
}

# no_own_allocation: fails with the stacks.
no_own_allocation() {
	stacks own >/tmp/own
	[ ! -s /tmp/own ] || {
		cat /tmp/own
		return 1
	}
}

# watch_io: pages that may be made free by writing to a device, as the allocator sees it.
watch_io() {
	echo "hist:keys=stacktrace:size=$stacks_per_event if gfp_flags & 64" >"$tracing/events/kmem/mm_page_alloc/trigger"
}

end_watch_io() {
	cat "$tracing/events/kmem/mm_page_alloc/hist" >/tmp/stacks
	echo "!hist:keys=stacktrace:size=$stacks_per_event if gfp_flags & 64" >"$tracing/events/kmem/mm_page_alloc/trigger"
}

small_writes() {
	fio --name=small --filename=/dev/mapper/ressd --rw=randwrite --bs=4k --size=24M --direct=1 \
		--io_size="$1" --fdatasync=16 --randseed=1 --output=/tmp/fio-output
}

# transfers FIO_WORD...: one after the other.
transfers() {
	fio --name=other --filename=/dev/mapper/ressd --size=24M --direct=1 --number_ios=200 \
		--randseed=2 --output=/tmp/fio-output "$@"
}

set_option() {
	dmsetup message ressd 0 set "$1" "$2"
}

# A trial of the log begins when the mover has brought all home. On a busy host one run of writes was
# over before that.
writes_have_a_trial() {
	small_writes 6M
	at_least ressd trials 1
}

# Every way that a bio, a record or a batch can take.
all_ways() {
	small_writes 8M &&
	transfers --rw=randread --bs=16k &&
	transfers --rw=write --bs=64k &&
	transfers --rw=randrw --bs=512 &&
	transfers --rw=randtrim --bs=8k &&
	set_option commit writethrough &&
	small_writes 1M &&
	set_option commit writeback &&
	set_option route adaptive &&
	wait_until writes_have_a_trial &&
	set_option route always &&
	set_option pace idle &&
	small_writes 1M &&
	sleep 1 &&
	dispatched &&
	dmsetup message ressd 0 drain
}

# Requests that are cut, held, joined and sent by the worker.
dispatched() {
	set_option split_write_sectors 64 &&
	set_option split_read_sectors 64 &&
	set_option align_sectors 64 &&
	set_option dispatch_depth 1 &&
	set_option dispatch pai &&
	transfers --rw=write --bs=16k --ioengine=libaio --iodepth=32 --iodepth_batch=32 &&
	set_option bundle_sectors 2048 &&
	set_option dispatch bundle_rp &&
	transfers --rw=randrw --bs=64k --ioengine=libaio --iodepth=32 &&
	set_option dispatch none
}

# A device that is suspended may hold the swap space, to which nothing can be written then.
suspended() {
	dmsetup suspend ressd && dmsetup message ressd 0 store pace idle &&
		set_option move_batch_sectors 2048 && dmsetup resume ressd
}

# That the histograms see what they are to see: the constructor may allocate, and does.
load dm-ressd
make_disk d0 64
begin_watch
check "a device is created" make_ressd ressd /dev/d0 16384 move_block_sectors 1024 \
	move_fill_blocks 8 on_full wait
end_watch
check "no stack of the constructor is missing" no_stack_is_missing
check "its allocations are seen" some own

begin_watch
check "every way is taken" all_ways
end_watch
check "no stack is missing" no_stack_is_missing
check "allocations from reserves are seen" some reserved
check "none is without a reserve" no_own_allocation
check "small writes were logged" at_least ressd accepted 2000
check "they were moved home" at_least ressd moved_blocks 1000
check "holes were filled" at_least ressd filled_blocks 100
check "the log was read" at_least ressd log_reads 10
check "a trial was made" at_least ressd trials 1
check "there were discards" at_least ressd discards 50
check "there were flushes" at_least ressd flushes 100
check "requests were held" at_least ressd most_held 4
check "some were joined" at_least ressd joined 10
watch_io
check "messages to a suspended device" suspended
end_watch_io
check "have nothing written for memory" no_own_allocation
check "no errors" equals 0 status_value ressd errors
check "is removed" dmsetup remove ressd
watch_io
make_ressd ressd /dev/d0 16384
end_watch_io
check "what may be written for the constructor is seen" some own
dmsetup remove ressd
remove_disk d0
finish
