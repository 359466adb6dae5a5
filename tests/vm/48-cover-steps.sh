#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 48-cover-steps.sh: the power fails at every write and flush that the disk gets while it is
# adopted, covered, activated, drained and left, as dm-log-writes has recorded them in a guest:
# after the write, in the middle of it, and with it alone of all that no flush has followed. Each
# time libblkid finds a file system on the bare disk only if nothing of the log counts, and then
# it is the right one. 47-cover-cuts.sh has real cuts, after which the kernel goes on.
#   48-cover-steps.sh     GUEST_OPTIONS: more options of tools/vm/run
# host
set -euo pipefail
cd "$(dirname "$0")/../.."
PATH=$PWD/build/bin:$PATH

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
image=$folder/image
log=$folder/log
states=$folder/states # what the cuts of all phases have left, a line each
covered_bytes=69632   # the first 17 blocks
places=(0 3 700 1500 901) # normal blocks that are written to: the first two are covered
phase=
version=0
cuts=0
failed=0
read -r -a guest_options <<<"${GUEST_OPTIONS:-}"

verdict() {
	if [ -z "$2" ]; then
		echo "ok - cover-steps: $1"
	else
		echo "not ok - cover-steps: $1: $2"
		failed=1
	fi
}

# make_versions: $folder/version-0 is an ext4; in each of the next ones five blocks have changed.
make_versions() {
	local version i
	truncate -s 6M "$folder/version-0"
	mkfs.ext4 -q -F -b 4096 "$folder/version-0"
	for version in 1 2 3; do
		cp "$folder/version-$((version - 1))" "$folder/version-$version"
		for i in "${!places[@]}"; do
			# Of block 0 only what is in front of the superblock.
			head -c 512 /dev/urandom | dd of="$folder/version-$version" bs=4k \
				seek="${places[i]}" conv=notrunc status=none
			dd if="$folder/version-$version" bs=4k skip="${places[i]}" count=1 status=none
		done
	done >"$folder/versions"
	cp "$folder/version-0" "$folder/disk"
	truncate -s 10M "$folder/disk"
	cp "$folder/disk" "$image"
}

# is_version FROM: from that byte on the normal area is what has been written by now.
is_version() {
	cmp -s -i "$1" -n $((6291456 - $1)) "$folder/version-$version" "$image"
}

# gives_back: the log has what the covers hide.
gives_back() {
	local status=0
	mv "$image" "$folder/kept"
	cp "$folder/kept" "$image"
	ressdctl format --yes --force "$image" 0 12288 "$image" 12288 8192 >/dev/null 2>&1 &&
		is_version 0 || status=1
	mv "$folder/kept" "$image"
	return "$status"
}

# why_not COVERS LOOKS: nothing of the log counts but where there are covers: what is wrong then?
why_not() {
	is_version "$covered_bytes" || echo "nothing of the log counts, but the disk is old"
	case $2 in
	ext4) [ "$1" -le 8 ] || echo "ext4 with $1 covers" ;; # block 0, which comes home last, in part
	*) [ -z "$2" ] && [ "$1" -gt 0 ] || echo "$1 covers, and the disk looks like '$2'" ;;
	esac
	if [ "$1" -eq 0 ]; then
		is_version 0 || echo "the first blocks are old"
	else
		gives_back || echo "the log has no copy of what is covered"
	fi
}

# judge: what kind of state the image is in, or what is wrong with it.
judge() {
	local looks covers says why
	looks=$({ blkid -p -o value -s TYPE -s PTTYPE "$image" || true; } | paste -s -d ' ')
	covers=$(head -c "$covered_bytes" "$image" | { grep -a -o ressdcov || true; } | wc -l)
	says=$(ressdctl check --json "$image" 2>/dev/null || true)
	case $says in
	*'"refused":true'*) why="the log is refused" ;;
	*'"covered":true'*)
		why="the log counts, but the disk has $covers covers and looks like '$looks'"
		[ "$looks $covers" != " 136" ] || { echo covered && return; }
		;;
	*) why=$(why_not "$covers" "$looks") ;;
	esac
	if [ -n "$why" ]; then
		echo "$why"
	elif [ "$covers" -gt 0 ]; then
		echo between
	elif [ -n "$says" ]; then
		echo plain
	else
		echo "no log"
	fi
}

# look KIND ENTRY: at what that cut has left.
look() {
	local state
	state=$(judge)
	cuts=$((cuts + 1))
	case $state in
	covered | between | plain | "no log") echo "$phase: $state" >>"$states" ;;
	*) verdict "$phase, entry $2, $1" "$state" ;;
	esac
}

# apply HOW ENTRY: to the image.
apply() {
	ressd-replay "$1" "$log" "$image" "$2" "$2"
}

# cut_write ENTRY: $folder/durable has what flushes have made durable.
cut_write() {
	cp "$image" "$folder/before"
	apply tear "$1"
	look "torn" "$1"
	if ! cmp -s "$folder/durable" "$folder/before"; then
		cp "$folder/durable" "$image"
		apply apply "$1"
		look "alone" "$1"
	fi
	cp "$folder/before" "$image"
}

make_versions
truncate -s 64M "$log"
cp "$folder/disk" "$folder/durable"
tools/vm/run --quiet --memory 512M --log build/check/48-cover-steps.console --disk "$folder/disk" \
	--disk "$log" --file tests/vm/ressd.sh --file "$folder/versions:versions" "${guest_options[@]}" \
	tests/vm/cover/guest.sh "${places[*]}"
while read -r entry kind mark; do
	case $kind in
	mark)
		# The last one is dm-log-writes' own.
		[[ $mark != *-[0-9] ]] || phase=$mark version=${mark#*-}
		continue
		;;
	write | fua | discard) cut_write "$entry" ;;
	esac
	apply apply "$entry"
	look "$kind" "$entry"
	[ "$kind" = write ] || [ "$kind" = discard ] || cp "$image" "$folder/durable"
	[ "$failed" -eq 0 ] || exit 1
done < <(ressd-replay list "$log")
sort "$states" | uniq -c | sed 's/^/# found/'
for phase in "adopt-0: no log" "adopt-0: plain" "cover-0: between" "cover-0: covered" \
	"drain-1: between" "drain-1: plain" "activation-2: covered" "leave-3: between" \
	"leave-3: plain" "leave-3: no log"; do
	verdict "some cuts leave $phase" "$(grep -qx "$phase" "$states" || echo none)"
done
verdict "leave leaves a plain disk" "$([ "$(blkid -p -o value -s TYPE "$image")" = ext4 ] &&
	is_version 0 || echo "it is not")"
verdict "at $cuts cuts blkid finds what it should" "$([ "$cuts" -ge 200 ] || echo "too few")"
echo "# result cover/blkid/cuts $cuts 1 >=200"
exit "$failed"
