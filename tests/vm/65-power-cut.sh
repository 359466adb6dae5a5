#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 65-power-cut.sh: the disk loses its write cache at random moments under load, many times, and
# every acknowledged write must be there afterwards. The disk keeps what was flushed, and of the
# rest whatever it happened to evict from its cache.
#   65-power-cut.sh [CUTS [SEED]]
# guest: --timeout 600
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

cuts=${1:-40}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
reserved=8192
echo "# seed $seed"
RANDOM=$((seed % 32768))

variants=(
	"on_full wait"
	"on_full bypass"
	"on_full wait log_align_sectors 32 pace burst"
	"commit writethrough on_full wait"
	"on_full wait commit_interval_ms 5 move_threshold 90"
)

oracle() {
	local command=$1
	shift
	ressd-oracle "$command" --journal /tmp/journal --seed "$seed" "$@" /dev/mapper/ressd
}

# recover CUT: the devices, as after power comes back.
recover() {
	local variant=${variants[$1 % ${#variants[@]}]} options
	read -r -a options <<<"$variant"
	dmsetup create lower --table "0 $(sectors_of /dev/d0) linear /dev/d0 0" &&
		make_ressd ressd /dev/mapper/lower "$reserved" "${options[@]}"
}

# wait_for_load: until the oracle has compared everything and begun to write.
wait_for_load() {
	while ! grep -q 'load of epoch' /tmp/load-output; do
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.02
	done
}

# All I/O fails from now on; then the disk forgets its cache.
cut() {
	local load=$1 status=0
	dmsetup wipe_table --noflush lower
	wait "$load" || status=$?
	dmsetup remove ressd && dmsetup remove lower && cut_power d0
	if [ "$status" -ne 3 ]; then
		sed 's/^/# /' /tmp/load-output
		return 1
	fi
}

one_cut() {
	local number=$1 load delay
	delay=$(((RANDOM * 32768 + RANDOM) % 900 + 10))
	recover "$number" || {
		fail "cut $number: recovery" "it failed"
		return 1
	}
	oracle run --may-fail --threads 4 --flush-percent 8 >/tmp/load-output 2>&1 &
	load=$!
	wait_for_load "$load" || {
		fail "cut $number: what was acknowledged is there" "see below"
		sed 's/^/# /' /tmp/load-output
		return 1
	}
	sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
	cut "$load" || {
		fail "cut $number: the load before it" "see above"
		return 1
	}
	pass "cut $number after $delay ms: $(sed -n 's/.*: \(compared.*\)/\1/p' /tmp/load-output)"
}

load dm-ressd
make_disk d0 40 cache_size=2 irqmode=2 completion_nsec=150000
for number in $(seq "$cuts"); do
	one_cut "$number" || break
done
if [ "$tests_failed" -eq 0 ]; then
	recover 0
	check "after the last cut everything acknowledged is there" oracle check
	echo "# result crash/power-cut/cuts $cuts 1 >=$cuts"
fi
dmesg | grep -E 'ressd: .*(recovered|damaged|refused)' | tail -n 3 | sed 's/^/# /'
finish
