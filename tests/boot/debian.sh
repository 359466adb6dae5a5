# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# debian.sh: sourced by the tests that boot a fresh Debian: makes its root file system, keeps that
# in the cache, and types the README's lines of the installation in it. The caller is in a mount
# namespace of its own, and sets $test, the word that its verdicts begin with, and $folder, which is
# temporary.
cache=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/debian-root
folder=
failed=0

# report NAME WHY: passed if there is no reason why not.
report() {
	if [ -z "$2" ]; then
		echo "ok - ${test:?}: $1"
		return
	fi
	echo "not ok - $test: $1: $2"
	# shellcheck disable=SC2034 # the exit code of the caller
	failed=1
}

# counted COMMAND...: and as the last line how many verdicts there were. False if one is bad. No awk:
# Debian's reads its input in pieces of 4 KiB, and what has failed was seen half an hour later.
counted() {
	"$@" | {
		local line passed=0 failed=0
		while IFS= read -r line; do
			printf '%s\n' "$line"
			case $line in
			"ok "*) passed=$((passed + 1)) ;;
			"not ok "*) failed=$((failed + 1)) ;;
			esac
		done
		echo "$passed passed, $failed failed"
		[ "$failed" = 0 ] && [ "$passed" != 0 ]
	}
}

# unmount: what enter_root has mounted. A command may leave a process behind that ends a moment later
# (the dkms of Debian 13: a sleep of 3 s), and until then its devices are busy: that ended the test.
unmount() {
	local name process tries
	for name in proc sys dev; do
		tries=120
		while mountpoint -q "$folder/root/$name" && ! umount -R "$folder/root/$name"; do
			for process in /proc/[0-9]*; do
				[ "$(readlink "$process/root")" != "$folder/root" ] ||
					echo "# it runs yet: $(tr '\0' ' ' <"$process/cmdline")"
			done
			[ $((tries -= 1)) -gt 0 ] || return 1
			sleep 0.5
		done
	done
}

release() {
	[ -n "$folder" ] || return 0
	unmount || true
	rm -rf --one-file-system "$folder"
	folder=
}

key_of() {
	printf '%s\n' "$@" | sha256sum | cut -c 1-12
}

# keep_root ROOT TAR: as the cache has it, whole or not at all.
keep_root() {
	tar -C "$1" --one-file-system -cf "$2.new" .
	mv "$2.new" "$2"
}

# fresh_root SUITE MACHINE PACKAGES: a tar file of a Debian that has just been installed, with these
# packages, comma-separated, besides what each has; prints its path. Until debootstrap has come to its
# end, a fake start-stop-daemon is in the place of the real one: such a root was once kept.
fresh_root() {
	local suite=$1 machine=$2 packages=systemd-sysv,udev,dbus,kmod,ca-certificates,e2fsprogs,$3 made scratch
	made=$cache/$suite-$machine-$(key_of "$packages" "$(declare -f fresh_root)").tar
	if [ ! -e "$made" ]; then
		mkdir -p "$cache"
		scratch=$(mktemp -d -p "$cache")
		debootstrap --arch="$machine" --variant=minbase --include="$packages" "$suite" "$scratch/root" \
			"$(tools/debian-mirror)" >"$made.log" 2>&1 &&
			[ ! -e "$scratch/root/usr/sbin/start-stop-daemon.REAL" ] &&
			keep_root "$scratch/root" "$made"
		rm -rf "$scratch"
		[ -e "$made" ] || { tail -n 5 "$made.log" >&2; return 1; }
	fi
	echo "$made"
}

# commands FILE HEADING: those of a section of a document, one a line.
commands() {
	awk -v "heading=## $2" '/^## / { inside = $0 == heading } inside && sub(/^    /, "")' "$1"
}

readme_commands() {
	commands README.md "You have a slow card"
}

# A root file system of arm64 runs by QEMU's user mode, and compiling takes ten times as long by
# that. So while something is installed there, copies of this machine's programs, of the same version
# and for arm64, are in the places of what takes longest. LENT has pairs "PROGRAM PLACE".
lent=()
lend_arm64() {
	lent=("$(command -v dpkg-deb) /usr/bin/dpkg-deb"
		"$(command -v aarch64-linux-gnu-as) /usr/bin/aarch64-linux-gnu-as"
		"$(aarch64-linux-gnu-gcc -print-prog-name=cc1) /usr/lib/gcc/aarch64-linux-gnu/12/cc1")
}

# lend: what has a place by now.
lend() {
	local root=$folder/root pair program place
	for pair in "${lent[@]}"; do
		program=${pair% *} place=$root${pair#* }
		if [ ! -e "$place" ] || [ -e "$place.own" ]; then
			continue
		fi
		mv "$place" "$place.own"
		cp "$program" "$place"
		ldd "$program" | grep -o '/[^ ]*' | xargs cp -L --parents -t "$root"
		ln -sfn gcc "$root/usr/lib/gcc-cross"
	done
}

take_back() {
	local root=$folder/root pair place
	for pair in "${lent[@]}"; do
		place=$root${pair#* }
		mv "$place.own" "$place"
	done
	[ ${#lent[@]} = 0 ] || rm -r "${root:?}/lib64" "$root/usr/lib/x86_64-linux-gnu" "$root/usr/lib/gcc-cross"
}

# in_root COMMAND: by the shell of the new root file system.
in_root() {
	lend
	chroot "$folder/root" /usr/bin/env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		/bin/bash -c "cd /root/dm-ressd; $1" >"$folder/output" 2>&1 </dev/null
}

# enter_root: programs run in $folder/root as in a system, and apt has the network.
enter_root() {
	local root=$folder/root name
	for name in proc sys dev; do
		mount --rbind "/$name" "$root/$name"
		mount --make-rslave "$root/$name"
	done
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/90yes"
	mkdir -p "$root/root/dm-ressd"
	# The cache may be older than what the mirror has.
	in_root "apt-get update"
}

leave_root() {
	take_back
	unmount
}

# type_install WHERE END: the README's commands in $folder/root, behind the $typed that have been typed
# up to the first that begins with END. It runs this machine's kernel yet, but is to be told of its own.
type_install() {
	local root=$folder/root kernel line
	kernel=$(ls "$root/lib/modules")
	printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /bin/uname "$@"\n' "$kernel" >"$root/usr/local/bin/uname"
	chmod 755 "$root/usr/local/bin/uname"
	git archive HEAD | tar -C "$root/root/dm-ressd" -x
	while IFS= read -r line; do
		case $line in
		"$2"*) break ;;
		esac
		typed=$((typed + 1))
		if ! in_root "$line"; then
			report "$1: $line" "it failed: $(tail -n 5 "$folder/output")"
			return 1
		fi
		report "$1: $line" ""
	done < <(readme_commands | tail -n +$((typed + 1)))
	rm "$root/usr/local/bin/uname"
}

# add_typist PROGRAM CONSOLE: what the machine does by itself when it starts, with its output there.
add_typist() {
	local root=$folder/root units=$folder/root/etc/systemd/system
	install -m 755 "$1" "$root/root/typist"
	install -m 644 tests/boot/typing.sh "$root/root/typing.sh"
	cat >"$units/typist.service" <<-EOF_UNIT
		[Unit]
		Description=types the commands of the test
		After=multi-user.target
		[Service]
		Type=oneshot
		ExecStart=/root/typist
		StandardInput=null
		StandardOutput=tty
		StandardError=tty
		TTYPath=/dev/$2
		TimeoutStartSec=infinity
		[Install]
		WantedBy=graphical.target
	EOF_UNIT
	mkdir -p "$units/graphical.target.wants"
	ln -s ../typist.service "$units/graphical.target.wants/typist.service"
	# No login on the console that the report goes to.
	ln -sf /dev/null "$units/serial-getty@$2.service"
}
