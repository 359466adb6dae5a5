#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 55-hostile.sh [SEED [NUMBER]]: logs that are damaged, torn or made to hurt, activated by the real
# module: those of the fuzzing corpus, and NUMBER valid ones with mutations. ressd-hostile
# (tests/fuzz/hostile.c) does it and says what must hold.
# guest: --timeout 600 --file tests/fuzz/corpus/recover
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

seed=${1:-1}
number=${2:-300}
disk=/dev/d0

# hostile ARGUMENTS...: its verdicts are lines of the same form as those of lib.sh.
hostile() {
	local output status=0
	output=$(ressd-hostile "$disk" "$@") || status=$?
	printf '%s\n' "$output"
	tests_passed=$((tests_passed + $(grep -c '^ok' <<<"$output")))
	tests_failed=$((tests_failed + $(grep -c '^not ok' <<<"$output")))
	if [ "$status" -ne 0 ] && ! grep -q '^not ok' <<<"$output"; then
		fail "ressd-hostile $*" "it ended with $status"
	fi
}

# repairs LINE BACKUP: exit code 1 says that something was repaired.
repairs() {
	local status=0
	ressdctl repair --yes --backup "$2" --table "$1" || status=$?
	[ "$status" -eq 0 ]
}

# The command itself, once each way: the program above uses what is below it.
command_agrees() {
	local sizes line
	sizes=$(ressd-make-image 7 "$disk")
	line="0 ${sizes% *} ressd $disk 0 $disk $sizes"
	check "ressdctl check finds a valid log clean" ressdctl check --table "$line"
	check "the kernel accepts it" dmsetup create ressd --table "$line"
	expect_fail 'built on it.*--in-use' ressdctl check --table "$line"
	check "check --in-use looks all the same" eval \
		"ressdctl check --in-use --table '$line' | finds 'segments in use'"
	dmsetup remove ressd
	check "it is clean after it was used" ressdctl check --table "$line"
	printf '\377' | dd of="$disk" bs=1 seek=$(((${sizes% *} + ${sizes#* }) * 512 - 4000)) \
		conv=notrunc status=none
	forget_cache
	check "a damaged superblock copy is repaired" repairs "$line" /tmp/backup
	check "and the area is clean" ressdctl check --table "$line"
	check "and the device opens" dmsetup create ressd --table "$line"
	dmsetup remove ressd
}

load dm-ressd
make_disk d0 16
command_agrees
hostile corpus recover/*
hostile seeds "$seed" "$number"
finish
