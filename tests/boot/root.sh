#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# root.sh [KILLS [SEED]]: a machine whose root file system is on ressd: adopted as it was, opened by the initramfs,
# killed (kill -9) while it writes, and booted again each time. The initramfs is made by Debian's
# initramfs-tools, and for the last two boots by dracut, without systemd in it and with it, each
# with the project's hook. What is installed for that is seen in a mount namespace of this test only.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" != --inside ]; then
	exec unshare --mount "$0" --inside "$@"
fi
shift
kills=${1:-1}
RANDOM=${2:-$RANDOM}
folder=$(mktemp -d)
disk=$folder/disk
machine=
limit=600 # seconds
failed=0

# shellcheck disable=SC2329 # called by trap
end() {
	[ -z "$machine" ] || kill -9 "$machine" 2>/dev/null || true
	umount -l /usr "$folder/layers" /dev/mapper 2>/dev/null || true
	rm -rf "$folder"
}
trap end EXIT

# report NAME WHY: passed if there is no reason why not.
report() {
	if [ -z "$2" ]; then
		echo "ok - root: $1"
		return
	fi
	echo "not ok - root: $1: $2"
	for file in output console; do
		[ ! -s "$folder/$file" ] || tail -n 25 "$folder/$file" | sed 's/^/# /'
	done
	failed=1
}

release() {
	sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$(tools/vm/kernel-dir)/include/generated/utsrelease.h"
}

# install_here: programs, module and hooks in /usr, which is a layer above this machine's.
install_here() {
	mkdir "$folder/layers"
	mount -t tmpfs tmpfs "$folder/layers"
	mkdir "$folder/layers/usr" "$folder/layers/work"
	mount -t overlay -o "lowerdir=/usr,upperdir=$folder/layers/usr,workdir=$folder/layers/work" \
		overlay /usr
	make --no-print-directory -C userspace install PREFIX=/usr
	install -D -m 644 build/modules/dm-ressd.ko "/usr/lib/modules/$kernel/updates/dm-ressd.ko"
	depmod "$kernel"
}

# The whole system: a shell and a first process that writes and looks at what was written.
make_root() {
	local root=$folder/root
	mkdir -p "$root"/{bin,sbin,proc,sys,dev,run,tmp,etc,files}
	cp "$(command -v busybox)" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	install -m 755 tests/boot/init.sh "$root/sbin/init"
	# Without it systemd does not take it for a system to switch to.
	echo ID=test >"$root/etc/os-release"
	mkfs.ext4 -q -b 4096 -d "$root" "$disk" 48M >"$folder/output" 2>&1
	cp --sparse=always "$disk" "$folder/mapped"
	truncate -s 64M "$disk"
}

# /dev/mapper/root as it is where a root file system is on ressd already.
open_here() {
	mkdir -p /dev/mapper
	mount -t tmpfs tmpfs /dev/mapper
	ln -s "$folder/mapped" /dev/mapper/root
}

make_initramfs() {
	local conf=$folder/initramfs-tools
	mkdir -p "$conf"/{conf.d,hooks,scripts}
	printf 'MODULES=list\nBUSYBOX=y\nCOMPRESS=gzip\nCOMPRESSLEVEL=1\nRESUME=none\n' >"$conf/initramfs.conf"
	printf '%s\n' virtio_pci virtio_blk ext4 >"$conf/modules"
	RESSDTAB=$folder/ressdtab mkinitramfs -d "$conf" -o "$folder/initrd" "$kernel"
}

# make_dracut MODULE...: with these modules of dracut beside those that a root file system takes.
make_dracut() {
	mkdir -p "$folder/dracut"
	: >"$folder/dracut.conf"
	RESSDTAB=$folder/ressdtab dracut --quiet --force --kver "$kernel" --conf "$folder/dracut.conf" \
		--confdir "$folder/dracut" --tmpdir "$folder" --no-hostonly --no-early-microcode --compress "gzip -1" \
		--modules "base dm fs-lib kernel-modules rootfs-block udev-rules ressd $*" \
		--drivers "virtio_pci virtio_blk ext4 dm-mod dm-ressd" "$folder/initrd"
}

# boot: starts the machine; its console is a file. On a busy machine systemd's 90 s are too few.
boot() {
	local patience="systemd.default_timeout_start_sec=$limit systemd.default_device_timeout_sec=$limit"
	# As in tools/vm/machine.py.
	local parameters="panic=-1 tsc=reliable no_timer_check mitigations=off norandmaps"
	: >"$folder/console"
	qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -monitor none \
		-M q35 -cpu Nehalem,+rdrand -m 512M -accel tcg \
		-kernel "$bootable" -initrd "$folder/initrd" -serial "file:$folder/console" \
		-drive "file=$disk,if=none,id=disk,format=raw,cache=writeback" \
		-device virtio-blk-pci,drive=disk -device virtio-rng-pci \
		-append "root=/dev/mapper/root rw console=ttyS0 $parameters $patience" &
	machine=$!
}

# wait_for REGEX SECONDS: until the console has a line of that kind, or the machine has ended.
wait_for() {
	local tenths=$(($2 * 10))
	while ! grep -qE -- "$1" "$folder/console"; do
		if [ $((tenths -= 1)) -le 0 ] || ! kill -0 "$machine" 2>/dev/null; then
			return 1
		fi
		sleep 0.1
	done
}

stop() {
	kill -9 "$machine" 2>/dev/null || true
	wait "$machine" 2>/dev/null || true
	machine=
}

# refused REGEX COMMAND: it fails with a line like that.
refused() {
	local status=0
	"${@:2}" >"$folder/output" 2>&1 || status=$?
	[ "$status" -ne 0 ] || echo "it succeeds"
	grep -qE -- "$1" "$folder/output" || cat "$folder/output"
}

# check_initramfs WHOSE FILE: it has FILE, which calls ressdctl, and what that needs.
check_initramfs() {
	lsinitramfs "$folder/initrd" >"$folder/files"
	report "$1 has what it needs" "$(for file in sbin/ressdctl dm-ressd.ko etc/ressdtab rules.d/61-ressd.rules \
		"$2"; do
		grep -q "$file\$" "$folder/files" || echo "$file is missing"
	done)"
}

# life NUMBER: boots, and is killed some time after its files were found right.
life() {
	local number=$1
	boot
	if ! wait_for "root: (right|wrong)" "$limit"; then
		report "boot $number" "no root file system within $limit s"
		stop
		return
	fi
	report "boot $number: the root file system is on ressd" \
		"$(grep -q 'root: on ressd' "$folder/console" || echo it is not)"
	report "boot $number: all that was synced is there" "$(grep 'root: wrong' "$folder/console" || true)"
	# Lines of a serial console end with a carriage return.
	wait_for "root: synced $((5 + RANDOM % 100))[^0-9]" "$limit" ||
		report "boot $number: it writes" "it does not"
	stop
}

# bootable: the kernel, unpacked once into the cache.
bootable() {
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tools/vm /usr/bin/python3 -c \
		"import kernel; print(kernel.find().bootable())"
}

kernel=$(release)
if [ ! -e "/boot/vmlinuz-$kernel" ] || ! command -v mkinitramfs >/dev/null; then
	echo "root: /boot/vmlinuz-$kernel and initramfs-tools are needed; run make setup" >&2
	exit 1
fi
bootable=$(bootable)
install_here >"$folder/output" 2>&1
make_root
report "the file system is adopted" "$(ressdctl adopt --yes "$disk" on_full wait 2>&1 >"$folder/output")"
uuid=$(ressdctl list --json "$disk" | sed -n 's/.*"uuid":"\(.*\)".*/\1/p')
echo "root UUID=$uuid initramfs" >"$folder/ressdtab"
open_here
# mdadm's own hook, where make stacks has it installed, looks for arrays.
report "the initramfs is made" "$(make_initramfs 2>&1 | grep -vE '^I:|^W: (mkconf|mdadm):' || true)"
umount /dev/mapper
check_initramfs "it" local-top/ressd
# It had no fsck, for fstab, where it names the root file system at all, may name the bare partition.
report "it has fsck" "$(grep -qx usr/sbin/fsck.ext4 "$folder/files" && grep -qx usr/sbin/fsck "$folder/files" || echo "it has not")"
for ((number = 0; number <= kills; number++)); do
	life "$number"
done
report "dracut makes one" "$(make_dracut 2>&1)"
check_initramfs "dracut's" settled/50-ressd-open.sh
life "with dracut"
report "dracut makes one with systemd" "$(make_dracut systemd systemd-initrd dracut-systemd 2>&1)"
check_initramfs "dracut's with systemd" ressd-generator
life "with dracut and systemd"
# Both were made without it and without a word, for a kernel that then could not open its root.
rm "$(modinfo -n -k "$kernel" dm-ressd)"
depmod "$kernel"
report "none is made for a kernel without the module" \
	"$(refused "there is no module dm-ressd for Linux $kernel" make_initramfs)"
report "nor by dracut" "$(refused "there is no module dm-ressd for Linux $kernel" make_dracut)"
report "the disk alone is no file system that anybody should mount: its log holds data" \
	"$(ressdctl leave "$disk" 2>&1 | grep -v 'that the normal area does not have' || true)"
report "the log is clean after $((kills + 3)) kills" "$(ressdctl check "$disk" 2>&1 | grep -E '^(warning|damage|refused)' || true)"
exit "$failed"
