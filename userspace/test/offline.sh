#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# offline.sh: ressdctl check, dump and repair on image files: what they find, that they change
# nothing unless told to, and that a repair can be undone. Needs ressdctl and ressd-make-image
# (tests/fuzz) in PATH; touches no device.
set -euo pipefail

suite=offline
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"
backup=$folder/backup

# make_log SEED [ARGUMENTS...]: a valid log on the disk; sets its table line.
make_log() {
	local normal reserved
	read -r normal reserved < <(ressd-make-image "$1" "$disk" "${@:2}")
	reserved_start=$normal
	reserved_blocks=$((reserved / 8))
	line="0 $normal ressd $disk 0 $disk $normal $reserved"
	rm -f "$backup"
	cp "$disk" "$folder/valid"
}

# put BLOCK FILE: a log block gets what FILE holds.
put() {
	dd if="$2" of="$disk" bs=512 seek=$((reserved_start + $1 * 8)) count=8 conv=notrunc \
		status=none
}

zero_block() {
	put "$1" /dev/zero
}

# flip BLOCK BYTE: a bit of the log block is wrong.
flip() {
	local at=$((reserved_start * 512 + $1 * 4096 + $2)) byte
	byte=$(od -An -tu1 -j "$at" -N 1 "$disk")
	printf '%b' "\\x$(printf %02x $((byte ^ 4)))" |
		dd of="$disk" bs=1 seek="$at" conv=notrunc status=none
}

# ask EXPRESSION: of what dump --json says, as d in Python.
ask() {
	ressdctl dump --json --table "$line" >"$folder/dump.json" 2>/dev/null || true
	python3 -c "import json; d = json.load(open('$folder/dump.json'))
current = sorted((r for s in d.get('slots', []) for r in s['records'] if r['state'] == 'current'),
		 key=lambda r: r['record'])
print($1)"
}

same_as_before() {
	report "$1" "$(cmp "$folder/$2" "$disk" 2>&1 || true)"
}

# find_break: damages the header of the newest record whose loss the kernel does not accept, so
# that as much as possible stays; prints its block.
find_break() {
	local block
	cp "$folder/valid" "$disk"
	for block in $(ask '" ".join(str(r["block"]) for r in reversed(current[1:]))'); do
		cp "$folder/valid" "$disk"
		flip "$block" 40
		ressdctl check --json --table "$line" >"$output" 2>/dev/null || true
		if grep -q '"refused":true' "$output"; then
			echo "$block"
			return
		fi
	done
	echo none
}

test_arguments() {
	make_log 3
	unchanged "check: no area" 2 "needs either --table" ressdctl check
	unchanged "check: two areas" 2 "needs either --table" ressdctl check "$disk" "$disk"
	unchanged "check: unknown option" 2 "'--fix' is not an option" ressdctl check --fix "$disk"
	unchanged "check: missing file" 1 "cannot find" ressdctl check "$folder/none"
	unchanged "check: a bad line" 2 "words describe the areas" \
		ressdctl check --table "0 8 ressd"
	unchanged "check: an area beyond the end" 2 "has only" \
		ressdctl check --table "0 8 ressd $disk 0 $disk $reserved_start 999999992"
	unchanged "dump: bad number" 2 "must be a number from 1" \
		ressdctl dump --record none "$disk"
	unchanged "repair: --in-use" 2 "cannot be repaired" ressdctl repair --in-use "$disk"
	unchanged "repair: --undo and --backup" 2 "nothing else" \
		ressdctl repair --undo "$backup" --backup "$backup" "$disk"
	unchanged "repair: --undo without the file" 1 "cannot open the backup" \
		ressdctl repair --undo "$backup" "$disk"
	truncate -s 1M "$folder/empty"
	expect "check: no log there" 1 "no reserved area ends with.*--search" \
		ressdctl check "$folder/empty"
	expect "check --search: none there either" 1 "no superblock .* was found" \
		ressdctl check --search "$folder/empty"
}

test_clean() {
	local seed
	for seed in 1 2 3 4 5 6; do
		make_log "$seed"
		unchanged "check: valid log $seed" 0 "^clean" ressdctl check "$disk"
		unchanged "repair: valid log $seed" 0 "nothing to repair" ressdctl repair "$disk"
	done
	unchanged "check --json" 0 '"clean":true' ressdctl check --json "$disk"
	report "check --json is JSON" "$(python3 -m json.tool "$output" 2>&1 >/dev/null)"
	unchanged "check: another table" 4 "cannot shrink" \
		ressdctl check --table "0 8 ressd ${line#* ressd }"
	rm -f "$disk"
	truncate -s 16M "$disk"
	expect "check: a blank area" 0 "^blank; the kernel formats it" \
		ressdctl check --table "0 16384 ressd $disk 0 $disk 16384 16384"
	printf x | dd of="$disk" bs=512 seek=20000 conv=notrunc status=none
	expect "check: not quite blank" 4 "not blank" \
		ressdctl check --table "0 16384 ressd $disk 0 $disk 16384 16384"
}

test_dump() {
	local record
	make_log 3
	unchanged "dump" 0 "^superblock copy 1: good" ressdctl dump "$disk"
	unchanged "dump shows entries" 0 "map   log block [0-9]+ holds normal block" \
		ressdctl dump "$disk"
	unchanged "dump shows the map" 0 "normal block [0-9]+ is in log block" ressdctl dump "$disk"
	record=$(ask 'current[0]["record"]')
	expect "dump --record" 0 "record $record of segment" ressdctl dump --record "$record" "$disk"
	report "dump --record shows one" "$(grep -c '^  record' "$output" | sed '/^1$/d')"
	report "the map is that of the records" "$(ask '"" if len(d["map"]) ==
		d["recovery"]["mapped_blocks"] and len(d["map"]) > 5 else d["recovery"]')"
}

test_superblocks() {
	local copy
	make_log 3
	copy=$((reserved_blocks - 1))
	flip "$copy" 60
	unchanged "copy 1 torn: what is left of it tells where copy 0 is" 4 \
		"superblock copy 1 is damaged" ressdctl check "$disk"
	flip "$copy" 73
	cp "$disk" "$folder/damaged"
	unchanged "copy 1 damaged: not found" 1 "--search" ressdctl check "$disk"
	unchanged "copy 1 damaged: --search" 4 "superblock copy 1 is damaged" \
		ressdctl check --search "$disk"
	unchanged "repair shows the plan" 4 "write superblock copy 1 anew" \
		ressdctl repair --search "$disk"
	unchanged "repair asks" 3 "no terminal" \
		ressdctl repair --search --backup "$backup" "$disk"
	expect "repair" 0 "^repaired" ressdctl repair --yes --search --backup "$backup" "$disk"
	same_as_before "the copy is as it was" valid
	unchanged "repair: the backup exists" 0 "nothing to repair" \
		ressdctl repair --yes --backup "$backup" "$disk"
	expect "repair --undo" 0 "1 block was written back" \
		ressdctl repair --undo "$backup" "$disk"
	same_as_before "the undo restores everything" damaged
	unchanged "repair: no backup is overwritten" 3 "exists already" \
		ressdctl repair --yes --search --backup "$backup" "$disk"

	make_log 4
	head -c 4096 /dev/urandom >"$folder/random"
	put 0 "$folder/random"
	unchanged "copy 0 overwritten" 4 "kernel refuses the superblocks" ressdctl check "$disk"
	expect "repair of copy 0" 0 "^repaired" \
		ressdctl repair --yes --backup "$backup" "$disk"
	same_as_before "copy 0 is as it was" valid
	put 0 "$folder/random"
	put $((reserved_blocks - 1)) "$folder/random"
	unchanged "both overwritten" 1 "without one good superblock" \
		ressdctl repair --table "$line"
	ressd-make-image 5 "$folder/other" >/dev/null
	make_log 5
	flip $((reserved_blocks - 1)) 20
	unchanged "a copy of an unknown version is not overwritten" 3 "damaged|intact|exists" \
		ressdctl repair --yes --table "$line" --backup "$folder"
}

# A line with a reserved area that is shorter than the one on the device: where its second superblock
# would be is a block of the log.
test_other_line() {
	make_log 3
	line="0 $reserved_start ressd $disk 0 $disk $reserved_start $(((reserved_blocks - 3) * 8))"
	head -c 4096 /dev/urandom >"$folder/data"
	put $((reserved_blocks - 4)) "$folder/data"
	unchanged "repair with another line" 2 \
		"superblock copy 0 .* describes .*sector $reserved_start \\+ $((reserved_blocks * 8)).*use" \
		ressdctl repair --yes --table "$line" --backup "$folder/other"
	unchanged "check with another line" 4 "refused" ressdctl check --table "$line"
}

# A sound log on a partition that ends with its disk was called damaged when the disk was named, and
# the remedy was format --force.
test_partition() {
	local command
	make_log 3
	mv "$disk" "$folder/partition"
	{ head -c 1M /dev/zero && cat "$folder/partition"; } >"$disk"
	for command in check dump repair; do
		unchanged "$command: the disk, not the partition" 1 \
			"the log begins at sector $reserved_start, not at $((reserved_start + 2048)) as here.*name that" \
			ressdctl "$command" "$disk"
	done
}

test_data() {
	local durable block lbn
	make_log 3
	durable=$(ask 'max(r["durable"] for r in current)')
	block=$(ask "[m['log_block'] for m in d['map'] for r in current if r['record'] <= $durable
		and m in r['maps']][0]")
	lbn=$(ask "[m['normal_block'] for m in d['map'] if m['log_block'] == $block][0]")
	flip "$block" 9
	unchanged "a damaged data block" 4 \
		"^damage, .*log block $block, normal block $lbn: .* are lost" ressdctl check "$disk"
	unchanged "repair cannot bring it back" 0 "nothing to repair" ressdctl repair "$disk"
}

test_chain() {
	local block=none seed
	for ((seed = 1; seed < 40; seed++)); do
		make_log "$seed"
		block=$(find_break)
		[ "$block" = none ] || break
	done
	report "a header that is needed" "$([ "$block" != none ] || echo "found in no log")"
	cp "$disk" "$folder/damaged"
	unchanged "a broken chain" 4 "^refused, .*: the chain ends after record [0-9]+" \
		ressdctl check "$disk"
	unchanged "repair shows what is lost" 4 "lost: [1-9][0-9]* records? that had been acknowledged" \
		ressdctl repair "$disk"
	expect "the chain is cut" 0 "^repaired" ressdctl repair --yes --backup "$backup" "$disk"
	unchanged "it is clean then" 0 "^clean" ressdctl check "$disk"
	expect "the cut is undone" 0 "written back" ressdctl repair --undo "$backup" "$disk"
	same_as_before "the undo restores the broken chain" damaged
	expect "again" 0 "^repaired" ressdctl repair --yes --backup "$folder/second" "$disk"
	cp "$folder/second" "$folder/third"
	printf x >>"$folder/third"
	unchanged "no undo from a damaged backup" 1 "not a whole backup" \
		ressdctl repair --undo "$folder/third" "$disk"
	flip "$block" 5
	unchanged "no undo once the device was used" 3 "used after the repair" \
		ressdctl repair --undo "$folder/second" "$disk"
}

# use SEED [OPERATIONS]: the repaired device is opened and used, which may leave alone every block
# that the repair has written.
use() {
	ressd-make-image "$1" "$disk" again "operations=${2:-0}" >/dev/null
}

test_undo() {
	local seed block
	for seed in 3 4 5; do
		make_log "$seed"
		flip $((reserved_blocks - 1)) 60
		cp "$disk" "$folder/damaged"
		expect "$seed: repair of a superblock" 0 "^repaired" \
			ressdctl repair --yes --search --backup "$backup" "$disk"
		cp "$disk" "$folder/repaired"
		use "$seed"
		unchanged "$seed: no undo once the device was opened" 3 \
			"used after the repair .*newest record.*keep the log, and remove the backup" \
			ressdctl repair --undo "$backup" "$disk"
		cp "$folder/repaired" "$disk"
		expect "$seed: undo of a superblock" 0 "written back" \
			ressdctl repair --undo "$backup" "$disk"
		same_as_before "$seed: all is as before" damaged
		expect "$seed: the undo can be repeated" 0 "written back" \
			ressdctl repair --undo "$backup" "$disk"
		same_as_before "$seed: all is as before again" damaged
	done
	for ((seed = 1; seed < 60; seed++)); do
		make_log "$seed"
		block=$(find_break)
		[ "$block" != none ] || continue
		cp "$disk" "$folder/damaged"
		expect "$seed: repair" 0 "^repaired" ressdctl repair --yes --backup "$backup" "$disk"
		cp "$disk" "$folder/repaired"
		use "$seed"
		unchanged "$seed: no undo of the cut once the device was opened" 3 "used after the repair" \
			ressdctl repair --undo "$backup" "$disk"
		use "$seed" 300
		unchanged "$seed: nor when it was used for long" 3 "used after the repair" \
			ressdctl repair --undo "$backup" "$disk"
		cp "$folder/repaired" "$disk"
		dd if="$folder/damaged" of="$disk" bs=512 skip=$((reserved_start + block * 8)) \
			seek=$((reserved_start + block * 8)) count=3 conv=notrunc status=none
		expect "$seed: an undo that was cut short" 0 "written back" \
			ressdctl repair --undo "$backup" "$disk"
		same_as_before "$seed: all is as before" damaged
	done
}

# Without its first record nothing of a log can be kept.
test_hopeless() {
	make_log 3 operations=6
	local record
	for record in $(ask '" ".join(str(r["block"]) for r in current[:-1])'); do
		zero_block "$record"
	done
	unchanged "nothing is left to keep" 1 "nothing of it can be kept" \
		ressdctl repair --table "$line"
}

run_tests "${1:-}" \
	test_arguments \
	test_clean \
	test_dump \
	test_superblocks \
	test_other_line \
	test_partition \
	test_data \
	test_chain \
	test_undo \
	test_hopeless
exit "$failed"
