# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# bio-trace.sh: records, in a guest, when bios arrive at a device and when they complete; after
# guest-lib.sh. The device is a dm-linear target on the drive, for that sees bios as any target of
# device-mapper does, and its completions name the whole bio. bio_trace.py on the host reads it.

tracing=/sys/kernel/tracing

# trace_event NAME: on, for the traced device only.
trace_event() {
	local event=$tracing/events/block/$1
	echo "dev == $trace_device" >"$event/filter"
	echo 1 >"$event/enable"
}

# trace_open: sets $target.
trace_open() {
	local numbers
	[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
	dmsetup create traced --table "0 $(blockdev --getsz "$disk") linear $disk 0"
	target=/dev/mapper/traced
	numbers=$(dmsetup info -c --noheadings -o major,minor traced)
	trace_device=$((${numbers%:*} << 20 | ${numbers#*:}))
	echo 0 >"$tracing/tracing_on"
	echo mono >"$tracing/trace_clock"
	echo 131072 >"$tracing/buffer_size_kb"
	echo >"$tracing/trace"
	trace_event block_bio_queue
	trace_event block_bio_complete
	echo 1 >"$tracing/tracing_on"
}

# trace_mark WORD: a phase begins.
trace_mark() {
	echo "phase $1" >"$tracing/trace_marker"
}

# trace_close: leaves the trace in $figures/bios.
trace_close() {
	local name lost
	echo 0 >"$tracing/tracing_on"
	for name in block_bio_queue block_bio_complete; do
		echo 0 >"$tracing/events/block/$name/enable"
	done
	lost=$(sed -n 's/^overrun: //p' "$tracing/per_cpu/cpu0/stats")
	[ "$lost" = 0 ] || die "the trace has lost $lost events: make its buffer larger"
	cat "$tracing/trace" >"$figures/bios"
	dmsetup remove traced
}
