#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tables that are not exact: they are marked, and beectl's figure of the error is right.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need readelf

# make_lossy ELF OPTION...: makes the table, keeps beectl's report, lists exact and lossy rows
make_lossy() {
	local elf=$1
	shift
	"$beectl" compile "$@" "$elf" -o "$work/table" >"$work/said" &&
		"$beectl" dump --rows --unpacked --cfi-only "$elf" >"$work/exact" &&
		"$beectl" dump --rows "$work/table" >"$work/lossy"
}

check_fp_bypass() {
	local elf=$work/fp
	# shellcheck disable=SC2086  # a list of words
	$1 -fno-omit-frame-pointer "$here/frame_pointers.c" -o "$elf" &&
		make_lossy "$elf" --fp-bypass || return
	cat "$work/said"
	grep -q '^not exact  fp-bypass$' <("$beectl" dump "$work/table") || return
	"$python" "$here/../lib/lossy_check.py" fp-bypass "$elf" "$work/exact" "$work/lossy" "$work/said"
}

# refuses PATTERN ELF: beectl prints one line with PATTERN and makes no table
refuses() {
	rm -f "$work/none"
	"$beectl" compile --fp-bypass "$2" -o "$work/none" 2>"$work/err" && return 1
	cat "$work/err"
	[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "$1" "$work/err" && [ ! -e "$work/none" ]
}

check_refusals() {
	refuses ': [1-9][0-9]* of [0-9]* functions keep no frame pointer, first that at 0x' \
		"$(stock_files | head -n1)" || return
	# In "other" one function omits the frame pointer; "leaves" has only leaf functions.
	gcc -O2 -fno-omit-frame-pointer -x c - -o "$work/other" <<-'END' || return
		__attribute__((noinline, optimize("omit-frame-pointer"))) int other(int x)
		{
			volatile char bytes[200] = { x };
			return bytes[x];
		}
		int main(int argc, char **argv) { return other(argc) + argv[0][0]; }
	END
	refuses ': 1 of [0-9]* functions keep no frame pointer' "$work/other" || return
	echo 'int leaf(int x) { return x; }' |
		gcc -O2 -fomit-frame-pointer -fPIC -shared -nostdlib -x c - -o "$work/leaves" || return
	refuses ': none of its functions keeps a frame pointer$' "$work/leaves"
}

# All executables have crtbegin.o's functions, which have no CFI.
check_cfi_only() {
	make_lossy /bin/true --cfi-only && cmp "$work/exact" "$work/lossy" &&
		grep -q '^not exact  cfi-only$' <("$beectl" dump "$work/table") &&
		! grep -q '^synth ' <("$beectl" dump --cfi-only /bin/true) &&
		grep -q '^synth  *[1-9][0-9]* rows, [1-9][0-9]* bytes' <("$beectl" dump /bin/true) || return
	"$beectl" dump --rows /bin/true >"$work/rows" && ! cmp -s "$work/rows" "$work/exact" &&
		! "$beectl" verify --table "$work/table" /bin/true >"$work/out" 2>&1 &&
		grep -q 'the table leaves out rows (cfi-only): it is not exact' "$work/out" && grep -q '^differences  *0$' "$work/out"
}

check_thin() {
	local elf
	elf=$(stock_files | head -n1)
	make_lossy "$elf" --thin "$1" || return
	grep -q '^not exact  thin$' <("$beectl" dump "$work/table") || return
	"$python" "$here/../lib/lossy_check.py" thin "$elf" "$work/exact" "$work/lossy" "$work/said" "$1"
}

# More rows left out must give a smaller table, and more wrong bytes for each of these rows.
check_thin_is_smaller() {
	local percent size last elf each least=0
	elf=$(stock_files | head -n1)
	"$beectl" compile -q "$elf" -o "$work/table" && last=$(stat -c %s "$work/table") || return
	for percent in 5 10 20 30 40; do
		"$beectl" compile --thin "$percent" "$elf" -o "$work/table" >"$work/said" || return
		size=$(stat -c %s "$work/table")
		# Wrong bytes for each row that was left out, in thousandths.
		each=$(sed -n 's/.*not exact: \([0-9]*\) .*/\1 1000/p; s/.*thin: \([0-9]*\) .*/\1/p' "$work/said" |
			tr '\n' ' ' | awk '{ print int($1 * $2 / $3) }')
		echo "$percent percent: $size bytes, $each"
		[ "$size" -lt "$last" ] && [ "$each" -gt "$least" ] || return
		last=$size least=$each
	done
}

check_exact_is_plain() {
	"$beectl" compile "$beectl" -o "$work/table" | grep 'not exact' && return 1
	"$beectl" dump "$work/table" | grep 'not exact' && return 1
	"$beectl" dump "$work/table" | grep -q '^table '
}

check_usage() {
	local percent
	for percent in 0 91 x -1 1.5; do
		"$beectl" compile --thin "$percent" "$beectl" -o "$work/none" 2>"$work/err"
		[ $? -eq 2 ] && grep -q -e '--thin needs a number from 1 to 90' "$work/err" || return
	done
}

ktap_plan 12
for compiler in "gcc -O0" "gcc -O2" "gcc -Os -fcf-protection=branch" "clang -O2"; do
	with "${compiler%% *}" "--fp-bypass leaves out rows of code by $compiler" check_fp_bypass "$compiler"
done
with gcc "--fp-bypass refuses code without frame pointers" check_refusals
for percent in 5 30 90; do
	ktap_run "--thin $percent leaves out rows, and counts wrong bytes" check_thin "$percent"
done
ktap_run "--cfi-only leaves out rows made from code" check_cfi_only
ktap_run "--thin makes tables smaller" check_thin_is_smaller
ktap_run "beectl compile and dump do not call an exact table inexact" check_exact_is_plain
ktap_run "compile --thin refuses wrong percentages" check_usage
ktap_finish
