#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# record.sh: makes the traces (ext4.trace and so on) in this folder anew, in a benchmark guest: after a
# change of guest-record.sh. Virtual time: the same programs write the same again.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../../..

fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
"$top/tools/vm/run" --mode benchmark --timeout 900 --quiet --memory 2G \
	--fetch "/tmp/traces:$fetched" "$here/guest-record.sh"
for name in ext4 xfs wal; do
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only"
		echo "# Made by record.sh: see guest-record.sh."
		cat "$fetched/$name"
	} >"$here/$name.trace"
done
