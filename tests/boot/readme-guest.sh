#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# readme-guest.sh: in the machine that readme.sh has made: types the README's commands from where the
# boot before ended, each as it stands but for names. After those that promise something it looks.
set -u
cd /root/dm-ressd || exit 1
export HOME=/root TERM=linux PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
device=/dev/vdb1
output=/run/typed

# report NAME WHY: passed if there is no reason why not.
report() {
	if [ -z "$2" ]; then
		echo "ok - readme: $1"
		return
	fi
	echo "not ok - readme: $1: $2"
	[ ! -s "$output" ] || tail -n 30 "$output" | sed 's/^/# /'
}

files_are_right() {
	(cd /mnt && sha256sum --quiet -c /root/sums 2>&1 | tail -n 3)
}

# fstab says nofail, so nothing waits for the card when the machine starts.
wait_for_mount() {
	local seconds=60
	until mountpoint -q /mnt || [ $((seconds -= 1)) -lt 0 ]; do
		sleep 1
	done
}

uuid_of_log() {
	ressdctl list | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | head -n 1
}

# at_terminal LINE: who asks for a yes gets it.
at_terminal() {
	echo yes | script -qefc "$1" /dev/null 2>&1 | tr -d '\r' >>"$output"
	return "${PIPESTATUS[1]}"
}

# type_line LINE: with this machine's names.
type_line() {
	local line=$1
	: >"$output"
	line=${line//\/dev\/sdX1/$device}
	line=${line//UUID=.../UUID=$(uuid_of_log)}
	at_terminal "$line"
}

# adopt LINE: the file system reaches to the end: what is printed has to be typed first.
adopt() {
	local said
	type_line "$1" && return
	said=$(tr '\n' ' ' <"$output" | sed -n 's/.*make it smaller with: \(.*\); then adopt again.*/\1/p')
	report "adopt says how to make the file system smaller" "$([ -n "$said" ] || echo no command)"
	at_terminal "$said" || { report "$said" "it failed"; return 1; }
	type_line "$1"
}

# after LINE: what has to be true behind it.
after() {
	case $1 in
	ressd-probe*)
		report "the probe has a verdict" "$(grep -qi verdict "$output" || echo none)"
		report "the probe put all back" "$(mount "$device" /mnt && files_are_right; umount /mnt)"
		;;
	mount*)
		report "the files are there" "$(files_are_right)"
		head -c 300000 /dev/urandom >/mnt/new
		(cd /mnt && sha256sum new) >>/root/sums
		sync
		;;
	echo*ressdtab)
		report "the line has a UUID" "$(grep -qE 'UUID=[0-9a-f]{8}-' /etc/ressdtab || cat /etc/ressdtab)"
		echo "readme: starts anew"
		systemctl reboot
		sleep infinity
		;;
	ressdctl\ leave*)
		report "a plain disk is left" "$(blkid -o value -s TYPE -p "$device" | grep -qx ext4 || blkid -p "$device")"
		report "all is on it" "$(mount "$device" /mnt && files_are_right; umount /mnt)"
		;;
	esac
}

# A line of its own, behind whatever the machine has said.
echo
number=$(cat /root/typed)
wait_for_mount
if [ "$number" = 0 ]; then
	report "the card is mounted as it was" "$(files_are_right)"
	umount /mnt
else
	report "fstab has mounted it through ressd" "$(findmnt -no SOURCE /mnt | grep -qx /dev/mapper/card || findmnt -n /mnt)"
	report "the files are there after the boot" "$(files_are_right)"
fi
while IFS= read -r line; do
	number=$((number + 1))
	echo "$number" >/root/typed
	sync
	case $line in
	ressdctl\ adopt*) adopt "$line" ;;
	*) type_line "$line" ;;
	esac
	status=$?
	# The probe's exit code is its verdict.
	case $line in
	ressd-probe*) [ "$status" -ge 16 ] || status=0 ;;
	esac
	report "$line" "$([ "$status" = 0 ] || echo "exit code $status")"
	after "$line"
done < <(tail -n +$((number + 1)) /root/commands)
echo "readme: all typed"
systemctl poweroff
