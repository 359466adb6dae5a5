#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# planted.sh COMPILER CORE FOLDER OBJECT...: plants each bug of planted.txt in a copy of its file of
# CORE; its suite, built in FOLDER and linked with the OBJECTs, must fail. Called by the Makefile here.
set -euo pipefail

read -r -a compiler <<<"$1"
core=$2 folder=$3
objects=("${@:4}")
copy=$folder/planted
failed=0
mkdir -p "$copy"
while IFS='|' read -r suite file what change; do
	sed -e "$change" "$core/$file" >"$copy/$file"
	if [ "$(diff "$core/$file" "$copy/$file" | grep -c '^>')" != 1 ]; then
		echo "not ok - $suite: the bug '$what' does not fit the source any more; mend its line in tests/unit/planted.txt"
		failed=1
		continue
	fi
	"${compiler[@]}" -w -c -o "$copy/core.o" "$copy/$file"
	"${compiler[@]}" -o "$copy/test" "$folder/tests/unit/test-$suite.o" "$copy/core.o" "${objects[@]}"
	if "$copy/test" >"$copy/log" 2>&1; then
		echo "not ok - $suite: does not find: $what"
		failed=1
	else
		echo "ok - $suite: finds: $what"
	fi
done < <(grep -v '^#' planted.txt)
exit "$failed"
