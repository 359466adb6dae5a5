# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# ressd.sh: disks and ressd devices for the functional tests. Use:  . ./lib.sh; . ./ressd.sh

seed= # of what is random in a script
only= # the part of it that alone is wanted

# take_arguments [SEED [FUNCTION]]: of a script.
take_arguments() {
	seed=${1:-$((RANDOM * 32768 + RANDOM))}
	only=${2:-}
	echo "# seed $seed"
}

# scenario FUNCTION [ARGUMENT...]: part of a script; all but one of them are left out if $only is set.
scenario() {
	[ -n "$only" ] && [ "$only" != "$1" ] && return
	"$@"
}

# make_disk NAME MIB [ATTRIBUTE=VALUE...]: a disk /dev/NAME in memory with discard and a volatile
# write cache: what was not flushed is gone after cut_power. Attributes are those of null_blk in
# configfs, for example completion_nsec=200000 irqmode=2 for a disk that takes its time.
make_disk() {
	local name=$1 mib=$2 folder=/sys/kernel/config/nullb/$1 attribute
	shift 2
	if ! is_loaded null_blk; then
		modprobe null_blk nr_devices=0
		grep -q " configfs " /proc/mounts || mount -t configfs none /sys/kernel/config
	fi
	mkdir "$folder"
	for attribute in size="$mib" memory_backed=1 blocksize=512 discard=1 cache_size=16 \
		submit_queues=2 "$@"; do
		echo "${attribute#*=}" >"$folder/${attribute%%=*}"
	done
	echo 1 >"$folder/power"
}

remove_disk() {
	echo 0 >"/sys/kernel/config/nullb/$1/power"
	rmdir "/sys/kernel/config/nullb/$1"
}

# cut_power NAME: the disk loses what is in its cache, then is there again. Nothing may use it.
cut_power() {
	echo 0 >"/sys/kernel/config/nullb/$1/power"
	echo 1 >"/sys/kernel/config/nullb/$1/power"
}

# keep_shaping: a device of its own that shapes its requests, so that the kernel's code is patched for
# that (ressd_shape_key) once, not with each reload under load: in one of some hundred runs QEMU 7.2
# had a processor execute for ever what was patched at that moment. 35-normal-path has it patched.
keep_shaping() {
	make_disk shaped 16
	dmsetup create shaped --table "$(table_line /dev/shaped 8192 split_write_sectors 8)"
}

# fail_all_io NAME: from now on every request to the linear device NAME fails, flushes as well. (The
# error target, which `dmsetup wipe_table` puts there, lets a flush succeed that flushes nothing.)
fail_all_io() {
	local line
	line=$(dmsetup table "$1" | sed -n 's/ linear \([^ ]* [^ ]*\)$/ flakey \1 0 1000000/p')
	[ -n "$line" ] || {
		echo "$1 is not a linear device"
		return 1
	}
	is_loaded dm_flakey || modprobe dm-flakey
	dmsetup load "$1" --table "$line" && dmsetup suspend --noflush --nolockfs "$1" &&
		dmsetup resume "$1"
}

# make_gate NAME DEVICE FIRST SECTORS: these sectors of the device, as a device of their own. A write
# to it waits until open_gate NAME, and takes effect only then; reads and flushes pass.
make_gate() {
	is_loaded dm_delay || modprobe dm-delay
	dmsetup create "$1" --table "0 $4 delay $2 $3 0 $2 $3 100000000 $2 $3 0"
}

# close_gate NAME reads|writes|flushes: from now on these wait at the linear device NAME until open_gate NAME; the
# others pass.
close_gate() {
	local words device
	local -A ms=([reads]=0 [writes]=0 [flushes]=0)
	ms[$2]=100000000
	is_loaded dm_delay || modprobe dm-delay
	read -r -a words < <(dmsetup table "$1")
	device="${words[3]} ${words[4]}"
	dmsetup load "$1" --table "0 ${words[1]} delay $device ${ms[reads]} $device ${ms[writes]} $device ${ms[flushes]}" &&
		dmsetup resume "$1"
}

# status_word NAME NUMBER: of the status line, the first is 1. A process costs an emulated machine
# milliseconds, so these do without cut and sed.
status_word() {
	local line words
	line=$(dmsetup status "$1") || return
	# shellcheck disable=SC2206 # words
	words=($line)
	echo "${words[$2 - 1]:-}"
}

# reads_at_gate NAME, writes_at_gate NAME, flushes_at_gate NAME: how many wait there.
reads_at_gate() {
	status_word "$1" 4
}

writes_at_gate() {
	status_word "$1" 5
}

flushes_at_gate() {
	status_word "$1" 6
}

# open_gate NAME: those that wait go on in their order, and all that come later.
open_gate() {
	local words
	read -r -a words < <(dmsetup table "$1")
	dmsetup load "$1" --table "0 ${words[1]} linear ${words[3]} ${words[4]}" && dmsetup resume "$1"
}

sectors_of() {
	local sectors
	if read -r sectors 2>/dev/null <"/sys/class/block/${1#/dev/}/size"; then
		echo "$sectors"
	else
		blockdev --getsz "$1" # /dev/mapper/NAME
	fi
}

# table_line DEVICE RESERVED_SECTORS [KEY VALUE...]: a table line; the reserved area is at the end.
table_line() {
	local device=$1 reserved=$2 normal
	shift 2
	normal=$(($(sectors_of "$device") - reserved))
	echo "0 $normal ressd $device 0 $device $normal $reserved $# $*"
}

# make_ressd NAME DEVICE RESERVED_SECTORS [KEY VALUE...]
make_ressd() {
	local name=$1
	shift
	dmsetup create "$name" --table "$(table_line "$@")"
}

# status_value NAME KEY: a counter of the status line.
status_value() {
	local line
	line=$(dmsetup status "$1") || return
	[[ ! $line =~ \ $2\ ([^ ]+) ]] || echo "${BASH_REMATCH[1]}"
}

# status_state NAME: rw, bypass or Fail.
status_state() {
	status_word "$1" 6
}

# status_dirty NAME: blocks that are in the log and not at home.
status_dirty() {
	local used
	used=$(status_word "$1" 5) || return
	echo "${used%/*}"
}

# at_least NAME KEY MINIMUM: a counter has reached it.
at_least() {
	local value
	value=$(status_value "$1" "$2")
	if [ "${value:-0}" -lt "$3" ]; then
		echo "$2 is '$value', expected at least $3: $(dmsetup status "$1")"
		return 1
	fi
}

# at_most NUMBER LIMIT
at_most() {
	if [ "$1" -gt "$2" ]; then
		echo "$1 is more than $2: $(dmsetup status)"
		return 1
	fi
}

fails() {
	if "$@"; then
		echo "'$*' succeeded"
		return 1
	fi
}

# pause SECONDS: sleep without a process.
exec {never}<> <(:)
pause() {
	read -r -t "$1" -u "$never" || true
}

# oracle COMMAND [OPTION...]: on the ressd device, with a journal in RAM.
oracle() {
	ressd-oracle "$1" --journal /tmp/journal --seed "$seed" "${@:2}" /dev/mapper/ressd
}

# load_begins PID: ressd-oracle, whose output is /tmp/load-output, has compared everything and begins to
# write. That file was empty when it was started.
load_begins() {
	local said
	while :; do
		mapfile -t said </tmp/load-output
		[[ ${said[*]} != *'load of epoch'* ]] || return 0
		kill -0 "$1" 2>/dev/null || return 1
		pause 0.02
	done
}

# wait_until COMMAND...: it succeeds at last; looks a thousand times.
wait_until() {
	local i
	for ((i = 0; i < 1000; i++)); do
		"$@" >/dev/null 2>&1 && return
		pause 0.05
	done
	echo "'$*' does not come true: $(dmsetup status)"
	return 1
}

# sleeps_in_kernel PID: it waits for an I/O.
sleeps_in_kernel() {
	local line
	read -r line <"/proc/$1/stat" && [[ $line == *") D "* ]]
}

# ended PID: it ends by itself, and not because we lost patience.
ended() {
	wait_until fails kill -0 "$1"
}

# copy_device DEVICE FILE [SECTORS]: its contents, or those of its first sectors.
copy_device() {
	local sectors=${3:-$(sectors_of "$1")}
	dd if="$1" of="$2" bs=1M count=$((sectors * 512)) iflag=count_bytes status=none
}

# same_as FILE DEVICE: the device begins with exactly what the file holds.
same_as() {
	cmp -n "$(stat -c %s "$1")" "$1" "$2"
}

# forget_cache: what is read next comes from the devices.
forget_cache() {
	echo 3 >/proc/sys/vm/drop_caches
}

# begin_load COMMAND...: the oracle in the background, again and again until end_load: how many operations
# pass meanwhile depends on the machine. Ends when it has begun.
begin_load() {
	rm -f /tmp/load-ends
	: >/tmp/load-output
	while [ ! -e /tmp/load-ends ]; do
		"$@" || exit
	done >>/tmp/load-output 2>&1 &
	load=$!
	load_begins "$load"
}

# end_load NAME: it has not failed so far, nor does it until it comes to its end.
end_load() {
	check "$1: the load has run all the while" kill -0 "$load"
	touch /tmp/load-ends
	ends_well "$1: the load finds no difference" "$load"
	sed 's/^/# /' /tmp/load-output
}
