# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# bio-trace.sh: records, in a guest, when bios arrive at a device and when they complete; after
# guest-loads.sh. The device is a dm-linear target on the drive or on ressd, for that sees bios as any
# target of device-mapper does, and its completions name the whole bio. bio_trace.py on the host reads it.

# trace_event NAME: on, for the traced device only.
trace_event() {
	local event=$tracing/events/block/$1
	echo "dev == $trace_device" >"$event/filter"
	echo 1 >"$event/enable"
}

# trace_table DEVICE: all of it. A drive without a volatile buffer is sent no flushes, but ressd on it is, for
# ressd has one. So eight sectors of a disk that has one follow, which nobody uses: flushes are then seen.
trace_table() {
	local sectors
	sectors=$(blockdev --getsz "$1")
	echo "0 $sectors linear $1 0"
	[ "$1" = "$disk" ] || return 0
	grep -q 'write through' "/sys/block/$drive/queue/write_cache" || return 0
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1 cache_size=1 max_sectors=8192
	echo "$sectors 8 linear /dev/nullb0 0"
}

# trace_start MAJOR:MINOR EVENT...: of that device.
trace_start() {
	local event
	trace_device=$((${1%:*} << 20 | ${1#*:}))
	shift
	mount_tracing
	echo 0 >"$tracing/tracing_on"
	echo mono >"$tracing/trace_clock"
	echo 131072 >"$tracing/buffer_size_kb"
	echo >"$tracing/trace"
	for event; do
		trace_event "$event"
	done
	echo 1 >"$tracing/tracing_on"
}

# trace_stop NAME EVENT...: leaves the trace in $figures/NAME.
trace_stop() {
	local name=$1 event lost
	shift
	echo 0 >"$tracing/tracing_on"
	for event; do
		echo 0 >"$tracing/events/block/$event/enable"
	done
	lost=$(sed -n 's/^overrun: //p' "$tracing/per_cpu/cpu0/stats")
	[ "$lost" = 0 ] || die "the trace has lost $lost events: make its buffer larger"
	cat "$tracing/trace" >"$figures/$name"
}

# trace_open DEVICE: sets $target.
trace_open() {
	below_trace=$1
	trace_table "$1" | dmsetup create traced
	target=/dev/mapper/traced
	trace_start "$(dmsetup info -c --noheadings -o major,minor traced)" block_bio_queue block_bio_complete
}

# trace_mark WORD: a phase begins.
trace_mark() {
	echo "phase $1" >"$tracing/trace_marker"
}

# trace_close NAME: leaves the trace in $figures/NAME; $target is again what was traced.
trace_close() {
	trace_stop "$1" block_bio_queue block_bio_complete
	dmsetup remove traced
	target=$below_trace
}

# requests_open, requests_close NAME: of what reaches the drive in between, whatever is above it; request_table.py
# reads it.
requests_open() {
	trace_start "$(cat "/sys/block/$drive/dev")" block_rq_issue block_rq_complete
}

requests_close() {
	trace_stop "$1" block_rq_issue block_rq_complete
	sed -i "1i # normal_sectors $normal" "$figures/$1"
}
