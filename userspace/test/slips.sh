#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# slips.sh: what a hand does that is too fast. Each of these once lost data, or could have, without
# --force; each is refused now, with a sentence that says what to do, and changes nothing. On image
# files; what needs devices is in tests/vm/57-slips.sh. Needs both programs and ressd-make-image.
set -euo pipefail

suite=slips
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"

blank_disk() {
	rm -f "$disk"
	truncate -s 64M "$disk"
}

# --raw, --report and --resume opened any path and truncated it: a disk as well, and --report only
# after an hour of measuring.
test_outputs() {
	local precious=$folder/precious link=$folder/link
	blank_disk
	echo "do not lose me" >"$precious"
	cp "$precious" "$folder/copy"
	ln -sf "$precious" "$link"
	unchanged "--raw: a file that is there" 3 "--raw names .*/precious, which is a file.*name a file" \
		ressd-probe --quick --raw "$precious" "$disk"
	unchanged "--raw: through a link" 3 "which is a symbolic link" \
		ressd-probe --quick --raw "$link" "$disk"
	unchanged "--raw: the device itself" 3 "--raw names .*/disk, which is" \
		ressd-probe --quick --raw "$disk" "$disk"
	unchanged "--raw: no block device is written" 3 "is a character device" \
		ressd-probe --quick --raw /dev/zero "$disk"
	unchanged "--raw: a folder that is not there" 1 "cannot be created" \
		ressd-probe --quick --raw "$folder/none/raw" "$disk"
	unchanged "--report: a file" 3 "--report names .*name a folder that is empty" \
		ressd-probe --quick --report "$precious" "$disk"
	mkdir -p "$folder/page"
	ln -sf "$precious" "$folder/page/index.html"
	unchanged "--report: a folder with files" 3 "holds files already" \
		ressd-probe --quick --report "$folder/page" "$disk"
	report "--report: before it measures" "$(grep -q 'random read' "$output" && echo "after it")"
	unchanged "--save-file: a file that is there, before anything else" 3 "--save-file names" \
		ressd-probe --preserve --save-file "$precious" "$folder/none"
	ln -sf "$precious" "$folder/results.new"
	expect "--resume: next to a link" 5 "random read" \
		ressd-probe --quick --region 8M:8M --resume "$folder/results" "$disk"
	report "--resume: its own name for the next version" \
		"$([ -L "$folder/results.new" ] || echo "results.new was replaced")"
	report "--resume: nothing is left" "$(find "$folder" -name 'results.??????')"
	unchanged "--report: an empty name" 2 "the name behind --report is empty" \
		ressd-probe --quick --report "" "$disk"
	report "--report: an empty name, before it measures" \
		"$(grep -q 'random read' "$output" && echo "after it")"
	unchanged "--resume: a folder that is not there, before it measures" 1 \
		"--resume names .*/none/results, which cannot be created" \
		ressd-probe --quick --resume "$folder/none/results" "$disk"
	report "--resume: before it measures" "$(grep -q 'random read' "$output" && echo "after it")"
	# What was measured is told all the same.
	# shellcheck disable=SC2016 # of the shell that has the limit
	expect "--raw: a full disk" 1 "cannot write .*/raw: File too large" bash -c \
		'trap "" XFSZ; ulimit -f 8; exec ressd-probe --quick --region 8M:8M --raw "$1" "$2"' \
		- "$folder/raw" "$disk"
	report "--raw: what was measured is told" "$(grep -q '^random read' "$output" || echo no)"
	mkfifo "$folder/pipe"
	unchanged "--resume: a pipe does not hang" 3 "is no regular file" \
		timeout 20 ressd-probe --quick --resume "$folder/pipe" "$disk"
	report "what was there is still there" "$(cmp "$precious" "$folder/copy" 2>&1)"
}

# put_log OFFSET: a log that holds data, at that byte of the blank disk of 64 MiB.
put_log() {
	local normal reserved
	blank_disk
	read -r normal reserved < <(ressd-make-image 3 "$folder/log")
	dd if="$folder/log" of="$disk" bs=4096 skip=$((normal / 8)) seek=$(($1 / 4096)) \
		count=$((reserved / 8)) conv=notrunc status=none
	log_blocks=$((reserved / 8))
}

# blank_block BLOCK: of the disk.
blank_block() {
	dd if=/dev/zero of="$disk" bs=4096 seek="$1" count=1 conv=notrunc status=none
}

probe_elsewhere() {
	unchanged "$1: ressd-probe" 3 "$2.*--yes-destroy" \
		ressd-probe --write --yes --quick --region 40M:8M "$disk"
}

# Logs were looked for at the end of the device only.
test_logs_elsewhere() {
	local at new="$disk 0 114688 $disk 114688 16384" holds="holds a reserved area of ressd at byte"
	for at in 0 4096 $((1 << 20)) $(((7 << 20) + 8192)) $((44 << 20)); do
		put_log "$at"
		probe_elsewhere "a log at byte $at" "$holds $at with [1-9][0-9]* blocks"
		# shellcheck disable=SC2086 # words
		unchanged "a log at byte $at: format over its disk" 3 "$holds $at with [1-9].*drain it first" \
			ressdctl format --yes $new
		blank_block $((at / 4096))
		probe_elsewhere "and by its other superblock" "$holds $at with"
		blank_block $((at / 4096 + log_blocks - 1))
		probe_elsewhere "and by its records" "records of a log of ressd whose superblock at byte $at"
	done
	put_log 8192
	unchanged "format into a log" 3 "$holds 8192" ressdctl format --yes "$disk" 65536 65536 "$disk" 0 16384
	unchanged "format of the normal device only looks" 3 "$holds 8192" \
		ressdctl format --yes "$disk" 0 114688 "$folder/second" 0 16384
	expect "format --force" 0 "^formatted" ressdctl format --yes --force "$disk" 65536 65536 \
		"$disk" 0 16384
	expect "and the old log is not found again" 0 "^formatted" \
		ressdctl format --yes "$disk" 65536 65536 "$disk" 0 16384
	expect "nor by the probe" 0 "would measure" ressd-probe --write --yes --dry-run "$disk"
	put_log $((44 << 20))
	printf 'x' | dd of="$disk" bs=1 seek=$(((44 << 20) + 100)) conv=notrunc status=none
	probe_elsewhere "a superblock with a bad checksum" "holds .*ressd"
}

# A large device is not read as a whole: what is overwritten is, and the usual places are.
test_logs_on_large_devices() {
	local at region normal reserved big=$folder/big
	read -r normal reserved < <(ressd-make-image 3 "$folder/log")
	for at in 0 $((512 << 20)) $(((1 << 30) + 12288)) $(((2 << 30) - reserved * 512)); do
		region=64M:8M
		[ $((at % (1 << 20))) -eq 0 ] || [ $((at + reserved * 512)) -eq $((2 << 30)) ] ||
			region=1G:8M
		rm -f "$big"
		truncate -s 2G "$big"
		dd if="$folder/log" of="$big" bs=4096 skip=$((normal / 8)) seek=$((at / 4096)) \
			conv=notrunc status=none
		expect "2 GiB, a log at byte $at" 3 "a reserved area of ressd at byte $at with" \
			ressd-probe --write --yes --quick --region "$region" "$big"
	done
	rm "$big"
}

# Image files were taken for unused, whoever worked on them.  (Mounted ones: tests/vm/57-slips.sh.)
test_files_in_use() {
	local holder
	blank_disk
	hold 'fcntl.flock(disk, fcntl.LOCK_EX)'
	unchanged "locked: format" 3 "locked by another program.*wait until" \
		ressdctl format --yes --force --table "$line"
	unchanged "locked: probe" 3 "locked by another program" \
		ressd-probe --write --yes --quick "$disk"
	unchanged "locked: probe --preserve" 3 "locked by another program" \
		ressd-probe --preserve --yes --quick "$disk"
	unchanged "locked: --dry-run says so, too" 3 "locked by another program" \
		ressd-probe --write --dry-run "$disk"
	release
	hold 'fcntl.lockf(disk, fcntl.LOCK_SH, 1, 100)'
	unchanged "locked as QEMU does it" 3 "in use by another program, perhaps a virtual machine" \
		ressdctl format --yes --force --table "$line"
	release
	expect "not locked any more" 0 "^formatted" ressdctl format --yes --table "$line"
}

# --dry-run said what would be done where it would be refused.
test_dry_run() {
	blank_disk
	mkfs.ext4 -q -F "$disk"
	unchanged "--dry-run: a file system" 3 "holds ext4.*--yes-destroy" \
		ressd-probe --write --yes --dry-run "$disk"
	unchanged "--dry-run: it may go" 0 "would measure" \
		ressd-probe --write --yes-destroy "$disk" --dry-run "$disk"
	unchanged "--dry-run: --raw" 3 "--raw names" ressd-probe --dry-run --raw "$disk" "$disk"
	put_log 4096
	unchanged "--dry-run: a log" 3 "a reserved area of ressd" \
		ressd-probe --write --dry-run "$disk"
	if [ "$(id -u)" -ne 0 ]; then
		chmod a-w "$disk"
		unchanged "--dry-run: not to be written" 1 "cannot write" \
			ressd-probe --write --dry-run "$disk"
		chmod u+w "$disk"
	fi
}

# A log that is formatted anew in its own place.
test_format() {
	local normal reserved
	rm -f "$disk"
	read -r normal reserved < <(ressd-make-image 3 "$disk")
	unchanged "format over a log with data" 3 "[1-9][0-9]* blocks of 4 KiB not moved.*drain it first" \
		ressdctl format --yes "$disk" 0 "$normal" "$disk" "$normal" "$reserved"
	dd if=/dev/urandom of="$disk" bs=4096 seek=$((normal / 8 + 17)) count=8 conv=notrunc status=none
	unchanged "format over a damaged log" 3 "the log is damaged.*add --force" \
		ressdctl format --yes "$disk" 0 "$normal" "$disk" "$normal" "$reserved"
	expect "format --force" 0 "^formatted" \
		ressdctl format --yes --force "$disk" 0 "$normal" "$disk" "$normal" "$reserved"
	expect "and it is empty" 0 "not yet moved  *0" ressdctl check "$disk"
}

# The file of --undo, and the device that it is meant for.
test_undo() {
	local normal reserved backup=$folder/backup
	rm -f "$disk"
	read -r normal reserved < <(ressd-make-image 3 "$disk")
	blank_block $(((normal + reserved) / 8 - 1))
	cp "$disk" "$folder/damaged"
	expect "repair" 0 "^repaired" ressdctl repair --yes --search --backup "$backup" "$disk"
	cp "$disk" "$folder/repaired"
	truncate -s 0 "$disk"
	truncate -s $(((normal + reserved) * 512)) "$disk"
	unchanged "--undo: another image of the same size" 3 "is not on .*it is another device; name" \
		ressdctl repair --undo "$backup" "$disk"
	unchanged "--undo: no device" 2 "takes the backup file and the device" \
		ressdctl repair --undo "$backup"
	ressd-make-image 4 "$disk" >/dev/null
	truncate -s $(((normal + reserved) * 512)) "$disk"
	unchanged "--undo: an image with another log" 3 "it is another device" \
		ressdctl repair --undo "$backup" "$disk"
	cp "$folder/repaired" "$disk"
	ressdctl format --yes --force "$disk" 0 "$normal" "$disk" "$normal" "$reserved" >/dev/null
	unchanged "--undo: the area was formatted anew" 3 "it is another device" \
		ressdctl repair --undo "$backup" "$disk"
	cp "$folder/repaired" "$disk"
	unchanged "--undo: no backup" 1 "is not a whole backup file of ressdctl repair; name" \
		ressdctl repair --undo "$folder/damaged" "$disk"
	unchanged "--undo: a device" 2 "is a character device, but the backup file must be" \
		ressdctl repair --undo /dev/null "$disk"
	[ -p "$folder/pipe" ] || mkfifo "$folder/pipe"
	unchanged "--undo: a pipe does not hang" 2 "is a pipe, but the backup file must be a regular file" \
		timeout 20 ressdctl repair --undo "$folder/pipe" "$disk"
	expect "--undo: the right one" 0 "written back" ressdctl repair --undo "$backup" "$disk"
	report "--undo: all is as before" "$(cmp "$folder/damaged" "$disk" 2>&1)"
}

# Names that are no files in /dev/mapper, but folders.
test_names() {
	local name
	blank_disk
	ressdctl format --yes --table "$line" >/dev/null
	for name in . .. "" a/b; do
		unchanged "open '$name'" 2 "is no device-mapper name; use" ressdctl open "$name" "$disk"
	done
}

# change_supers FIRST BYTES VALUE PLACE...: that field of the superblocks at these bytes of the disk.
change_supers() {
	python3 - "$disk" "$@" <<-'END'
	import sys
	def crc32c(data, crc=0xffffffff):
	    for byte in data:
	        crc ^= byte
	        for _ in range(8):
	            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
	    return crc
	first, length, value, *places = map(int, sys.argv[2:])
	with open(sys.argv[1], "r+b") as disk:
	    for at in places:
	        disk.seek(at)
	        block = bytearray(disk.read(4096))
	        block[first:first + length] = value.to_bytes(length, "little")
	        block[12:16] = bytes(4)
	        block[12:16] = crc32c(block).to_bytes(4, "little")
	        disk.seek(at)
	        disk.write(block)
	END
}

# A card of a newer version, in a computer with an older one: there was no log, said all, and check that
# repair was to look for it.
test_newer_version() {
	local field sentence command
	for field in "8 4 2" "40 4 16" "36 4 16"; do
		blank_disk
		mkfs.ext4 -q -F -b 4096 "$disk" 48M
		ressdctl adopt --yes "$disk" >/dev/null
		# shellcheck disable=SC2086 # words
		change_supers $field $((122880 * 512)) $((131072 * 512 - 4096))
		sentence="$disk: the reserved area uses features 0x10 that this .*; use a newer version"
		[ "$field" != "8 4 2" ] || sentence="$disk: the reserved area has format version 2, this"
		for command in "open x" leave "list --json" tune check "check --search" dump repair; do
			# shellcheck disable=SC2086 # words
			unchanged "newer, $field: $command" 1 "^ressdctl: $sentence" ressdctl $command "$disk"
		done
		report "newer, $field: for udev no member, but plain" "$(ressdctl list --udev "$disk" 2>&1 || echo fails)"
		unchanged "newer, $field: adopt" 3 "^ressdctl: $sentence.*; or, if the file system is newer, add --force" \
			ressdctl adopt --yes "$disk"
		expect "newer, $field: adopt --force" 0 "^formatted" ressdctl adopt --yes --force "$disk"
	done
}

# A superblock without normal area, and one with numbers that no table has.
test_superblocks() {
	blank_disk
	ressdctl format --yes --table "$line" >/dev/null
	change_supers 56 8 0 $((98304 * 512)) $((131072 * 512 - 4096))
	unchanged "normal_sectors 0: check" 4 "the target has 0 sectors" ressdctl check --table "$line"
	unchanged "normal_sectors 0: open" 1 "no reserved area ends with" ressdctl open x "$disk"
	unchanged "normal_sectors 0: format" 3 "." ressdctl format --yes --table "$line"
}

# A table line for the disk: 48 MiB normal, 16 MiB reserved.
line="0 98304 ressd $disk 0 $disk 98304 32768"
truncate -s 16M "$folder/second"
run_tests "${1:-}" \
	test_outputs \
	test_files_in_use \
	test_dry_run \
	test_logs_elsewhere \
	test_logs_on_large_devices \
	test_format \
	test_undo \
	test_names \
	test_newer_version \
	test_superblocks
exit "$failed"
