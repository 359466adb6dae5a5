#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# papers.sh [--list] [--figure ID]... [--missing] [--again] [--traces FOLDER] [--report-only]: measures what the papers have published,
# on the emulated drives; writes build/results/papers.json, docs/papers.md and the pages in docs/papers.
# Called by `make papers`. Without a run nothing needs to be built.
set -euo pipefail
here=$(dirname "$0")

case " $* " in
*" --list "* | *" --report-only "* | *" --help "* | *" -h "*) exec /usr/bin/python3 "$here/papers/papers.py" "$@" ;;
esac
for built in modules/dm-ressd.ko modules/ssdsim.ko bin/ressd-trace bin/mover-model bin/probe-score \
	bin/ssdsim-run; do
	[ -e "$here/../build/$built" ] || {
		echo "papers: build/$built is missing: run make papers, which builds it" >&2
		exit 1
	}
done
exec /usr/bin/python3 "$here/papers/papers.py" "$@"
