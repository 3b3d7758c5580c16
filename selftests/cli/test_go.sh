#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What beectl says of a file with functions of Go, and of one whose function table it does not know.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need as ld objcopy readelf

# go.so has a function of C with an FDE, and 16 entries in Go's table.
as --64 -o "$work/go.o" "$here/../golden/asm/go.S" &&
	ld -shared --build-id=none --section-start=.text=0x1000 -o "$work/go.so" "$work/go.o" || exit 1
# In unknown.so the first word of the table is that of no known version.
cp "$work/go.so" "$work/unknown.so"
offset=$((0x$(readelf -SW "$work/go.so" | sed -n 's/.* \.gopclntab  *PROGBITS  *[^ ]* \([^ ]*\) .*/\1/p')))
printf '\xee' | dd of="$work/unknown.so" bs=1 seek=$offset conv=notrunc status=none
objcopy --remove-section=.eh_frame "$work/unknown.so" "$work/bare.so" 2>/dev/null

# says TEXT COMMAND...: beectl prints this
says() {
	local text=$1
	shift
	"$beectl" "$@" >"$work/out" || return
	cat "$work/out"
	grep -qF -- "$text" "$work/out"
}

check_known() {
	says " bytes (16 functions of Go), " compile "$work/go.so" -o "$work/table" &&
		says "Go         16 functions, from Go's function table" dump "$work/go.so" &&
		says '"fdes": 17,' size --json "$work/go.so"
}

# go.so without section headers: the rows of Go's functions all the same; none if the table has another
# size of pointers, more functions than bytes, or a byte that has to be 0.
check_bare_table() {
	local at
	cp "$work/go.so" "$work/cut.so"
	printf '\0\0\0\0\0\0\0\0' | dd of="$work/cut.so" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$work/cut.so" bs=1 seek=60 conv=notrunc status=none
	"$beectl" dump --rows "$work/go.so" >"$work/rows" && "$beectl" dump --rows "$work/cut.so" >"$work/cut" || return
	says "Go         16 functions, from Go's function table" dump "$work/cut.so" &&
		[ "$(comm -12 --nocheck-order "$work/rows" "$work/cut" | wc -l)" -gt 30 ] || return
	for at in 7:'\004' 14:'\001' 4:'\001'; do
		cp "$work/cut.so" "$work/odd.so"
		printf '%b' "${at#*:}" | dd of="$work/odd.so" bs=1 seek=$((offset + ${at%%:*})) conv=notrunc status=none
		! says "functions, from Go's function table" dump "$work/odd.so" 2>"$work/err" || return
		cat "$work/err"
	done
}

# Go's text has no rows then, not even those of .debug_frame.
check_unknown() {
	says " bytes (Go's functions are left to frame pointers), " \
		compile "$work/unknown.so" -o "$work/table" &&
		says "Go         left to frame pointers: no function table of Go 1.18" \
			dump "$work/unknown.so" &&
		[ "$("$beectl" dump --rows "$work/unknown.so" | tail -n1)" = "0000000000001003	end" ] &&
		[ "$("$beectl" verify --json "$work/unknown.so" |
			sed -n 's/.*"differences": *\([0-9]*\),*/\1/p' | sort -u)" = 0 ]
}

check_bare() {
	! "$beectl" compile "$work/bare.so" -o "$work/table" 2>"$work/err" || return
	cat "$work/err"
	grep -q ": a Go program, to be walked by frame pointers: no function table of Go 1.18" "$work/err"
}

ktap_plan 4
ktap_run "Go's function table gives rows to a program of Go" check_known
ktap_run "a program with an unknown function table of Go is left to frame pointers" check_unknown
ktap_run "a program of Go without section headers has rows" check_bare_table
ktap_run "a program of Go without section headers and C functions gets no table" check_bare
ktap_finish
