#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tools.sh: ressd-probe and ressdctl from outside, on regular files: exit codes, sentences, and
# that a refusal changes nothing. Needs both programs in PATH; touches no device.
set -euo pipefail

suite=tools
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"

blank_disk() {
	rm -f "$disk"
	truncate -s 64M "$disk"
}

# A table line for the disk: 48 MiB normal, 16 MiB reserved.
line="0 98304 ressd $disk 0 $disk 98304 32768"

test_arguments() {
	blank_disk
	unchanged "no command" 2 "no command is given" ressdctl
	unchanged "unknown command" 2 "'fly' is not a command" ressdctl fly
	unchanged "help" 0 "Usage: ressdctl" ressdctl --help
	unchanged "unknown option" 2 "'--fast' is not an option" ressdctl format --fast
	unchanged "recover without a name" 2 "recover needs the name of one device" ressdctl recover
	unchanged "missing words" 2 "needs 6 words" ressdctl format "$disk" 0
	unchanged "words after --table" 2 "leave it out" ressdctl format --table "$line" x
	unchanged "missing file" 1 "cannot find" ressdctl format --table "${line//disk/none}"
	unchanged "bad number" 2 "must be a decimal number" \
		ressdctl format "$disk" 0 x "$disk" 98304 32768
	unchanged "overlap" 2 "overlap" ressdctl format "$disk" 0 98312 "$disk" 98304 32768
	unchanged "beyond the end" 2 "has only" ressdctl format "$disk" 0 98304 "$disk" 98304 32776
	unchanged "unaligned" 2 "multiples of 8" ressdctl format "$disk" 0 98300 "$disk" 98304 32768
	unchanged "bad segment" 2 "segment_sectors" \
		ressdctl format --segment-sectors 100 --table "$line"
	unchanged "probe without device" 2 "no device is named" ressd-probe
	unchanged "probe: unknown option" 2 "'--fast' is not an option" ressd-probe --fast "$disk"
	unchanged "probe: option without value" 2 "'--region'" ressd-probe "$disk" --region
	unchanged "probe: help" 0 "Exit codes" ressd-probe --help
	unchanged "probe: version" 0 "ressd-probe [0-9]" ressd-probe --version
	unchanged "probe: not a device" 2 "neither a block device" ressd-probe "$folder"
	unchanged "probe: not even that" 1 "cannot find" ressd-probe "$folder/none"
	unchanged "probe: --create without --write" 2 "needs --write" \
		ressd-probe --create x "$disk"
	unchanged "probe: --create on a file" 2 "losetup" \
		ressd-probe --write --yes --create x "$disk"
	unchanged "probe: region too large" 2 "ends at byte" ressd-probe --region 0:65M "$disk"
	unchanged "probe: reserved area too large" 2 "leaves no normal area" \
		ressd-probe --reserved 64M "$disk"
}

test_format() {
	blank_disk
	unchanged "format asks first" 3 "add --yes" ressdctl format --table "$line"
	expect "format" 0 "^formatted" ressdctl format --yes --table "$line"
	unchanged "format again asks" 3 "a reserved area of ressd" ressdctl format --table "$line"
	expect "format again" 0 "^formatted" ressdctl format --yes --table "$line"
	unchanged "open: other numbers" 2 "describes another device" \
		ressdctl open x --table "0 90112 ressd $disk 8 $disk 98304 32768"
	unchanged "open: a shorter normal area" 2 "cannot shrink to 90112" \
		ressdctl open x --table "0 90112 ressd $disk 0 $disk 98304 32768"
	expect "format with segments" 0 "segment_sectors 2048" \
		ressdctl format --yes --segment-sectors 2048 --table "$line"
	unchanged "open: other segments" 2 "was formatted with 2048" \
		ressdctl open x --table "$line 2 segment_sectors 1024"
}

test_contents() {
	blank_disk
	unchanged "open: not formatted" 1 "no reserved area ends with" ressdctl open x "$disk"
	head -c 4096 /dev/urandom | dd of="$disk" bs=4096 seek=12288 conv=notrunc status=none
	unchanged "random bytes" 3 "neither blank nor formatted" \
		ressdctl format --yes --table "$line"
	unchanged "open: random bytes" 3 "neither blank nor formatted" \
		ressdctl open x --table "$line"
	expect "random bytes, forced" 0 "^formatted" ressdctl format --yes --force --table "$line"
	blank_disk
	mkfs.ext4 -q -F "$disk"
	unchanged "ext4 reaches into the area" 3 "holds ext4" ressdctl format --yes --table "$line"
	unchanged "probe: ext4" 3 "holds ext4.*--yes-destroy" ressd-probe --write --yes "$disk"
	unchanged "probe: wrong --yes-destroy" 2 "must be the same" \
		ressd-probe --write --yes-destroy "$folder" "$disk"
	blank_disk
	mkswap -q "$disk" 2>/dev/null
	unchanged "swap space" 3 "holds swap" ressdctl format --yes --table "$line"
	blank_disk
	ressdctl format --yes --table "$line" >/dev/null
	dd if="$disk" of="$disk" bs=4096 skip=12288 seek=16383 count=1 conv=notrunc status=none
	unchanged "open: a superblock in the wrong place" 1 "no reserved area ends with" \
		ressdctl open x "$disk"
}

test_probe() {
	local -a measure=(ressd-probe --write --yes --quick --region 8M:8M)
	local status=0
	blank_disk
	unchanged "probe asks first" 3 "add --yes" ressd-probe --write "$disk"
	unchanged "probe --dry-run" 0 "8 MiB are destroyed" "${measure[@]}" --dry-run "$disk"
	unchanged "probe reads only" 5 "run ressd-probe --write" ressd-probe --quick "$disk"
	report "probe: the verdict comes first" "$(head -n 1 "$output" | grep -v '^verdict  *no verdict')"
	report "probe: no commands without a verdict" "$(grep -E 'ressdctl (format|open)|dmsetup create' "$output")"
	report "probe: a file is called one" "$(grep -q '^warning  *this is a file' "$output" || cat "$output")"

	"${measure[@]}" --resume "$folder/all" --json "$disk" >"$output" 2>&1 || status=$?
	report "probe --json" "$(check_verdict "$status")"
	report "probe stays in its region" "$(check_region)"

	status=0
	"${measure[@]}" --resume "$folder/all" --table "$disk" >"$output" 2>&1 || status=$?
	report "probe --table" "$(grep -qE "^0 [0-9]+ ressd $disk 0 $disk" "$output" ||
		echo "no table line, exit code $status")"

	status=0
	timeout --preserve-status -s INT 1 "${measure[@]}" "$disk" >"$output" 2>&1 || status=$?
	report "probe stops at Ctrl-C" "$([ "$status" -eq 130 ] || echo "exit code $status")"
}

# A disk with a file system and contents that must survive.
used_disk() {
	blank_disk
	head -c 64M /dev/urandom >"$disk"
	mkfs.ext4 -q -F -L precious "$disk"
	cp "$disk" "$folder/before"
}

survives() {
	cmp -s "$disk" "$folder/before" || echo "the contents have changed"
}

test_preserve() {
	local -a measure=(ressd-probe --preserve --quick --region 8M:16M)
	local status=0
	used_disk
	unchanged "preserve asks first" 3 "restores it at the end.*add --yes" "${measure[@]}" "$disk"
	unchanged "preserve: --create" 2 "exclude each other" "${measure[@]}" --create x "$disk"
	unchanged "--save-file without --preserve" 2 "needs --preserve" \
		ressd-probe --write --save-file "$folder/kept" "$disk"
	unchanged "preserve: --dry-run" 0 "16 MiB are overwritten, and restored" \
		"${measure[@]}" --dry-run "$disk"
	touch "$folder/kept"
	unchanged "preserve: the file exists" 3 "--save-file names $folder/kept, which is" \
		"${measure[@]}" --yes --save-file "$folder/kept" "$disk"
	rm "$folder/kept"

	"${measure[@]}" --yes --json "$disk" >"$output" 2>&1 || status=$?
	report "preserve measures" "$(check_verdict "$status")"
	report "preserve restores from memory" "$(survives)"
	report "preserve says so" "$(grep -q '"preserved":true' "$output" || echo "no")"

	status=0
	timeout --preserve-status -s INT 1 "${measure[@]}" --yes --save-file "$folder/kept" --json \
		"$disk" >"$output" 2>&1 || status=$?
	report "Ctrl-C restores from a file" "$(survives)"
	report "and removes it" "$([ ! -e "$folder/kept" ] || echo "it is still there")"
	report "Ctrl-C: exit code" "$([ "$status" -eq 130 ] || echo "$status")"
	report "Ctrl-C: what was measured is printed" \
		"$(grep -q '"interrupted":true' "$output" || echo "no")"

	status=0
	timeout --preserve-status -s QUIT 1 "${measure[@]}" --yes "$disk" >"$output" 2>&1 || status=$?
	report "Ctrl-\\ restores, too" "$(survives)"
	report "Ctrl-\\: exit code" "$([ "$status" -eq 130 ] || echo "$status")"
	# A pager that is left, or a connection that breaks: the next line killed the program.
	"${measure[@]}" --yes --verbose "$disk" 2>&1 >/dev/null | head -n 1 >"$output" || true
	report "a reader that goes away: restored" "$(survives)"
	report "it has read something" "$(grep -q . "$output" || echo "no")"

	# The device got the number of the closed output, and the verdict its first block.
	expect "standard output is closed" 1 "cannot write the output: Bad file descriptor" \
		bash -c 'exec "$@" >&-' bash "${measure[@]}" --yes --json "$disk"
	report "standard output is closed: restored" "$(survives)"
	"${measure[@]}" --yes --progress json "$disk" >"$output" 2>&- || true
	report "standard error is closed: restored" "$(survives)"
}

# samples FILE: how many transfers are in a --raw file.
samples() {
	sed 1d "$1" | grep -c . || true
}

test_resume() {
	local -a measure=(ressd-probe --write --yes --quick --region 8M:8M --resume "$folder/results")
	blank_disk
	timeout --preserve-status -s INT 1 "${measure[@]}" --raw "$folder/raw0" "$disk" \
		>"$output" 2>&1 || true
	report "results are noted" "$(grep -q '^filled' "$folder/results" || echo "no filling")"
	"${measure[@]}" --raw "$folder/raw1" "$disk" >"$output" 2>&1 || true
	report "resumed: it is not filled again" "$(! grep -q '^fill,' "$folder/raw1" || echo "it is")"
	report "resumed: the rest is measured" \
		"$(grep -q '^rehearsal,' "$folder/raw1" || echo "no rehearsal")"
	# On a slow machine a run may end for want of time; then the next one goes on.
	for _ in {1..8}; do
		rm -f "$folder/raw2"
		"${measure[@]}" --raw "$folder/raw2" --json "$disk" >"$output" 2>&1 || true
		[ "$(samples "$folder/raw2")" -gt 0 ] || break
	done
	report "resumed when complete: nothing is measured" \
		"$([ "$(samples "$folder/raw2")" -eq 0 ] || head -n 3 "$folder/raw2")"
	report "and all is printed" "$(check_verdict 5 | grep -v '^exit code')"
	unchanged "resume: another region" 2 "another device, region, mode or --reserved" \
		ressd-probe --write --yes --quick --region 16M:8M --resume "$folder/results" "$disk"
	# What was rehearsed for one log was taken for one of another size.
	unchanged "resume: another log" 2 "another device, region, mode or --reserved" \
		"${measure[@]}" --reserved 8M "$disk"
	sed -i 's/^filled.*/filled\t1/' "$folder/results"
	unchanged "resume: damaged" 2 "line [0-9]* of .* is damaged" "${measure[@]}" "$disk"
	echo junk >"$folder/results"
	unchanged "resume: not ours" 2 "no file of results" "${measure[@]}" "$disk"
}

# A limit that is reached ends the writing, in resumed runs, too: they used to go on with what still
# fitted under it, as fast machines did in test_resume.
test_resume_at_limit() {
	local -a measure=(ressd-probe --write --yes --quick --region 8M:8M --resume "$folder/limited")
	blank_disk
	"${measure[@]}" --max-write 9M --json "$disk" >"$output" 2>/dev/null || true
	report "limit: reached" "$(grep -q '^spent' "$folder/limited" || echo "it is not noted")"
	report "limit: the JSON says so" \
		"$(grep -q '"write_limit_reached":true' "$output" || cat "$output")"
	rm -f "$folder/raw1" "$folder/raw2"
	"${measure[@]}" --max-write 9M --raw "$folder/raw1" "$disk" >"$output" 2>&1 || true
	report "limit: a resumed run writes nothing" \
		"$(! grep -m 1 -E ',[wf],' "$folder/raw1" || true)"
	report "limit: and says so" "$(grep -q "limit of --max-write was reached" "$output" || cat "$output")"
	"${measure[@]}" --max-write 12M --raw "$folder/raw2" "$disk" >"$output" 2>&1 || true
	report "limit: a larger one lets it go on" \
		"$(grep -q ',w,' "$folder/raw2" || echo "nothing is written")"
}

test_formats() {
	blank_disk
	unchanged "format: unknown" 2 "must be text, json, table or dmsetup" \
		ressd-probe --format xml "$disk"
	unchanged "format: twice" 2 "exclude each other" ressd-probe --format text --json "$disk"
	unchanged "progress: unknown" 2 "must be json" ressd-probe --progress dots "$disk"
	unchanged "format: dmsetup" 5 "^dmsetup create ressd --table \"0 [0-9]+ ressd " \
		ressd-probe --quick --format dmsetup "$disk"
	unchanged "progress as JSON" 5 '^\{"step":"random read 4 KiB","seconds_left":[0-9]+\}$' \
		ressd-probe --quick --progress json --format table "$disk"
}

# check_verdict STATUS: what a measurement says depends on the machine, but the exit code must be
# that of the verdict in the JSON, and the JSON must be complete.
check_verdict() {
	local verdict wanted id
	# The last one is that on the drive; those before are on sizes of writes.
	verdict=$(sed -n 's/.*"verdict":"\([^"]*\)".*/\1/p' "$output" | tail -n 1)
	case $verdict in
	worth-it) wanted=0 ;;
	not-worth-it) wanted=4 ;;
	worth-it-with-locality) wanted=6 ;;
	unknown) wanted=5 ;;
	*) echo "no verdict"; return ;;
	esac
	[ "$1" -eq "$wanted" ] || echo "exit code $1 with verdict $verdict"
	for id in sequential-write sequential-read random-write ordered-write \
		ordered-write-mover random-read; do
		grep -q "\"id\":\"$id\"" "$output" || echo "$id was not measured"
	done
}

check_region() {
	cmp -s -n $((8 << 20)) "$disk" /dev/zero || echo "it wrote before it"
	cmp -s -n $((48 << 20)) -i $((16 << 20)):0 "$disk" /dev/zero || echo "it wrote after it"
	! cmp -s -n $((8 << 20)) -i $((8 << 20)):0 "$disk" /dev/zero || echo "it wrote nothing"
}

# completed WORD...: what bash offers for the last word.
completed() {
	(
		# shellcheck source=userspace/completion/ressd-probe
		. "$(dirname "$0")/../completion/ressd-probe"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_ressd_probe
		printf '%s\n' "${COMPREPLY[@]}"
	)
}

test_completion() {
	local option manual missing=
	manual=$(sed 's/\\//g' "$(dirname "$0")/../man/ressd-probe.8")
	report "completion: --pre" "$([ "$(completed ressd-probe --pre)" = --preserve ] ||
		completed ressd-probe --pre)"
	report "completion: --format d" "$([ "$(completed ressd-probe --format d)" = dmsetup ] ||
		completed ressd-probe --format d)"
	touch "$folder/file"
	report "completion: files" "$([ "$(completed ressd-probe --raw "$folder/fi")" = "$folder/file" ] ||
		completed ressd-probe --raw "$folder/fi")"
	# Every option is in the manual, and the other way round.
	for option in $(ressd-probe --help | grep -oE -- '--[a-z-]+' | sort -u); do
		grep -qF -e "$option" <<<"$manual" || missing+=" $option"
	done
	report "the manual has every option" "${missing:+$missing missing}"
}

run_tests "${1:-}" \
	test_arguments \
	test_completion \
	test_format \
	test_contents \
	test_probe \
	test_preserve \
	test_resume \
	test_resume_at_limit \
	test_formats
exit "$failed"
