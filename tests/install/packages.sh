#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh: dpkg-buildpackage makes dm-ressd-dkms and ressd-utils from what git has, lintian finds
# nothing, they hold what they should, and what DKMS would build builds; rpmbuild makes the same of
# rpm/dm-ressd.spec. Installs nothing on this machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=packages
folder=$(mktemp -d)
# shellcheck source=userspace/test/expect.bash
. userspace/test/expect.bash

# Built in another folder each time, it is the same to ccache.
export CCACHE_BASEDIR=$folder
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
source=$folder/dm-ressd-$version

# As in a release: no file that git does not know.
copy_source() {
	mkdir "$source"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$source"
}

build() {
	(cd "$source" && dpkg-buildpackage --no-sign --build=binary) >"$output" 2>&1
}

# --nodeps: here the libraries come from Debian's packages.
build_rpm() {
	mkdir -p "$folder/rpm/SOURCES"
	tar -C "$folder" -czf "$folder/rpm/SOURCES/dm-ressd-$version.tar.gz" "${source##*/}"
	rpmbuild -bb --nodeps --define "_topdir $folder/rpm" "$source/rpm/dm-ressd.spec" >"$output" 2>&1
}

# As the Debian packages, but for what is of initramfs-tools.
check_rpm() {
	rpm -qlp "$folder"/rpm/RPMS/*/ressd-utils-"$version"-*.rpm 2>/dev/null |
		grep -vE '/\.build-id|/doc/|/licenses/' | sed 's/\.gz$//' | sort >"$folder/rpm.list"
	dpkg-deb --fsys-tarfile "$folder"/ressd-utils_*.deb | tar -t | grep -v '/$' |
		grep -vE '/doc/|initramfs-tools' | sed -E 's!^\.(/usr)?/!/usr/!; s/\.gz$//' | sort >"$folder/deb.list"
	diff "$folder/deb.list" <(grep -vxE '/usr/lib/(ressd|dracut/modules.d/90ressd)' "$folder/rpm.list") \
		>"$output" || true
	report "the RPM of the tools has what the Debian package has" "$(cat "$output")"
	rpm -qlp "$folder"/rpm/RPMS/noarch/dm-ressd-dkms-"$version"-*.rpm >"$output" 2>/dev/null
	report "the RPM of the module has its source" "$(for path in dkms.conf Kbuild core/ressd-log.c; do
		grep -qx "/usr/src/dm-ressd-$version/$path" "$output" || echo "$path is missing"
	done)"
	mkdir "$folder/rpm-docs"
	(cd "$folder/rpm-docs" && rpm2cpio "$folder"/rpm/RPMS/noarch/*.rpm | cpio -idm --quiet '*/doc/*') >"$output" 2>&1
	report "the links of the RPM's documents lead somewhere" "$(dead_links "$folder/rpm-docs")"
}

# dead_links FOLDER: links between documents below it to what is not there. The README of the package
# named a dozen pages that only the source had.
dead_links() {
	local page link found=
	while IFS=: read -r page link; do
		found=1
		link=${link#](}
		link=${link%%[#)]*}
		[ -z "$link" ] || [ -e "${page%/*}/$link" ] || echo "${page##*/}: $link"
	done < <(grep -rHoE --include='*.md' '\]\([^):]+\)' "$1")
	[ -n "$found" ] || echo "there are none"
}

# has PACKAGE PATH...: each is in it.
has() {
	local package=$1 path
	shift
	dpkg-deb --contents "$folder/$package"_*.deb >"$output"
	for path in "$@"; do
		report "$package has $path" "$(grep -qE " \./$path( |\$)" "$output" || echo "it has not")"
	done
}

# An initramfs has a copy of module and tools, and each kernel its own. DKMS builds the module before,
# but not for each, and the hook has update-initramfs fail where there is none: dpkg ended there.
# shellcheck disable=SC2016 # the stubs expand it
check_initramfs() {
	local package stubs=$folder/stubs
	mkdir -p "$stubs/dkms" "$stubs/ressd"
	stub dkms/common.postinst "echo dkms"
	stub linux-version "echo 5.10 6.1 6.11 6.12"
	stub modinfo '[ "$2" != 5.10 ]'
	stub update-initramfs '[ "$3" != 5.10 ] && echo "$@"'
	mkdir "$stubs/boot"
	touch "$stubs/ressdtab" "$stubs"/boot/initrd.img-{5.10,6.1,6.12}
	dpkg-deb --fsys-tarfile "$folder"/ressd-utils_*.deb | tar -xO ./usr/lib/ressd/renew-initramfs |
		sed -e "s:/etc/ressdtab:$stubs/ressdtab:g" -e "s:/boot/:$stubs/boot/:g" >"$stubs/ressd/renew-initramfs"
	chmod +x "$stubs/ressd/renew-initramfs"
	for package in ressd-utils dm-ressd-dkms; do
		dpkg-deb --ctrl-tarfile "$folder/$package"_*.deb | tar -xO ./postinst |
			sed "s:/usr/lib/\(ressd/renew-initramfs\|dkms/common.postinst\):$stubs/\1:g" >"$folder/postinst"
		PATH=$stubs:$PATH sh "$folder/postinst" configure >"$output" 2>&1 || echo "it fails" >>"$output"
		report "a new $package gets into the initramfs of each kernel that has the module" \
			"$(diff "$output" <([ "$package" = ressd-utils ] || echo dkms
				printf -- '-u -k %s\n' 6.1 6.12))"
	done
	rm "$stubs/ressdtab"
	report "without /etc/ressdtab none is made anew" "$(PATH=$stubs:$PATH "$stubs/ressd/renew-initramfs" 2>&1 || echo "it fails")"
}

# The sources that DKMS gets, as DKMS builds them.
build_module() {
	local kernel source releases pattern
	kernel=$(tools/vm/kernel-dir)
	source=$(echo "$folder"/dkms/usr/src/dm-ressd-*)
	report "dkms.conf names the module" \
		"$(grep -q '^BUILT_MODULE_NAME\[0\]="dm-ressd"$' "$source/dkms.conf" || echo no)"
	report "dkms.conf has a version" "$(grep -q "^PACKAGE_VERSION=\"${source##*-}\"\$" "$source/dkms.conf" ||
		grep PACKAGE_VERSION "$source/dkms.conf")"
	releases=(5.10.0-39-amd64 6.0.0-6-amd64
		6.1.0-56-amd64 6.12.95+deb12-amd64 7.2.13+deb14-amd64 10.0.1)
	pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' "$source/dkms.conf")
	report "dkms.conf leaves kernels before 6.1 out, and no other" \
		"$(printf '%s\n' "${releases[@]}" | grep -vE "$pattern" |
			diff - <(printf '%s\n' "${releases[@]:0:2}"))"
	make -C "$kernel" M="$source" modules >"$output" 2>&1 || true
	report "the module builds from the package" "$([ -e "$source/dm-ressd.ko" ] || echo "there is none")"
}

copy_source
if build_rpm; then
	report "rpmbuild" ""
else
	report "rpmbuild" "exit code $?"
	exit 1
fi
if build; then
	report "dpkg-buildpackage" ""
else
	report "dpkg-buildpackage" "exit code $?"
	exit 1
fi
lintian --fail-on error,warning --no-tag-display-limit "$folder"/*.changes >"$output" 2>&1 || true
report "lintian finds nothing" "$(grep -E '^[EW]:' "$output" || true)"
has ressd-utils usr/sbin/ressdctl usr/sbin/ressd-probe usr/sbin/ressd-trace usr/share/man/man5/ressdtab.5.gz \
	usr/share/man/man8/ressdctl.8.gz '(usr/)?lib/udev/rules.d/61-ressd.rules' \
	'(usr/)?lib/systemd/system-generators/ressd-generator' \
	usr/share/initramfs-tools/hooks/ressd usr/share/initramfs-tools/scripts/local-top/ressd
has dm-ressd-dkms 'usr/src/dm-ressd-[0-9.]*/dkms.conf' 'usr/src/dm-ressd-[0-9.]*/core/ressd-log.c' \
	usr/share/doc/dm-ressd-dkms/debian/signing.md usr/share/doc/dm-ressd-dkms/README.md
dpkg-deb --extract "$folder"/dm-ressd-dkms_*.deb "$folder/dkms"
report "the links of its documents lead somewhere" "$(dead_links "$folder/dkms/usr/share/doc")"
build_module
check_initramfs
check_rpm
exit "$failed"
