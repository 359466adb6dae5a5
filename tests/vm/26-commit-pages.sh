#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 26-commit-pages.sh: with log_rewrite on commits go to the device with all of their page, by the block
# layer's count; what they hold survives a power cut; and what can be set while the device runs.
#   26-commit-pages.sh [SEED [FUNCTION]]
# guest: --timeout 300
set -uo pipefail
# shellcheck source=tests/vm/lib.sh
. ./lib.sh
# shellcheck source=tests/vm/ressd.sh
. ./ressd.sh

take_arguments "$@"
reserved=16384
page=64
tuning=(on_full wait move_block_sectors 2048 "log_page_sectors" "$page")

# commits COUNT: so many random writes of 4 KiB, each with a flush.
commits() {
	fio --name=commits --filename=/dev/mapper/ressd --size=32M --rw=randwrite --bs=4k --direct=1 \
		--randrepeat=0 --randseed="$seed" --io_size="$(($1 * 4))k" --fdatasync=1 >/dev/null
}

# same_contents: what commits has written is there. They are written once more, elsewhere, to compare.
same_contents() {
	cmp /dev/mapper/ressd /dev/d1
}

written_sectors() {
	local words
	read -r -a words </sys/block/d0/stat
	echo "${words[6]}"
}

# sectors_of_commits COUNT: that d0 gets for them.
sectors_of_commits() {
	local before
	before=$(written_sectors)
	commits "$1"
	echo $(($(written_sectors) - before))
}

# Found in the guest when the figure stayed what it was: the record alone was sent, for its place and
# length had been taken before it became a page.
pages_reach_the_device() {
	local alone whole pages
	make_disk d0 96
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}"
	dmsetup message ressd 0 mover off
	alone=$(sectors_of_commits 64)
	check "off: no pages are counted" equals 0 status_value ressd whole_pages
	check "off: records go out alone" test "$alone" -lt $((64 * page / 2))
	dmsetup remove ressd
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}" log_rewrite on
	dmsetup message ressd 0 mover off
	whole=$(sectors_of_commits 64)
	pages=$(status_value ressd whole_pages)
	echo "# $alone sectors alone, $whole with $pages pages"
	# A segment's border leaves some out, as does the page in which the log was activated.
	check "on: most commits are pages" test "$pages" -ge 48
	check "on: and they are written" test "$whole" -ge $((pages * page))
	check "on: nothing else is" test "$whole" -le $((pages * page + 64 * 32))
	dmsetup remove ressd
	remove_disk d0
}

commits_survive_a_power_cut() {
	local option
	make_disk d0 96
	make_disk d1 88
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}" log_rewrite on
	for option in "log_page_sectors 32" "log_rewrite off" "log_rewrite on" "log_page_sectors 64"; do
		# shellcheck disable=SC2086
		check "set $option" dmsetup message ressd 0 set $option
		seed=$((seed + 1))
		commits 100
	done
	check "a copy of all that was flushed" copy_device /dev/mapper/ressd /dev/d1
	check "pages were written" at_least ressd whole_pages 50
	dmsetup remove ressd
	cut_power d0
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}" log_rewrite on
	check "all of it is there" same_contents
	check "it drains" timeout 300 dmsetup message ressd 0 drain
	check "and is there" same_contents
	dmsetup remove ressd
	remove_disk d0
	remove_disk d1
}

buffers_grow_by_a_reload() {
	make_disk d0 96
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}"
	expect_fail 'log_rewrite, or with it a larger log_page_sectors, takes a reload' \
		dmsetup message ressd 0 set log_rewrite on
	dmsetup remove ressd
	make_ressd ressd /dev/d0 "$reserved" "${tuning[@]}" log_rewrite on
	expect_fail 'there is a buffer for 64 sectors' \
		dmsetup message ressd 0 set log_page_sectors 128
	check "a smaller one is fine" dmsetup message ressd 0 set log_page_sectors 16
	check "the line makes the same device" grep -q "log_page_sectors 16 log_rewrite on" \
		<(dmsetup table ressd)
	dmsetup remove ressd
	remove_disk d0
}

load dm-ressd
scenario pages_reach_the_device
scenario commits_survive_a_power_cut
scenario buffers_grow_by_a_reload
finish
