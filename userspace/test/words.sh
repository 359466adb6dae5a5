#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# words.sh: what the programs say: sentences that are true, exit codes that can be told apart, JSON
# where it is asked for, and manual pages that have everything. Needs all programs and
# ressd-make-image in PATH.
set -euo pipefail

suite=words
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"
top=$(dirname "$0")/../..

make_log() {
	read -r normal reserved < <(ressd-make-image 3 "$disk")
}

# no_line NAME REGEX: of the last output.
no_line() {
	report "$1" "$(grep -E -- "$2" "$output" || true)"
}

test_options() {
	local command
	make_log
	for command in format adopt leave open close list tune status drain recover check dump repair; do
		expect "$command: no such option" 2 "^ressdctl: '--fast' is not an option of this command; see" \
			ressdctl "$command" --fast
	done
	expect "no such letter" 2 "'-x' is not an option" ressdctl check -jx "$disk"
	for command in "format --table" "check --table" "dump --record" "repair --undo" "open --table"; do
		# shellcheck disable=SC2086 # words
		expect "$command without its value" 2 "option '${command#* }' needs a value behind it" \
			ressdctl $command
	done
	expect "a value too many" 2 "option '--json' takes no value; leave '=3' out" \
		ressdctl check --json=3 "$disk"
	expect "probe: no such option" 2 "'--fast' is not an option" ressd-probe --fast "$disk"
	expect "probe: no value" 2 "option '--region' needs a value" ressd-probe "$disk" --region
	expect "probe: no device" 2 "^ressd-probe: no device is named; name" ressd-probe
	expect "probe: two devices" 2 "2 devices are named .*one is measured at a time" \
		ressd-probe "$disk" "$disk"
	expect "trace: no such option" 2 "'--fast' is not an option" ressd-trace --fast "$disk" "$disk"
	expect "trace: no value" 2 "option '--speed' needs a value" ressd-trace "$disk" "$disk" --speed
	expect "trace: no device" 2 "^ressd-trace: two words are needed .* but there is 1; see" ressd-trace "$disk"
	expect "trace: a speed" 2 "--speed is '-1', but must be a factor from 0.01" \
		ressd-trace --speed -1 "$disk" "$disk"
	expect "trace: too many in flight" 2 "--in-flight is '5000', .* from 1 to 4096" \
		ressd-trace --in-flight 5000 "$disk" "$disk"
	expect "trace: a format" 2 "--format is 'vmstat', but must be blkparse" \
		ressd-trace --format vmstat "$disk" "$disk"
	expect "trace: a fit" 2 "--fit is 'x', but must be refuse, fold or pack" \
		ressd-trace --fit x "$disk" "$disk"
	expect "trace: bursts" 2 "--bursts is '0', .* from 1 to 1024" ressd-trace --bursts 0 "$disk" "$disk"
	expect "trace: two that exclude each other" 2 "--speed max and --bursts exclude each other" \
		ressd-trace --speed max --bursts 4 "$disk" "$disk"
	for command in format adopt leave open close list status tune drain recover check dump repair; do
		expect "help $command" 0 "^  $command " ressdctl help "$command"
		report "and of no other command" "$(grep -cE '^  [a-z]+ ' "$output" |
			grep -vxE '[2-5]' || true)"
		cp "$output" "$folder/help"
		expect "$command --help" 0 "^  $command " ressdctl "$command" --help
		report "says the same" "$(cmp "$folder/help" "$output" 2>&1)"
	done
	expect "help of all" 0 "^  dump " ressdctl help
	expect "help of none" 2 "'fly' is not a command" ressdctl help fly
	expect "status: two names" 2 "takes the name of one device, or none" ressdctl status a b
	for command in status close drain recover; do
		expect "$command: a path" 2 "/disk is no ressd device; name an active one" \
			ressdctl "$command" "$disk"
	done
	expect "ressdctl --version" 0 "^ressdctl [0-9]" ressdctl --version
	expect "ressd-trace --version" 0 "^ressd-trace [0-9]" ressd-trace --version
	expect "ressd-trace --help" 0 "^  --fit MODE" ressd-trace --help
}

test_sentences() {
	local status=0
	make_log
	truncate -s 0 "$folder/empty"
	expect "an empty file" 1 "has no size; insert a medium, or name another" ressd-probe "$folder/empty"
	no_line "no question with a full stop" '\?\.'
	expect "a record that is not there" 1 "has no record 99; ressdctl dump without" \
		ressdctl dump --record 99 "$disk"
	expect "a segment that is not there" 1 "has no segment 99;" ressdctl dump --segment 99 "$disk"
	dd if=/dev/zero of="$disk" bs=512 seek=$((normal + reserved - 8)) count=8 conv=notrunc status=none
	ressdctl check --search "$disk" >"$output" 2>&1 || status=$?
	report "one fault" "$(tail -n 1 "$output" | grep -vE ' has 1 fault\.$' || true)"
	report "check: the exit code" "$([ "$status" -eq 4 ] || echo "$status")"
	report "what was found stands before what is said of it, in a file, too" \
		"$(head -n 1 "$output" | grep -v '^reserved area' || true)"
	expect "one block" 4 "^1 block of " ressdctl repair --search "$disk"
	truncate -s 64M "$folder/parted"
	echo 2048,65536 | sfdisk -q "$folder/parted" >/dev/null 2>&1
	expect "a partition table" 3 "holds a partition table \(dos\);" \
		ressd-probe --write --yes "$folder/parted"
}

# What is there is a file of that name in this folder; elsewhere it would be a path.
test_names() {
	local command
	make_log
	truncate -s 1M "$folder/none"
	for command in tune leave; do
		expect "$command: a file of that name" 1 "if the file disk in this folder is meant, write ./disk\.$" \
			env -C "$folder" ressdctl "$command" disk
	done
	expect "list: no log" 1 "no reserved area ends with .*/none or begins" ressdctl list "$folder/none"
	expect "list: one of two has none" 1 "closed .*/disk" ressdctl list "$folder/none" "$disk"
	report "udev asks of many devices that have none" "$(ressdctl list --udev "$folder/none" 2>&1 || echo fails)"
}

# What was printed and did not arrive is no success, whatever was found out.
test_lost_output() {
	local command
	make_log
	for command in "ressdctl dump --json $disk" "ressdctl check $disk" "ressdctl --version" \
		"ressd-probe --help" "ressd-probe --quick --region 0:1M $disk" "ressd-trace --version"; do
		expect "to a full disk: $command" 1 "cannot write the output: No space left on device\.$" \
			bash -c "exec $command >/dev/full"
	done
	report "status --json: an object or a sentence, not both" \
		"$(ressdctl status --json 2>/dev/null >"$output" || cat "$output")"
}

# A probe that only reads has no verdict, and so nothing to advise.
test_no_verdict() {
	rm -f "$disk"
	truncate -s 64M "$disk"
	expect "no verdict" 5 "^verdict .*" ressd-probe --quick --region 8M:8M "$disk"
	no_line "and no commands" 'dmsetup create|ressdctl format'
	expect "asked for, they are printed" 5 "^dmsetup create" \
		ressd-probe --quick --region 8M:8M --format dmsetup "$disk"
	report "the help tells both apart" \
		"$(ressd-probe --help | tr '\n' ' ' | grep -c '5 no verdict, 6 worth it only with locality' >/dev/null || echo no)"
}

# measured DIRECT LOG MOVE: $folder/results of a whole measurement, in which that is what a block of 4 KiB
# costs in the rehearsal, in ns.
measured() {
	local cell at=0
	{
		echo "ressd-probe-results 2"
		echo "device|//67108864/8388608+8388608/write/1/0"
		printf 'written|517726208\nfilled|8388608\n'
		for cell in clustered-page clustered-block pseudo-slc; do
			echo "finding|$cell|3|0|0|0|0|0|0|0|0|0|8|1000000|0|-|-"
		done
		echo "finding|flush-honoured|1|1|1|0|0|0|0|8|0|0|128|1000000|0|-|-"
		echo "finding|flush-cost|1|1|1360842|1187925|1360842|0|0|1|0|0|64|0|0|-|-"
		for cell in "sequential write" "sequential read" "random write "{4,8}" KiB" \
			"random read "{4,8}" KiB" "ordered write "{4,8}" KiB at the mover's distance" \
			"ordered write "{4,8}" KiB every 128 KiB"; do
			echo "cell|$cell|1|0|30000000|40000|8000000|10|3072|500000000|15000000|500000000|100000"
		done
		for cell in 4096 8192; do
			echo "rehearsal|$((at++))|1|0|0|$cell|$1|$2|$3|100|10|10|4000|1000000000|50000000|0|8388608|30"
		done
	} | tr '|' '\t' >"$folder/results"
}

# Each verdict has its own exit code; a drive that pays only with locality and one without a verdict had
# the same.
test_verdicts() {
	local -a probe=(ressd-probe --write --yes --quick --region 8M:8M --resume "$folder/results" "$disk")
	local distance
	rm -f "$disk"
	truncate -s 64M "$disk"
	measured 90000 15000 45000
	expect "worth it" 0 "^verdict  *worth it: " "${probe[@]}"
	measured 50000 15000 45000
	expect "worth it with locality" 6 "^verdict  *worth it for loads with locality" "${probe[@]}"
	measured 9000 12000 45000
	expect "not worth it" 4 "^verdict  *not worth it" "${probe[@]}"

	# Where whole clustered blocks are rewritten, all else had the gain of moving one by one.
	measured 90000000 15000 4000000
	sed -i -e 's/^finding\tclustered-block\t.*/finding|clustered-block|1|2|1048576|0|0|1|0|0|0|0|8|1000000|0|-|-/' \
		-e 's/\t0\t8388608\t30$/|64|0|0/' -e '/^[fr].*|/s/|/\t/g' "$folder/results"
	for distance in 16 64 256; do
		printf 'cell\tordered write 4 KiB every %s KiB\t1\t0\t1000000\t4000000\t8000000\t10\t64\t256000000\t262144\t256000000\t0\n' \
			"$distance" >>"$folder/results"
	done
	expect "whole blocks" 0 "^verdict .* to be [0-9.]* times as fast" "${probe[@]}"
	report "whole blocks: the same gain everywhere" "$(diff \
		<(sed -n 's/^verdict .* to be \([0-9.]*\) times.*/\1/p' "$output") \
		<(sed -n 's/^rehearsal    4 KiB.* \([0-9.]*\) times.*/\1/p' "$output"))"
	json "whole blocks: in JSON" \
		'" %.2f times" % (d["rehearsals"][0]["gain_percent"] / 100) in d["verdict"]["reason"]' \
		"${probe[@]}" --json
}

# Of a region of which a part was filled, a resumed run wrote at random to that part only.
test_resumed() {
	local -a probe=(ressd-probe --write --yes --quick --region 8M:32M --resume "$folder/results")
	probe+=("$disk")
	rm -f "$disk"
	truncate -s 64M "$disk"
	measured 90000 15000 45000
	sed -i -e '/^rehearsal/d' -e 's/8388608+8388608/8388608+33554432/' "$folder/results"
	json "resumed: writes go to all of the region" 'd["rehearsals"][0]["working_set"] == 32 << 20' \
		"${probe[@]}" --json
	# So all of it is what is put back.
	head -c 64M /dev/urandom >"$disk"
	sed -i -e '/^rehearsal/d' -e '/^cell\trandom write/d' "$folder/results"
	cp "$disk" "$folder/before"
	json "resumed: --preserve" 'd["preserved"] and d["rehearsals"]' "${probe[@]}" --preserve --json
	report "resumed: all of the region is put back" "$(cmp "$disk" "$folder/before" 2>&1)"
}

# json NAME EXPRESSION COMMAND...: its output is one JSON object d for which the expression is true.
json() {
	local name=$1 expression=$2
	shift 2
	"$@" >"$output" 2>/dev/null </dev/null || true
	report "$name" "$(python3 -c "import json
d = json.load(open('$output', 'rb'))
assert ($expression), d" 2>&1 | tail -n 1)"
}

test_json() {
	make_log
	json "check --json" 'd["version"] == 1 and d["clean"]' ressdctl check --json "$disk"
	json "dump --json" 'd["version"] == 1 and d["slots"] and d["map"]' ressdctl dump --json "$disk"
	json "list --json" 'd["version"] == 1 and d["devices"][0]["state"] == "closed" and
		len(d["devices"][0]["uuid"]) == 36' ressdctl list --json "$disk"
	json "dump --json --record" 'd["version"] == 1 and len(d["slots"]) == 1' ressdctl dump --json \
		--record "$(ressdctl dump "$disk" | sed -n 's/^  record \([0-9]*\) .*/\1/p' | head -n 1)" "$disk"
	# What no text is went out as it was: not JSON.  So may the name that a card gives itself.
	cp "$disk" "$folder/"$'\xff\xc0\xaf\xed\xa0\x80"\n\\\xc3\xbc\xe2\x82\xac\xf0\x9f\x92\xbe'
	json "a name that is not UTF-8" 'd["device"].endswith("/" + "\ufffd" * 6 + "\"\n\\\xfc\u20ac\U0001f4be")' \
		ressdctl check --json "$folder/"*$'\xbe'
	rm -f "$disk"
	truncate -s 64M "$disk"
	json "--dry-run --json" 'd["version"] == 1 and d["writes"] and d["region"]["bytes"] == 8 << 20 and
		d["bytes_written_at_most"] >= 8 << 20 and len(d["measurements"]) > 3' \
		ressd-probe --write --dry-run --json --region 8M:8M "$disk"
	json "--dry-run --json, reading only" 'not d["writes"] and "seconds_at_most" not in d' \
		ressd-probe --dry-run --json --region 8M:8M "$disk"
}

# page NAME: its file; ressd(7) is made of docs/dm-ressd.rst.
page() {
	local made
	made=$(dirname "$(command -v ressdctl)")/../man/$1
	[ -e "$made" ] || made=$top/userspace/man/$1
	echo "$made"
}

# in_manual WHAT PAGE: each word of standard input is in the page.
in_manual() {
	local word missing='' manual
	manual=$(sed 's/\\f[A-Z]//g; s/\\//g' "$(page "$2")")
	while read -r word; do
		grep -qw -e "$word" <<<"$manual" || missing+=" $word"
	done
	report "$2 has $1" "${missing:+$missing missing}"
}

test_manuals() {
	local command core=$top/dm-ressd/core/ressd-args.c pages
	pages=("$top"/userspace/man/*.[58] "$(page ressd.7)")
	{
		sed -n 's/^\t\(NUMBER\|WORDS\)(\([a-z_]*\), .*/\2/p' "$core"
		sed -n 's/^\t{ .key = "\([a-z_]*\)",$/\1/p' "$core"
	} >"$folder/options"
	report "the options are found" "$([ "$(wc -l <"$folder/options")" -ge 16 ] || cat "$folder/options")"
	in_manual "every option" ressd.7 <"$folder/options"
	sed -n '/words\[\] = {/,/^\t};/s/^\t\t{ "\([a-z_0-9]*\)",.*/\1/p' "$top/dm-ressd/dm-ressd-status.c" \
		>"$folder/counters"
	report "the counters are found" "$([ "$(wc -l <"$folder/counters")" -ge 30 ] || cat "$folder/counters")"
	in_manual "every counter" ressd.7 <"$folder/counters"
	sed -n 's/.*json_\(string\|number\|bool\|hex\|open\)("\([a-z_]*\)".*/\2/p' \
		"$top"/userspace/ressdctl/{check-print,dump-json,list,status,tune}.c | sort -u |
		in_manual "every member of check, dump, list, status and tune" ressdctl.8
	ressdctl --help | grep -oE -- '--[a-z-]+' | sort -u | in_manual "every option of the help" ressdctl.8
	for command in ressd-probe ressd-trace; do
		"$command" --help | grep -oE -- '--[a-z-]+' | sort -u |
			in_manual "every option of its help" "$command.8"
	done
	sed -n 's/.*\(json\|put\)_[a-z]*(\(result, \)\{0,1\}"\([a-z_0-9]*\)".*/\3/p' \
		"$top/userspace/ressd-trace/show-json.c" | sort -u |
		in_manual "every member of its JSON" ressd-trace.8
	report "a sentence ends with a full stop, so none is a question" \
		"$(grep -rnE '[a-z]\?"[,)]' "$top"/userspace/{lib,ressd*} --include='*.c' || true)"
	report "no page points into the source tree" "$(grep -l 'docs/' "${pages[@]}" || true)"
	report "pages without warnings" "$(for file in "${pages[@]}"; do
		man -l --warnings "$file" 2>&1 >/dev/null
	done)"
}

run_tests "${1:-}" \
	test_options \
	test_sentences \
	test_names \
	test_lost_output \
	test_no_verdict \
	test_verdicts \
	test_resumed \
	test_json \
	test_manuals
exit "$failed"
