# SPDX-License-Identifier: GPL-2.0-only
# from-rst.awk docs/dm-ressd.rst ressd.7.in: the manual page.  A line `@TITLE@` of the second file
# stands for the section of that title of the first one, `@TITLE: table@` for its tables alone.
# Understands what that document has: paragraphs, definition lists, numbered lists, simple tables.
# What points to this page or into the source tree is left out.

function inline(text,	bold) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/`_/, "\001", text)
	for (bold = 1; sub(/``/, bold ? "\\fB" : "\\fR", text); bold = !bold)
		;
	for (bold = 1; sub(/[`\001]/, bold ? "\\fI" : "\\fR", text); bold = !bold)
		;
	for (bold = 1; sub(/\*/, bold ? "\\fI" : "\\fR", text); bold = !bold)
		;
	return text
}

# Of @text, which may begin with markup.
function capital(text) {
	return toupper(substr(text, 1, 1)) substr(text, 2)
}

function flush_text() {
	sub(/^ +/, "", text)
	if (text != "" && text !~ /docs\/|ressd\(7\)/)
		print begin inline(text)
	text = ""
}

function term(name) {
	gsub(/`/, "", name)
	print ".TP\n.B " inline(name)
}

function cell(line, i) {
	line = i < columns ? substr(line, at[i], at[i + 1] - at[i]) : substr(line, at[i])
	sub(/ +$/, "", line)
	return line
}

function end_row(	i) {
	if (row[1] == "")
		return
	term(row[1])
	if (columns == 4)
		print inline("(" row[2] "; default " row[3] ") " capital(row[4]))
	else if (columns == 2)
		print inline(capital(row[2]))
	else
		for (i = 2; i <= columns; i++)
			if (row[i] != "")
				print inline(head[i] ": " row[i] ".")
	for (i = 1; i <= columns; i++)
		row[i] = ""
}

# A rule above the head, one below it, one at the end.
function table_line(line,	i, start) {
	if (line ~ /^=/) {
		if (++rules == 1) {
			columns = 0
			for (start = 1; match(substr(line, start), /=+/); start += RSTART + RLENGTH - 1)
				at[++columns] = start + RSTART - 1
		} else if (rules == 3) {
			end_row()
			rules = 0
		}
		return
	}
	if (rules == 2 && cell(line, 1) != "")
		end_row()
	for (i = 1; i <= columns; i++)
		if (rules == 1)
			head[i] = capital(cell(line, i))
		else if (cell(line, i) != "")
			row[i] = row[i] (row[i] == "" ? "" : " ") cell(line, i)
}

function section(title, tables,	i, line, inside) {
	if (!(title in first)) {
		print "from-rst.awk: no section " title >"/dev/stderr"
		failed = 1
	}
	for (i = first[title]; i <= last[title]; i++) {
		line = lines[i]
		if (rules || line ~ /^=+ +=/) {
			flush_text()
			table_line(line)
		} else if (tables) {
			continue
		} else if (line == "") {
			flush_text()
			begin = inside ? ".IP\n" : ".PP\n"
		} else if (line ~ /^ +::$/) {
			literal = 1
		} else if (literal && line ~ /^ /) {
			print ".nf\n" inline(line) "\n.fi"
		} else if (line !~ /^[\t ]/ && lines[i + 1] ~ /^\t/) {
			flush_text()
			term(line)
			inside = 1
			begin = ""
		} else if (line ~ /^\t?[0-9]+\. /) {
			flush_text()
			begin = inside ? ".br\n" : ".IP " line "\n"
			sub(/\. .*\n/, ". 4\n", begin)
			text = line
			sub(inside ? "^\t" : "^[0-9]+\\. ", "", text)
		} else {
			if (line ~ /^[^\t ]/ && inside) {
				inside = 0
				begin = ".PP\n"
			}
			literal = 0
			sub(/^[\t ]+/, "", line)
			text = text " " line
		}
	}
	flush_text()
}

NR == FNR {
	lines[FNR] = $0
	if ($0 ~ /^(=+|-+)$/ && FNR > 1 && length(lines[FNR - 1]) == length($0)) {
		last[title] = FNR - 2
		title = lines[FNR - 1]
		first[title] = FNR + 1
	}
	last[title] = FNR
	next
}

/^@.*@$/ {
	title = substr($0, 2, length($0) - 2)
	tables = sub(/: table$/, "", title)
	begin = ".PP\n"
	section(title, tables)
	next
}

{ print }

END { exit failed }
