#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# readme.sh [SUITE...]: the README's section for owners of a slow card, typed line by line, as it stands,
# on a fresh Debian (bookworm and trixie): packages built and installed in a new root file system, and
# all else in a machine that boots it with systemd and has an ext4 card. Named devices and the UUID are
# put in; whoever asks is answered yes; besides, only what a command itself says is typed.
# Needs the network, at the first time: the fresh system is kept in the cache. Minutes for each suite.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/debian-root
project=$PWD
failed=0
folder=
root=
machine=

# Nothing of this machine's mounts outlives the test, nor is seen outside it.
if [ "${1:-}" != --inside ]; then
	exec unshare --mount "$0" --inside "$@"
fi
shift
[ $# -gt 0 ] || set -- bookworm trixie

# shellcheck disable=SC2317,SC2329 # called by trap
end() {
	[ -z "$machine" ] || kill -9 "$machine" 2>/dev/null || true
	release
}
trap end EXIT

release() {
	[ -z "$folder" ] || umount -R "$folder/root/proc" "$folder/root/sys" "$folder/root/dev" 2>/dev/null || true
	[ -z "$folder" ] || rm -rf --one-file-system "$folder"
	folder=
}

# report NAME WHY: passed if there is no reason why not.
report() {
	if [ -z "$2" ]; then
		echo "ok - readme: $1"
		return
	fi
	echo "not ok - readme: $1: $2"
	failed=1
}

# Where this machine gets its own packages from.
mirror() {
	# shellcheck disable=SC2016 # apt-get's own
	apt-get indextargets --format '$(SITE) $(COMPONENT) $(ORIGIN)' | awk '$2 == "main" && $3 == "Debian" { print $1; exit }'
}

# fresh_root SUITE: a tar file of a Debian that has just been installed; prints its path.
fresh_root() {
	local suite=$1 made=$cache/$1.tar
	local packages=systemd-sysv,udev,dbus,kmod,initramfs-tools,linux-image-amd64,ca-certificates,e2fsprogs
	if [ ! -e "$made" ]; then
		mkdir -p "$cache"
		rm -rf "$cache/$suite.new"
		debootstrap --variant=minbase --include="$packages" "$suite" "$cache/$suite.new" "$(mirror)" \
			>"$cache/$suite.log" 2>&1 || { tail -n 5 "$cache/$suite.log" >&2; return 1; }
		tar -C "$cache/$suite.new" --one-file-system -cf "$made.new" .
		rm -rf "$cache/$suite.new"
		mv "$made.new" "$made"
	fi
	echo "$made"
}

# The commands of the section, one a line.
commands() {
	sed -n '/^## You have a slow card/,/^## You have no hardware/s/^    //p' README.md
}

# in_root COMMAND: there, as somebody who is at its console.
in_root() {
	chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		/bin/bash -c "cd /root/dm-ressd; $1" >"$folder/output" 2>&1 </dev/null
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

# type_install: the commands up to the first that needs the device, in the new root. It runs this
# machine's kernel yet, but is to be told of its own.
type_install() {
	local kernel line number=0
	kernel=$(ls "$root/lib/modules")
	for line in proc sys dev; do
		mount --rbind "/$line" "$root/$line"
	done
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/90yes"
	printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /bin/uname "$@"\n' "$kernel" >"$root/usr/local/bin/uname"
	chmod 755 "$root/usr/local/bin/uname"
	mkdir "$root/root/dm-ressd"
	git archive HEAD | tar -C "$root/root/dm-ressd" -x
	while IFS= read -r line; do
		case $line in
		ressd-probe*) break ;;
		esac
		number=$((number + 1))
		if ! in_root "$line"; then
			report "$suite: $line" "it failed: $(tail -n 5 "$folder/output")"
			return 1
		fi
		report "$suite: $line" ""
	done < <(commands)
	report "$suite: DKMS builds the module for a kernel that comes" "$(upgrade_kernel "$kernel")"
	rm "$root/usr/local/bin/uname"
	umount -R "$root/proc" "$root/sys" "$root/dev"
	commands | tail -n +$((number + 1)) >"$root/root/commands"
	echo 0 >"$root/root/typed"
}

# What the machine does by itself when it starts: go on with the commands.
add_typist() {
	install -m 755 tests/boot/readme-guest.sh "$root/root/typist"
	cat >"$root/etc/systemd/system/typist.service" <<-'EOF_UNIT'
		[Unit]
		Description=types the commands of the README
		After=multi-user.target
		[Service]
		Type=oneshot
		ExecStart=/root/typist
		StandardInput=null
		StandardOutput=tty
		StandardError=tty
		TTYPath=/dev/ttyS0
		TimeoutStartSec=infinity
		[Install]
		WantedBy=graphical.target
	EOF_UNIT
	mkdir -p "$root/etc/systemd/system/graphical.target.wants"
	ln -s ../typist.service "$root/etc/systemd/system/graphical.target.wants/typist.service"
	# No login on the console that the report goes to.
	ln -sf /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
	{
		echo '/dev/vda / ext4 defaults 0 1'
		echo "UUID=$card_uuid /mnt ext4 defaults,nofail 0 2"
	} >"$root/etc/fstab"
}

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

# try_suite SUITE: all of it.
try_suite() {
	local suite=$1 made card_uuid boots
	folder=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
	root=$folder/root
	made=$(fresh_root "$suite") || { report "$suite: a fresh system" "debootstrap failed"; return; }
	mkdir "$root"
	tar -C "$root" -xf "$made"
	type_install || return 0
	make_card
	add_typist
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
cd "$project"
exit "$failed"
