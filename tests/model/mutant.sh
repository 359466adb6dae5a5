#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mutant.sh MUTATION CORE FOLDER: plants the bug that MUTATION (a sed script) describes in a copy of
# one source of CORE. FOLDER then holds that copy, core.c, and the name of what it replaces, name.
# Ends with 1 if a command of the script has changed nothing: then it does not fit the source any
# more, and would prove nothing.
set -euo pipefail

mutation=$1
core=$2
folder=$3

fail() {
	echo "mutant: $mutation: $1" >&2
	rm -f "$folder/core.c" "$folder/name"
	exit 1
}

field() {
	sed -n "s/^# $1: //p" "$mutation"
}

name=$(field file)
[[ -n $name && -n $(field what) && $(field breaks) =~ ^[1-8]$ ]] ||
	fail "its head must say '# what:', '# file:' and '# breaks:' (an invariant from 1 to 8)"
[ -f "$core/$name" ] || fail "there is no $core/$name"
mkdir -p "$folder"

# One command after the other, so that each is seen to change exactly one line.
cp "$core/$name" "$folder/core.c"
grep -v '^#' "$mutation" >"$folder/commands"
while IFS= read -r command; do
	cp "$folder/core.c" "$folder/before.c"
	sed -e "$command" "$folder/before.c" >"$folder/core.c"
	changed=$(diff "$folder/before.c" "$folder/core.c" | grep -c '^>') || true
	[ "$changed" = 1 ] ||
		fail "it must change one line of $name, but changes $changed; mend it: $command"
done <"$folder/commands"
printf '%s\n' "${name%.c}" >"$folder/name"
