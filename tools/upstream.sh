#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# upstream.sh [--build] [TREE]: lays the module out as a patch series for drivers/md, in
# build/upstream/patches; each patch is checked by checkpatch --strict. TREE is the kernel source that
# the series is for, by default that of Debian's linux-source-6.1. --build also builds what is there
# after each patch, against Debian's newest kernel. `make upstream` calls it with --build.
set -euo pipefail
cd "$(dirname "$0")/.."

package=linux-source-6.1
cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}
top=$PWD
folder=$PWD/build/upstream
tree=$folder/tree
target=drivers/md/dm-ressd
manual=Documentation/admin-guide/device-mapper
touched=(MAINTAINERS drivers/md/Kconfig drivers/md/Makefile "$manual/index.rst")
titles=tools/upstream	# the texts of the commits and of the cover letter
build=

# Each patch takes the objects whose code its title names; headers come with the first that needs them.
format=(args geom record cover map tree dying regions)
protocol=(log space commit page padding repair summary recover window claims keep cover-run sweep step)
policy=(pattern units route split queue pai bundle mover)

die() {
	echo "upstream: $*" >&2
	exit 1
}

# base: the files of the kernel that the series changes, in $1.
base() {
	local version kept scratch
	if [ -n "$source" ]; then
		(cd "$source" && cp --parents -t "$1" "${touched[@]}")
		return
	fi
	version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) ||
		die "the Debian package $package is not installed: run tools/setup.sh"
	kept=$cache/upstream/$version
	if [ ! -d "$kept" ]; then
		mkdir -p "$cache/upstream"
		scratch=$(mktemp -d -p "$cache/upstream")
		tar -x -J -f "/usr/src/$package.tar.xz" -C "$scratch" --strip-components=1 \
			"${touched[@]/#/$package/}"
		chmod 755 "$scratch"
		mv -T "$scratch" "$kept"
	fi
	cp -r "$kept/." "$1"
}

# The source as the newest kernel has it: without the layer for older ones, and its manual elsewhere.
adapt() {
	sed -e '/#include "dm-ressd-compat.h"/d' -e 's/RESSD_MODE_WRITE/BLK_OPEN_WRITE/' \
		-e 's/KUNIT_ASSERT_FAILURE(/KUNIT_FAIL_AND_ABORT(/' \
		-e 's#docs/dm-ressd.rst#dm-ressd.rst#' \
		-e 's/__attribute__((noreturn, format(printf, 3, 4)))/__noreturn __printf(3, 4)/' "$1"
}

# put FILE PLACE: a file of ours, below drivers/md/dm-ressd.
put() {
	mkdir -p "$(dirname "$tree/$target/$2")"
	adapt "$1" >"$tree/$target/$2"
}

# add_objects NAME...: NAME.o of the module.
add_objects() {
	printf 'dm-ressd-y += %s\n' "${@/%/.o}" >>"$tree/$target/Makefile"
}

# add_core NAME...: files of core, and the headers that they include.
add_core() {
	local name
	for name in "$@"; do
		put "dm-ressd/core/ressd-$name.c" "core/ressd-$name.c"
		add_headers "dm-ressd/core/ressd-$name.c"
	done
	add_objects "${@/#/core/ressd-}"
}

add_headers() {
	local header
	sed -n 's#^\#include "\(core/\)\?\(ressd-.*\)"$#\2#p' "$1" | while read -r header; do
		[ ! -e "$tree/$target/core/$header" ] || continue
		put "dm-ressd/core/$header" "core/$header"
		add_headers "dm-ressd/core/$header"
	done
}

# insert FILE PATTERN TEXT: TEXT before the first line of FILE that matches.
insert() {
	grep -qE "$2" "$tree/$1" || die "$1 has no line '$2': is that a kernel source?"
	awk -v pattern="$2" -v text="$3" \
		'!done && $0 ~ pattern { print text; done = 1 } { print }' "$tree/$1" >"$folder/new"
	cp "$folder/new" "$tree/$1"
}

# commit NUMBER: with the text that $titles has for it.
commit() {
	git -C "$tree" add -A
	git -C "$tree" commit -q -s -F "$top/$titles/$1.txt"
	[ -z "$build" ] || git -C "$tree" diff --quiet HEAD~ -- "$target" || build_commit "$1"
}

# build_commit NUMBER: a copy of what is there. Before the target comes no file says the licence. Where
# the kernel has no KUnit the tests are compiled, but not linked.
build_commit() {
	local log=$folder/build-$1.log copy=$folder/objects options=(CONFIG_DM_RESSD=m)
	rm -rf "$copy"
	cp -r "$tree/$target" "$copy"
	if [ ! -e "$copy/Kconfig" ]; then
		printf '%s\n' '// SPDX-License-Identifier: GPL-2.0-only' '#include <linux/module.h>' \
			'MODULE_LICENSE("GPL");' 'MODULE_DESCRIPTION("a part of dm-ressd");' \
			>"$copy/licence.c"
		echo 'dm-ressd-y += licence.o' >>"$copy/Makefile"
	elif [ -d "$copy/test" ]; then
		# shellcheck disable=SC2016 # make expands it
		echo 'always-m := $(dm-ressd-compile)' >>"$copy/Makefile"
		options+=(CONFIG_DM_RESSD_KUNIT_TEST=compile KBUILD_MODPOST_WARN=1)
	fi
	make -C "$KDIR" M="$copy" "${options[@]}" modules >"$log" 2>&1 || {
		tail -n 20 "$log"
		die "what patch $1 leaves does not build (log: $log)"
	}
	! grep 'warning: ' "$log" || die "there are warnings after patch $1 (log: $log)"
	echo "ok - upstream: patch $1 builds"
}

# The lists above and dm-ressd/Kbuild name the same objects.
check_objects() {
	diff <(objects_of dm-ressd/Kbuild) <(objects_of "$tree/$target/Makefile") ||
		die "the series and dm-ressd/Kbuild differ in these objects; mend the lists in $0"
}

objects_of() {
	sed -n 's/^dm-ressd-y += \|^dm-ressd-y := //p' "$1" | tr ' ' '\n' | sort
}

lay_out() {
	local file
	mkdir -p "$tree/$target"
	# shellcheck disable=SC2016 # make expands it
	printf '%s\n' '# SPDX-License-Identifier: GPL-2.0-only' \
		'obj-$(CONFIG_DM_RESSD) += dm-ressd.o' '' >"$tree/$target/Makefile"
	insert MAINTAINERS '^DEVICE-MAPPER VDO|^DEVLINK$' "$(cat "$titles/MAINTAINERS")"$'\n'
	add_core "${format[@]}"
	commit 1
	add_core "${protocol[@]}"
	commit 2
	add_core "${policy[@]}"
	commit 3
	for file in dm-ressd/dm-ressd*.[ch]; do
		case $file in
		*-compat.h | *.mod.c) ;;
		*)
			put "$file" "${file#dm-ressd/}"
			add_headers "$file"
			;;
		esac
	done
	mapfile -t file < <(cd dm-ressd && ls dm-ressd-*.c)
	add_objects "${file[@]%.c}"
	cp "$titles/Kconfig" "$tree/$target/Kconfig"
	insert drivers/md/Kconfig '^config DM_WRITECACHE' $'source "drivers/md/dm-ressd/Kconfig"\n'
	insert drivers/md/Makefile 'CONFIG_DM_RAID).*+=' $'obj-$(CONFIG_DM_RESSD)\t+= dm-ressd/'
	check_objects
	commit 4
	add_tests
	commit 5
	cp docs/dm-ressd.rst "$tree/$manual/dm-ressd.rst"
	insert "$manual/index.rst" '^    dm-service-time' '    dm-ressd'
	commit 6
}

# The unit tests of core, as KUnit suites.
add_tests() {
	local suite suites header
	suites=$(sed -n 's/^SUITES +\?= //p' tests/unit/suites.mk)
	for suite in $suites; do
		put "tests/unit/test-$suite.c" "test/test-$suite.c"
	done
	for header in harness logbox queuebox repairbox routebox; do
		put "tests/unit/$header.h" "test/$header.h"
	done
	put tests/unit/logbox.c test/logbox.c
	put tests/kunit/runner.h test/runner.h
	put tests/kunit/runner.c test/runner.c
	put tests/kunit/warn.h test/warn.h
	cat "$titles/Kconfig.tests" >>"$tree/$target/Kconfig"
	# shellcheck disable=SC2016 # make expands it
	{
		echo
		(cd "$tree/$target" && printf '%s\n' test/*.c) |
			sed 's/\(.*\)\.c/dm-ressd-$(CONFIG_DM_RESSD_KUNIT_TEST) += \1.o/'
		cat "$titles/Makefile.tests"
	} >>"$tree/$target/Makefile"
}

# Strings for users are one line. MAINTAINERS is in the first patch, of which the others do not know.
# A test's name is not evaluated, and words of a table line are not constant.
check_patches() {
	local patch failed='' ignored=LONG_LINE_STRING,FILE_PATH_CHANGES
	ignored+=,MACRO_ARG_REUSE,STATIC_CONST_CHAR_ARRAY
	for patch in "$folder"/patches/000[1-9]*.patch; do
		if tools/checkpatch.sh --ignore "$ignored" "$patch"; then
			echo "ok - upstream: checkpatch of ${patch##*/}"
		else
			echo "not ok - upstream: checkpatch of ${patch##*/}"
			failed=1
		fi
	done
	[ -z "$failed" ]
}

# The series makes of the kernel's files exactly what was laid out.
check_series() {
	rm -rf "$folder/again"
	git clone -q "$tree" "$folder/again"
	git -C "$folder/again" checkout -q base
	git -C "$folder/again" am -q "$folder"/patches/000[1-9]*.patch
	if git -C "$folder/again" diff --quiet origin/HEAD; then
		echo "ok - upstream: the series applies"
	else
		die "the series does not make what was laid out"
	fi
}

# fill_cover FILE: the letter, with the table of figures that README.md has.
fill_cover() {
	sed -n '/^| load | bare/,/^$/{/^|/{s/\*\*//g;p}}' README.md >"$folder/figures"
	[ -s "$folder/figures" ] || die "README.md has no table '| load | bare'"
	tail -n +3 "$titles/cover.txt" | sed -e "/^FIGURES\$/{r $folder/figures" -e 'd}' >"$folder/letter"
	sed -i -e "s/\*\*\* SUBJECT HERE \*\*\*/$(head -n 1 "$titles/cover.txt")/" \
		-e "/\*\*\* BLURB HERE \*\*\*/{r $folder/letter" -e 'd}' "$1"
}

source=
while [ $# -gt 0 ]; do
	case $1 in
	--build) build=1 ;;
	-*) die "usage: tools/upstream.sh [--build] [TREE]" ;;
	*) source=$1 ;;
	esac
	shift
done
[ -z "$source" ] || [ -d "$source" ] || die "$source is no folder with a kernel's source"
if [ -n "$build" ]; then
	KDIR=$(tools/vm/debian-kernel sid)
	export KDIR
fi

rm -rf "$folder"
mkdir -p "$tree"
base "$tree"
git -C "$tree" init -q
git -C "$tree" config user.name "$(git config user.name || echo dm-ressd)"
git -C "$tree" config user.email "$(git config user.email || echo noreply@dm-ressd.invalid)"
git -C "$tree" add -A
git -C "$tree" commit -q -m 'The files of the kernel that are touched'
git -C "$tree" tag base
lay_out
git -C "$tree" format-patch -q --compact-summary --cover-letter --cover-from-description=none -o "$folder/patches" base
fill_cover "$folder/patches/0000-cover-letter.patch"
check_series
check_patches
echo "# the series: $folder/patches"
