# SPDX-License-Identifier: GPL-2.0-only
# count.awk: gcc's assembler code for x86-64 such that it counts its instructions in
# instructions_run: a piece without jumps and labels adds their number at its end. Neither flags nor
# stack are touched.
function add() {
	if (!run)
		return
	print "\tmovq\t%rax, saved_rax(%rip)\n\tmovq\tinstructions_run(%rip), %rax"
	print "\tleaq\t" run "(%rax), %rax\n\tmovq\t%rax, instructions_run(%rip)"
	print "\tmovq\tsaved_rax(%rip), %rax"
	run = 0
}

/^[^\t #][^ \t]*:/ { add() }
/^\t[a-z]/ {
	run++
	if ($1 ~ /^(j|call|ret|notrack|bnd|ud2|loop)/)
		add()
}
{ print }
