#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
# slow: 1
# Tables of stock files, compared with readelf's and libdw's interpretation of the same CFI and
# with the rows that they were made from; tables with rows left out (--thin); and the memory that
# compiling a large file takes.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need readelf

check_readelf() {
	"$beectl" dump --rows "$1" >"$work/rows" && "$here/../lib/readelf_rows.py" "$1" "$work/rows"
}

# The rows before packing are the rows that the packed table gives.
check_packed() {
	"$beectl" dump --rows --unpacked "$1" >"$work/unpacked" &&
		"$beectl" compile -q "$1" -o "$work/table" &&
		"$beectl" dump --rows "$work/table" >"$work/packed" &&
		[ "$(wc -l <"$work/packed")" -gt 100 ] &&
		cmp "$work/unpacked" "$work/packed"
}

# figure NAME: the number that the summary of "beectl verify" gives it
figure() {
	sed -n "s/^$1  *\([0-9][0-9]*\).*/\1/p" "$work/out"
}

# At least three pcs for each row must be compared, so that 0 differences mean something.
check_libdw() {
	"$beectl" verify "$1" >"$work/out" || { cat "$work/out"; return 1; }
	[ "$(figure differences)" = 0 ] && [ "$(figure rows)" -gt 0 ] &&
		[ "$(figure 'pcs compared')" -ge $((3 * $(figure rows))) ] || { cat "$work/out"; return 1; }
}

check_thin() {
	"$beectl" compile --thin "$2" "$1" -o "$work/table" >"$work/said" &&
		"$beectl" dump --rows --unpacked --cfi-only "$1" >"$work/exact" &&
		"$beectl" dump --rows "$work/table" >"$work/lossy" || return
	grep -q '^not exact  thin$' <("$beectl" dump "$work/table") || return
	"$python" "$here/../lib/lossy_check.py" thin "$1" "$work/exact" "$work/lossy" "$work/said" "$2"
}

check_memory() {
	"$here/../lib/most_memory.py" $((96 << 20)) "$beectl" compile -q "$1" -o "$work/table"
}

# Has CFI with "register" and "offset" instructions behind expressions.
check_supported() {
	check_readelf "$1" && check_libdw "$1" && grep '^unsupported  *0  rows' "$work/out"
}

mapfile -t files < <(stock_files)
mapfile -t small < <(stock_files | grep -v LLVM)
[ "${#small[@]}" -gt 0 ] || ktap_skip_all "no stock file is installed"
ktap_plan $((3 * ${#files[@]} + 3 * ${#small[@]} + 3))
for file in "${files[@]}"; do
	ktap_run "$file: rows as readelf's" check_readelf "$file"
	ktap_run "$file: no difference to libdw" check_libdw "$file"
	ktap_run "$file: the table has the rows" check_packed "$file"
done
for file in "${small[@]}"; do
	for percent in 5 30 90; do
		ktap_run "$file: --thin $percent" check_thin "$file" "$percent"
	done
done
ktap_run "sizes of tables are smaller than those of CFI" \
	"$python" "$here/../lib/size_check.py" rows "$beectl" "${small[@]}"
gcrypt=$(shared_library libgcrypt.so.20)
if [ -n "$gcrypt" ]; then
	ktap_run "libgcrypt: no rule is unsupported" check_supported "$gcrypt"
else
	ktap_skip "libgcrypt: no rule is unsupported" "libgcrypt is not installed"
fi
# A large library with a large .eh_frame.
llvm=$(shared_library libLLVM-14.so.1)
if [ -n "$llvm" ]; then
	ktap_run "compiling libLLVM-14 keeps to its memory" check_memory "$llvm"
else
	ktap_skip "compiling libLLVM-14 keeps to its memory" "libLLVM-14 is not installed"
fi
ktap_finish
