#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pi.sh [CUTS [SEED]]: docs/raspberry-pi.md, typed line by line, on an emulated machine of arm64 with
# Debian's kernel that boots from its SD card, /dev/mmcblk0. Packages are built and installed as the
# README says. The root file system gets on ressd in another computer, loses its power CUTS times
# (10) during apt-get, and leaves. Kernel, initramfs and cmdline.txt come from the card's first
# partition, as a Pi's firmware reads them.
# The mmc driver flushes no cache of such a card, so what a write has completed for must stay:
# kill -9 of QEMU leaves it in the page cache. Lost are the memory of the guest and a part of the
# write in flight, which QEMU's card takes sector by sector.
# Needs the network and binfmt_misc. The image is kept in the cache, by what it is made from.
set -euo pipefail
cd "$(dirname "$0")/../.."
test=pi
machine=
# shellcheck source=tests/boot/debian.sh
. tests/boot/debian.sh

if [ "${1:-}" != --inside ]; then
	counted unshare --mount "$0" --inside "$@"
	exit
fi
shift
cuts=${1:-10}
seed=${2:-$RANDOM}
RANDOM=$seed

partuuid=52455353	# of the card's partition table
boot_start=8192		# sectors: firmware, then the root file system
boot_sectors=262144
root_start=$((boot_start + boot_sectors))
card_sectors=8388608	# QEMU wants a power of two
# What is installed while the power fails, and what that takes at least, in tenths of a second.
load="git nano"
window=200

# shellcheck disable=SC2329 # called by trap
end() {
	stop
	if [ -e "$folder/binfmt/ressd-$$" ]; then
		echo -1 >"$folder/binfmt/ressd-$$"
	fi
	umount "$folder/binfmt" 2>/dev/null || true
	release
}
trap end EXIT

# run_arm64: this kernel hands programs of arm64 to QEMU's user mode, until the test ends.
run_arm64() {
	mkdir "$folder/binfmt"
	mount -t binfmt_misc binfmt_misc "$folder/binfmt"
	lend_arm64
	[ ! -e "$folder/binfmt/qemu-aarch64" ] || return 0
	sed "s/^:qemu-aarch64:/:ressd-$$:/" /usr/lib/binfmt.d/qemu-aarch64.conf \
		>"$folder/binfmt/register"
}

# make_tools: what the README installs before the packages are built, the kernel, and for apt what the
# load installs.
make_tools() {
	local root=$folder/root
	# Made by an emulated processor, an initramfs of all modules takes half an hour.
	mkdir -p "$root/etc/initramfs-tools/conf.d" "$root/usr/share/initramfs-tools/modules.d"
	echo MODULES=list >"$root/etc/initramfs-tools/conf.d/modules"
	printf '%s\n' sdhci_pci mmc_block virtio_pci virtio_blk ext4 \
		>"$root/usr/share/initramfs-tools/modules.d/pi"
	if ! { enter_root && in_root "apt-get install initramfs-tools linux-image-arm64"; }; then
		report "a kernel" "$(tail -n 5 "$folder/output")"
		return 1
	fi
	type_install packages dpkg-buildpackage || return 1
	if ! in_root "apt-get clean && apt-get -d install $load"; then
		report "apt-get -d install $load" "$(tail -n 5 "$folder/output")"
		return 1
	fi
	leave_root
}

# unpack TAR WHAT: that into $folder/root.
unpack() {
	tar -C "$folder/root" -xf "$1"
	report "$2 (from the cache)" ""
}

# make_root: Debian with the packages of ressd, in $folder/root. Both steps are kept in the cache.
make_root() {
	local root=$folder/root fresh tools made typed=0
	# dosfstools: fsck of the boot partition.
	if ! fresh=$(fresh_root bookworm arm64 dosfstools); then
		report "a fresh system" "debootstrap failed"
		return 1
	fi
	tools=$cache/pi-tools-$(key_of "$fresh" "$load" "$(readme_commands)" "$(declare -f make_tools)").tar
	made=$cache/pi-packages-$(key_of "$tools" "$(declare -f make_root type_install)" \
		"$(git rev-parse HEAD:dm-ressd HEAD:userspace HEAD:debian)").tar
	mkdir "$root"
	if [ -e "$made" ]; then
		unpack "$made" "packages as the README says"
		return
	elif [ -e "$tools" ]; then
		unpack "$tools" "what the README installs first"
		typed=$(readme_commands | sed '/^dpkg-buildpackage/,$d' | wc -l)
	else
		tar -C "$root" -xf "$fresh"
		make_tools || return 1
		rm -f "$cache"/pi-tools-*
		keep_root "$root" "$tools"
	fi
	enter_root && type_install packages ressd-probe || return 1
	leave_root
	rm -f "$cache"/pi-packages-*
	keep_root "$root" "$made"
}

# finish_root: as on a Pi, kernel and initramfs of the boot partition follow those of /boot, and
# cmdline.txt is written anew, as Debian's raspi-firmware does: unless told otherwise, with the bare
# partition as root=, from which an adopted system does not start. Of an emulated machine that is slow,
# systemd has to wait for that partition.
# shellcheck disable=SC2016 # the hooks expand it
finish_root() {
	local root=$folder/root hook
	kernel=$(ls "$root/lib/modules")
	add_typist tests/boot/pi-guest.sh ttyAMA0
	echo "$load" >"$root/root/load"
	commands docs/raspberry-pi.md "On the Pi" >"$root/root/commands.prepare"
	commands docs/raspberry-pi.md "In another computer" >"$root/root/commands.adopt"
	commands docs/raspberry-pi.md "Back in the Pi" >"$root/root/commands.after"
	commands docs/raspberry-pi.md "Leave" >"$root/root/commands.leave"
	printf 'MODULES=dep\nCOMPRESSLEVEL=1\n' >"$root/etc/initramfs-tools/conf.d/modules"
	mkdir -p "$root/boot/firmware" "$root"/etc/initramfs/post-update.d
	for hook in initramfs/post-update.d kernel/postinst.d; do
		printf '%s\n' '#!/bin/sh' 'cp /vmlinuz /boot/firmware/kernel8.img' \
			'cp /initrd.img /boot/firmware/initramfs8' 'ROOTPART=$(findmnt -no SOURCE /)' \
			'! [ -r /etc/default/raspi-firmware ] || . /etc/default/raspi-firmware' \
			'echo "root=$ROOTPART rw fsck.repair=yes rootwait quiet" >/boot/firmware/cmdline.txt' \
			>"$root/etc/$hook/zz-firmware"
		chmod 755 "$root/etc/$hook/zz-firmware"
	done
	cat >"$root/etc/fstab" <<-END
		PARTUUID=$partuuid-01 /boot/firmware vfat defaults,x-systemd.device-timeout=30min 0 2
		PARTUUID=$partuuid-02 / ext4 defaults,noatime 0 1
	END
}

# from_card FILE / to_card FILE NAME: of the boot partition.
from_card() {
	mcopy -n -o -i "$folder/card@@$((boot_start * 512))" "::$1" "$folder/$1"
}

to_card() {
	mcopy -i "$folder/card@@$((boot_start * 512))" "$1" "::$2"
}

make_card() {
	local card=$folder/card root=$folder/root
	truncate -s "$((card_sectors * 512))" "$card"
	sfdisk -q "$card" <<-END
		label: dos
		label-id: 0x$partuuid
		start=$boot_start, size=$boot_sectors, type=c
		start=$root_start, type=83
	END
	truncate -s "$((boot_sectors * 512))" "$folder/boot"
	mkfs.vfat "$folder/boot" >/dev/null
	dd if="$folder/boot" of="$card" bs=1M seek="$((boot_start / 2048))" conv=notrunc status=none
	to_card "$root/boot/vmlinuz-$kernel" kernel8.img
	to_card "$root/boot/initrd.img-$kernel" initramfs8
	echo "root=PARTUUID=$partuuid-02 rootfstype=ext4 fsck.repair=yes rootwait quiet" \
		>"$folder/cmdline.txt"
	to_card "$folder/cmdline.txt" cmdline.txt
	mkfs.ext4 -q -d "$root" -E "offset=$((root_start * 512))" "$card" \
		"$(((card_sectors - root_start) / 2))k" >/dev/null
}

# The other computer has the same system on a disk of its own.
make_other() {
	echo '/dev/vda / ext4 defaults 0 1' >"$folder/root/etc/fstab"
	mkfs.ext4 -q -d "$folder/root" "$folder/other" 4G >/dev/null
}

# start ROLE QEMU_OPTION...: the machine, with the card; its console is a file.
start() {
	console=$folder/console.$1
	: >"$console"
	qemu-system-aarch64 -nodefaults -no-user-config -display none -no-reboot -monitor none \
		-M virt -cpu cortex-a53 -smp 2 -m 1G -accel tcg,thread=multi -serial "file:$console" \
		-drive "file=$folder/card,if=none,id=card,format=raw,cache=writeback" \
		-device sdhci-pci -device sd-card,drive=card -device virtio-rng-pci "${@:2}" &
	machine=$!
}

extra="console=ttyAMA0 panic=-1"

# start_pi ROLE [NUMBER]: from the card alone.
start_pi() {
	local file
	for file in kernel8.img initramfs8 cmdline.txt; do
		from_card "$file"
	done
	start "$1${2:-}" -kernel "$folder/kernel8.img" -initrd "$folder/initramfs8" \
		-append "$(cat "$folder/cmdline.txt") $extra fsck.mode=$fsck ressd-test=$1"
}

start_other() {
	start "$1" -kernel "$folder/root/boot/vmlinuz-$kernel" \
		-initrd "$folder/root/boot/initrd.img-$kernel" \
		-drive "file=$folder/other,if=none,id=other,format=raw,cache=unsafe" \
		-device virtio-blk-pci,drive=other \
		-append "root=/dev/vda rw quiet $extra ressd-test=$1"
}

stop() {
	[ -n "$machine" ] || return 0
	kill -9 "$machine" 2>/dev/null || true
	wait "$machine" 2>/dev/null || true
	machine=
}

# wait_for REGEX SECONDS: until the console has such a line, or the machine has ended.
wait_for() {
	local halves=$(($2 * 2))
	while ! grep -qaE -- "$1" "$console"; do
		if [ $((halves -= 1)) -le 0 ] || ! kill -0 "$machine" 2>/dev/null; then
			grep -qaE -- "$1" "$console"
			return
		fi
		sleep 0.5
	done
}

# passed_on WHO: the verdicts of the machine, as ours; false if one is bad.
passed_on() {
	tr -d '\r' <"$console" | awk -v who="$1" '
		/^(not )?ok - pi: / { bad = /^not/; sub(/ - pi: /, " - pi: " who ": ") }
		/^(not )?ok - pi: / || bad && /^# /'
	grep -qaE '(Kernel panic|BUG:|WARNING:|Oops)' "$console" &&
		report "$1: the kernel" "$(grep -aE -m 1 '(Kernel panic|BUG:|WARNING:|Oops)' "$console")"
	! grep -qa '^not ok' "$console" || failed=1
}

# life WHO: the machine that runs does what it has to, until it powers off.
life() {
	if wait_for "^pi: done" 3600; then
		wait_for "Power down|reboot: " 120 || true
	else
		report "$1: it does all" "it stood still or ended"
		tail -n 30 "$console" | sed 's/^/# /'
	fi
	passed_on "$1"
	stop
	[ "$failed" = 0 ]
}

# last_line PREFIX: the last one of that kind, without the prefix.
last_line() {
	tr -d '\r' <"$console" | sed -n "s/^pi: $1 //p" | tail -n 1
}

# came_up NUMBER: what was found after the cut before.
came_up() {
	local found
	passed_on "after cut $(($1 - 1))"
	echo "# after cut $(($1 - 1)) dpkg had interrupted $(last_line interrupted:)"
	found=$(last_line found)
	[ "$1" = 1 ] || report "after cut $(($1 - 1)): nothing synced is lost" \
		"$([ "${found:-0}" -ge "$synced" ] || echo "it found $found of $synced")"
	synced=${found:-$synced}
	[ "$failed" = 0 ]
}

# power_cut NUMBER: the power fails while apt-get installs: the cuts are spread over the first $window
# tenths of a second of dpkg's unpacking and configuring. All that was synced before is there.
power_cut() {
	local delay=$((window * ($1 - 1) / cuts + RANDOM % (window / cuts))) dpkg log
	start_pi cuts "$1"
	if ! wait_for "^pi: dpkg install .*: half-installed" 2400; then
		report "cut $1" "nothing was unpacked"
		tail -n 30 "$console" | sed 's/^/# /'
	fi
	sleep "$((delay / 10)).$((delay % 10))"
	stop
	came_up "$1" || return
	synced=$(last_line synced | grep . || echo "$synced")
	dpkg=$(last_line dpkg) log=$(last_line log)
	[[ ! $dpkg =~ ^install.*": "(half-installed|unpacked)$ ]] || unpacking=$((unpacking + 1))
	[[ $log != [1-9]* ]] || filled=$((filled + 1))
	report "cut $1, $((delay / 10)).$((delay % 10)) s after the first package; dpkg: $dpkg; log: $log" ""
}

# cuts_were_right: they met what they were to meet.
cuts_were_right() {
	report "$filled of $cuts cuts with blocks in the log" "$([ "$filled" = "$cuts" ] || echo "not all")"
	report "$unpacking of $cuts cuts while packages were unpacked" \
		"$([ $((unpacking * 2)) -ge "$cuts" ] || echo "less than half")"
}

all() {
	local number synced=0 unpacking=0 filled=0 fsck=auto
	start_pi prepare && life "the Pi before" || return
	start_other adopt && life "the other computer" || return
	fsck=force
	for ((number = 1; number <= cuts; number++)); do
		power_cut "$number" || return
	done
	cuts_were_right
	start_pi after && life "the Pi after $cuts cuts" || return
	start_other leave && life "the other computer" || return
	start_pi plain && life "the Pi after leaving" || return
}

echo "# seed $seed"
folder=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
run_arm64
make_root || exit 1
finish_root
make_card
make_other
all || true
[ -z "${PIS:-}" ] || cp "$folder"/console.* "$PIS/"
exit "$failed"
