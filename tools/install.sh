#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# install.sh check|module|uninstall: what `make install` and `make uninstall` do besides the programs. The
# module, and no other, is built for the running kernel (KERNEL= names another one), in a folder of its own,
# and installed without debugging information. DESTDIR= installs below another folder.
set -euo pipefail
cd "$(dirname "$0")/.."

kernel=${KERNEL:-$(uname -r)}
destination=${DESTDIR:-}
root=${RESSD_MODULES:-/lib/modules} # where kernels have their build folders; for the test
missing=()

need() {
	missing+=("$1")
}

# build_folder: of the kernel, as far as it is installed.
build_folder() {
	echo "$root/$kernel/build"
}

check_kernel() {
	local build
	build=$(build_folder)
	if [ ! -e "$build/include/generated/utsrelease.h" ]; then
		need "the headers of the kernel $kernel, which $build should lead to: install linux-headers-$kernel
    (Debian, Raspberry Pi OS from 2023 on) or kernel-devel-$kernel (Fedora); for another kernel than the
    running one: make install KERNEL=RELEASE"
	# Distributions' headers come without vmlinux, and modules then without types: nobody needs pahole.
	elif [ -e "$build/vmlinux" ] && grep -qs '^CONFIG_DEBUG_INFO_BTF_MODULES=y' "$build/.config" &&
		! command -v pahole >/dev/null; then
		need "pahole, which $build asks for: install the package pahole (or dwarves)"
	fi
}

check_programs() {
	local library
	command -v "${CC:-gcc}" >/dev/null || need "a C compiler: install gcc, or name another one with CC="
	command -v strip >/dev/null || need "strip: install binutils"
	command -v depmod >/dev/null || [ -x /sbin/depmod ] || [ -n "$destination" ] ||
		need "depmod: install kmod"
	command -v "${PKG_CONFIG:-pkg-config}" >/dev/null || {
		need "pkg-config: install pkgconf"
		return
	}
	# It comes without a file for pkg-config.
	echo '#include <libaio.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1 ||
		need "the library aio: install libaio-dev (Debian) or libaio-devel (Fedora)"
	for library in devmapper:libdevmapper-dev:device-mapper-devel blkid:libblkid-dev:libblkid-devel; do
		"${PKG_CONFIG:-pkg-config}" --exists "${library%%:*}" || need "$(echo "$library" | sed -E \
			's/(.*):(.*):(.*)/the library \1: install \2 (Debian) or \3 (Fedora)/')"
	done
}

check() {
	check_kernel
	check_programs
	[ ${#missing[@]} -eq 0 ] && return
	echo "make install needs, and does not find:" >&2
	printf '  %s\n' "${missing[@]}" >&2
	return 1
}

# Apart from the modules of the tests, which are built for another kernel.
build_module() {
	local copy=$PWD/build/install/$kernel
	mkdir -p "$copy/core"
	cp -u dm-ressd/Kbuild dm-ressd/*.[ch] "$copy/"
	cp -u dm-ressd/core/*.[ch] "$copy/core/"
	rm -f "$copy"/*.mod.c
	"${MAKE:-make}" --no-print-directory -C "$(build_folder)" M="$copy" modules
}

# installed: the module's files, of all kernels with --all.
installed() {
	local folder=$destination/lib/modules/$kernel
	[ "${1:-}" != --all ] || folder=$destination/lib/modules
	[ ! -d "$folder" ] || find "$folder" -name 'dm-ressd.ko*' -not -path '*/build/*'
}

refresh() {
	[ -n "$destination" ] || PATH=$PATH:/sbin:/usr/sbin depmod -a "$1"
}

module() {
	check
	build_module
	"${MAKE:-make}" --no-print-directory -C "$(build_folder)" M="$PWD/build/install/$kernel" \
		INSTALL_MOD_PATH="$destination" INSTALL_MOD_STRIP=1 DEPMOD=true modules_install
	refresh "$kernel"
	installed
}

uninstall() {
	local file release
	# The next initramfs would not find the root file system.
	if [ -n "$(RESSDTAB=$destination/etc/ressdtab userspace/boot/initramfs-table)" ]; then
		echo "ressdctl is what opens the root file system, as $destination/etc/ressdtab says. First leave" \
			"(ressdctl leave), and delete that line." >&2
		return 1
	fi
	installed --all | while read -r file; do
		release=${file#"$destination"/lib/modules/}
		release=${release%%/*}
		rm -v "$file"
		refresh "$release"
	done
	[ -n "$destination" ] || ! grep -q '^dm_ressd ' /proc/modules ||
		echo "The module is still loaded; to end that: ressdctl close each device, then modprobe -r dm-ressd."
}

case ${1:-} in
check | module | uninstall) "$1" ;;
*)
	sed -n '3,5s/^# //p' "$0" >&2
	exit 2
	;;
esac
