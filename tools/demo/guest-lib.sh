# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# guest-lib.sh: what the measuring scripts in a guest share: an emulated drive, fio, and figures.
#
# Figures are lines "key value" in $figures/figures; the host reads them. "@step NAME" on the output
# tells the host what begins; lines that begin with "| " are for the user.

figures=/tmp/figures
drive=ssd0
disk=/dev/$drive
mkdir -p "$figures"

# step NAME: what begins now.
step() {
	echo "@step $1"
}

# say TEXT...: a line for the user.
say() {
	echo "| $*"
}

die() {
	echo "! $*" >&2
	exit 1
}

# figure KEY VALUE: note a figure.
figure() {
	[ -n "$2" ] || die "there is no value for the figure $1"
	echo "$1 $2" >>"$figures/figures"
}

# uptime_ms: virtual time in ms, from any start. (/proc/uptime counts hundredths of a second.)
uptime_ms() {
	local now=$EPOCHREALTIME
	echo "$((${now/./} / 1000))"
}

# make_ext4 WORDS [ARGUMENT...]: mkfs.ext4 with these extended options. ext4 puts folders where a hash of their names says
# that begins with a random number: the same one on each side, another one with another $seed. Inode tables are written at
# once, or a kernel thread would do it while the load runs.
make_ext4() {
	local id
	id=$(printf '00000000-0000-4000-8000-%012d' "${seed:-0}")
	mkfs.ext4 -q -b 4096 -U "$id" -E "hash_seed=$id,lazy_itable_init=0,lazy_journal_init=0$1" "${@:2}"
}

# drive_stat KEY: a counter of the emulated drive.
drive_stat() {
	sh ./ssdsim.sh stats "$drive" "$1"
}

# status_word KEY: a counter of the target.
status_word() {
	dmsetup status ressd | tr ' ' '\n' | sed -n "/^$1\$/{n;p;q}"
}

# make_drive MIB: a fresh, used (prefilled) drive.
make_drive() {
	sh ./ssdsim.sh create "$drive" ./samsung.conf "capacity_mb=$1"
	[ -b "$disk" ] || die "the emulated drive $disk did not appear"
}

# fio_at TARGET SPAN ARGUMENT...: fio's JSON of one job on a raw device, one request at a time
# unless the arguments say otherwise, uncached; a write job ends with a sync, which counts.
# Positions are drawn with repetition (norandommap), as a user's are. fio takes --randseed only with
# randrepeat=0; otherwise every job would draw the same positions.
# fio's first process looks every 10 ms whether the job has ended; beside a drive that takes 200 ms for
# a write that is nearly all the work of the emulation. With this timer slack it looks when the guest
# is awake anyway, and after 0.1 s at the latest. Jobs that keep a rate sleep themselves: not theirs.
fio_at() {
	local target=$1 span=$2
	shift 2
	(
		[[ " $* " == *" --rate="* ]] || echo 100000000 >"/proc/$BASHPID/timerslack_ns"
		exec fio --name=job --filename="$target" --size="$span" --direct=1 \
			--ioengine=psync --end_fsync=1 --norandommap --randrepeat=0 \
			--output-format=json "$@"
	)
}

# fio_value DIRECTION KEY: a number of fio's JSON, by the object (read, write) that holds it.
fio_value() {
	sed -n "/\"$1\" : {/,/^      }/s/^ *\"$2\" : \([0-9.]*\),*\$/\1/p" | head -n 1
}

# fio_latency OBJECT WHICH: the mean or max of lat_ns of fio's JSON, of read, write or sync.
fio_latency() {
	sed -n "/\"$1\" : {/,/^      }/p" |
		sed -n "/\"lat_ns\" : {/,/}/s/^ *\"$2\" : \([0-9.]*\),\$/\1/p"
}

# measure KEY TARGET SPAN DIRECTION ARGUMENT...: run fio; figures KEY.bytes, KEY.ms, KEY.max_ns (the
# longest wait: of a transfer, or with --fdatasync of a sync) and KEY.erases (NAND blocks erased
# meanwhile).
measure() {
	local key=$1 target=$2 span=$3 direction=$4 before output waits
	shift 4
	waits=$direction
	[[ " $* " != *" --fdatasync="* ]] || waits=sync
	before=$(drive_stat nand_erases)
	output=$(fio_at "$target" "$span" "$@") || die "fio failed on $target: $output"
	figure "$key.bytes" "$(fio_value "$direction" io_bytes <<<"$output")"
	figure "$key.ms" "$(fio_value "$direction" runtime <<<"$output")"
	figure "$key.max_ns" "$(fio_latency "$waits" max <<<"$output")"
	figure "$key.erases" "$(($(drive_stat nand_erases) - before))"
}

# timed KEY COMMAND...: run it; figures KEY.ms and KEY.erases.
timed() {
	local key=$1 before start
	shift
	before=$(drive_stat nand_erases)
	start=$(uptime_ms)
	"$@"
	figure "$key.ms" "$(($(uptime_ms) - start))"
	figure "$key.erases" "$(($(drive_stat nand_erases) - before))"
}

# settle: wait until nothing works in the background: the mover, or the drive's own buffer.
settle() {
	local before now=-1
	while before=$now; do
		sleep 2
		now=$(drive_stat host_writes)
		[ "$now" != "$before" ] || return 0
	done
}
