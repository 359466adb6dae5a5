#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh: make install puts module, programs, manual pages and completion below DESTDIR, make
# uninstall takes all of it away again, and what is missing is told by name. Installs nothing on this
# machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=install
folder=$(mktemp -d)
# shellcheck source=userspace/test/expect.bash
. userspace/test/expect.bash
destination=$folder/root
kernel=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' \
	"$(tools/vm/kernel-dir)/include/generated/utsrelease.h")

# refused NAME REGEX COMMAND...: it fails, and a line matches.
refused() {
	local name=$1 regex=$2
	shift 2
	if "$@" >"$output" 2>&1; then
		report "$name" "it succeeds"
	else
		report "$name" "$(grep -qE -- "$regex" "$output" || echo "no line matches '$regex'")"
	fi
}

# files: what is installed, one path a line.
files() {
	(cd "$destination" && find . -type f | sort)
}

wanted() {
	cat <<-END
		./etc/initramfs-tools/hooks/ressd
		./etc/initramfs-tools/scripts/local-block/ressd
		./etc/initramfs-tools/scripts/local-top/ressd
		./lib/modules/$kernel/updates/dm-ressd.ko
		./usr/lib/dracut/modules.d/90ressd/module-setup.sh
		./usr/lib/dracut/modules.d/90ressd/ressd-open.sh
		./usr/local/lib/ressd/initramfs-table
		./usr/local/lib/ressd/renew-initramfs
		./usr/local/lib/systemd/system-generators/ressd-generator
		./usr/local/lib/systemd/system/ressd.target
		./usr/local/lib/udev/rules.d/61-ressd.rules
		./usr/local/sbin/ressd-probe
		./usr/local/sbin/ressd-trace
		./usr/local/sbin/ressdctl
		./usr/local/share/bash-completion/completions/ressd-probe
		./usr/local/share/bash-completion/completions/ressd-trace
		./usr/local/share/bash-completion/completions/ressdctl
		./usr/local/share/doc/ressd-utils/examples/trace_chart.py
		./usr/local/share/man/man5/ressdtab.5
		./usr/local/share/man/man7/ressd.7
		./usr/local/share/man/man8/ressd-probe.8
		./usr/local/share/man/man8/ressd-trace.8
		./usr/local/share/man/man8/ressdctl.8
	END
}

test_install() {
	local name
	mkdir "$destination"
	make install "KERNEL=$kernel" "DESTDIR=$destination" >"$output" 2>&1 ||
		report "make install" "exit code $?"
	report "only what belongs there" "$(diff <(wanted) <(files | sed -E \
		's#(/lib/modules/[^/]*)/(extra|updates)/#\1/updates/#; s#\.ko\.(xz|zst|gz)$#.ko#') 2>&1 || true)"
	for name in ressdctl ressd-probe ressd-trace; do
		report "$name starts" \
			"$("$destination/usr/local/sbin/$name" --version 2>&1 | grep -v "^$name [0-9]" || true)"
	done
	report "the files call the programs where they are" \
		"$(grep -rl /usr/sbin "$destination/usr/local/lib" "$destination/usr/lib" "$destination/etc" || true)"
	report "an initramfs gets what is installed, and only on this machine" "$(
		make -n -C userspace install DESTDIR= | grep -x '/usr/local/lib/ressd/renew-initramfs' >"$output" || echo "it does not"
		make -n -C userspace install "DESTDIR=$destination" | grep -x '[^ ]*renew-initramfs' || true)"
	report "nothing has debugging information" "$(find "$destination" -type f \
		\( -name '*.ko' -o -path '*/sbin/*' \) -exec sh -c \
		'readelf -S "$1" | grep -q "\.debug_info" && echo "$1"' _ {} \;)"
	report "the module is for the kernel that was named" "$(find "$destination" -name '*.ko' -exec \
		modinfo -F vermagic {} \; | grep -v "^$kernel " || true)"
	make uninstall "DESTDIR=$destination" >"$output" 2>&1 || report "make uninstall" "exit code $?"
	report "nothing stays behind" "$(files)"
}

test_missing() {
	refused "no headers" "headers of the kernel 1.2.3-none,.*linux-headers-1.2.3-none" \
		make install KERNEL=1.2.3-none "DESTDIR=$destination"
	refused "no pkg-config" "pkg-config: install" \
		make install "KERNEL=$kernel" "DESTDIR=$destination" PKG_CONFIG=none-there
	refused "no compiler" "a C compiler: install gcc" \
		make install "KERNEL=$kernel" "DESTDIR=$destination" CC=none-there
	mkdir -p "$folder/modules/$kernel/build/include/generated" "$folder/empty"
	touch "$folder/modules/$kernel/build/include/generated/utsrelease.h" \
		"$folder/modules/$kernel/build/vmlinux"
	echo CONFIG_DEBUG_INFO_BTF_MODULES=y >"$folder/modules/$kernel/build/.config"
	if ! command -v pahole >/dev/null; then
		refused "no pahole" "pahole, which .* asks for: install" env "RESSD_MODULES=$folder/modules" \
			"KERNEL=$kernel" tools/install.sh check
	fi
	report "and nothing was installed" "$(files)"
}

# Nothing was said, and the machine did not start with its next kernel.
test_root() {
	local program=$destination/usr/local/sbin/ressdctl
	install -D /dev/null "$program"
	install -D <(echo "root /dev/sdx initramfs") "$destination/etc/ressdtab"
	refused "make uninstall: the root file system is on ressd" "what opens the root file system" \
		make uninstall "DESTDIR=$destination"
	report "make uninstall: the root file system can be opened" "$([ -e "$program" ] || echo "it cannot")"
	sed "s!/usr/lib/ressd!$PWD/userspace/boot!" debian/ressd-utils.prerm >"$folder/prerm"
	refused "apt-get remove: the root file system is on ressd" "what opens the root file system" \
		env "RESSDTAB=$destination/etc/ressdtab" sh "$folder/prerm" remove
	report "apt-get install of another version" \
		"$(RESSDTAB=$destination/etc/ressdtab sh "$folder/prerm" upgrade 0.2 2>&1 || echo "exit code $?")"
	rm "$destination/etc/ressdtab"
	report "apt-get remove: nothing is on ressd" \
		"$(RESSDTAB=$destination/etc/ressdtab sh "$folder/prerm" remove 2>&1 || echo "exit code $?")"
	rm -r "$destination"
}

test_root
test_install
test_missing
exit "$failed"
