#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# selftest.sh: proves on this machine (not in a guest) that tools/vm/run reports what happens in its
# guests. Prints "ok - NAME" and "not ok - NAME: why"; exit code 1 when one failed.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

pass() {
	echo "ok - VM runner: $1"
}

fail() {
	echo "not ok - VM runner: $1: $2"
	failed=1
}

# expect NAME CODE PATTERN OPTIONS... -- SCRIPT: run the text SCRIPT in a guest; the run must end
# with CODE, and its output and messages must hold a line that matches PATTERN.
expect() {
	local name=$1 code=$2 pattern=$3 options=() status=0 folder
	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	folder=$(mktemp -d -p "$scratch")
	printf '. ./lib.sh\n%s\n' "$2" >"$folder/job.sh"
	last_output=$folder/out
	tools/vm/run --log "$folder/console" --memory 1G --timeout 120 "${options[@]}" \
		"$folder/job.sh" 'first argument' second >"$folder/out" 2>&1 || status=$?
	if [ "$status" -ne "$code" ]; then
		fail "$name" "exit code $status instead of $code"
		sed 's/^/# /' "$folder/out"
	elif ! grep -qE -- "$pattern" "$folder/out"; then
		fail "$name" "no line matches '$pattern'"
		sed 's/^/# /' "$folder/out"
	else
		pass "$name"
	fi
}

build_fault_module() {
	local folder=$scratch/module
	cp -r tests/vm/selftest "$folder"
	make -s -C "$(tools/vm/kernel-dir)" M="$folder" modules >"$scratch/make.log" 2>&1 || {
		cat "$scratch/make.log"
		exit 1
	}
	fault=$folder/selftest-fault.ko
}

check_exit_codes() {
	expect "exit code 0, arguments and output" 0 '^got <first argument><second>$' \
		-- "printf 'got '; printf '<%s>' \"\$@\"; echo"
	# shellcheck disable=SC2016
	expect "any exit code is passed on" 237 '^on 2 processors$' \
		-- 'echo on $(nproc) processors; exit 237'
	expect "a script killed by a signal" 137 'exit 137' -- "kill -9 \$\$"
	# The kernel names the processor's frequency by the PIT, and then the counter's where it differs.
	expect "the guest uses the frequency that it is told" 0 'TSC and told: ([0-9.]+) \1' \
		-- "told=\$(sed -n 's/.*tsc_early_khz=\([0-9]*\).*/\1/p' /proc/cmdline)
			used=\$(dmesg | sed -n 's/.*tsc: Detected \([0-9.]*\) MHz .*/\1/p' | tail -n 1)
			echo TSC and told: \$(tr -d . <<<\$used) \$told"
	expect "the time limit" 124 'did not end within 8 s' --timeout 8 -- 'sleep 1000'
	expect "a process left behind does not hold up the end" 0 '^over$' -- 'sleep 1000 & echo over'
	expect "a guest that vanishes" 125 'without an exit code' -- 'poweroff -n -f; sleep 60'
}

check_restored() {
	# shellcheck disable=SC2016
	expect "a restored guest knows the time, by the usual clock" 0 ', restore [0-9.]+ s, script' \
		-- 'began='"$(date +%s)"'; now=$(date +%s)
			[ "$now" -ge $began ] && [ "$now" -le $((began + 600)) ] || exit 1
			[ "$(cat /sys/devices/system/clocksource/*/current_clocksource)" = tsc ]'
}

check_faults() {
	local insert="insmod /job/selftest-fault.ko"

	expect "a WARN fails a passing script" 125 'WARNING: .*selftest_fault_init' \
		--file "$fault" -- "$insert kind=warn; exit 0"
	expect "an expected WARN is excused" 0 'exit 0' --file "$fault" \
		--expect-log 'WARNING: .*selftest_fault' -- "$insert kind=warn; exit 0"
	expect "an oops ends the guest" 125 'BUG: kernel NULL pointer dereference' \
		--file "$fault" -- "$insert kind=oops; exit 0"
	expect "a hung task" 125 'insmod:.* blocked for more than' --file "$fault" \
		-- "echo 1 >/proc/sys/kernel/hung_task_timeout_secs
			$insert kind=hang hang_seconds=5; exit 0"
	expect "a line that was expected but is missing" 125 "matches the expected 'never said'" \
		--expect-log 'never said' -- 'exit 0'
	# Seen on a busy machine, where the processor that writes the console's bytes had stood still.
	# shellcheck disable=SC2016
	expect "the exit code reaches the console before the guest ends" 7 'exit 7' --file "$fault" \
		-- 'taskset -p 1 1 && taskset -p 1 $$; echo 2 >/proc/irq/4/smp_affinity
			echo of this interrupt >/dev/ttyS0; sleep 0.2; echo that one >/dev/ttyS0
			taskset 2 '"$insert"' kind=deaf hang_seconds=4 & sleep 1; exit 7'
	expect "an I/O error is no fault" 0 'Input/output error' -- \
		"load dm-mod; dmsetup create bad --table '0 8 error'
			dd if=/dev/mapper/bad of=/dev/null; exit 0"
}

check_channels() {
	local got=$scratch/got disk=$scratch/disk expected sum

	mkdir -p "$scratch/send/below"
	head -c 3000000 /dev/urandom >"$scratch/send/below/data"
	expect "files go in and come out" 0 'exit 0' --file "$scratch/send:/data/in" \
		--fetch "/data:$got" -- "mkdir /data/out; cp -r /data/in/below /data/out/"
	if cmp "$scratch/send/below/data" "$got/out/below/data"; then
		pass "files come out as they went in"
	else
		fail "files come out as they went in" "the content differs"
	fi
	# Seen on a busy machine, where the guest had looked for the channel before it was there.
	# shellcheck disable=SC2016
	expect "files come out of a channel that comes late" 0 'exit 0' --fetch "/data:$got" -- \
		'load virtio_pci; cd /sys/bus/virtio; echo 0 >drivers_autoprobe
		(until echo "$(basename devices/*)" >drivers/virtio_console/bind; do sleep 2; done) \
			>/dev/null 2>&1 &
		mkdir /data; exit 0'
	expect "a folder that the guest lacks" 126 'has no folder /none' \
		--fetch "/none:$got" -- 'exit 0'

	truncate -s 64M "$disk" "$disk".{2..4}
	# QEMU refused the disks' state for what the kernel had put in the place of the BIOS's queues.
	expect "a guest with disks is restored" 0 'exit 0, restore ' --memory 512M \
		--disk "$disk" --disk "$disk.2" --disk "$disk.3" --disk "$disk.4" -- 'exit 0'
	expect "kill -9 on a line of output" 137 '^synced$' --disk "$disk" --kill-on '^synced:50' \
		-- "set -e; mkfs.ext4 -q /dev/vda; mount /dev/vda /mnt; cp /job/lib.sh /mnt/; sync -f /mnt
			echo synced; sleep 1000"
	expected=$(sha256sum <tests/vm/lib.sh)
	sum=${expected%% *}
	expect "what was synced survives the kill" 0 "^$sum" --disk "$disk" \
		-- "set -e; mount /dev/vda /mnt; sha256sum /mnt/lib.sh"
}

# The same guest twice in virtual time: 2000 random writes and a sleep of an hour. The clock when it
# ends and fio's own figures must agree within 1 %; they are usually the same to the nanosecond.
check_benchmark() {
	local job name="benchmark mode repeats its figures"
	# shellcheck disable=SC2016
	job='load null_blk completion_nsec=1000000 irqmode=2
fio --name=w --filename=/dev/nullb0 --rw=randwrite --bs=4k --number_ios=2000 --direct=1 \
	--output-format=terse | cut -d ";" -f 48,49 | tr ";" "\n"
sleep 3600
echo took $(cut -d " " -f 1 /proc/uptime)'
	for run in 1 2; do
		expect "benchmark mode skips idle time, run $run" 0 '^took 36[0-9][0-9]\.' \
			--mode benchmark -- "$job"
		grep -E '^(took )?[0-9.]+$' "$last_output" >"$scratch/figures$run" || true
	done
	if [ "$(wc -l <"$scratch/figures1")" -ne 3 ]; then
		fail "$name" "there are not three figures: $(paste -sd ' ' "$scratch/figures1")"
	elif paste "$scratch/figures1" "$scratch/figures2" | tr -d 'a-z ' |
		awk '{ difference = $1 - $2; if (difference < 0) difference = -difference
			if (difference > 0.01 * $1) exit 1 }'; then
		pass "$name"
	else
		fail "$name" "$(paste "$scratch/figures1" "$scratch/figures2" | paste -sd ' ')"
	fi
}

check_clean_up() {
	local runner folder qemu
	folder=$(mktemp -d -p "$scratch")
	echo 'echo running; sleep 1000' >"$folder/job.sh"
	tools/vm/run --log "$folder/console" "$folder/job.sh" >"$folder/out" 2>&1 &
	runner=$!
	for _ in $(seq 1200); do
		! grep -q '^running$' "$folder/out" || break
		sleep 0.1
	done
	# grep fails if any process of this machine ends meanwhile.
	qemu=$({ grep -ls "^PPid:[[:space:]]*$runner\$" /proc/[0-9]*/status || true; } | cut -d / -f 3)
	kill -TERM "$runner"
	wait "$runner" || true
	if [ -z "$qemu" ]; then
		fail "SIGTERM ends QEMU" "QEMU never ran"
	elif kill -0 "$qemu" 2>/dev/null; then
		fail "SIGTERM ends QEMU" "process $qemu still runs"
	else
		pass "SIGTERM ends QEMU"
	fi
}

# refuse NAME PATTERN ARGUMENTS...: the runner must refuse its arguments with such a sentence.
refuse() {
	local name=$1 pattern=$2 message status=0
	shift 2
	message=$(tools/vm/run "$@" 2>&1) || status=$?
	if [ "$status" -eq 126 ] && grep -qE -- "$pattern" <<<"$message"; then
		pass "refuses $name"
	else
		fail "refuses $name" "exit code $status, message: $message"
	fi
}

check_arguments() {
	refuse "a script that is not there" 'the script /none does not exist' /none
	refuse "a time limit of nothing" 'not a number of seconds' --timeout 0 "$0"
	refuse "a device as disk" 'not a regular file' --disk /dev/null "$0"
	refuse "a broken regular expression" 'not a regular expression' --kill-on '(' "$0"
	refuse "a file that is not there" '/none does not exist' --file /none "$0"
}

if tests/vm/selftest_log.py >"$scratch/log-test" 2>&1; then
	pass "console logs are judged right"
else
	fail "console logs are judged right" "tests/vm/selftest_log.py failed"
	cat "$scratch/log-test"
fi
build_fault_module
check_arguments
check_exit_codes
check_restored
# Two guests at once, as the runner promises to allow: the benchmark beside the rest.
(
	check_benchmark
	exit "$failed"
) >"$scratch/benchmark-output" &
benchmark=$!
check_faults
check_channels
check_clean_up
wait "$benchmark" || failed=1
cat "$scratch/benchmark-output"
exit "$failed"
