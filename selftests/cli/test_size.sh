#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl size: every figure is computed again by other means.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need readelf

# Files with different numbers of rows.
files=(/bin/true /bin/sh /bin/cat /usr/bin/sort)

# The text output: headings, a line for each file in the order asked for, a total, aligned columns.
check_text() {
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

# By each key but "name", of files that are given in the opposite order.  Of synth libc has least.
check_sort() {
	"$beectl" size --json "${files[@]}" "$(shared_library libc.so.6)" >"$work/json" && "$python" - "$beectl" "$work/json" <<-'END'
		import json, subprocess, sys
		files = json.load(open(sys.argv[2]))["files"]
		weights = {key: lambda f, key=key: f[key] for key in ("text", "fdes", "rows", "cfi", "table", "synth")}
		weights["ratio"] = lambda f: f["table"] / f["cfi"]
		weights["row"] = lambda f: f["table"] / f["rows"]
		for key, weight in weights.items():
		    given = sorted(files, key=weight)
		    assert weight(given[0]) < weight(given[-1]), f"{key}: files alike"
		    said = subprocess.run([sys.argv[1], "size", "--sort", key, *(f["path"] for f in given)],
		                          stdout=subprocess.PIPE, text=True, check=True).stdout
		    by_path = {f["path"]: weight(f) for f in files}
		    got = [by_path[line.split()[-1]] for line in said.splitlines()[1:-1]]
		    assert got == [*map(weight, reversed(given))], f"{key}: {got}"
	END
}

check_failures() {
	local lib=/bin/sh
	mkdir "$work/in" && cp "$lib" "$work/in/one" && head -c 5000 "$lib" >"$work/in/two" || return
	"$beectl" size "$work/in" >"$work/out" 2>"$work/err" || return
	cat "$work/err"
	[ "$(cat "$work/err")" = "beectl: size: $work/in/two: truncated: a segment lies past the end of the file" ] &&
		[ "$(grep -c "$work/in" "$work/out")" -eq 1 ] || return
	"$beectl" size --json "$work/in/two" "$work/none" "$work/in/one" >"$work/out" 2>"$work/err" && return 1
	"$python" - "$work/out" <<-'END' || return
		import json, sys
		said = json.load(open(sys.argv[1]))
		assert [f["path"].split("/")[-1] for f in said["problems"]] == ["two", "none"], said["problems"]
		assert said["problems"][1]["error"] == "No such file or directory"
		assert said["total"]["files"] == len(said["files"]) == 1
	END
	! "$beectl" size "$work/none" 2>"$work/err" &&
		mkdir "$work/empty" && ! "$beectl" size "$work/empty" 2>"$work/err" &&
		[ "$(cat "$work/err")" = "beectl: size: no x86-64 executable or shared object below what was named" ] || return
	"$beectl" size --json "$work/empty" >"$work/out" 2>"$work/err" && return 1
	"$python" -c 'import json, sys; said = json.load(sys.stdin); assert said["files"] == [] and not any(said["total"].values()), said' <"$work/out"
}

# Of files with CFI nothing is said; of those without, which they are and what helps.
check_bare() {
	local name
	"$beectl" size "${files[@]}" | grep "compilers write CFI" && return 1
	for name in one.bare two.bare; do
		echo "long x; __attribute__((noinline)) void f(int n) { while (n--) x += n; } void _start(void) { for (;;) f(9); }" |
			gcc -O2 -fno-asynchronous-unwind-tables -nostdlib -static -o "$work/$name" -x c - || return
	done
	"$beectl" size "${files[0]}" "$work/one.bare" | tee "$work/out" | grep "^$work/one.bare has no CFI for most of the code: " &&
		grep -e "^-fasynchronous-unwind-tables " "$work/out" &&
		"$beectl" size "$work"/*.bare | grep "^$work/one.bare and 1 more have no CFI for most "
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
	! "$beectl" size -s foo /bin/sh 2>"$work/err" && cat "$work/err" &&
		grep -q -e "--sort: foo is none of name, ratio, row, text, fdes, rows, cfi, table, synth, abi;" "$work/err" &&
		! "$beectl" size -j /bin/sh 2>"$work/err" && grep -q "a number from 1 to 1024; JSON is --json;" "$work/err"
}

ktap_plan 6
ktap_run "beectl size has the sizes of tables and CFI" \
	"$python" "$here/../lib/size_check.py" rows "$beectl" "${files[@]}"
ktap_run "beectl size prints sorted and aligned lines with a total" check_text
ktap_run "beectl size sorts by each key" check_sort
ktap_run "beectl size names files that have no table" check_failures
with gcc "beectl size names files without CFI, and what helps" check_bare
ktap_run "beectl size refuses wrong usage" check_usage
ktap_finish
