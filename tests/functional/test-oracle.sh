#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test-oracle.sh: ressd-oracle must find every kind of difference, and none where there is none.
# Works on regular files; needs ressd-oracle in PATH and TORN_READ, the library made of torn-read.c.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
disk=$folder/disk
journal=$folder/journal
output=$folder/output
failed=0

# expect NAME EXIT REGEX ARGUMENTS...: the oracle ends with EXIT and prints such a line.
expect() {
	local name=$1 wanted=$2 regex=$3 status=0
	shift 3
	ressd-oracle "$@" >"$output" 2>&1 || status=$?
	if [ "$status" -eq "$wanted" ] && grep -qE -- "$regex" "$output"; then
		echo "ok - oracle: $name"
	else
		echo "not ok - oracle: $name: exit code $status, expected $wanted and '$regex'"
		sed 's/^/# /' "$output"
		failed=1
	fi
}

# fresh: a blank disk of 8 MiB with some load on it, closed cleanly.
fresh() {
	rm -f "$disk" "$journal"
	truncate -s 8M "$disk"
	ressd-oracle run --journal "$journal" --seed "$1" --operations 400 "$disk" >/dev/null
}

# A sector that holds data: the first with the pattern's magic, as a sector number.
written_sector() {
	local sector
	for sector in $(seq 0 500); do
		if [ -n "$(dd if="$disk" bs=512 skip="$sector" count=1 2>/dev/null | tr -d '\0')" ]
		then
			echo "$sector"
			return
		fi
	done
}

# another_byte FILE OFFSET: a letter that is not what stands there.
another_byte() {
	[ "$(dd if="$1" bs=1 skip="$2" count=1 2>/dev/null | tr -d '\0')" = x ] && printf y || printf x
}

patch_disk() {
	dd of="$disk" bs=1 conv=notrunc seek="$1" 2>/dev/null
}

fresh 1
expect "no difference where there is none" 0 ' 0 differ' check --journal "$journal" "$disk"
expect "the load goes on where it ended" 0 'epoch 4: .* writes' \
	run --journal "$journal" --operations 200 "$disk"
expect "a span that does not fit the journal is refused" 2 'the journal is of a span' \
	check --journal "$journal" --span 8 "$disk"

fresh 2
sector=$(written_sector)
byte=$(another_byte "$disk" $((sector * 512 + 300)))
printf %s "$byte" | patch_disk $((sector * 512 + 300))
expect "one changed byte" 1 "DIFFERENCE in sector $sector .*mixed" \
	check --journal "$journal" "$disk"

fresh 3
sector=$(written_sector)
cp "$disk" "$folder/older"
ressd-oracle run --journal "$journal" --seed 3 --operations 4000 "$disk" >/dev/null
dd if="$folder/older" bs=512 skip="$sector" count=1 2>/dev/null | patch_disk $((sector * 512))
expect "an older version" 1 "DIFFERENCE in sector $sector .*found sector $sector version" \
	check --journal "$journal" "$disk"

fresh 4
sector=$(written_sector)
dd if="$disk" bs=512 skip="$sector" count=1 2>/dev/null |
	patch_disk $(((sector + 8) * 512))
expect "another sector's contents" 1 "expected some version of it, found sector $sector " \
	check --journal "$journal" "$disk"

fresh 5
head -c 512 /dev/zero | patch_disk $(($(written_sector) * 512))
expect "zeros where data was" 1 'found zeros' check --journal "$journal" "$disk"

# A load that is killed: what was acknowledged must be there, what was not may be.
fresh 6
cp "$disk" "$folder/older"
status=0
# A shell of its own, for the one that waits says "Killed".
bash -c "timeout -s KILL 2 ressd-oracle run --journal '$journal' --seed 6 --flush-percent 30 \
	--threads 2 --discard-percent 0 '$disk'; exit \$?" >/dev/null 2>&1 || status=$?
cp "$journal" "$folder/journal-killed"
cp "$folder/journal-killed" "$folder/journal-lost"
if [ "$status" -ne 137 ]; then
	echo "not ok - oracle: the load is killed: exit code $status"
	failed=1
fi
expect "a killed load on an honest disk" 0 '[1-9][0-9]* of them acknowledged in it, 0 differ' \
	check --journal "$journal" "$disk"
expect "acknowledged writes that are lost" 1 '\(acknowledged\).* found' \
	check --journal "$folder/journal-lost" "$folder/older"

mkdir "$folder/files"
expect "files" 0 'written and synced' \
	files-run --journal "$folder/files-journal" --operations 100 "$folder/files"
expect "files are right" 0 ' 0 differ' \
	files-check --journal "$folder/files-journal" "$folder/files"
# A drive that dies while a file is read gives the beginning of it first: an error, no lost entries.
log=$(find "$folder/files" -name 'log-*' -size +4k -print -quit)
LD_PRELOAD=$TORN_READ expect "a read error within a file is no difference" 2 \
	'log-[0-9]* cannot be read: Input/output error' \
	files-check --journal "$folder/files-journal" "$folder/files"
truncate -s -512 "$log"
expect "a log entry that is lost" 1 "DIFFERENCE in ${log##*/}: entries of it are gone" \
	files-check --journal "$folder/files-journal" "$folder/files"
file=$(find "$folder/files" -name 'file-*' -print -quit)
byte=$(another_byte "$file" 100)
printf %s "$byte" | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
expect "a damaged file" 1 "DIFFERENCE in ${file##*/}: its" \
	files-check --journal "$folder/files-journal" "$folder/files"
rm "$file"
expect "a file that is lost" 1 "DIFFERENCE in ${file##*/}: it does not exist" \
	files-check --journal "$folder/files-journal" "$folder/files"

exit "$failed"
