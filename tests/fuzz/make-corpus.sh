#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make-corpus.sh: makes the seeds of the fuzzing corpus anew, from valid logs. Needed only when the
# on-disk format changes. Files whose name begins with "found-" are kept: they are inputs that once
# showed a bug; make them anew by hand if the format change has made them meaningless.
set -eu # no pipefail: check ends with 4 where it finds what is looked for
cd "$(dirname "$0")"

# Both built: make userspace; make -C tests/fuzz tools.
make_image=../../build/bin/ressd-make-image

rm -f corpus/*/seed-*
mkdir -p corpus/super corpus/record corpus/args corpus/recover

# Logs of all ages: empty, young, after some laps of the ring.
for i in 1 2 3 4 5 6 7 8; do
	"$make_image" "$i" "corpus/recover/seed-log-$i" packed small "operations=$((i * i * 4))" >/dev/null
done
# Of random damage most is healed or harmless; here are some that are refused.
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
nr=0
for ((i = 1; nr < 8; i++)); do
	"$make_image" "$i" "$scratch" small operations=120 "mutations=$i" >/dev/null
	../../build/bin/ressdctl check --json "$scratch" 2>/dev/null | grep -q '"refused":true' ||
		continue
	nr=$((nr + 1))
	"$make_image" "$i" "corpus/recover/seed-refused-$nr" packed small operations=120 \
		"mutations=$i" >/dev/null
done

# Superblocks: the switches, then 128 bytes of each copy (fuzz-super.c).
for i in 1 2; do
	read -r normal reserved < <("$make_image" "$i" "$scratch" operations=20)
	for switches in 0 3 4; do
		{
			printf '%b' "\\x0$switches"
			dd if="$scratch" bs=512 skip="$normal" count=1 status=none | head -c 128
			dd if="$scratch" bs=512 skip=$((normal + reserved - 8)) count=1 status=none |
				head -c 128
		} >"corpus/super/seed-$i-$switches"
	done
done
# Headers, in the geometry of "small" (fuzz-record.c): no sizes, block - 1, both switches, header.
"$make_image" 3 "$scratch" small operations=300 >/dev/null
for block in 1 16 32 48; do
	{
		printf '%b' "\\x00\\x00\\x$(printf %02x $((block - 1)))\\x00\\x03"
		dd if="$scratch" bs=512 skip=$((800 + block * 8)) count=8 status=none
	} >"corpus/record/seed-$block"
done

# The summaries of that log's slots, which begin at their last block.
for slot in 0 1 2; do
	{
		printf '%b' "\\x00\\x00\\x$(printf %02x $((slot * 16 + 8)))\\x00\\x07"
		dd if="$scratch" bs=512 skip=$((800 + (slot * 16 + 15) * 8)) count=8 status=none
	} >"corpus/record/seed-summary-$slot"
done

# seed NAME TEXT: what users write.
seed() {
	printf '%s' "$2" >"corpus/args/seed-$1"
}
seed line '0 8192 ressd /dev/sda 0 /dev/sda 8192 8192'
seed line-options '0 8192 ressd /dev/sda1 0 /dev/sdb 8 65536 6 on_full wait streams 4 commit writethrough'
seed options 'small_write_sectors 16 move_threshold 50 move_batch_sectors 1024 pace burst route never'
seed options-rest 'commit_interval_ms 100 log_align_sectors 8 segment_sectors 512 on_full bypass'
seed adaptive 'route adaptive pace idle'
seed normal-path 'split_read_sectors 512 split_write_sectors 512 align_sectors 32 dispatch pai'
seed numbers '18446744073709551615 18446744073709551616 4294967296 0 -1'
seed status '12/100 3/4 rw 4 records 17 moved 5 7'
seed size '1.5G'
seed size-sectors '128s'
