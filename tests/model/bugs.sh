#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bugs.sh [--table]: the deliberate bugs, a line each: name, the invariant that it breaks, what it
# is. Those of the driver's side come from `model --faults`, those of core ("core-...") from
# mutations/. --table prints the table of docs/crash-safety.md, which has the names alone.
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
echo "| invariant | planted bugs |"
echo "|---|---|"
list | sort -s -n -k 2,2 | awk '
	{ bugs[$2] = bugs[$2] ", `" $1 "`" }
	END { for (i = 1; i <= 9; i++) if (i in bugs) printf "| %d | %s |\n", i, substr(bugs[i], 3) }'
