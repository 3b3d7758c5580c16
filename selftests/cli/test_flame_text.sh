#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: text that it reads, and names in what it writes.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"

# What has doubled is shown, though it is small, and twelve that have not changed are larger.
check_small_change() {
	local i
	for i in {1..12}; do
		echo "p;same$i 400"
	done >"$work/same"
	{ cat "$work/same"; printf '%s\n' "p;small 95" "p;rest 5105"; } >"$work/before"
	{ cat "$work/same"; printf '%s\n' "p;small 190" "p;rest 5010"; } >"$work/after"
	"$beectl" flame "$work/after" --diff "$work/before" >"$work/summary" || return
	cat "$work/summary"
	grep -E '^  1\.90%   \+0\.95 .* small$' "$work/summary" &&
		"$beectl" flame "$work/after" --diff "$work/before" --json | "$python" -c '
import json, sys
names = [function["name"] for function in json.load(sys.stdin)["functions"]]
assert set(names[:2]) == {"small", "rest"}, names'
}

# Who reads profile.proto refuses all of it if one string is no UTF-8: names that are none, and an event's that is cut
# within a character.
check_pprof_utf8() {
	hostile && "$beectl" flame "$work/made.data" --raw 2>/dev/null >"$work/hostile.raw" || return
	made "r = Recording(2); r.comm(7, b'\xff'); _ = [r.sample(7, [USER, 0x10], event) for event in (1, 2)]" &&
		"$beectl" flame "$work/made.data" --raw 2>/dev/null | sed "s/^\(event 1\) .*/\1 $(printf 'x%.0s' {1..199})\xc3\xa4/" >"$work/events.raw" || return
	local name
	for name in hostile events; do
		"$beectl" flame "$work/$name.raw" --format pprof 2>/dev/null >"$work/$name.pb.gz" &&
			"$python" - "$work/$name.pb.gz" <<-'END' || return
				import gzip, sys
				with gzip.open(sys.argv[1]) as file:
				    data = file.read()
				def number():
				    global data
				    value = shift = 0
				    while True:
				        byte, data = data[0], data[1:]
				        value |= (byte & 0x7f) << shift
				        if byte < 0x80:
				            return value
				        shift += 7
				strings = []
				while data:
				    tag = number()
				    size = number()
				    if tag & 7 == 2:
				        if tag >> 3 == 6:
				            strings.append(data[:size])
				        data = data[size:]
				print(strings)
				text = [string.decode() for string in strings]
				assert len(text) > 5 and any("\ufffd" in string for string in text), text
			END
	done
}

# U+009B begins a sequence for the terminal as ESC [ does, and so does a byte of its own to some; what is part of other
# characters stays.
check_c1() {
	made "r.comm(7, b'\xc2\x9b31m'); r.map(7, 0x500000, 0x1000, b'/\xc4\x9b\x9b1m\xff\xc2\x9b2m'); r.sample(7, [USER, 0x500020])" || return
	"$beectl" flame "$work/made.data" --format folded 2>/dev/null >"$work/folded" &&
		printf '_31m;[\xc4\x9b_1m\xff_2m]+0x20 1\n' | diff -a - "$work/folded" || return
	"$beectl" flame "$work/made.data" --raw 2>/dev/null >"$work/c1.raw" && grep -a '^frame . . %c2%9b31m$' "$work/c1.raw" &&
		grep -a "^file elf .* /$(printf '\xc4\x9b')%9b1m%ff%c2%9b2m\$" "$work/c1.raw" || { cat "$work/c1.raw"; return 1; }
	"$beectl" flame "$work/c1.raw" --raw | cmp - "$work/c1.raw" &&
		"$beectl" flame "$work/c1.raw" --format folded 2>/dev/null | cmp - "$work/folded"
}

# As stackcollapse-perf.pl does: the first event only, or that of --show, for what is counted differs; and it is said.
check_script_events() {
	cat >"$work/script" <<-'END'
		prog 7 [000] 1.5: 1000 cycles:P:
			401010 main+0x4 (/bin/prog)

		prog 7 [000] 1.6: 1 sched:sched_switch: prev_comm=a: prev_pid=7
			401020 other+0x4 (/bin/prog)

		prog 7 [000] 1.7: 1000 cycles:P:
			401010 main+0x4 (/bin/prog)
	END
	"$beectl" flame "$work/script" --format folded 2>"$work/errors" | diff - <(echo "prog;main 2000") &&
		grep -q 'warning: .*script: samples of other events than cycles:P are left out .*--show EVENT.*: 1$' "$work/errors" ||
		{ cat "$work/errors"; return 1; }
	"$beectl" flame "$work/script" --show sched:sched_switch --format folded 2>/dev/null | diff - <(echo "prog;other 1") &&
		"$beectl" flame "$work/script" --show cycles --format folded 2>/dev/null | diff - <(echo "prog;main 2000") || return
	! "$beectl" flame "$work/script" --show cache-misses 2>"$work/errors" && grep "script: it has no samples of cache-misses$" "$work/errors" || return
	sed -i 's/sched.*/cycles:P:/' "$work/script" &&
		"$beectl" flame "$work/script" --format folded 2>"$work/errors" | diff - <(printf '%s\n' "prog;main 2000" "prog;other 1") &&
		diff /dev/null "$work/errors"
}

# Names of files that have been deleted, or have brackets; of threads with colons; and lines without process or time.
check_script_names() {
	cat >"$work/script" <<-'END'
		a: b  7 [000] 1.5: 1000 cycles:P:
			7f10 [unknown] (/tmp/x (deleted))
			7f20 f(int) (x)+0x4 (/tmp/a (b)/x (deleted))
			7f30 g(char (&) [4])+0x4 ([vdso])
			7f40 h (i) (inlined)

		[x]: 7/8 1.5: cycles:P:
			7f10 f (/tmp/x)

		c 1.5: 1000 cycles:P:
			7f10 f (/tmp/x)

		d: 1.5: cycles:P:
			7f10 f (/tmp/x)

		e cycles:P:
			7f10 f (/tmp/x)
	END
	"$beectl" flame "$work/script" --format folded 2>"$work/errors" |
		diff - <(printf '%s\n' "[x]:;f 1" "a:_b;h (i)_[i];g(char (&) [4]);f(int) (x);[x (deleted)] 1000" "c;f 1000" "d:;f 1" "e;f 1") &&
		diff /dev/null "$work/errors" || return
	"$beectl" flame "$work/script" --json | "$python" -c '
import json, sys
modules = {function["name"]: function["module"] for function in json.load(sys.stdin)["functions"]}
assert modules["[x (deleted)]"] == "/tmp/x (deleted)" and modules["f(int) (x)"] == "/tmp/a (b)/x (deleted)", modules
assert modules["g(char (&) [4])"] == "[vdso]" and modules["f"] == "/tmp/x", modules'
}

# Threads whose names begin as comments do, in two outputs of perf script with such lines at their beginnings.
check_script_comments() {
	cat >"$work/script" <<-'END'
		# ========
		# captured on    : Sat Nov 28 09:00:00 2026
		# cmdline : /usr/bin/perf record -g --filter a: b
		#
		#x 7 [000] 1.5: 1000 cycles:P:
			7f10 f (/tmp/x)

		# y  8 1.6: cycles:P:
			7f10 g (/tmp/x)

	END
	cat "$work/script" "$work/script" >"$work/scripts"
	"$beectl" flame "$work/scripts" --format folded 2>"$work/errors" |
		diff - <(printf "%s\n" "_#_y;g 2" "_#x;f 2000") && diff /dev/null "$work/errors"
}

# Options that folded stacks cannot fulfil.
check_folded_options() {
	local option
	echo "p;f 1" >"$work/stacks"
	for option in --show=cycles --samples; do
		"$beectl" flame "$work/stacks" "$option" --format folded 2>"$work/errors" | diff - "$work/stacks" &&
			grep "warning: .*--show and --samples have no effect on folded stacks" "$work/errors" || return
	done
}

# The number before the event is what a sample stands for: of off-CPU samples, time.  A pid is none, nor is a CPU.
check_script_periods() {
	cat >"$work/script" <<-'END'
		p 7 [000] 1.5:    3000000 offcpu-time:
			7f10 f (/bin/p)

		p 7 [000] 1.6:      5 offcpu-time:
			7f20 g (/bin/p)

	END
	"$beectl" flame "$work/script" >"$work/summary" && grep "^offcpu-time: 2 samples, counted as 3,000,005 ns$" "$work/summary" &&
		"$beectl" flame "$work/script" --format folded | diff - <(printf '%s\n' "p;f 3000000" "p;g 5") &&
		"$beectl" flame "$work/script" --samples --format folded | diff - <(printf '%s\n' "p;f 1" "p;g 1") || return
	printf '%s\n' "p 7 cycles:P:" "	7f10 f (/bin/p)" "" "p 7 [002] cycles:P:" "	7f10 f (/bin/p)" >"$work/script"
	"$beectl" flame "$work/script" | grep "^cycles:P: 2 samples$" || return
	printf '%s\n' "p 7 1.5: 18446744073709551615 cycles:P:" "	7f10 f (/bin/p)" "" "p 7 1.6: 1 cycles:P:" "	7f10 f (/bin/p)" >"$work/script"
	! "$beectl" flame "$work/script" 2>"$work/errors" && grep "up to line 5 there are more samples" "$work/errors"
}

# A function that is inlined at one call and not at another, and where both are in one stack.
check_inlined_too() {
	cat >"$work/script" <<-'END'
		p 7 1.5: cycles:P:
			7f10 f (/bin/p)
			7f20 g (/bin/p)

		p 7 1.6: cycles:P:
			7f30 f (inlined)
			7f30 f (/bin/p)

		p 7 1.7: cycles:P:
			7f40 f (inlined)
			7f40 g (/bin/p)

	END
	"$beectl" flame "$work/script" --json | "$python" -c '
import json, sys
functions = {(function["name"], function["self"], function["total"]) for function in json.load(sys.stdin)["functions"]}
assert functions == {("f", 3, 3), ("g", 0, 2)}, functions'
}

# A picture is as high as what is drawn in it.
check_height() {
	"$python" -c 'print("p;" + ";".join(f"deep{i}" for i in range(100)), 1); print("p;f", 100000)' >"$work/stacks" &&
		"$beectl" flame "$work/stacks" -o "$work/deep.svg" && echo "p;f 100000" >"$work/stacks" &&
		"$beectl" flame "$work/stacks" -o "$work/flat.svg" && grep -q ", 100 frames of at most 0.001% not shown<" "$work/deep.svg" || return
	diff <(grep -o '^<svg .* height="[0-9]*"' "$work/deep.svg") <(grep -o '^<svg .* height="[0-9]*"' "$work/flat.svg") &&
		diff <(grep -o ' y="[0-9]*"' "$work/deep.svg") <(grep -o ' y="[0-9]*"' "$work/flat.svg")
}

# Lines that are not understood are left out and counted, in both kinds of text; and no line ends with CR.
check_left_out() {
	printf '%s\r\n' "# made on: somewhere" "" "p;f 1" "garbage" "" "# comment" "p;g 2" "p;h x" >"$work/stacks"
	"$beectl" flame "$work/stacks" --format folded 2>"$work/errors" | diff - <(printf '%s\n' "p;f 1" "p;g 2") &&
		grep "warning: .*stacks: 2 lines are left out, the first is line 4: neither of perf script nor a folded stack$" "$work/errors" || return
	printf '%s\r\n' "noise" "p 7 1.5: 10 cycles:P:" "	7f10 f (/bin/p)" "# within" "	zz noise" "	7f20 g (/bin/p)" "" "noise" >"$work/script"
	"$beectl" flame "$work/script" --format folded 2>"$work/errors" | diff - <(echo "p;g;f 10") &&
		grep "warning: .*script: 3 lines are left out, the first is line 1: " "$work/errors" || { cat "$work/errors"; return 1; }
	# Where nothing is understood nothing is shown.
	! printf '%s\n' "" "noise" "more" | "$beectl" flame - 2>"$work/errors" &&
		grep -x "beectl: flame: -: line 2 is neither of perf script nor a folded stack" "$work/errors"
}

# The name of a thread can be taken for an address.
check_script_flat() {
	local name
	for name in dd bc ed prog; do
		printf '%s\n' "$name 7 1.5: 10 cycles:P: 401010 f (/bin/p)" "$name 7 1.6: 10 cycles:P: 401020 g (/bin/p)" >"$work/script"
		! "$beectl" flame "$work/script" >"$work/out" 2>"$work/errors" &&
			grep "script: line 2 has a sample without a callchain: record with perf record -g$" "$work/errors" || { cat "$work/out" "$work/errors"; return 1; }
	done
}

# Of perf's limit a stack has no more than 127 frames, but who sets it may have more than flame takes.
check_script_deep() {
	{ echo "p 7 1.5: 1 cycles:P:"; seq -f '	7f%g f (/bin/p)' 10000 18999; echo; } >"$work/script"
	"$beectl" flame "$work/script" --format folded 2>"$work/errors" >"$work/folded" &&
		grep "warning: .*script: stacks have more than 8192 frames: 809 are left out$" "$work/errors" || { cat "$work/errors"; return 1; }
}

# What has no name in perf script is called by its file.
check_script_unknown() {
	printf '%s\n' "p 7 1.5: 1 cycles:P:" "	7f10 [unknown] (/usr/bin/git)" "	7f20 [unknown] ([vdso])" "	7f30 [unknown] ([unknown])" \
		"	7f40 [unknown] (/tmp/perf-7.map)" "	ffffffff81000010 [unknown] ([kernel.kallsyms])" >"$work/script"
	"$beectl" flame "$work/script" --format folded | diff - <(echo "p;[kernel.kallsyms]_[k];[unknown]_[j];[unknown];[vdso];[git] 1")
}

# What flame does not read, and what does.
check_hints() {
	mkdir "$work/dir.data" && ! "$beectl" flame "$work/dir.data" 2>"$work/errors" &&
		grep "dir.data: No such file or directory; no recording of perf record --threads$" "$work/errors" || return
	echo "p;f 1" | gzip | cat | "$beectl" flame - 2>"$work/errors" && return 1
	grep -e "-: it is compressed, and comes from a pipe: use zcat$" "$work/errors"
}

# unpacks SUFFIX COMMAND: text and a recording that it has compressed, and only all of it
unpacks() {
	seq -f "p;f%.0f 1" 200000 >"$work/stacks" && "$2" <"$work/stacks" >"$work/stacks.$1" &&
		"$beectl" flame "$work/stacks.$1" --format folded | cmp - <(LC_ALL=C sort "$work/stacks") || return
	"$2" <"$work/stacks" >>"$work/stacks.$1" && "$beectl" flame - --format folded <"$work/stacks.$1" | grep -qx "p;f100 2" || return
	made "r.sample(7, [USER, $(address outer)])" && "$2" <"$work/made.data" >"$work/made.$1" &&
		"$beectl" flame "$work/made.$1" --format folded | diff - <(echo "prog;outer 1") || return
	truncate -s -9 "$work/stacks.$1" && ! "$beectl" flame "$work/stacks.$1" 2>"$work/errors" &&
		grep "stacks.$1: it is compressed, and damaged or cut off$" "$work/errors"
}

# limited FRAMES: of so many frames, the graph of $work/stacks shows 30,000 or those that are in 10 MB, the
# widest and their callers, and says how many it does not show.
limited() {
	"$beectl" flame "$work/stacks" -o "$work/limited.svg" && "$python" - "$work/limited.svg" "$1" <<-'END'
		import os, re, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    svg = file.read()
		shown = re.findall(r' data-f="(\d+),(\d+),(\d+)"', svg)
		hidden = int(re.search(r", ([0-9,]+) frames of at most [0-9.e-]+% not shown</text>", svg)[1].replace(",", ""))
		size = os.path.getsize(sys.argv[1])
		print(len(shown), hidden, size)
		assert len(shown) + hidden == int(sys.argv[2]) and size <= 10_000_000
		assert len(shown) == 30_000 or 8_000_000 < size and len(shown) < 30_000
		rows = [sum(depth == str(row) for start, total, depth in shown) for row in range(9)]
		assert rows[2:] == sorted(rows[2:], reverse=True), rows
	END
}

check_limits() {
	"$python" -c 'for i in range(2000): print("p;" + ";".join(f"f{i}_{depth}" for depth in range(20)), 1)' >"$work/stacks" &&
		limited 40002 || return
	"$python" -c 'for i in range(3000): print("p;" + f"{i}" + 4000 * "x" + ";<", 1)' >"$work/stacks" && limited 6002
}

# No frame has the colour of its caller, or of the one to its left.
check_neighbours() {
	"$python" -c 'for i in range(300): print("p;" + ";".join(f"f{i % (3 * depth)}" for depth in range(1, 20)), 1)' >"$work/stacks" &&
		"$beectl" flame "$work/stacks" -o "$work/near.svg" && "$python" - "$work/near.svg" <<-'END'
		import re, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    frames = re.findall(r'<g class="(.*?)" data-f="(?:\d+,){2}(\d+)".*? y="(\d+)"', file.read())
		last = {}
		for colour, depth, y in frames:
		    depth = int(depth)
		    assert colour not in (last.get(depth), last.get(depth - 1)), (colour, depth)
		    assert int(y) == int(frames[0][2]) + 16 * depth, (y, depth)
		    last[depth] = colour
		assert len(frames) > 1000, len(frames)
	END
}

ktap_plan 19
ktap_run "flame shows a small change between two recordings" check_small_change
ktap_run "strings for pprof are UTF-8" check_pprof_utf8
ktap_run "flame writes no escape sequence in stacks and addresses" check_c1
ktap_run "flame reads perf script of several events" check_script_events
ktap_run "flame reads odd names in perf script" check_script_names
ktap_run "flame reads names in perf script that begin as comments do" check_script_comments
ktap_run "flame warns of options that have no effect on folded stacks" check_folded_options
ktap_run "flame has what samples of perf script stand for" check_script_periods
ktap_run "flame reads perf script with a function that is inlined here and there" check_inlined_too
ktap_run "an SVG file has no room for frames that are not drawn" check_height
ktap_run "flame leaves out lines of text that it does not understand" check_left_out
ktap_run "flame reads perf script without callchains of threads whose names look like addresses" \
	check_script_flat
ktap_run "flame counts frames of perf script that are too many" check_script_deep
ktap_run "for compressed pipes and directories flame says what reads them" check_hints
with gzip "flame reads stacks that gzip has compressed" unpacks gz gzip
with zstd "flame reads stacks that zstd has compressed" unpacks zst zstd
ktap_run "flame shows addresses without a name in perf script" check_script_unknown
ktap_run "an SVG file has no more than 30,000 frames and 10 MB, and says what is left out" check_limits
ktap_run "neighbouring frames in a flame graph differ in colour" check_neighbours
ktap_finish
