#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bench.sh [--only drives|peers|postmark|overhead|options|kernel|normal-path|apps] [--profile NAME] [--load NAME] [--options WORDS]
# [--side NAME] [--configuration a|b|c] [--scale 16|8|4] [--size KEY=VALUE] [--seeds N] [--record-traces] [--report-only]:
# speed, costs, effect of the options; writes build/results/bench.json, or for the applications (--only apps)
# bench-apps.json. Called by `make bench` and `make bench-apps` after setup and build; docs/performance.md says what it measures.
set -euo pipefail
here=$(dirname "$0")

for built in modules/dm-ressd.ko modules/ssdsim.ko; do
	[ -e "$here/../build/$built" ] || {
		echo "bench: build/$built is missing: run make bench, which builds it" >&2
		exit 1
	}
done
exec /usr/bin/python3 "$here/bench/bench.py" "$@"
