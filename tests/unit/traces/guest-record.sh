#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest-record.sh: records in a benchmark guest what file systems and a database write, for
# test-shares.c; see record.sh. A trace has lines "region NAME FIRST LAST" (sectors of a journal, a
# file), then one line "SECTOR SECTORS" for each write, in the order in which a target below the file
# system gets them.
set -euo pipefail
# shellcheck source=/dev/null
. ./lib.sh

disk=/dev/ram0
out=/tmp/traces
files=240

die() {
	echo "! $*" >&2
	exit 1
}

# record NAME COMMAND...: the writes to the disk while it runs, unmounting included.
record() {
	local name=$1 tracer
	shift
	blktrace -d "$disk" -a write -a queue -b 1024 -n 8 -D /tmp -o blk >/tmp/blktrace.txt 2>&1 &
	tracer=$!
	sleep 1
	"$@"
	umount /mnt
	kill -INT "$tracer"
	wait "$tracer"
	grep -q 'dropped 0)' /tmp/blktrace.txt || die "blktrace has lost events"
	"regions_$name" >"$out/$name"
	# Neither flushes, which have no sectors, nor discards.
	blkparse -q -i blk -D /tmp -a queue -f '%a %d %S %n\n' |
		awk '$1 == "Q" && $2 ~ /W/ && $2 !~ /D/ && $4 > 0 { print $3, $4 }' >>"$out/$name"
	rm -f /tmp/blk.blktrace.*
	echo "$name: $(wc -l <"$out/$name") lines"
}

# A mail server: files of 1 to 24 KB, each made durable, in 12 folders; one in three goes again.
mail() {
	local i
	mkdir /mnt/folder{0..11}
	for ((i = 0; i < files; i++)); do
		dd if=/dev/zero of="/mnt/folder$((i * 7 % 12))/mail$i" bs="$((1024 + i * 7919 % 23552))" \
			count=1 conv=fsync status=none
		[ $((i % 3)) != 2 ] || rm "/mnt/folder$((i * 7 % 12))/mail$i"
	done
}

# inode_region NAME INODE: the sectors of a file of ext4 with blocks of 4 KiB. A line of debugfs has
# level, entry, logical and physical range: "0/ 0   1/  1     0 -  4095 65536 - 69631   4096".
inode_region() {
	debugfs -R "dump_extents -l $2" "$disk" 2>/dev/null | tr / ' ' |
		awk -v name="$1" '$6 == "-" && $9 == "-" {
			print "region", name, $8 * 8, $10 * 8 + 7 }'
}

regions_ext4() {
	inode_region journal "<8>"
}

regions_xfs() {
	local start blocks shift ag
	read -r start blocks ag shift < <(xfs_db -r -c "sb 0" -c "p logstart logblocks agblocks agblklog" \
		"$disk" | sed 's/.*= //' | paste -sd ' ')
	start=$(((start >> shift) * ag + (start & ((1 << shift) - 1))))
	echo "region journal $((start * 8)) $(((start + blocks) * 8 - 1))"
}

regions_wal() {
	regions_ext4
	inode_region log /kept
	inode_region pages /database
}

# 300 transactions, each changes two rows of a table of 2,000 pages and waits until that is durable.
transactions() {
	{
		echo "PRAGMA wal_autocheckpoint = 200;"
		awk 'BEGIN { for (n = 1; n <= 300; n++) {
			printf "BEGIN; UPDATE t SET n = n + 1 WHERE id = %d;", n * 7919 % 6000
			printf "UPDATE t SET n = n - 1 WHERE id = %d; COMMIT;\n", n * 104729 % 6000
		} }'
		# Ended, the program would put the rest into the database and remove the log.
		echo ".shell cp -l /mnt/database-wal /mnt/kept"
	} | sqlite3 /mnt/database >/dev/null
}

make_database() {
	printf '%s\n' "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" \
		"CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, filler BLOB);" \
		"WITH RECURSIVE i(x) AS (VALUES(0) UNION ALL SELECT x + 1 FROM i WHERE x < 5999)" \
		"INSERT INTO t SELECT x, 0, zeroblob(1200) FROM i;" | sqlite3 /mnt/database >/dev/null
	sync
}

modprobe brd rd_nr=1 rd_size=524288
mkdir -p "$out"
mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$disk"
mount "$disk" /mnt
record ext4 mail
mkfs.xfs -q -f "$disk"
mount "$disk" /mnt
record xfs mail
mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$disk"
mount "$disk" /mnt
make_database
record wal transactions
