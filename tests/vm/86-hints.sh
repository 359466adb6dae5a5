#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# host
# 86-hints.sh: ressd-probe asks an NVMe drive, a SCSI disk and an SD card of QEMU what they are: 30
# seconds. The checks are in userspace/test/vm/hints-of-devices.sh, which gets these properties.
# Now and then the guest does not end, in the middle of the SD card. The probe has a time limit of its
# own in there, so then nothing goes on in the guest, or its kernel waits for QEMU's controller for
# ever. Then, and only then, it is started anew, once.
set -euo pipefail
cd "$(dirname "$0")/../.."

images=$(mktemp -d)
trap 'rm -rf "$images"' EXIT
truncate -s 1G "$images"/{nvme,scsi,sd}
mkdir -p build/check

# As timeout(1), tools/vm/run ends with this where the guest did not end.
stood_still=124

ask_devices() {
	tools/vm/run --log build/check/86-hints.console \
		--device "$images/nvme:nvme,serial=ressd-nvme,mdts=5,discard_granularity=65536" \
		--device :virtio-scsi-pci \
		--device "$images/scsi:scsi-hd,min_io_size=16384,opt_io_size=262144,discard_granularity=65536,max_io_size=1048576" \
		--device :sdhci-pci --device "$images/sd:sd-card" \
		userspace/test/vm/hints-of-devices.sh
}

status=0
ask_devices || status=$?
if [ "$status" = "$stood_still" ]; then
	echo "# the guest stood still and is started anew"
	status=0
	ask_devices || status=$?
fi
exit "$status"
