#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bugs.sh: the deliberate bugs, a line each: name, the invariant of docs/crash-safety.md that it
# breaks, what it is. Those of the driver's side come from `model --faults`, those of core
# ("core-...") from mutations/.
set -euo pipefail
cd "$(dirname "$0")"

out=${OUT:-../../build/model}

field() {
	sed -n "s/^# $2: //p" "$1"
}

"$out/model" --faults
for mutation in mutations/*.sed; do
	echo "core-$(basename "$mutation" .sed) $(field "$mutation" breaks)" "$(field "$mutation" what)"
done
