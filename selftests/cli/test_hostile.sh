#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compiles files that are made to take much memory or time, within the bounds that
# Documentation/security.rst states.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"

# Processor seconds: a tenth of it is enough, and without a bound a minute is not.
seconds=30

# compile KIND [MIB]: within 64 MiB, and 128 bytes for each byte of CFI; of MIB of code without CFI
# 17 bytes for each, and 256 MiB
compile() {
	local cfi code=$((${2:-0} ? 17 * ${2:-0} + 256 : 0))
	cfi=$("$python" "$here/../lib/hostile.py" "$1" "$work/file") || return
	(ulimit -t $seconds
	 "$python" "$here/../lib/most_memory.py" $((((64 + code) << 20) + 128 * cfi)) \
		"$beectl" compile -q "$work/file" -o "$work/table")
}

# A table is not larger than a list of its rows: those of two FDEs and of the gaps behind them.
check_span() {
	compile span && [ "$(stat -c %s "$work/table")" -le $((184 + 2 * 24 + 4 * 8)) ] &&
		"$beectl" dump "$work/table" | grep -qx "rows  *3, as a list"
}

# All entries have one rule.
check_plts() {
	compile plts 4 && "$beectl" dump "$work/table" | grep -qx "rows  *4, as a list"
}

# Its function table is not that of any linker, so it has no table.
check_go() {
	"$python" "$here/../lib/hostile.py" go "$work/file" >/dev/null &&
		(ulimit -t $seconds; "$beectl" compile "$work/file" -o "$work/table") 2>&1 |
		grep -q "function table is malformed"
}

# It is refused, and before libelf allocates memory for each section.
check_headers() {
	local bytes
	compile headers >"$work/out" 2>&1 && return 1
	cat "$work/out"
	bytes=$(sed -n 's/^exit status 1, \([0-9]*\) bytes$/\1/p' "$work/out")
	grep -q "^beectl: compile: $work/file: more than 65536 sections$" "$work/out" && [ "$bytes" -lt $((64 << 20)) ]
}

# What a child may have is less than the file takes.
check_no_memory() {
	"$python" "$here/../lib/hostile.py" cies "$work/file" >/dev/null || return
	(ulimit -v 30000; "$beectl" compile "$work/file" -o "$work/table") >"$work/out" 2>&1 && return 1
	cat "$work/out"
	grep -q "^beectl: compile: $work/file: out of memory$" "$work/out"
}

ktap_plan 21
ktap_run "compile keeps its limits: a section that decompresses to its thousandfold" compile compressed
ktap_run "compile keeps its limits: references to no CIEs" compile references
ktap_run "compile keeps its limits: CIEs inside each other" compile nested
ktap_run "compile keeps its limits: a long expression in each row" compile expression
ktap_run "compile keeps its limits: rows without a pattern" compile rows
ktap_run "compile keeps its limits: small CIEs" compile cies
ktap_run "compile keeps its limits: many notes and dynamic sections" compile notes
ktap_run "compile keeps its limits: many small notes" compile small_notes
ktap_run "compile keeps its limits: 16,000,000 section headers" check_headers
ktap_run "compile keeps its limits: sections that share bytes" compile sections
ktap_run "compile keeps its limits: relocations that share bytes" compile relocations 16
ktap_run "compile keeps its limits: two FDEs 4 GiB apart" check_span
ktap_run "compile keeps its limits: calls of functions with long CFI" compile callees
ktap_run "compile keeps its limits: Go functions that share text, depths and a name" check_go
ktap_run "compile keeps its limits: 20,000,000 symbols" compile symbols
ktap_run "compile keeps its limits: 1,000,000 functions with the same endless name" compile names 1
ktap_run "compile keeps its limits: calls of functions far apart" compile far_calls 16
ktap_run "compile keeps its limits: code in which each byte is a function" compile returns 16
ktap_run "compile keeps its limits: code in which each byte has another row" compile pushes 4
ktap_run "compile keeps its limits: a PLT of 4 MiB" check_plts
ktap_run "compile says so if it has no memory" check_no_memory
ktap_finish
