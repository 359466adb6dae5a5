#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# init.sh: the first process of the machine that root.sh boots: says whether its root file system is on
# ressd and has all that was synced in earlier lives, then writes and syncs until it is killed.
export PATH=/bin:/sbin
/bin/busybox --install -s /bin
for kind in proc sysfs:sys devtmpfs:dev; do
	mountpoint -q "/${kind#*:}" || mount -t "${kind%:*}" "${kind%:*}" "/${kind#*:}"
done
exec >/dev/console 2>&1
dmesg -n 4

device=$(stat -c %d /sbin/init)
name=$(cat "/sys/dev/block/$((device / 256)):$((device % 256))/dm/name")
case $(cat "/sys/dev/block/$((device / 256)):$((device % 256))/dm/uuid") in
RESSD-*) [ "$name" != root ] || echo "root: on ressd" ;;
esac

# Each file says its own number; the newest is in /newest, which is written after it.
last=0
[ ! -e /newest ] || last=$(cat /newest)
wrong=
number=1
while [ "$number" -le "$last" ]; do
	[ "$(cat "/files/$number")" = "file $number" ] || wrong="$wrong $number"
	number=$((number + 1))
done
if [ -z "$wrong" ]; then
	echo "root: right up to $last"
else
	echo "root: wrong:$wrong"
fi

synced=0
while :; do
	last=$((last + 1))
	synced=$((synced + 1))
	echo "file $last" >"/files/$last"
	sync
	echo "$last" >/newest.new
	mv /newest.new /newest
	sync
	echo "root: synced $synced"
done
