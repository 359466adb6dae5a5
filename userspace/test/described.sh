#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# described.sh: what a superblock keeps beside the areas: the options, and whether there are one or
# two devices. Of image files; tests/vm/58-described.sh opens devices. Needs ressdctl in PATH.
set -euo pipefail

suite=described
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"
put_super=$(dirname "$0")/put_super.py

# A disk of 64 MiB: 48 MiB normal, 16 MiB reserved.
new_disk() {
	rm -f "$disk"
	truncate -s 64M "$disk"
	ressdctl format --yes --table "0 98304 ressd $disk 0 $disk 98304 32768 $*" >"$output"
}

# put_options TEXT: into both copies.
put_options() {
	local hex block
	hex=$(printf '%b' "$1" | od -An -v -tx1 | tr -d ' \n')
	for block in 12288 16383; do
		"$put_super" "$disk" "$block" 96 "$(printf '%-1024s' "$hex" | tr ' ' 0)"
	done
}

test_format_stores() {
	new_disk
	unchanged "no options: the defaults" 0 "^stored  \(the defaults\)$" ressdctl tune "$disk"
	unchanged "dump shows so" 0 "options  *the defaults" ressdctl dump "$disk"
	new_disk 4 on_full wait streams 4
	unchanged "options of the line" 0 "^stored  streams 4 on_full wait$" ressdctl tune "$disk"
	unchanged "the segment size is no option" 0 "stored  streams 4 on_full wait$" ressdctl tune "$disk"
	unchanged "dump shows them" 0 "options  *streams 4 on_full wait" ressdctl dump "$disk"
	unchanged "dump --json, too" 0 '"options":"streams 4 on_full wait"' ressdctl dump --json "$disk"
	unchanged "and the number of devices" 0 '"devices":1' ressdctl dump --json "$disk"
	expect "options behind the numbers" 0 "pace idle segment_sectors 2048$" ressdctl format --yes --segment-sectors 2048 \
		"$disk" 0 98304 "$disk" 98304 32768 pace idle
	unchanged "are stored, without the segment size" 0 "^stored  pace idle$" ressdctl tune "$disk"
	unchanged "a wrong one is refused" 2 "pace is 'slow', but must be one of" ressdctl format --yes \
		"$disk" 0 98304 "$disk" 98304 32768 pace slow
}

test_tune() {
	new_disk 2 streams 4
	expect "change" 0 "^stored  streams 5 on_full wait$" ressdctl tune "$disk" on_full wait streams 5
	unchanged "it stays" 0 "^stored  streams 5 on_full wait$" ressdctl tune "$disk"
	unchanged "--json" 0 '"stored":"streams 5 on_full wait"' ressdctl tune --json "$disk"
	expect "a default is left out" 0 "^stored  on_full wait$" ressdctl tune "$disk" streams 16
	expect "--reset, and one new" 0 "^stored  pace burst$" ressdctl tune --reset "$disk" pace burst
	expect "--reset" 0 "^stored  \(the defaults\)$" ressdctl tune --reset "$disk"
	unchanged "no such option" 2 "'colour' is not an option" ressdctl tune "$disk" colour blue
	unchanged "no value" 2 "option streams has no value" ressdctl tune "$disk" streams
	unchanged "options that exclude each other" 2 "open_units is 2, but the size of a unit is not known" \
		ressdctl tune "$disk" open_units 2
	unchanged "segment_sectors" 2 "segment_sectors is fixed" ressdctl tune "$disk" segment_sectors 2048
	unchanged "no device" 2 "tune needs the name" ressdctl tune
	truncate -s 1M "$folder/empty"
	expect "no area" 1 "no reserved area ends with .* or begins" ressdctl tune "$folder/empty"
	unchanged "the area is clean" 0 "^clean" ressdctl check "$disk"
}

test_hostile() {
	local text
	new_disk
	for text in 'colour blue' 'streams 4 streams 5' 'streams' 'streams 99999999999999999999' \
		'segment_sectors 2048' '%n%s%n' 'streams 4\001' 'streams\x0a4' 'streams 4\000x' \
		'\377\377' "$(printf 'a%.0s' {1..512})" "$(printf 'a %.0s' {1..256})"; do
		put_options "$text"
		unchanged "tune: ${text:0:30}" 2 "options that the superblock of .* keeps are not understood: .*--defaults" \
			ressdctl tune "$disk"
		unchanged "open: ${text:0:30}" 2 "are not understood" ressdctl open x "$disk"
		unchanged "check: ${text:0:30}" 4 "^warning: .*are not understood" ressdctl check "$disk"
		unchanged "dump: ${text:0:30}" 0 "options " ressdctl dump "$disk"
	done
	unchanged "a change is refused, too" 2 "are not understood" ressdctl tune "$disk" streams 4
	expect "--reset replaces them" 0 "^stored  streams 4$" ressdctl tune --reset "$disk" streams 4
	unchanged "and all is clean" 0 "^clean" ressdctl check "$disk"
}

# A superblock that was written before there were stored options, and one that is on two devices.
test_devices() {
	new_disk
	"$put_super" "$disk" 16383 88 00
	"$put_super" "$disk" 12288 88 00
	unchanged "an old superblock: the defaults" 0 "^stored  \(the defaults\)$" ressdctl tune "$disk"
	unchanged "an old superblock has no number of devices" 0 '"options":""' ressdctl dump --json "$disk"
	report "none at all" "$(grep '"devices"' "$output" || true)"
	truncate -s 16M "$folder/log"
	expect "format for two" 0 "^formatted" ressdctl format --yes "$disk" 0 98304 "$folder/log" 0 32768 \
		on_full wait
	expect "the log alone is not enough" 2 "normal area that is on another device; name that one with --normal" \
		ressdctl open x "$folder/log"
	new_disk
	expect "the disk has both" 2 "has both areas, so --normal .* leave it out" \
		ressdctl open --normal "$folder/log" x "$disk"
	rm -f "$folder/log"
}

# Options are stored in both copies, the second first.
test_cut() {
	new_disk 2 streams 4
	cp "$disk" "$folder/before"
	ressdctl tune "$disk" streams 7 >/dev/null
	dd if="$folder/before" of="$disk" bs=4096 skip=12288 seek=12288 count=1 conv=notrunc status=none
	unchanged "cut between the copies: the old ones" 0 "^stored  streams 4$" ressdctl tune "$disk"
	unchanged "it is no fault" 0 "^note: storing options was cut short" ressdctl check "$disk"
	dd if=/dev/urandom of="$disk" bs=512 seek=98304 count=3 conv=notrunc status=none
	dd if=/dev/zero of="$disk" bs=4096 seek=12288 count=1 conv=notrunc status=none
	unchanged "only copy 1 is left" 0 "^stored  streams 7$" ressdctl tune "$disk"
	unchanged "nothing is stored then" 4 "copy 0 is damaged.*options are stored in both" \
		ressdctl tune "$disk" streams 8
	expect "repair" 0 "^repaired" ressdctl repair --yes --backup "$folder/backup" "$disk"
	unchanged "repair keeps them" 0 "^stored  streams 7$" ressdctl tune "$disk"
	rm -f "$folder/backup"
}

# An area that begins with its device, and one at its end, are found.
test_places() {
	rm -f "$disk"
	truncate -s 64M "$disk"
	ressdctl format --yes "$disk" 32768 98304 "$disk" 0 32768 streams 3 >/dev/null
	unchanged "the area comes first" 0 "^stored  streams 3$" ressdctl tune "$disk"
	unchanged "check finds it" 0 "^clean" ressdctl check "$disk"
	truncate -s 80M "$disk"
	unchanged "also when the device has grown" 0 "^stored  streams 3$" ressdctl tune "$disk"
	truncate -s 64M "$disk"
}

run_tests "${1:-}" \
	test_format_stores \
	test_tune \
	test_hostile \
	test_devices \
	test_cut \
	test_places
exit "$failed"
