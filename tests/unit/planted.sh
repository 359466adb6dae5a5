#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# planted.sh COMPILER SANITIZE CORE FOLDER OBJECT...: plants each bug of planted.txt in a copy of its
# file of CORE; its suite, built in FOLDER and linked with the OBJECTs, must fail. The copy alone is
# compiled without the sanitizers, in a third of the time. Called by the Makefile here.
set -euo pipefail

read -r -a compiler <<<"$1"
read -r -a sanitize <<<"$2"
core=$3 folder=$4
objects=("${@:5}")
export ASAN_OPTIONS=detect_leaks=0
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
	"${compiler[@]}" "${sanitize[@]}" -o "$copy/test" "$folder/tests/unit/test-$suite.o" "$copy/core.o" "${objects[@]}"
	if "$copy/test" first >"$copy/log" 2>&1; then
		echo "not ok - $suite: does not find: $what"
		failed=1
	else
		echo "ok - $suite: finds: $what"
	fi
done < <(grep -v '^#' planted.txt)
exit "$failed"
