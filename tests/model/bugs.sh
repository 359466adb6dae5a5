#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bugs.sh [--table]: the deliberate bugs, a line each: name, the invariant that it breaks, what it
# is. Those of the driver's side come from `model --faults`, those of core ("core-...") from
# mutations/. --table prints the table of docs/crash-safety.md.
set -euo pipefail
cd "$(dirname "$0")"

out=${OUT:-../../build/model}

field() {
	sed -n "s/^# $2: //p" "$1"
}

list() {
	local mutation
	"$out/model" --faults
	for mutation in mutations/*.sed; do
		echo "core-$(basename "$mutation" .sed) $(field "$mutation" breaks)" \
			"$(field "$mutation" what)"
	done
}

if [ "${1:-}" != --table ]; then
	list
	exit
fi
echo "| invariant | planted bug | what |"
echo "|---|---|---|"
list | sort -s -n -k 2,2 | while read -r name invariant what; do
	echo "| $invariant | \`$name\` | $what |"
done
