#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bugs.sh COMPILER TARGET FOLDER: plants each bug of planted.txt in a copy of its header in TARGET;
# interleave must find it. Called by the Makefile here.
set -euo pipefail

read -r -a compiler <<<"$1"
target=$2 folder=$3
copy=$folder/planted
failed=0
mkdir -p "$copy"
while IFS='|' read -r name what change; do
	rm -f "$copy"/*.h
	sed -e "$change" "$target/dm-ressd-$name.h" >"$copy/dm-ressd-$name.h"
	if cmp -s "$target/dm-ressd-$name.h" "$copy/dm-ressd-$name.h"; then
		echo "not ok - interleave: the bug '$what' does not fit the source any more; mend its line in tests/interleave/planted.txt"
		failed=1
		continue
	fi
	"${compiler[0]}" "-I$copy" "${compiler[@]:1}" -w -o "$copy/interleave" interleave.c copies.c threads.c \
		"$target/core/ressd-regions.c"
	# Most need no load that is late; those that do take a hundred times as long.
	if "$copy/interleave" 0 >"$copy/log" && "$copy/interleave" >"$copy/log"; then
		echo "not ok - interleave: does not find: $what"
		failed=1
	else
		echo "ok - interleave: finds: $what"
	fi
done < <(grep -v '^#' planted.txt)
exit "$failed"
