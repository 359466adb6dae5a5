#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# slips.sh: what a hand does that is too fast. Each of these once lost data, or could have, without
# --force; each is refused now, with a sentence that says what to do, and changes nothing. On image
# files; what needs devices is in vm/slips-on-devices.sh. Needs both programs and ressd-make-image.
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
	mkfifo "$folder/pipe"
	unchanged "--resume: a pipe does not hang" 3 "is no regular file" \
		timeout 20 ressd-probe --quick --resume "$folder/pipe" "$disk"
	report "what was there is still there" "$(cmp "$precious" "$folder/copy" 2>&1)"
}

test_outputs
exit "$failed"
