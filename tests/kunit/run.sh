#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [--build] [SUITE[.CASE]]: core's unit tests as KUnit suites in User-Mode Linux, built and run
# by kunit.py of Debian's kernel source; "ok" and "not ok" lines. SUITE and CASE may hold * and ?.
# --build only builds. The kernel is kept in the cache, by version and configuration: its first build
# takes some two minutes on two cores, later ones compile what has changed.
set -euo pipefail
cd "$(dirname "$0")/../.."

package=linux-source-6.1
config=tests/kunit/kunitconfig
cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/kunit

die() {
	echo "kunit: $*" >&2
	exit 1
}

# unpack SOURCE: the parts of the kernel's source that User-Mode Linux needs, and our folder's place.
unpack() {
	local source=$1 scratch
	scratch=$(mktemp -d -p "$cache")
	tar -x -J -f "/usr/src/$package.tar.xz" -C "$scratch" --strip-components=1 --wildcards \
		--exclude="$package/arch/[!ux]*/"{'*.[chS]','*.dts*'} \
		--exclude="$package"/{net,sound,drivers/{gpu,media,net,scsi,staging,usb}}'/*.[ch]' \
		--exclude="$package/Documentation/*/*"
	# shellcheck disable=SC2016 # make expands it
	echo 'obj-$(CONFIG_KUNIT) += dm-ressd/' >>"$scratch/drivers/Makefile"
	mv -T "$scratch" "$source"
}

# What is built, beside the kernel.
our_files() {
	printf '%s\n' dm-ressd/Kbuild dm-ressd/core/*.[ch] tests/kunit/*.[ch] \
		tests/unit/{suites.mk,{harness,logbox,patternbox,queuebox,repairbox,routebox}.h,logbox.c} tests/unit/test-*.c
}

# copy_sources FOLDER: only what differs, for make goes by times.
copy_sources() {
	local folder=$1 path
	mkdir -p "$folder"
	cmp -s tests/kunit/Kbuild "$folder/Kbuild" || cp tests/kunit/Kbuild "$folder/Kbuild"
	our_files | while read -r path; do
		cmp -s "$path" "$folder/$path" || install -D -m 644 "$path" "$folder/$path"
	done
	(cd "$folder" && find . -type f ! -path ./Kbuild -printf '%P\n') |
		grep -vxF -f <(our_files) | (cd "$folder" && xargs -r -d '\n' rm) || true
}

# kunit COMMAND OPTION...: kunit.py of the source, which this script's lock must not outlive.
kunit() {
	local command=$1
	shift
	/usr/bin/python3 "$source/tools/testing/kunit/kunit.py" "$command" --build_dir="$build" \
		--kunitconfig="$PWD/$config" "$@" </dev/null 9>&-
}

build_only=
if [ "${1:-}" = --build ]; then
	build_only=1
	shift
fi
[ $# -le 1 ] || die "give one SUITE or SUITE.CASE at most, or none for all"
[ "$(uname -m)" = x86_64 ] || die "User-Mode Linux runs on x86_64 only, not on $(uname -m)"
version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || version=
[ -n "$version" ] ||
	die "the Debian package $package is not installed: run tools/setup.sh"

folder=$cache/$version-$(sha256sum <"$config" | cut -c 1-12)
source=$folder/source
build=$folder/build
log=$PWD/build/kunit.log
mkdir -p "$folder" build
exec 9>"$folder/lock"
flock 9
if [ ! -d "$source" ]; then
	echo "kunit: the first build of $version takes some minutes (log: $log)" >&2
	unpack "$source"
fi
copy_sources "$source/drivers/dm-ressd"
kunit build --jobs="$(nproc)" >"$log" 2>&1 || {
	grep -E 'error|ERROR|warning: ' -A 5 "$log" | head -n 40 >&2 || true
	die "the build failed (all of it: $log)"
}
[ -z "$build_only" ] || exit 0
kunit exec --raw_output=all --timeout=600 --kernel_args="uml_dir=$build" ${1:+"$1"} >"$log" 2>&1 ||
	die "kunit.py ended with $? (all of its output: $log)"
tests/kunit/ktap.py <"$log"
