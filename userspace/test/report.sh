#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# report.sh: the web page of ressd-probe --report. Its charts must be XML, it must show them in a
# browser, and what a device calls itself must not become part of the page's code.
set -euo pipefail

suite=report
# shellcheck source=userspace/test/expect.bash
. "$(dirname "$0")/expect.bash"
disk="$folder/<b>&disk"
page=$folder/page

charts="bandwidth page modes read-buffer write-buffer block"

measure() {
	local status=0
	truncate -s 128M "$disk"
	ressd-probe --write --yes --quick --report "$page" --json "$disk" >"$folder/result.json" 2>"$output" ||
		status=$?
	# Whether it pays on memory is not known, but it must have measured.
	report "it measures" "$([[ $status =~ ^[0456]$ ]] || echo "exit code $status")"
}

test_files() {
	local chart missing=
	for chart in $charts; do
		[ -s "$page/$chart.svg" ] || missing+=" $chart.svg"
		[ "$(head -c 4 "$page/$chart.png" 2>/dev/null | tail -c 3)" = PNG ] ||
			missing+=" $chart.png"
		grep -q "<figure id=\"$chart\">" "$page/index.html" || missing+=" $chart in the page"
	done
	report "all charts are there" "${missing:+$missing missing}"
	report "each chart says what to look for" \
		"$(awk '/<figure id=/ { n++ } /<figcaption>[A-Z].*\.<\/figcaption>/ { c++ }
			END { if (n != 6 || c != n) print c + 0 " of " n + 0 " do" }' \
			"$page/index.html")"
	report "what is shown is escaped" \
		"$(! grep -q '<b>&disk' "$page/index.html" || echo "it is not")"
	report "the JSON has the points of the charts" "$(/usr/bin/python3 \
		"$(dirname "$0")/report_check.py" json "$folder/result.json" 2>&1)"
	report "the page says what the JSON does" "$(/usr/bin/python3 \
		"$(dirname "$0")/report_check.py" page "$page/index.html" "$folder/result.json" 2>&1)"
	report "charts are XML" "$(/usr/bin/python3 "$(dirname "$0")/report_check.py" xml \
		"$page"/*.svg 2>&1)"
}

# A drive that is only read: no verdict, so nothing to be created.
test_without_verdict() {
	local status=0
	ressd-probe --quick --report "$folder/read" --json "$disk" >"$folder/read.json" 2>"$output" || status=$?
	report "without writes there is no verdict" "$([ "$status" = 5 ] || echo "exit code $status")"
	report "the page says so, without commands" "$(/usr/bin/python3 \
		"$(dirname "$0")/report_check.py" page "$folder/read/index.html" "$folder/read.json" 2>&1)"
}

# The browser that Debian has; what it draws must have the colours of the charts.
test_browser() {
	timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$folder/browser" --window-size=1000,4200 \
		--screenshot="$folder/page.png" "file://$page/index.html" >"$output" 2>&1 || true
	report "a browser shows it" "$(/usr/bin/python3 "$(dirname "$0")/report_check.py" image \
		"$folder/page.png" 2>&1)"
}

test_refusals() {
	unchanged "report into a file" 1 "--report names $output/sub, which cannot be created" \
		ressd-probe --quick --report "$output/sub" "$disk"
}

measure
run_tests "${1:-}" test_files test_without_verdict test_browser test_refusals
exit "$failed"
