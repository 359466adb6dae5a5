#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# setup.sh [--list]: install the Debian 12 packages that the project needs and that are missing.
# Silent and quick when nothing is missing. --list prints the package names.
set -euo pipefail

# One package a line, and why. "a|b": either will do; a is installed when both are missing.
packages() {
	sed -e 's/[ \t]*#.*//' -e '/^$/d' <<-'EOF_PACKAGES'
		# build
		make                  # runs everything
		gcc                   # module, tools and unit tests; brings ASan and UBSan
		libc6-dev             # C library headers of the tools
		ccache                # make check compiles only what has changed
		pkg-config|pkgconf    # compiler flags of the libraries below
		linux-headers-amd64   # the module is built against the stock kernel
		libdevmapper-dev      # ressd-probe --create and ressdctl speak to device-mapper
		libblkid-dev          # ressd-probe recognises what is on a device
		libaio-dev            # ressd-trace has many requests in flight
		git                   # results name the commit that they were measured at
		libjson-c-dev         # probe-score reads what ressd-probe has written
		clang                 # fuzzing: libFuzzer comes with it
		libclang-rt-14-dev    # and its runtime
		# test machine
		qemu-system-x86       # runs the stock kernel by software emulation
		linux-image-amd64     # that kernel
		qemu-system-arm       # make check-pi: a machine with an SD card
		mtools                # likewise, its boot partition
		kmod                  # lists what a module depends on
		busybox-static|busybox # the guest's small commands
		bash                  # the guest's scripts
		dmsetup               # guest: device-mapper tables
		bcache-tools          # guest: make-bcache, for a peer that ressd is compared with
		util-linux            # guest: blockdev, blkdiscard, chrt, wipefs, flock
		mount                 # guest: mount, umount, losetup
		e2fsprogs             # guest: ext4
		xfsprogs              # guest: xfs
		dosfstools            # guest: FAT
		btrfs-progs           # test: ressdctl adopt
		initramfs-tools       # test: a root file system on ressd
		dracut-core           # likewise
		debootstrap           # make check-readme: a fresh Debian
		build-essential       # test: the packages; dpkg-buildpackage demands it
		debhelper             # likewise
		dh-dkms               # likewise
		lintian               # likewise
		rpm                   # likewise, rpmbuild
		f2fs-tools            # guest: f2fs, the rival of make bench-apps
		fdisk                 # guest: sfdisk, partition tables
		sqlite3               # guest: a database over power cuts
		mariadb-server-core   # guest: the server of oltp
		mariadb-client-core   # its client, which makes the database
		sysbench              # guest: its client
		systemd               # guest: journald
		fio                   # guest: load and verification
		stress-ng             # guest: suites, stressors of file systems
		postmark              # guest: the mail server load of the paper
		blktrace              # guest: write patterns
		strace                # guest: looking at a failing test
		diffutils             # guest: cmp
		procps                # make calibrate: the processor time of a guest
		lvm2                  # guest: stacks, volumes above and below
		mdadm                 # guest: stacks, RAID above and below
		zstd                  # unpacks kernels that are compressed with it
		lz4                   # likewise
		chromium              # test: a browser shows the page of ressd-probe --report
		librsvg2-bin          # its rsvg-convert writes the charts of ressd-probe as PNG
		# figures and lint
		python3               # VM runner, results
		python3-matplotlib    # plots
		sparse                # lint: endianness and locking annotations
		gcc-arm-linux-gnueabihf # test: the tools run on 32-bit ARM
		libc6-dev-armhf-cross # with these headers
		gcc-aarch64-linux-gnu # test: and on 64-bit ARM
		libc6-dev-arm64-cross # likewise
		qemu-user-static      # test: emulates these
		qemu-system-arm       # guest: machines of ARM
		shellcheck            # lint: scripts
		python3-pyflakes      # lint: Python, where ruff cannot be had
		perl                  # lint: checkpatch
		flex                  # soak: a kernel with KASAN and lockdep is built
		bison                 # likewise
		bc                    # likewise
		libelf-dev            # likewise
		xz-utils              # unpacks the kernel source: lint, KUnit, the debug kernel
		linux-source-6.1      # test: User-Mode Linux, in which KUnit runs core
	EOF_PACKAGES
}

die() {
	echo "setup: $*" >&2
	exit 1
}

# Package names, "a|b" kept.
wanted=$(packages)
if [ "${1:-}" = --list ]; then
	echo "$wanted"
	exit
elif [ $# -gt 0 ]; then
	die "'$1' is not an argument of tools/setup.sh: give none, or --list"
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	die "this machine is not a Debian: install by hand the equivalents of" \
		"$(echo "$wanted" | paste -sd ' ')"
fi

installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' |
	sed -n 's/^installed //p' | paste -sd ' ') "
missing=()
for alternatives in $wanted; do
	for package in ${alternatives//|/ }; do
		[[ $installed != *" $package "* ]] || continue 2
	done
	missing+=("${alternatives%%|*}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

[ "$(id -u)" -eq 0 ] ||
	die "these Debian packages are missing: ${missing[*]}. Run tools/setup.sh as root to" \
		"install them."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" \
		>"$log" 2>&1 </dev/null
}

echo "setup: installing ${missing[*]}"
apt update || {
	tail -n 15 "$log" >&2
	die "apt-get update failed (above): are the network and /etc/apt/sources.list in order?"
}
apt install --no-install-recommends "${missing[@]}" || {
	tail -n 25 "$log" >&2
	die "apt-get could not install ${missing[*]} (above): is this Debian 12, and the network" \
		"up?"
}
