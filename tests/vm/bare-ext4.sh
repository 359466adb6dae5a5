#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bare-ext4.sh: why 66-power-switch makes its ext4 without checksums of metadata. An emulated SSD
# without ressd loses power in the middle of ext4's writes, which it tears at 512 bytes; then the file
# system is mounted. With checksums some journals are refused for a torn commit block, without
# them none. No part of `make check`; in a guest:
#   tests/vm/in-guest -- bare-ext4 [CUTS [SEED]]
# guest: --timeout 900 --file tests/ssdsim/ssdsim.sh --file tests/ssdsim/profiles/ocz.conf
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh

cuts=${1:-40}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
folder=/run/mount
echo "# seed $seed"
RANDOM=$((seed % 32768))
mkdir -p "$folder"

ssd() {
	sh ./ssdsim.sh "$@"
}

# load: small files with fsync, until the drive fails.
load_files() {
	local i
	for ((i = 0; i < 2000; i++)); do
		dd if=/dev/urandom of="$folder/$((i % 40))" bs=5000 count=1 conv=fsync status=none \
			2>/dev/null || return 0
	done
	return 1
}

# one_cut MKFS_OPTION...: a new file system on a drive that was used before, so that its journal does
# not consist of zeroes; a cut in one of its writes; then it is mounted.
one_cut() {
	dd if=/tmp/used of=/dev/ssd0 bs=1M oflag=direct status=none &&
		mkfs.ext4 -q -E nodiscard,lazy_journal_init=1,lazy_itable_init=0 -J size=4 "$@" /dev/ssd0 20M &&
		mount /dev/ssd0 "$folder" || return 2
	ssd cut ssd0 writes=10-60 fate=writes seed="$((RANDOM + 1))" || return 2
	load_files || return 2
	umount "$folder"
	ssd power ssd0 on
	mount /dev/ssd0 "$folder" 2>/dev/null && umount "$folder"
}

# count_refused MKFS_OPTION...: in /tmp/refused, of $cuts; false if something else went wrong.
count_refused() {
	local i status refused=0
	for ((i = 0; i < cuts; i++)); do
		status=0
		one_cut "$@" || status=$?
		[ "$status" -ne 2 ] || return 1
		[ "$status" -eq 0 ] || refused=$((refused + 1))
	done
	echo "$refused" >/tmp/refused
}

load ssdsim
modprobe ext4
ssd create ssd0 ocz.conf capacity_mb=64 fua=1 track_volatile=1 discard=1 || finish
mark=$(dmesg_mark)
head -c 20M /dev/zero | tr '\0' x >/tmp/used
check "ext4 without checksums: $cuts cuts" count_refused -O ^metadata_csum
check "ext4 without checksums: every one is mounted" equals 0 cat /tmp/refused
check "ext4 with checksums: $cuts cuts" count_refused -O metadata_csum
echo "# $(cat /tmp/refused) of $cuts cuts of the bare drive were refused"
check "ext4 with checksums: some are refused" test "$(cat /tmp/refused)" -gt 0
dmesg_since "$mark" | grep -i 'jbd2\|corrupt' | sort | uniq -c | sort -rn | sed 's/^/# /' | head -5
ssd remove ssd0
finish
