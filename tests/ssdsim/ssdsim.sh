#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# ssdsim.sh: make, remove, read and torment emulated SSDs. Needs the module loaded and a
# POSIX shell; runs in an initramfs with busybox.
set -eu

control=/sys/kernel/ssdsim

usage() {
	cat >&2 <<-'END'
		usage: ssdsim.sh create NAME PROFILE [key=value...]   make /dev/NAME
		       ssdsim.sh remove NAME
		       ssdsim.sh stats NAME [KEY]                     all counters or one value
		       ssdsim.sh reset NAME                           counters start from zero
		       ssdsim.sh profile NAME
		       ssdsim.sh cut NAME now|writes=N|bytes=N|flushes=N|discards=N|commands=N|us=N
		                 [range=FIRST+SECTORS] [seed=N]
		                 [fate=mix|lost|kept|writes|sectors|order]
		                                                      cut the power then; N may be
		                                                      LOW-HIGH, drawn by the seed
		       ssdsim.sh cut NAME cancel                      forget the waiting cut
		       ssdsim.sh power NAME [on|off]                  switch, or show the state
		       ssdsim.sh fault NAME OPERATION[,OPERATION...] [error] [slow_us=N]
		                 [range=FIRST+SECTORS] [after=N] [every=N] [times=N] [ppm=N]
		                 [seed=N] [effect=none|part|all]      OPERATION: read, write, flush,
		                                                      discard, any
		       ssdsim.sh faults NAME [clear|remove NUMBER]    list or remove them
		NAME begins with "ssd". PROFILE is a file such as profiles/samsung.conf; later
		keys override it, for example capacity_mb=3816.
	END
	exit 2
}

fail() {
	echo "ssdsim.sh: $*" >&2
	exit 1
}

# write_file FILE TEXT: one write; on failure the module's own sentence.
write_file() {
	if ! (printf '%s\n' "$2" >"$1") 2>/dev/null; then
		fail "$(cat "$control/last_error")"
	fi
}

control_write() {
	[ -d "$control" ] || fail "the module is not loaded; insmod ssdsim.ko first"
	write_file "$control/$1" "$2"
}

disk_file() {
	[ -e "/sys/block/$1/ssdsim/$2" ] || fail "there is no emulated drive '$1'"
	echo "/sys/block/$1/ssdsim/$2"
}

create() {
	[ $# -ge 2 ] || usage
	name=$1
	profile=$2
	shift 2
	[ -r "$profile" ] || fail "cannot read profile $profile"
	# One sysfs write takes a page: comments and line ends go.
	words=$(sed 's/#.*//' "$profile" | tr -s '\n\t ' '   ')
	control_write add "$words $* name=$name"
}

[ $# -ge 2 ] || usage
command=$1
shift
case $command in
create)
	create "$@"
	;;
remove)
	control_write remove "$1"
	;;
stats)
	file=$(disk_file "$1" stats)
	if [ $# -ge 2 ]; then
		sed -n "s/^$2 //p" "$file"
	else
		cat "$file"
	fi
	;;
reset)
	file=$(disk_file "$1" reset)
	echo 1 >"$file"
	;;
profile)
	file=$(disk_file "$1" profile)
	cat "$file"
	;;
cut)
	[ $# -ge 2 ] || usage
	file=$(disk_file "$1" power)
	shift
	if [ "$1" = cancel ]; then
		write_file "$file" cancel
	else
		write_file "$file" "cut $*"
	fi
	;;
power)
	file=$(disk_file "$1" power)
	case ${2-show} in
	on | off) write_file "$file" "$2" ;;
	show) cat "$file" ;;
	*) usage ;;
	esac
	;;
fault)
	[ $# -ge 2 ] || usage
	file=$(disk_file "$1" faults)
	shift
	write_file "$file" "add $*"
	;;
faults)
	file=$(disk_file "$1" faults)
	shift
	if [ $# -eq 0 ]; then
		cat "$file"
	else
		write_file "$file" "$*"
	fi
	;;
*)
	usage
	;;
esac
