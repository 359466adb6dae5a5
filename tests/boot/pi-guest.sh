#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pi-guest.sh: in the machines that pi.sh has made: does what ressd-test= of the kernel's command
# line says, and looks whether the root file system is what and where it has to be.
set -u
cd /root/dm-ressd || exit 1
# shellcheck disable=SC2034 # typing.sh uses it
test=pi device=/dev/mmcblk0p2
# shellcheck source=tests/boot/typing.sh
. /root/typing.sh

apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-download "$@" </dev/null >"$output" 2>&1
}

type_commands() {
	local line
	while IFS= read -r line; do
		[ "$line" != poweroff ] || break
		type_and_report "$line"
		case $line in
		*cmdline.txt | update-initramfs*)
			report "cmdline.txt has the UUID" "$(grep -qF "root=UUID=$(findmnt -no UUID /) " \
				/boot/firmware/cmdline.txt || cat /boot/firmware/cmdline.txt)"
			;;
		esac
	done <"/root/commands.$role"
}

# root_is SOURCE
root_is() {
	report "the root file system is on $1" \
		"$(findmnt -no SOURCE / | grep -qx "$1" || findmnt -no SOURCE /)"
}

# The initramfs runs it with -f -y. That the journal is replayed is no fault, nor that the totals of the
# superblock are older.
fsck_is_clean() {
	local usual='^(Log of fsck .*|-*|[A-Z][a-z]{2} [A-Z][a-z]{2} .*|fsck from .*|\[.*fsck\.ext4.*'
	usual+='|fsck exited with status code [01]|e2fsck [0-9.]+ .*|Pass [1-5]: .*|.*: recovering journal'
	usual+='|Clearing orphaned inode .*|Free (blocks|inodes) count wrong \(.*|Fix\? yes'
	usual+='|.*\*\*\*\*\* FILE SYSTEM WAS MODIFIED \*\*\*\*\*|.* files \(.* non-contiguous\), .* blocks) *$'
	cp /run/initramfs/fsck.log "$output"
	report "fsck is clean" "$(grep -q ' files (' "$output" || echo "it did not run"
		tr -d '\001\002\r' <"$output" | grep -vE "$usual")"
}

# What was interrupted is ended as dpkg says.
packages_are_right() {
	: >"$output"
	echo "pi: interrupted: $(dpkg --audit | grep -c '^ ') packages"
	dpkg --configure -a >"$output" 2>&1 </dev/null || report "dpkg --configure -a" "exit code $?"
	apt_get -f install || report "apt-get -f install" "exit code $?"
	report "dpkg --audit is clean" "$(dpkg --audit 2>&1)"
}

# contents_are_right [PACKAGE...]: the files are what the packages have.
contents_are_right() {
	report "the files of ${*:-all packages} are right" "$(dpkg --verify "$@" 2>&1 | grep -v ' c /')"
}

log_is_used() {
	report "the log is used" "$(ressdctl status root >"$output" 2>&1 || echo "no status"
		grep -q 'in service' "$output" || echo "it is not in service"
		grep -qE '^log in use +[1-9]' "$output" || echo "it is empty")"
}

initramfs_is_right() {
	local file
	# Not by the name of the link, which zstd does not follow.
	lsinitramfs "$(readlink -f /initrd.img)" >/run/files 2>"$output" || ls -lL /initrd.img* >>"$output" 2>&1
	report "the initramfs opens the root" "$(
		for file in dm-ressd.ko sbin/ressdctl etc/ressdtab rules.d/61-ressd.rules sbin/fsck.ext4; do
			grep -q "$file\$" /run/files || echo "$file is missing"
		done)"
}

# What the power is going to fail in: on the console, not on the disk.
tell_log_use() {
	while sleep 1; do
		echo "pi: log $(ressdctl status root | sed -n 's/^not yet moved *//p')"
	done
}

# apt_get_aloud install|purge WORD...
apt_get_aloud() {
	apt_get -o "Dpkg::Options::=--status-logger=sed -un 's/^status: /pi: dpkg $1 /p' >/dev/ttyAMA0" "$@" ||
		report "apt-get $1" "exit code $?"
}

# Until the power fails.
install_and_purge() {
	local number=$1 load
	read -r -a load </root/load
	tell_log_use &
	while :; do
		if [ $((number % 2)) = 0 ]; then
			apt_get_aloud install "${load[@]}"
		else
			apt_get_aloud purge --autoremove "${load[@]}"
		fi
		number=$((number + 1))
		echo "$number" >/root/synced.new
		mv /root/synced.new /root/synced
		sync
		echo "pi: synced $number"
	done
}

role=$(sed 's/.*ressd-test=\([a-z]*\).*/\1/' /proc/cmdline)
# A line of its own, behind whatever the machine has said.
echo
case $role in
prepare)
	root_is "$device"
	report "the module of DKMS is loaded" "$(modprobe dm-ressd 2>&1)"
	type_commands
	initramfs_is_right
	;;
adopt)
	report "the card is no disk of this computer" "$(findmnt -no SOURCE / | grep mmc)"
	uuid=$(blkid -p -o value -s UUID "$device")
	type_commands
	udevadm settle
	report "the UUID of the file system is no name of the bare device" \
		"$(ls -l "/dev/disk/by-uuid/$uuid" 2>/dev/null)"
	;;
leave)
	type_commands
	report "a plain disk is left" "$(blkid -o value -s TYPE -p "$device" | grep -qx ext4 || blkid -p "$device")"
	;;
cuts)
	root_is /dev/mapper/root
	fsck_is_clean
	number=$(cat /root/synced 2>/dev/null || echo 0)
	echo "pi: found $number"
	packages_are_right
	log_is_used
	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' git git-man nano 2>/dev/null |
		sed -n 's/^installed //p')
	# shellcheck disable=SC2086 # names
	[ -z "$installed" ] || contents_are_right $installed
	install_and_purge "$number"
	;;
after)
	root_is /dev/mapper/root
	fsck_is_clean
	packages_are_right
	read -r -a load </root/load
	apt_get install "${load[@]}" || report "apt-get install" "exit code $?"
	contents_are_right
	type_commands
	# The plain boot has what is made here.
	type_and_report "update-initramfs -u -k all"
	initramfs_is_right
	;;
plain)
	root_is "$device"
	fsck_is_clean
	packages_are_right
	contents_are_right
	report "nothing of ressd is active" "$(ressdctl status 2>&1 | grep -i service)"
	;;
esac
echo "pi: done"
systemctl poweroff
