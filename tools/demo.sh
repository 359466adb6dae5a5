#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# demo.sh [--picture FILE] [--report-only]: the emulated drive bare and with ressd; table, picture
# and build/results/demo.json. Called by `make demo` after setup and build.
set -euo pipefail
here=$(dirname "$0")

for built in modules/dm-ressd.ko modules/ssdsim.ko bin/ressd-probe bin/ressdctl; do
	[ -e "$here/../build/$built" ] || {
		echo "demo: build/$built is missing: run make demo, which builds it" >&2
		exit 1
	}
done
exec /usr/bin/python3 "$here/demo/demo.py" "$@"
