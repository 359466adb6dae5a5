#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# readme-guest.sh: in the machine that readme.sh has made: types the README's commands from where the
# boot before ended, each as it stands but for names. After those that promise something it looks.
set -u
cd /root/dm-ressd || exit 1
# shellcheck disable=SC2034 # typing.sh uses it
test=readme device=/dev/vdb1
# shellcheck source=tests/boot/typing.sh
. /root/typing.sh

files_are_right() {
	(cd /mnt && sha256sum --quiet -c /root/sums 2>&1 | tail -n 3)
}

# fstab says nofail, so nothing waits for the card when the machine starts.
wait_for_mount() {
	local seconds=600
	until mountpoint -q /mnt || [ $((seconds -= 1)) -lt 0 ]; do
		sleep 1
	done
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
	type_and_report "$line"
	after "$line"
done < <(tail -n +$((number + 1)) /root/commands)
echo "readme: all typed"
systemctl poweroff
