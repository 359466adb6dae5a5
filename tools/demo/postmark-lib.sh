# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# postmark-lib.sh: Postmark on ext4, in a guest, as RE 4.3 has it; after guest-lib.sh.

# postmark_filesystem TARGET SIZE: mounted on /mnt. mke2fs takes 1 KiB blocks for small file systems,
# but large drives have 4 KiB ones.
postmark_filesystem() {
	make_ext4 "" "$1" "$2"
	mount "$1" /mnt
}

# postmark_memory SIZE: a group whose page cache is as small against the files as in RE 4.1 (384 MB for
# 0.8 to 2.4 GB). Once is enough.
postmark_memory() {
	[ ! -d /sys/fs/cgroup/load ] || return 0
	mkdir -p /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/load
	echo "$1" >/sys/fs/cgroup/load/memory.max
}

# postmark_commands FILES DIRECTORIES TRANSACTIONS: Postmark's input; file sizes as in RE 4.3.
postmark_commands() {
	printf 'set %s\n' "location /mnt" "number $1" "subdirectories $2" "transactions $3" \
		"size 500 20000" "seed 42"
	printf 'run\nquit\n'
}

# postmark_run FILES DIRECTORIES TRANSACTIONS REPORT: Postmark and a sync at its end; what it says goes
# into the file REPORT.
postmark_run() {
	postmark_commands "$1" "$2" "$3" >/tmp/postmark.commands
	(
		echo "$BASHPID" >/sys/fs/cgroup/load/cgroup.procs
		exec postmark /tmp/postmark.commands >"$4"
	)
	grep -q '^Time:' "$4" || die "postmark did not come to its end"
	sync
}
