#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# beectl size: every figure, by other means; and SFrame's against what as makes.
#	BEECTL=path AS=as LD=ld PYTHON=python3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/ktap.sh
. "$here/../ktap.sh"
# shellcheck source=selftests/lib/stock_files.sh
. "$here/../lib/stock_files.sh"

beectl=${BEECTL:-$here/../../beectl}
as=${AS:-as} ld=${LD:-ld} python=${PYTHON:-/usr/bin/python3}
[ -x "$beectl" ] || ktap_skip_all "beectl is not built"
"$python" -c '' 2>/dev/null || ktap_skip_all "$python is not installed"
command -v readelf >/dev/null || ktap_skip_all "readelf (binutils) is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check_rows() {
	local files
	mapfile -t files < <(stock_files | grep -v LLVM)
	[ "${#files[@]}" -gt 0 ] && "$python" "$here/size_check.py" rows "$beectl" "${files[@]}"
}

# gas and ld are asked what they make of the same functions.  Debian 12's binutils 2.40
# write version 1, which differs in the size of an FDE; 2.44 writes version 2.
check_sframe() {
	local options=$1
	# shellcheck disable=SC2086  # a list of words
	gcc $options -fcf-protection=none -fPIC -S "$here/sframe.c" -o "$work/s.s" &&
		"$as" --gsframe "$work/s.s" -o "$work/s.o" 2>/dev/null &&
		"$ld" -shared "$work/s.o" -o "$work/s.so" &&
		"$beectl" size --json "$work/s.so" >"$work/s.json" || return
	grep -q '"sframe_skipped": 1$' "$work/s.json" || { cat "$work/s.json"; return 1; }
	"$python" "$here/size_check.py" sframe "$work/s.json" "$work/s.so"
}

as_has_sframe() {
	echo 'f: .cfi_startproc; nop; .cfi_endproc' | "$as" --gsframe -o "$work/probe.o" - 2>/dev/null
}

# Lines: headings, files, total; what they are sorted by is in a column of its own.
check_text() {
	local files
	mapfile -t files < <(stock_files | grep -v LLVM | head -n 4)
	"$beectl" size "${files[@]}" >"$work/given" && "$beectl" size -s rows "${files[@]}" >"$work/rows" &&
		"$beectl" size --sort name "${files[@]}" >"$work/name" || return
	cat "$work/rows"
	[ "$(sed -n '2,5s/.* //p' "$work/given")" = "$(printf '%s\n' "${files[@]}")" ] &&
		[ "$(sed -n '2,5s/.* //p' "$work/name")" = "$(printf '%s\n' "${files[@]}" | LC_ALL=C sort)" ] &&
		sed -n '2,5p' "$work/rows" | tr -d , | awk '{ print $3 }' | sort -crn &&
		[ "$(awk 'NR == 3 { print $3 }' "$work/rows")" != "$(awk 'NR == 2 { print $3 }' "$work/rows")" ] &&
		sed -n 6p "$work/rows" | grep -q ' total of 4 files$' &&
		[ "$(awk '{ print length($0) - length($NF) }' <(sed -n 2,5p "$work/rows") | sort -u | wc -l)" -eq 1 ]
}

check_failures() {
	local lib
	lib=$(stock_files | head -n1)
	mkdir "$work/in" && cp "$lib" "$work/in/one" && head -c 5000 "$lib" >"$work/in/two" || return
	"$beectl" size "$work/in" >"$work/out" 2>"$work/err" || return
	cat "$work/err"
	[ "$(cat "$work/err")" = "beectl: size: $work/in/two: truncated: section headers lie past the end of the file" ] &&
		[ "$(grep -c "$work/in" "$work/out")" -eq 1 ] || return
	"$beectl" size --json "$work/in/two" "$work/none" "$work/in/one" >"$work/out" 2>"$work/err" && return 1
	"$python" - "$work/out" <<-'END' && "$beectl" size "$work/none" 2>"$work/err" && return 1
		import json, sys
		said = json.load(open(sys.argv[1]))
		assert [f["path"].split("/")[-1] for f in said["failed"]] == ["two", "none"], said["failed"]
		assert said["failed"][1]["reason"] == "No such file or directory"
		assert said["total"]["files"] == len(said["files"]) == 1
	END
	mkdir "$work/empty" && ! "$beectl" size "$work/empty" 2>"$work/err" &&
		[ "$(cat "$work/err")" = "beectl: size: no x86-64 executable or shared object there" ]
}

check_usage() {
	local words status
	for words in "" "-s" "-s foo /bin/sh" "-j 0 /bin/sh" "--foo"; do
		# shellcheck disable=SC2086  # a list of words
		"$beectl" size $words >"$work/out" 2>"$work/err"
		status=$?
		[ "$status" -eq 2 ] && [ ! -s "$work/out" ] && grep -q '^beectl: size: .*--help' "$work/err" ||
			{ echo "size $words: status $status"; cat "$work/err"; return 1; }
	done
}

ktap_plan 8
ktap_run "sizes of all formats" check_rows
for options in -O0 -O2 -Os "-O2 -fno-omit-frame-pointer"; do
	if as_has_sframe; then
		ktap_run "SFrame, gcc $options" check_sframe "$options"
	else
		ktap_skip "SFrame, gcc $options" "$as knows no --gsframe"
	fi
done
ktap_run "sorted, aligned, with a total" check_text
ktap_run "files that have no table" check_failures
ktap_run "wrong usage" check_usage
ktap_finish
