#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cross-check.sh [MACHINE...]: build the tools for other machines (armhf, arm64, i386; by default the
# first two, which a Raspberry Pi is), link them with those machines' Debian libraries, and run them
# and their unit tests under qemu's user mode.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/cross
# What the tools are linked with, and what these libraries need.
libraries=(libaio-dev libaio1 libdevmapper-dev libdevmapper1.02.1 libblkid-dev libblkid1
	libselinux1 libudev1 libpcre2-8-0 libuuid1)
failed=0

die() {
	echo "cross-check: $*" >&2
	exit 1
}

# The compiler's prefix, Debian's folder of libraries, and qemu's name of a machine.
describe() {
	case $1 in
	armhf) prefix=arm-linux-gnueabihf folder=$prefix emulator=qemu-arm-static ;;
	arm64) prefix=aarch64-linux-gnu folder=$prefix emulator=qemu-aarch64-static ;;
	i386) prefix=i686-linux-gnu folder=i386-linux-gnu emulator=qemu-i386-static ;;
	*) die "'$1' is no machine that this script knows; give armhf, arm64 or i386" ;;
	esac
}

# fetch_libraries MACHINE FOLDER: unpack the libraries of Debian below FOLDER.
fetch_libraries() {
	local machine=$1 root=$2 scratch package
	[ ! -d "$root" ] || return 0
	mkdir -p "$cache"
	scratch=$(mktemp -d)
	tools/apt-conf "$scratch" "$machine"
	# A part of the lists may fail; whether it was needed is seen at once.
	(cd "$scratch" && export APT_CONFIG=$scratch/apt.conf &&
		{ apt-get -q update || true; } && apt-get -q download "${libraries[@]}") \
		>"$scratch/log" 2>&1 || {
		tail -n 10 "$scratch/log" >&2
		rm -rf "$scratch"
		die "Debian's libraries for $machine could not be had: is the network up?"
	}
	for package in "$scratch"/*.deb; do
		dpkg -x "$package" "$scratch/root"
	done
	# Links to /lib mean that of the machine, not of this one.
	find "$scratch/root" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$scratch/root$(readlink "$link")" "$link"
	done
	chmod 755 "$scratch/root"
	mv -T "$scratch/root" "$root" 2>/dev/null || [ -d "$root" ]
	rm -rf "$scratch"
}

# check NAME COMMAND...: the command's output goes to $log.
check() {
	local name=$1 status=0
	shift
	"$@" >>"$log" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		echo "ok - cross: $name"
	else
		echo "not ok - cross: $name: exit code $status"
		failed=1
	fi
	return "$status"
}

# make_for TARGET...: with compiler and libraries of the machine. The sanitizers do not run under qemu;
# the same code runs with them on this machine.
make_for() {
	make --no-print-directory -C userspace OUT="$out" CC="$prefix-gcc" AR="$prefix-ar" \
		CFLAGS=-O1 SANITIZE= RUN="${run[*]}" PKG_CONFIG=true \
		CPPFLAGS="-I$root/usr/include -I$root/usr/include/blkid" \
		LDFLAGS="-L$root/usr/lib/$folder -Wl,-rpath-link,$root/usr/lib/$folder:$root/lib/$folder" \
		LIBS="-ldevmapper -lblkid -lm" "$@"
}

# check_machine MACHINE: its unit tests are counted one by one.
check_machine() {
	local machine=$1 prefix folder emulator
	describe "$machine"
	local out=$PWD/build/cross/$machine
	local log=$out/build.log root
	# Another list of libraries is another folder.
	root=$cache/$machine-$(printf '%s\n' "${libraries[@]}" | sha256sum | cut -c 1-8)
	local run=("$emulator" -L "/usr/$prefix" -E
		"LD_LIBRARY_PATH=/usr/$prefix/lib:$root/usr/lib/$folder:$root/lib/$folder")

	mkdir -p "$out"
	: >"$log"
	fetch_libraries "$machine" "$root"
	check "$machine: the tools compile and link" make_for all unit-tests || {
		tail -n 15 "$log"
		return
	}
	check "$machine: ressd-probe starts" "${run[@]}" "$out/bin/ressd-probe" --version || true
	check "$machine: ressd-trace starts" "${run[@]}" "$out/bin/ressd-trace" --version || true
	check "$machine: ressdctl starts" "${run[@]}" "$out/bin/ressdctl" --help || true
	: >"$log"
	check "$machine: unit tests of the tools" make_for check-unit || true
	sed -n "s/^\(ok\|not ok\) - /&$machine: /p" "$log"
}

machines=("$@")
[ $# -gt 0 ] || machines=(armhf arm64)
for machine in "${machines[@]}"; do
	check_machine "$machine"
done
exit "$failed"
