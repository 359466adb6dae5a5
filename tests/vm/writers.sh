# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# writers.sh: who writes to a ressd device, and its end, for 24-route.sh and 25-pace.sh.
# shellcheck disable=SC2154 # the script has a seed

# small_writes NAME BYTES [FIO_WORD...]: verified ones.
small_writes() {
	local name=$1 bytes=$2
	shift 2
	check "$name: small writes" timeout 300 fio --name=small --filename=/dev/mapper/ressd \
		--rw=randwrite --bs=4k --size=40M --io_size="$bytes" --direct=1 --randseed="$seed" \
		--verify=crc32c "$@" --output=/tmp/fio-output
}

ends() {
	local name=$1
	check "$name: no errors" equals 0 status_value ressd errors
	check "$name: drains" timeout 300 dmsetup message ressd 0 drain
	check "$name: is removed" timeout 300 dmsetup remove ressd
}

# writes SIZE SEEK PROCESSOR: one write of SIZE at so many times that.
writes() {
	taskset "$3" dd if=/dev/zero of=/dev/mapper/ressd bs="$1" seek="$2" count=1 oflag=direct \
		conv=notrunc status=none
}
