# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# typing.sh: sourced in the machines that the tests of tests/boot have made: types commands. The
# caller has set $test, the word that its verdicts begin with, and $device, the card's partition.
export HOME=/root TERM=linux PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
output=/run/typed

# report NAME WHY: passed if there is no reason why not.
report() {
	if [ -z "$2" ]; then
		echo "ok - ${test:?}: $1"
		return
	fi
	echo "not ok - $test: $1: $2"
	[ ! -s "$output" ] || tail -n 30 "$output" | sed 's/^/# /'
}

# at_terminal LINE: who asks for a yes gets it.
at_terminal() {
	echo yes | script -qefc "$1" /dev/null 2>&1 | tr -d '\r' >>"$output"
	return "${PIPESTATUS[1]}"
}

uuid_of_log() {
	ressdctl list | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | head -n 1
}

# type_line LINE: with this machine's names.
type_line() {
	local line=$1
	: >"$output"
	line=${line//\/dev\/sdX[12]/$device}
	line=${line//UUID=.../UUID=$(uuid_of_log)}
	at_terminal "$line"
}

# adopt LINE: the file system reaches to the end: what is printed has to be typed first.
adopt() {
	local said
	type_line "$1" && return
	said=$(tr '\n' ' ' <"$output" | sed -n 's/.*make it smaller with: \(.*\); then adopt again.*/\1/p')
	report "adopt says how to make the file system smaller" "$([ -n "$said" ] || echo no command)"
	at_terminal "$said" || { report "$said" "it failed"; return 1; }
	type_line "$1"
}

# type_and_report LINE
type_and_report() {
	local status
	case $1 in
	ressdctl\ adopt*) adopt "$1" ;;
	*) type_line "$1" ;;
	esac
	status=$?
	# The probe's exit code is its verdict.
	case $1 in
	ressd-probe*) [ "$status" -ge 16 ] || status=0 ;;
	esac
	report "$1" "$([ "$status" = 0 ] || echo "exit code $status")"
}
