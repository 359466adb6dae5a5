#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest.sh: one life of the machine that 60-crash.sh kills. Recovers two ressd devices, compares
# them with what was acknowledged in all lives before, then loads both with writes and fsync until
# the end comes.  /dev/vda is tested sector by sector, /dev/vdb by files on a file system; what was
# acknowledged is kept on /dev/vdc and /dev/vdd, which are written past every cache.
#   guest.sh SEED check|load RAW_OPTIONS FILES_OPTIONS [LOAD_OPTION]
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

seed=$1
what=$2
read -r -a raw_options <<<"$3"
read -r -a files_options <<<"$4"
mkdir -p /run/files

# stop WHY: a difference was found; the machine must not go on and hide it.
stop() {
	fail "$1" "see above"
	dmesg | grep ressd
	finish
}

load dm-ressd
echo "# life begins"
check "raw device is recovered" make_ressd raw /dev/vda 8192 "${raw_options[@]}"
check "file system's device is recovered" make_ressd files /dev/vdb 8192 "${files_options[@]}"
[ "$tests_failed" -eq 0 ] || stop "recovery"
dmesg | sed -n 's/.*ressd: \(.*\): recovered/# \1: recovered/p'

if ! blkid -p /dev/mapper/files >/dev/null; then
	mkfs.ext4 -q /dev/mapper/files && sync
fi
mount /dev/mapper/files /run/files || stop "the journal is replayed"
umount /run/files
e2fsck -fn /dev/mapper/files >/tmp/fsck 2>&1 || {
	sed 's/^/# /' /tmp/fsck
	stop "fsck is clean"
}
mount /dev/mapper/files /run/files || stop "the file system is mounted"

if [ "$what" = check ]; then
	ressd-oracle check --journal /dev/vdc --seed "$seed" /dev/mapper/raw || stop "the sectors"
	ressd-oracle files-check --journal /dev/vdd --seed "$seed" /run/files || stop "the files"
	pass "both devices hold all that was acknowledged"
	umount /run/files
	dmsetup remove raw
	dmsetup remove files
	finish
fi

ressd-oracle files-run --journal /dev/vdd --seed "$seed" --threads 2 /run/files &
files_load=$!
ressd-oracle run --journal /dev/vdc --seed "$seed" --threads 3 --flush-percent 8 "${@:5}" \
	/dev/mapper/raw &
raw_load=$!
wait -n "$raw_load" "$files_load"
stop "a load has ended by itself"
