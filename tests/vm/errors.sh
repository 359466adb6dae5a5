# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# errors.sh: an emulated drive with injected errors under a ressd device. Use:
#   . ./lib.sh; . ./ressd.sh; . ./errors.sh
#
# The drive: 48 MiB normal area, then 8 MiB reserved area in segments of 128 KiB (32 blocks).

reserved=16384
segment=256
seed=${seed:-1} # of the oracle; the scripts set it
mark=          # in the kernel log
drive=/dev/ssd0 # under ressd; a scenario may have put something between

ssd() {
	sh ./ssdsim.sh "$@"
}

# make_drive [KEY=VALUE...]: /dev/ssd0, blank.
make_drive() {
	load ssdsim
	ssd create ssd0 intel.conf capacity_mb=64 track_volatile=1 discard=1 prefill=0 "$@"
	normal=$(($(sectors_of /dev/ssd0) - reserved))
	# shellcheck disable=SC2034 # for the scripts
	log_range="range=$normal+$reserved"
}

# drive_faults WORD...: what `ssdsim.sh fault` writes, without the processes of a shell of its own.
drive_faults() {
	echo "$*" >/sys/block/ssd0/ssdsim/faults
}

# fault OPERATION [WORD...]: see docs/ssdsim.md; the rules before it are gone.
fault() {
	drive_faults clear
	drive_faults add "$@"
}

heal() {
	drive_faults clear
}

# fault_count seen|hit: of the only rule.
fault_count() {
	[[ $(</sys/block/ssd0/ssdsim/faults) =~ [\(,\ ]$1\ ([0-9]*) ]] && echo "${BASH_REMATCH[1]}"
}

# lose_cache: the drive loses what was not flushed, as it may when it resets itself, and goes on as if
# nothing had happened. Nothing helps a ressd device that has not seen a flush fail: the next one would
# succeed, and the log then forget what was moved since the last one and is gone. So there must be
# none, or one in state ro or Fail.
lose_cache() {
	heal
	case $(status_state ressd 2>/dev/null) in
	"" | ro | Fail) ;;
	*)
		fail "lose_cache" "no flush has failed, so ressd would take what is lost for durable"
		return 1
		;;
	esac
	ssd cut ssd0 now fate=lost && ssd power ssd0 on
}

# remove_ressd: the ressd device, if there is one.
remove_ressd() {
	! dmsetup info ressd >/dev/null 2>&1 || dmsetup remove ressd
}

# fresh [KEY VALUE...]: a new ressd device on the blank drive. Only a flush, or a full record, makes
# it write.
# shellcheck disable=SC2120
fresh() {
	heal
	remove_ressd
	blkdiscard -f /dev/ssd0 2>/dev/null
	rm -f /tmp/journal
	# Mostly without covers, so that it is known what the log writes, and where.
	make_ressd ressd "$drive" "$reserved" segment_sectors "$segment" cover "${cover:-off}" \
		commit_interval_ms 60000 "$@"
}

# reopen [KEY VALUE...]: removed and created again, with what the drive has.
# shellcheck disable=SC2120
reopen() {
	dmsetup remove ressd && make_ressd ressd "$drive" "$reserved" "$@"
}

# reopen_after_cut [KEY VALUE...]: the power fails, and what was not flushed is lost. Nothing that ressd
# does afterwards reaches the drive: the power is back when the device has been removed.
# shellcheck disable=SC2120
reopen_after_cut() {
	heal
	ssd cut ssd0 now fate=lost && dmsetup remove ressd && ssd power ssd0 on &&
		make_ressd ressd "$drive" "$reserved" "$@"
}

# load_fails: the oracle's load ends with the error that was injected, and with no difference.
load_fails() {
	local status=0
	oracle run --may-fail --operations 3000 --threads 3 --flush-percent 8 "$@" || status=$?
	[ "$status" -eq 3 ] || {
		echo "the load ended with $status, not by an error"
		return 1
	}
}

# random_fault: one kind of error, some time from now.
random_fault() {
	local kinds=(
		"write after=$((RANDOM % 400)) times=$((RANDOM % 8 + 1)) effect=part"
		"write $log_range after=$((RANDOM % 60)) effect=$([ $((RANDOM % 2)) = 0 ] && echo none || echo all)"
		"flush after=$((RANDOM % 25)) times=1"
		"flush after=$((RANDOM % 25)) times=1 effect=all"
		"read $log_range after=$((RANDOM % 60)) times=$((RANDOM % 40 + 1))"
		"any ppm=$((RANDOM % 6000 + 500)) seed=$RANDOM effect=part"
	)
	local kind=${kinds[RANDOM % ${#kinds[@]}]}
	read -r -a words <<<"$kind"
	fault "${words[@]}"
	echo "# fault: $kind"
}

# back_in_service STATE...: in one of them by a recover, or if the drive has lost records by a new
# activation.
back_in_service() {
	local output
	output=$(ressdctl recover ressd 2>&1) &&
		[[ " $* " == *" $(status_state ressd) "* ]] && return
	[ "$(status_state ressd)" = Fail ] || [ "$(status_state ressd)" = damaged ] || {
		echo "recover: $output; state $(status_state ressd)"
		return 1
	}
	[ "$(status_state ressd)" = damaged ] || reopen
}

# letters LETTER BYTES: sets text to so many of them, a power of two.
letters() {
	text=$1
	while [ ${#text} -lt "$2" ]; do
		text+=$text
	done
}

# put BLOCK LETTER [DD_WORD...]: write a block of 4 KiB that holds one letter, past the page cache.
put() {
	local text
	letters "$2" 4096
	dd of=/dev/mapper/ressd bs=4096 seek="$1" count=1 oflag=direct iflag=fullblock conv=notrunc \
		status=none "${@:3}" <<<"$text"
}

# put_direct BLOCK LETTER: 128 KiB in one write, which is not a small one.
put_direct() {
	local text
	letters "$2" 131072
	dd of=/dev/mapper/ressd bs=128k seek=$(($1 * 4096)) count=1 oflag=direct,seek_bytes \
		iflag=fullblock conv=notrunc status=none <<<"$text"
}

# holds BLOCK LETTER [DEVICE]: the block of 4 KiB holds that letter.
holds() {
	local text got
	letters "$2" 4096
	{ got=$(dd if="${3:-/dev/mapper/ressd}" bs=4096 skip="$1" count=1 iflag=direct \
		status=none 2>&3); } 3>&2 2>/dev/null # Bash says that it drops zero bytes.
	[ "$got" = "$text" ] || {
		echo "block $1 holds ${#got} bytes but zeroes, first '${got:0:16}', not $2 only"
		return 1
	}
}

# commit: a flush. It fails when the device says so.
commit() {
	dd if=/dev/null of=/dev/mapper/ressd conv=fsync,notrunc status=none
}

# push_out: what was written before is on the drive only, no more in a buffer; and durable.
push_out() {
	local i
	for i in 1 2 3; do
		put $((11000 + i * 7)) p && commit || return 1
	done
}

event_number() {
	dmsetup info -c --noheadings -o events ressd
}

# event_follows COMMAND...: the command raises a device-mapper event. (It may fail.)
event_follows() {
	local number
	number=$(event_number)
	"$@" || true
	timeout 300 dmsetup wait ressd "$number" >/dev/null
}

state_is() {
	equals "$1" status_state ressd
}

# log_says REGEX: the kernel has said so since dmesg_mark.
log_says() {
	local said
	said=$(dmesg_since "$mark")
	has_line "$1" "$said" || {
		echo "the kernel log has no line that matches '$1':"
		tail -n 20 <<<"$said"
		return 1
	}
}

# The first record of a new log stands at the start of segment 1: header, then its blocks in the
# order in which they were written.
first_data() {
	echo $((normal + segment + 8 * (1 + $1)))
}

# a_log_of_ten: blocks 100, 103 ... 127 are in the log's first record, in that order,
# and in no buffer.
a_log_of_ten() {
	local i
	fresh
	dmsetup message ressd 0 mover off
	for ((i = 0; i < 10; i++)); do
		put $((100 + 3 * i)) a || return
	done
	commit && push_out
}
