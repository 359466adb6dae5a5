#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bugs.sh COMPILER TARGET FOLDER: plants each bug of planted.txt in a copy of its file in TARGET;
# the searches that it names must find it. What else they are made of is in FOLDER. Called by the
# Makefile here.
set -euo pipefail

read -r -a compiler <<<"$1"
target=$2 folder=$3
copy=$folder/planted
failed=0
rm -rf "$copy"
mkdir -p "$copy/core"
mapfile -t objects < <(find "$folder" -name '*.o')
while IFS='|' read -r name file what change; do
	cp "$target"/*.h "$copy"
	cp "$folder"/source/*.h "$copy"
	cp "$target"/core/ressd-{format,map,regions,tree}.h "$copy/core"
	cp "$target"/core/ressd-{map,regions}.c "$copy/core"
	cp "$copy/$file" "$folder/before"
	sed -i -e "$change" "$copy/$file"
	if cmp -s "$folder/before" "$copy/$file"; then
		echo "not ok - interleave: the bug '$what' does not fit the source any more; mend its line in tests/interleave/planted.txt"
		failed=1
		continue
	fi
	sources=("$name.c")
	[[ $file != core/* ]] || sources+=("$copy"/core/ressd-{map,regions}.c)
	rest=()
	for object in "${objects[@]}"; do
		[[ " ${sources[*]##*/} " == *" $(basename "$object" .o).c "* ]] || rest+=("$object")
	done
	"${compiler[0]}" -Ishim "-I$copy" "-I$copy/core" "${compiler[@]:1}" -w -o "$copy/interleave" \
		"${sources[@]}" "${rest[@]}"
	# Most need no load that is late; those that do take a hundred times as long.
	if "$copy/interleave" 0 "$name" >"$copy/log" && "$copy/interleave" 1 "$name" >"$copy/log"; then
		echo "not ok - interleave: does not find: $what"
		failed=1
	else
		echo "ok - interleave: finds: $what"
	fi
done < <(grep -v '^#' planted.txt)
exit "$failed"
