# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# wanted.sh: sourced by the scripts of tools/ that take PATTERN arguments, in the array patterns.
patterns=()

# wanted NAME: it holds one of the patterns, or there are none.
wanted() {
	local pattern
	[ ${#patterns[@]} -gt 0 ] || return 0
	for pattern in "${patterns[@]}"; do
		[[ $1 != *"$pattern"* ]] || return 0
	done
	return 1
}
