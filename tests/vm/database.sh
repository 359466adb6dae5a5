# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# database.sh: a bank in SQLite whose commits are acknowledged outside of it, for tests that cut the
# power. Use:  . ./database.sh
#
# Transaction N moves money between two accounts, adds row N to a ledger and removes an old one. So
# the contents after N transactions are known, whoever made them: a reference in RAM makes them too,
# and after a cut the database must be equal to it at the last acknowledged transaction, or at the one
# that was being committed.

database_acknowledged=/tmp/database-acknowledged
database_reference=/tmp/database-reference

# Each with the setting that makes a commit durable before it returns; see SQLite's
# "PRAGMA synchronous" on why DELETE needs EXTRA.
database_modes=("WAL FULL" "TRUNCATE FULL" "DELETE EXTRA" "PERSIST FULL")

# database_transactions FIRST LAST [ACKNOWLEDGE]: the SQL of these transactions; with ACKNOWLEDGE each
# commit is followed by a note in that file.
database_transactions() {
	awk -v first="$1" -v last="$2" -v file="${3:-}" 'BEGIN {
		for (n = first; n <= last; n++) {
			print "BEGIN IMMEDIATE;"
			printf "INSERT INTO ledger VALUES(%d, replace(hex(zeroblob(%d)), \"00\"," \
				" hex(%d)));\n", n, 20 + n * 7919 % 1500, n
			printf "UPDATE accounts SET balance = balance - %d WHERE id = %d;\n",
				n % 97, n * 31 % 64
			printf "UPDATE accounts SET balance = balance + %d, last = %d WHERE id = %d;\n",
				n % 97, n, n * 17 % 64
			printf "DELETE FROM ledger WHERE id <= %d;\n", n - 300
			print "COMMIT;"
			if (file)
				printf "SELECT writefile(\"%s\", \"%d\");\n", file, n
		}
	}' | tr '"' "'"
}

# database_create FILE: with no transaction in it.
database_create() {
	rm -f "$1" "$1"-*
	sqlite3 -bail "$1" >/dev/null <<-'END'
		BEGIN;
		CREATE TABLE ledger(id INTEGER PRIMARY KEY, note TEXT);
		CREATE INDEX notes ON ledger(note);
		CREATE TABLE accounts(id INTEGER PRIMARY KEY, balance INTEGER, last INTEGER);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 63)
			INSERT INTO accounts SELECT i, 0, 0 FROM n;
		COMMIT;
	END
}

# database_begin FILE: a new bank, and nothing acknowledged yet.
database_begin() {
	database_create "$1" && database_create "$database_reference" && sync
	echo 0 >"$database_acknowledged"
}

database_newest() {
	sqlite3 "$1" 'SELECT coalesce(max(id), 0) FROM ledger'
}

# database_reference_at N: the reference holds exactly N transactions.
database_reference_at() {
	local now
	now=$(database_newest "$database_reference")
	if [ "$now" -gt "$1" ]; then
		database_create "$database_reference"
		now=0
	fi
	{
		echo "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
		database_transactions $((now + 1)) "$1"
	} | sqlite3 -bail "$database_reference" >/dev/null
}

# database_verify FILE: whole, nothing acknowledged is missing, nothing half done is there.
database_verify() {
	local file=$1 acknowledged newest verdict
	verdict=$(sqlite3 "$file" 'PRAGMA integrity_check') || return 1
	if [ "$verdict" != ok ]; then
		echo "DIFFERENCE: integrity_check: $verdict"
		return 1
	fi
	acknowledged=$(cat "$database_acknowledged")
	newest=$(database_newest "$file") || return 1
	if [ "$newest" -lt "$acknowledged" ] || [ "$newest" -gt $((acknowledged + 1)) ]; then
		echo "DIFFERENCE: commit $acknowledged was acknowledged, $newest is there"
		return 1
	fi
	database_reference_at "$newest" || return 1
	if ! cmp <(sqlite3 "$file" .dump) <(sqlite3 "$database_reference" .dump); then
		echo "DIFFERENCE: the contents are not those of $newest transactions"
		return 1
	fi
	echo "$newest transactions, $acknowledged of them acknowledged, are there"
}

# database_load FILE LIFE: transactions until the device fails or there have been 20000.
database_load() {
	local file=$1 mode synchronous newest
	read -r mode synchronous <<<"${database_modes[$2 % ${#database_modes[@]}]}"
	newest=$(database_newest "$file") || return 1
	{
		echo "PRAGMA journal_mode = $mode; PRAGMA synchronous = $synchronous;"
		database_transactions $((newest + 1)) $((newest + 20000)) "$database_acknowledged"
	} | sqlite3 -bail "$file" >/dev/null
}
