#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 75-errors-load.sh: the oracle's load over errors at random moments, of any kind, with a drive that
# may lose its cache by them; after each the drive is well again, the log is recovered, and
# everything acknowledged must be there.
#   75-errors-load.sh [ROUNDS [SEED]]
# guest: --timeout 600 --file tests/vm/errors.sh --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/intel.conf
# shellcheck disable=SC2119 # fresh and reopen work without options
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh
# shellcheck source=tests/vm/errors.sh
. ./errors.sh

rounds=${1:-12}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
echo "# seed $seed"
RANDOM=$((seed % 32768))

variants=(
	"on_full wait move_threshold 90 log_discard on"
	"on_full bypass"
	"commit writethrough on_full wait"
	"on_full wait commit_interval_ms 5 log_align_sectors 32"
	"on_full wait move_block_sectors 1024 log_page_sectors 64 log_rewrite on"
)

one_round() {
	local number=$1 options status=0 state
	read -r -a options <<<"${variants[number % ${#variants[@]}]}"
	reopen "${options[@]}" || {
		fail "round $number: is created" "it is not"
		return 1
	}
	random_fault
	oracle run --may-fail --operations 250 --threads 4 --flush-percent 5 \
		>/tmp/load-output 2>&1 || status=$?
	state=$(status_state ressd)
	heal
	# What a failed flush may mean. Without one a drive that forgets is beyond any help.
	[ "$state" != ro ] || [ $((RANDOM % 2)) -eq 0 ] || lose_cache
	if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
		fail "round $number: no difference before the error" "the load ended with $status"
		sed 's/^/# /' /tmp/load-output
		return 1
	fi
	check "round $number: state $state, the load ended with $status; back in service" \
		back_in_service rw
	check "round $number: everything acknowledged is there" oracle check
	states[$state]=1
}

declare -A states=()
load dm-ressd
make_drive fua=$((seed % 2))
fresh
for ((i = 1; i <= rounds && tests_failed == 0; i++)); do
	one_round "$i"
done
reopen
check "at last everything acknowledged is there" oracle check
check "and the device works without an error" oracle run --operations 300
dmsetup remove ressd
echo "# states seen: ${!states[*]}"
echo "# result errors/rounds/count $((i - 1)) 1 >=$rounds"
finish
