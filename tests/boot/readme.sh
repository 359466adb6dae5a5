#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# readme.sh [SUITE...]: the README's section for owners of a slow card, typed line by line, as it stands,
# on a fresh Debian (bookworm and trixie): packages built and installed in a new root file system, and
# all else in a machine that boots it with systemd and has an ext4 card. Named devices and the UUID are
# put in; whoever asks is answered yes; besides, only what a command itself says is typed.
# Needs the network, at the first time: the fresh system is kept in the cache. Minutes for each suite.
set -euo pipefail
cd "$(dirname "$0")/../.."
test=readme
machine=
# shellcheck source=tests/boot/debian.sh
. tests/boot/debian.sh

# Nothing of this machine's mounts outlives the test, nor is seen outside it.
if [ "${1:-}" != --inside ]; then
	counted unshare --mount "$0" --inside "$@"
	exit
fi
shift
[ $# -gt 0 ] || set -- bookworm trixie

# shellcheck disable=SC2317,SC2329 # called by trap
end() {
	[ -z "$machine" ] || kill -9 "$machine" 2>/dev/null || true
	release
}
trap end EXIT

# A card with a partition table and one partition, all of it ext4 with files.
make_card() {
	local files=$folder/files number
	mkdir "$files"
	for ((number = 0; number < 300; number++)); do
		head -c $((RANDOM * 4 + 1)) /dev/urandom >"$files/$number"
	done
	(cd "$files" && find . -type f -exec sha256sum {} +) >"$root/root/sums"
	card_uuid=$(cat /proc/sys/kernel/random/uuid)
	truncate -s 512M "$folder/card"
	echo 'start=8192, type=83' | sfdisk -q "$folder/card"
	mkfs.ext4 -q -b 4096 -U "$card_uuid" -d "$files" -E offset=$((8192 * 512)) "$folder/card" 508M
}

boot() {
	local kernel
	kernel=$(ls "$root/lib/modules")
	timeout -k 5 2400 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
		-monitor none -M q35 -cpu Nehalem,+rdrand -smp 2 -m 1G -accel tcg,thread=multi \
		-kernel "$root/boot/vmlinuz-$kernel" -initrd "$root/boot/initrd.img-$kernel" \
		-serial "file:$folder/console.$1" \
		-drive "file=$folder/disk,if=none,id=disk,format=raw,cache=unsafe" -device virtio-blk-pci,drive=disk \
		-drive "file=$folder/card,if=none,id=card,format=raw,cache=writeback" -device virtio-blk-pci,drive=card \
		-device virtio-rng-pci \
		-append "root=/dev/vda rw console=ttyS0 panic=-1 quiet tsc=reliable no_timer_check mitigations=off" &
	machine=$!
	wait "$machine" || true
	machine=
}

# upgrade_kernel VERSION: as if that kernel were new: what its package runs when it has been unpacked.
# Says what is wrong.
upgrade_kernel() {
	local modules=$root/lib/modules/$1
	in_root "dkms uninstall dm-ressd/$(dpkg-parsechangelog -S Version) -k $1" || tail -n 5 "$folder/output"
	[ -z "$(find "$modules" -name 'dm-ressd.ko*')" ] || echo "uninstall leaves the module"
	in_root "/etc/kernel/postinst.d/dkms $1 /boot/vmlinuz-$1" || tail -n 5 "$folder/output"
	[ -n "$(find "$modules" -name 'dm-ressd.ko*')" ] || echo "there is no module"
}

# try_suite SUITE: all of it.
try_suite() {
	local suite=$1 made card_uuid boots root typed=0
	folder=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
	root=$folder/root
	made=$(fresh_root "$suite" amd64 initramfs-tools,linux-image-amd64) || { report "$suite: a fresh system" "debootstrap failed"; return; }
	mkdir "$root"
	tar -C "$root" -xf "$made"
	enter_root || { report "$suite: apt-get update" "$(tail -n 5 "$folder/output")"; return; }
	type_install "$suite" ressd-probe || return 0
	report "$suite: DKMS builds the module for a kernel that comes" \
		"$(upgrade_kernel "$(ls "$root/lib/modules")")"
	leave_root
	readme_commands | tail -n +$((typed + 1)) >"$root/root/commands"
	echo 0 >"$root/root/typed"
	make_card
	add_typist tests/boot/readme-guest.sh ttyS0
	{
		echo '/dev/vda / ext4 defaults 0 1'
		echo "UUID=$card_uuid /mnt ext4 defaults,nofail,x-systemd.device-timeout=30min 0 2"
	} >"$root/etc/fstab"
	mkfs.ext4 -q -d "$root" "$folder/disk" 6G >/dev/null
	for ((boots = 1; boots <= 4; boots++)); do
		boot "$boots"
		tr -d '\r' <"$folder/console.$boots" | grep -aE '^(ok|not ok) - readme: ' |
			sed "s/readme: /readme: $suite: /" || true
		if grep -q '^not ok - readme' "$folder/console.$boots"; then
			failed=1
		fi
		if grep -q '^readme: all typed' "$folder/console.$boots"; then
			report "$suite: every line was typed" ""
			return
		fi
		if ! grep -q '^readme: starts anew' "$folder/console.$boots"; then
			break
		fi
	done
	report "$suite: every line was typed" "the machine stood still or ended"
	tail -n 40 "$folder/console.$boots" | sed 's/^/# /'
}

for suite; do
	try_suite "$suite"
	[ -z "${READMES:-}" ] || cp "$folder"/console.* "$READMES/" || true
	release
done
exit "$failed"
