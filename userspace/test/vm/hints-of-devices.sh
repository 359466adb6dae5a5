#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hints-of-devices.sh: what ressd-probe reads of a device is what QEMU was told that it is. Runs in a
# guest with an NVMe drive, a SCSI disk and an SD card; tests/vm/86-hints.sh starts it and says what
# they are.
set -uo pipefail
. ./lib.sh

# appears PATH: as soon as the kernel has found it.
appears() {
	local tries=0
	while [ ! -b "$1" ] && [ $((tries += 1)) -le 300 ]; do
		sleep 0.1
	done
	check "$1 appears" test -b "$1"
}

# hint NAME WANTED: of the last report.
hint() {
	check "$device: $1 is $2" grep -qE "^ *\"$1\":\"$2\",?\$" /run/hints.json
}

# read_hints PATH: without --write, which writes nothing. That takes 20 s on a busy machine; a probe that
# goes on for ever must show as such, not as a guest that does not end.
read_hints() {
	local status=0
	device=$1
	appears "$device"
	timeout 120 ressd-probe --quick --region 0:64M --json "$device" >/run/hints.json || status=$?
	check "$device: without writes there is no verdict" test "$status" -eq 5
	check "$device: nothing was written" grep -q '"written":0,' /run/hints.json
}

for module in virtio_pci nvme virtio_scsi sd_mod sdhci-pci mmc_block; do
	load "$module"
done

read_hints /dev/nvme0n1
hint device/serial ressd-nvme
hint nvme/largest_transfer 131072
hint nvme/volatile_cache 1
hint nvme/discard_granularity 65536
hint nvme/write_granularity 512

read_hints /dev/sda
hint scsi/transfer_granularity 16384
hint scsi/optimal_transfer 262144
hint scsi/discard_granularity 65536
hint scsi/largest_transfer 1048576
hint queue/minimum_io_size 16384

read_hints /dev/mmcblk0
hint device/type SD
hint device/preferred_erase_size 4194304
check "an SD card is not asked for registers of eMMC" \
	test "$(grep -c '"emmc/' /run/hints.json)" -eq 0
finish
