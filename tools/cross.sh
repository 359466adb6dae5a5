# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# cross.sh: what builds the project's programs for another machine. To be sourced, in the root of
# the sources.

# cross_for MACHINE: sets the compiler's prefix, the emulator of its programs, and root, a folder of
# Debian's libraries for it. False if the machine is not known or the packages cannot be had.
cross_for() {
	case $1 in
	armhf) prefix=arm-linux-gnueabihf emulator=(qemu-arm-static) ;;
	arm64) prefix=aarch64-linux-gnu emulator=(qemu-aarch64-static -p 16384) ;;
	i386) prefix=i686-linux-gnu emulator=(qemu-i386-static) ;;
	*)
		echo "'$1' is no machine that is known here; give armhf, arm64 or i386" >&2
		return 1
		;;
	esac
	root=$(tools/debian-root "$1" libaio-dev libdevmapper-dev libblkid-dev)
}

# cross_make ARGUMENT...: make, for that machine. The sanitizers do not run under qemu; the same code
# runs with them on this machine.
cross_make() {
	make --no-print-directory CC="$prefix-gcc --sysroot=$root" AR="$prefix-ar" SANITIZE= \
		PKG_CONFIG=true CPPFLAGS="-I$root/usr/include/blkid" LIBS="-ldevmapper -lblkid -lm" "$@"
}
