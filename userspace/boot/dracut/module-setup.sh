#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2034,SC2154
# dracut module: puts ressdctl, the module and those lines of /etc/ressdtab into the initramfs that it
# needs. With systemd in the initramfs its generator opens them, otherwise a hook. dracut calls
# these functions.

# 255: not unless it is asked for (dracut --add ressd).
check() {
	require_binaries /usr/sbin/ressdctl || return 1
	[ -n "$(/usr/lib/ressd/initramfs-table)" ] || return 255
}

depends() {
	echo dm rootfs-block
}

installkernel() {
	# Without it the machine would not boot, and instmods says nothing.
	if ! modinfo -k "$kernel" dm-ressd >/dev/null 2>&1; then
		dfatal "ressd: there is no module dm-ressd for Linux $kernel, which could not open what" \
			"/etc/ressdtab has; install its headers and build it (dkms autoinstall -k $kernel," \
			"or make install KERNEL=$kernel)"
		exit 1
	fi
	hostonly='' instmods dm_mod dm-ressd
}

install() {
	inst_multiple /usr/sbin/ressdctl
	inst_rules /usr/lib/udev/rules.d/61-ressd.rules
	mkdir -p "$initdir/etc"
	/usr/lib/ressd/initramfs-table >"$initdir/etc/ressdtab"
	if dracut_module_included systemd; then
		inst_multiple sh sed mkdir ln systemd-escape /usr/lib/systemd/system-generators/ressd-generator \
			/usr/lib/systemd/system/ressd.target
	else
		inst_hook initqueue/settled 50 "$moddir/ressd-open.sh"
	fi
}
