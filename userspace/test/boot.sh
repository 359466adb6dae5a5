#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# boot.sh: /etc/ressdtab as ressdctl and the systemd generator read it, and the files that open devices
# when a system starts. tests/boot/root.sh starts one. Needs ressdctl in PATH.
set -euo pipefail

suite=boot
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"
boot=$(cd "$(dirname "$0")/../boot" && pwd)
export RESSDTAB=$folder/ressdtab

# generate: the units of the table, in $units.
units=$folder/units
generate() {
	rm -rf "$units"
	mkdir "$units"
	"$boot/ressd-generator" "$units" "$units" "$units" >"$output" 2>&1 ||
		report "the generator" "exit code $?"
}

# has NAME UNIT LINE: the unit has that line.
has() {
	report "$1" "$(grep -qxF -- "$3" "$units/$2" 2>&1 || { echo "no line '$3' in:"; cat "$units/$2"; })"
}

# runs NAME UNIT COMMAND: that is what systemd reads in the unit.
runs() {
	SYSTEMD_LOG_LEVEL=debug SYSTEMD_UNIT_PATH=$units:$boot: \
		systemd-analyze verify --man=no "$units/$2" >"$output" 2>&1 || true
	report "$1" "$(grep -qF "Command Line: /usr/sbin/ressdctl $3" "$output" ||
		{ echo "not '$3' but:"; grep 'Command Line' "$output"; })"
}

test_generator() {
	local uuid=17f91ba5-b1c5-4b9b-8491-8d2c241392fa unit
	rm -f "$RESSDTAB"
	generate
	report "no table: no units" "$(ls -A "$units")"
	cat >"$RESSDTAB" <<-END
		# a comment
		root UUID=$uuid initramfs # another

		a-b  /dev/disk/by-id/x-part3 nofail,on_full=wait
		late /dev/sdx1 noauto
		two  /dev/sdy normal=PARTUUID=01-02
		a%h\$HOME /dev/sdz
	END
	generate
	report "five units" "$(find "$units" -name '*.service' -type f | wc -l | grep -vx 5 || true)"
	has "by UUID" ressd@root.service \
		'BindsTo=dev-disk-by\x2duuid-17f91ba5\x2db1c5\x2d4b9b\x2d8491\x2d8d2c241392fa.device'
	runs "open by name" ressd@root.service 'open root'
	runs "and close" ressd@root.service 'close root'
	runs "a name with a dash" 'ressd@a\x2db.service' 'open a-b'
	# systemd put its own home in place of %h.
	# shellcheck disable=SC2016 # no variable is meant
	runs "a name with a percent sign" 'ressd@a\x25h\x24HOME.service' 'open "a%h\$HOME"'
	has "and no variable in it" 'ressd@a\x25h\x24HOME.service' 'ExecStart=:/usr/sbin/ressdctl open %I'
	# udev knows it as /dev/mapper/a\x25h\x24HOME; its unit was looked for by another name.
	report "and its device brings it in" "$([ -e \
		"$units/$(systemd-escape --path --suffix=device '/dev/mapper/a\x25h\x24HOME').requires/ressd@a\\x25h\\x24HOME.service" ] ||
		find "$units" -name '*HOME*')"
	has "both devices" ressd@two.service 'BindsTo=dev-sdy.device'
	has "the other one" ressd@two.service 'BindsTo=dev-disk-by\x2dpartuuid-01\x2d02.device'
	report "the target is wanted when the system starts" \
		"$([ -h "$units/sysinit.target.wants/ressd.target" ] || echo no)"
	report "required" "$([ -e "$units/ressd.target.requires/ressd@root.service" ] || echo no)"
	report "nofail: wanted only" "$([ -e "$units/ressd.target.wants/ressd@a\\x2db.service" ] &&
		[ ! -e "$units/ressd.target.requires/ressd@a\\x2db.service" ] || echo no)"
	# A card that was not there held up the start for 90 s.
	has "without nofail: waited for" ressd@root.service 'Before=ressd.target'
	report "nofail: not waited for" "$(grep -F ressd.target "$units/ressd@a\\x2db.service" || true)"
	report "noauto: neither" "$(find "$units/ressd.target."* -name 'ressd@late*')"
	report "noauto: by who mounts it" \
		"$([ -e "$units/dev-mapper-late.device.requires/ressd@late.service" ] || echo no)"
	for unit in "$units"/*.service; do
		report "systemd takes ${unit##*/}" "$(SYSTEMD_UNIT_PATH=$units:$boot: \
			systemd-analyze verify --man=no "$unit" 2>&1 |
			grep -F "${unit##*/}" | grep -v 'is not executable' || true)"
	done
}

# An editor may leave the last line without its end. ressdctl read it, the initramfs had no ressd.
test_last_line() {
	printf 'a /dev/sdx\nroot /dev/sdy initramfs' >"$RESSDTAB"
	generate
	has "last line without an end" ressd@root.service 'ExecStart=:/usr/sbin/ressdctl open %I'
	report "last line without an end: in the initramfs" \
		"$("$boot/initramfs-table" | diff - <(echo "root /dev/sdy initramfs"))"
}

# ressdctl ends a line at the #, and these at the space before it only.
test_comment() {
	printf 'root /dev/sdy#c\nswap /dev/sdz nofail,initramfs#c\nlast /dev/sdx nofail#c' >"$RESSDTAB"
	generate
	has "a comment behind a device" ressd@root.service 'BindsTo=dev-sdy.device'
	report "a comment behind an option" "$([ -e "$units/ressd.target.wants/ressd@last.service" ] || echo no)"
	report "a comment behind an option: in the initramfs" \
		"$("$boot/initramfs-table" | diff - <(echo "swap /dev/sdz nofail,initramfs"))"
}

# The generator has no programs in an initramfs of dracut but those that come with it.
test_dracut_programs() {
	local program
	mkdir "$folder/dracut"
	# shellcheck disable=SC2013 # words, of one line
	for program in $(sed -n 's/^.*inst_multiple \(sh .*\) [^ ]*ressd-generator.*/\1/p' \
		"$boot/dracut/module-setup.sh"); do
		ln -s "$(command -v "$program")" "$folder/dracut/$program"
	done
	printf 'root /dev/sdy initramfs\n' >"$RESSDTAB"
	rm -rf "$units"
	mkdir "$units"
	PATH=$folder/dracut "$boot/ressd-generator" "$units" "$units" "$units" >"$output" 2>&1 || true
	report "in an initramfs of dracut the generator lacks no program" "$(cat "$output")"
	has "in an initramfs of dracut" ressd@root.service 'BindsTo=dev-sdy.device'
}

# A file system's UUID and label opened a drained device, and never again: later they were covered. The
# links of udev for which the units waited were never there.
test_covered_names() {
	local name
	for name in UUID=0-0 LABEL=none; do
		expect "open $name" 1 "no device has the $name; .*UUID and label of a file system are covered" \
			ressdctl open x "$name"
	done
	printf '%s\n' 'label LABEL=none' 'odd /dev/../x' 'root /dev/sdy' >"$RESSDTAB"
	generate
	report "nobody waits for a label" "$(grep BindsTo "$units/ressd@label.service" 2>&1 || true)"
	has "a path that systemd cannot have" ressd@odd.service 'ExecStart=:/usr/sbin/ressdctl open %I'
	has "keeps no other line from its unit" ressd@root.service 'BindsTo=dev-sdy.device'
}

# findmnt shows /dev/mapper/root[/@] of a btrfs whose root is a subvolume, and lsblk knows no such device.
test_root() {
	echo "root /dev/sdx" >"$RESSDTAB"
	# shellcheck disable=SC2016 # the stub's shell
	stub findmnt 'case " $* " in *" --nofsroot "*) echo /dev/mapper/root ;; *) echo "/dev/mapper/root[/@]" ;; esac'
	# shellcheck disable=SC2016 # the stub's shell
	stub lsblk 'case $* in *root) echo root ;; *) exit 32 ;; esac'
	report "the root file system is a subvolume of btrfs" \
		"$(PATH=$folder/stubs:$PATH "$boot/initramfs-table" | diff - <(echo "root /dev/sdx "))"
	printf 'a[b /dev/sdx\na.b /dev/sdy\n' >"$RESSDTAB"
	stub lsblk 'echo "a[b"'
	report "a name is no pattern" \
		"$(PATH=$folder/stubs:$PATH "$boot/initramfs-table" 2>&1 | diff - <(echo "a[b /dev/sdx "))"
}

# A device that keeps udev busy for longer than it waits: nothing was opened, and the system did not start.
test_initramfs_script() {
	echo "root /dev/sdx" >"$RESSDTAB"
	stub udevadm 'exit 1'
	stub modprobe 'exit 0'
	# shellcheck disable=SC2016 # the stub's shell
	stub ressdctl 'echo "ressdctl $*"'
	sed "s!/etc/ressdtab!$RESSDTAB!; s!/usr/sbin/ressdctl!ressdctl!" "$boot/initramfs-script" >"$folder/script"
	PATH=$folder/stubs:$PATH expect "udev does not settle" 0 "^ressdctl open --all$" sh "$folder/script"
}

test_table() {
	local line
	: >"$RESSDTAB"
	report "an empty table: nothing to open" "$(ressdctl open --all 2>&1 || echo "exit code $?")"
	rm "$RESSDTAB"
	report "none: the same" "$(ressdctl open --all 2>&1 || echo "exit code $?")"
	for line in 'name' 'name device options more' 'name device streams' 'name device nofail,colour'; do
		echo "$line" >"$RESSDTAB"
		expect "wrong: $line" 2 "ressdtab, line 1.*(has not the form|neither normal=)" ressdctl open --all
	done
	printf 'name\nnone %s/none\n' "$folder" >"$RESSDTAB"
	expect "a wrong line keeps none from it" 1 "none: .*cannot find $folder/none" ressdctl open --all
	report "and is told, too" "$(grep -q 'line 1 has not the form' "$output" || echo no)"
	expect "nor one that is named" 1 "none: .*cannot find $folder/none" ressdctl open none
	rm "$RESSDTAB"
	mkdir "$RESSDTAB"
	expect "a table that cannot be read" 1 "cannot read .*ressdtab: Is a directory" ressdctl open --all
	rmdir "$RESSDTAB"
	echo "none $folder/none streams=4" >"$RESSDTAB"
	expect "a device that is not there" 1 "none: .*cannot find $folder/none" ressdctl open --all
	truncate -s 64M "$disk"
	ressdctl format --yes "$disk" 0 98304 "$disk" 98304 32768 >"$output"
	printf 'image %s colour=blue\nlate %s/none noauto\n' "$disk" "$folder" >"$RESSDTAB"
	expect "a wrong option" 2 "image: 'colour' is not an option" ressdctl open --all
	expect "by its name" 2 "image: 'colour' is not an option" ressdctl open image
	# The line's device was opened, without what was asked for.
	for line in "image on_full wait" "image $folder/other on_full" "--defaults image" "--normal $disk image"; do
		# shellcheck disable=SC2086 # several words
		expect "by its name, and more: ${line//$folder/}" 2 "image is no device .* stands alone; write NAME DEVICE" \
			ressdctl open $line
	done
	expect "noauto: by its name only" 1 "late: .*cannot find" ressdctl open late
	expect "a name that is not there" 2 "other is neither a device .* nor a name that /etc/ressdtab has" \
		ressdctl open other
	expect "--all and more" 2 "leave out everything else" ressdctl open --all other
	expect "udev's properties" 0 "^ID_FS_TYPE=ressd_member$" ressdctl list --udev "$disk"
	expect "and the UUID" 0 "^ID_FS_UUID=[0-9a-f-]{36}$" ressdctl list --udev "$disk"
	expect "and the links that do not come from the file system" 0 "^RESSD_LINKS=disk/by-id/a disk/by-path/b $" \
		ressdctl list --udev "$disk" disk/by-id/a disk/by-uuid/c disk/by-label/d disk/by-path/b
	truncate -s 1M "$folder/empty"
	ressdctl list --udev "$folder/empty" >"$output" 2>&1
	report "none of another device" "$(cat "$output")"
}

# read_rules: what this udev says of the rule, by a device that no rule changes. SYMLINK-= was not known
# to that of Debian 12, so a member kept the links of the file system that it held.
read_rules() {
	# shellcheck disable=SC2016 # the shell of the mount namespace
	unshare --mount sh -ec 'mount -t tmpfs tmpfs /run; mkdir -p /run/udev/rules.d
		cp "$1" /run/udev/rules.d/; udevadm test /sys/devices/virtual/mem/null 2>&1' sh "$1" |
		grep -F "${1##*/}" >"$output"
	report "udev reads the rule" "$(grep -q 'Reading rules file' "$output" || echo "it does not")"
	report "and does not complain" "$(grep -v 'Reading rules file' "$output")"
}

# The rule is read by udev without complaint, as far as this version checks.
test_rule() {
	read_rules "$boot/61-ressd.rules"
	if udevadm verify --help >/dev/null 2>&1; then
		expect "udev takes the rule" 0 "ressd" udevadm verify --no-summary "$boot/61-ressd.rules"
	fi
	report "each label of the rule is there" "$(grep -o 'GOTO="[a-z_]*"' "$boot/61-ressd.rules" | sort -u |
		sed 's/GOTO/LABEL/' | while read -r label; do
			grep -qx "$label" "$boot/61-ressd.rules" || echo "$label"
		done)"
}

run_tests "${1:-}" \
	test_generator \
	test_comment \
	test_last_line \
	test_dracut_programs \
	test_covered_names \
	test_root \
	test_initramfs_script \
	test_table \
	test_rule
exit "$failed"
