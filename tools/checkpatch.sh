#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# checkpatch.sh ARGUMENT...: checkpatch.pl of Debian's linux-source-6.1, without a kernel tree and without a
# summary. It is unpacked once, into the cache.
set -euo pipefail

package=linux-source-6.1
version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || {
	echo "checkpatch.sh: the Debian package $package is not installed: run tools/setup.sh" >&2
	exit 2
}
folder=${RESSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dm-ressd}/checkpatch/$version
if [ ! -d "$folder" ]; then
	mkdir -p "${folder%/*}"
	scratch=$(mktemp -d -p "${folder%/*}")
	tar -x -J -f "/usr/src/$package.tar.xz" -C "$scratch" --strip-components=2 \
		"$package"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
	chmod 755 "$scratch"
	mv -T "$scratch" "$folder" 2>/dev/null || rm -rf "$scratch"
fi
exec "$folder/checkpatch.pl" --strict --no-tree --no-summary --quiet --show-types "$@"
