# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# app-loads.sh: the application loads, in a guest. Of each load LOAD:
#   prepare_LOAD   what is there before: files on /mnt; not measured
#   app_LOAD       the program; p99 of its commits, where it has them, is left in $p99_us
# Sizes are those of apps.conf; the files that it needs are in $inputs.

# in_file NAME FUNCTION...: the output of a program, kept for a look at what failed.
in_file() {
	"${@:2}" >"$figures/$1.txt" 2>&1 || {
		tail -n 20 "$figures/$1.txt" >&2
		die "$2 failed"
	}
}

# percentile_us PERCENT < SECONDS A LINE
percentile_us() {
	sort -n | awk -v percent="$1" '{ value[NR] = $1 }
		END { n = int((NR * percent + 99) / 100); printf "%d\n", value[n] * 1e6 }'
}

# The database is made on the host, once for all sides.
copy_database() {
	cp "$inputs/database" /mnt/database
}

# sqlite_run SQL: Debian's command line program; .timer tells the time of each statement, to 1 ms.
sqlite_run() {
	local timed=$figures/sqlite.txt
	sqlite3 -bail /mnt/database <"$inputs/$1" >"$timed" 2>&1 || {
		tail -n 5 "$timed" >&2
		die "sqlite3 failed"
	}
	p99_us=$(sed -n 's/^Run Time: real \([0-9.]*\) .*/\1/p' "$timed" | percentile_us 99)
}

prepare_sqlite-wal() {
	copy_database
	echo "PRAGMA journal_mode = WAL;" | sqlite3 /mnt/database >/dev/null
}

app_sqlite-wal() {
	sqlite_run wal.sql
}

prepare_sqlite-delete() {
	copy_database
}

app_sqlite-delete() {
	sqlite_run delete.sql
}

# fio_file FIO...: one job on a file of the file system; its JSON.
fio_file() {
	(
		echo 100000000 >"/proc/$BASHPID/timerslack_ns"
		exec fio --name=job --randrepeat=0 --randseed="$SEED" --output-format=json "$@"
	)
}

prepare_writeback() {
	fio_file --filename=/mnt/file --rw=write --bs=1m --size="${WRITEBACK_MB}m" --end_fsync=1 \
		>/dev/null
}

app_writeback() {
	fio_file --filename=/mnt/file --rw=randwrite --bs=4k --size="${WRITEBACK_MB}m" \
		--io_size="$((WRITEBACK_WRITES * 4))k" --norandommap --end_fsync=1 \
		>"$figures/fio.json"
}

prepare_etcd() {
	:
}

app_etcd() {
	fio_file --filename=/mnt/wal --rw=write --ioengine=sync --fdatasync=1 \
		--size="${ETCD_KB}k" --bs="$ETCD_BYTES" >"$figures/fio.json"
	p99_us=$(($(sed -n '/"sync" : {/,$p' "$figures/fio.json" |
		sed -n 's/^ *"99.000000" : \([0-9]*\),*$/\1/p' | head -n 1) / 1000))
}

prepare_sqlite-batch() {
	copy_database
	echo "PRAGMA journal_mode = WAL;" | sqlite3 /mnt/database >/dev/null
}

app_sqlite-batch() {
	sqlite_run batch.sql
}

# scaled_cache SIZE: a page cache, and intervals in which it is written back, as small as the files are against
# those of RE.
scaled_cache() {
	postmark_memory "$1"
	scaled_intervals
	[ "$kind" != ext4 ] || mount -o remount,commit=1 /mnt
}

# postmark_app a|b|c: RE's configurations at 1/16.
postmark_app() {
	postmark_sizes "$1"
	scaled_cache "$CACHE_SIZE"
	postmark_run "$FILES" "$DIRECTORIES" "$TRANSACTIONS" "$figures/postmark.txt"
}

prepare_postmark-a() { :; }
prepare_postmark-b() { :; }
prepare_postmark-c() { :; }
app_postmark-a() { postmark_app a; }
app_postmark-b() { postmark_app b; }
app_postmark-c() { postmark_app c; }

# An empty system for dpkg.
prepare_dpkg() {
	mkdir -p /mnt/var/lib/dpkg/info /mnt/var/lib/dpkg/updates /mnt/var/log
	touch /mnt/var/lib/dpkg/status /mnt/var/lib/dpkg/available
}

dpkg_run() {
	dpkg --root=/mnt --log=/mnt/var/log/dpkg.log --force-script-chrootless --force-depends \
		--force-bad-path "$@"
}

# As apt has it: unpacked all, then configured all.
app_dpkg() {
	in_file dpkg dpkg_run --unpack "$inputs"/debs/*.deb
	in_file dpkg dpkg_run --configure --pending
}

# systemd-journald alone, its storage on the file system.
prepare_journald() {
	mkdir -p /mnt/journal
}

journald_start() {
	mkdir -p /run/systemd/journal /etc/systemd /var/log/journal
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	printf '%s\n' "[Journal]" Storage=persistent RateLimitBurst=0 ReadKMsg=no Audit=no \
		>/etc/systemd/journald.conf
	mount --bind /mnt/journal /var/log/journal
	[ -e /sys/fs/cgroup/cgroup.procs ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
	SYSTEMD_LOG_TARGET=console /usr/lib/systemd/systemd-journald >"$figures/journald.txt" 2>&1 &
	journald=$!
	until journalctl --flush >"$figures/journalctl.txt" 2>&1; do
		kill -0 "$journald" || die "systemd-journald ended: $(cat "$figures/journald.txt")"
		sleep 0.01
	done
}

journald_stop() {
	kill "$journald"
	wait "$journald" || true
	umount /var/log/journal
	rm -rf /run/systemd/journal
}

app_journald() {
	local lines round
	mapfile -t lines <"$inputs/messages"
	journald_start
	for ((round = 0; round < JOURNALD_SYNCS; round++)); do
		printf '%s\n' "${lines[@]:$((round * 5)):5}" |
			logger -u /run/systemd/journal/dev-log -p daemon.warning -t sensor
		journalctl --sync
	done
	[ "$(journalctl -q -t sensor -o cat | wc -l)" = "${#lines[@]}" ] ||
		die "the journal does not hold all messages"
	journald_stop
}

prepare_git() { :; }

# From a repository in memory, over git's own protocol; then back in history and forth again.
app_git() {
	local commit commits step
	commits=$(git -C "$inputs/repository.git" rev-list --first-parent main | wc -l)
	step=$((commits / (GIT_CHECKOUTS + 1)))
	in_file git git clone -q "file://$inputs/repository.git" /mnt/clone
	for ((commit = GIT_CHECKOUTS; commit >= 0; commit--)); do
		in_file git git -C /mnt/clone checkout -q "main~$((commit * step))"
	done
}

prepare_oltp() {
	cp -r "$inputs/mysql" /mnt/mysql
}

# mariadb_memory: InnoDB has its own defaults: a flush for each commit, the doublewrite buffer. MyISAM has a
# buffer for indexes, a 16th of what Debian gave it then; rows are in the page cache.
mariadb_memory() {
	case $OLTP_ENGINE in
	innodb) echo "--innodb-buffer-pool-size=${OLTP_CACHE_MB}M" ;;
	myisam) echo "--key-buffer-size=1M" ;;
	esac
}

# mariadb_cache: what is beside the page cache is not counted.
mariadb_cache() {
	local group=/sys/fs/cgroup/load cached
	cached=$(sed -n 's/^file //p' "$group/memory.stat")
	echo "$(($(cat "$group/memory.current") - cached + OLTP_CACHE_MB * 1048576))" >"$group/memory.max"
}

mariadb_start() {
	mkdir -p /run/mysqld
	[ "$OLTP_ENGINE" != myisam ] || scaled_cache max
	(
		[ "$OLTP_ENGINE" != myisam ] || echo "$BASHPID" >/sys/fs/cgroup/load/cgroup.procs
		exec mariadbd --no-defaults --user=root --datadir=/mnt/mysql \
			--socket=/run/mysqld/socket --pid-file=/run/mysqld/pid --skip-networking \
			--skip-grant-tables --lc-messages-dir=/usr/share/mysql --tmpdir=/tmp \
			--innodb-log-file-size="${OLTP_REDO_MB}M" "$(mariadb_memory)"
	) >"$figures/mariadbd.txt" 2>&1 &
	mariadbd=$!
	until sysbench_run --events=1 run >/dev/null 2>&1; do
		kill -0 "$mariadbd" || die "mariadbd ended: $(tail -n 5 "$figures/mariadbd.txt")"
		sleep 0.1
	done
	[ "$OLTP_ENGINE" != myisam ] || mariadb_cache
}

# Without transactions (MyISAM) two threads may insert the same row (1062).
sysbench_run() {
	sysbench oltp_read_write --db-driver=mysql --mysql-socket=/run/mysqld/socket \
		--mysql-user=root --mysql-db=sbtest --tables=1 --table-size="$OLTP_ROWS" \
		--rand-seed="$SEED" --percentile=99 --time=0 \
		--mysql-ignore-errors=1213,1020,1205,1062 "$@"
}

# The server's start and its shutdown count: it writes back then what it holds.
app_oltp() {
	local report=$figures/sysbench.txt
	mariadb_start
	sysbench_run --threads="$OLTP_THREADS" --events="$OLTP_EVENTS" run >"$report" 2>&1 || {
		tail -n 20 "$report" >&2
		die "sysbench failed"
	}
	figure "$side.tps" "$(sed -n 's/^ *transactions: .*(\([0-9.]*\) per sec.*/\1/p' "$report")"
	p99_us=$(sed -n 's/^ *99th percentile: *\([0-9.]*\)$/\1/p' "$report" |
		awk '{ printf "%d\n", $1 * 1000 }')
	kill "$mariadbd"
	wait "$mariadbd" || die "mariadbd did not end well"
}
