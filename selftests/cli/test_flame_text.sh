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

# As stackcollapse-perf.pl does: the first event only, for what is counted differs; and it is said.
check_script_events() {
	cat >"$work/script" <<-'END'
		prog 7 [000] 1.5: 1000 cycles:P:
			401010 main+0x4 (/bin/prog)

		prog 7 [000] 1.6: 1 sched:sched_switch: prev_comm=a: prev_pid=7
			401020 other+0x4 (/bin/prog)

		prog 7 [000] 1.7: 1000 cycles:P:
			401010 main+0x4 (/bin/prog)
	END
	"$beectl" flame "$work/script" --format folded 2>"$work/errors" | diff - <(echo "prog;main 2") &&
		grep -q 'warning: .*script: samples of other events than cycles:P are left out: 1$' "$work/errors" ||
		{ cat "$work/errors"; return 1; }
	sed -i 's/sched.*/cycles:P:/' "$work/script" &&
		"$beectl" flame "$work/script" --format folded 2>"$work/errors" | diff - <(printf '%s\n' "prog;main 2" "prog;other 1") &&
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
		diff - <(printf '%s\n' "[x]:;f 1" "a:_b;h (i)_[i];g(char (&) [4]);f(int) (x);[unknown] 1" "c;f 1" "d:;f 1" "e;f 1") &&
		diff /dev/null "$work/errors" || return
	"$beectl" flame "$work/script" --json | "$python" -c '
import json, sys
modules = {function["name"]: function["module"] for function in json.load(sys.stdin)["functions"]}
assert modules["[unknown]"] == "/tmp/x (deleted)" and modules["f(int) (x)"] == "/tmp/a (b)/x (deleted)", modules
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
		diff - <(printf "%s\n" "_#_y;g 2" "_#x;f 2") && diff /dev/null "$work/errors"
}

# Options that text cannot fulfil.
check_script_options() {
	echo "p;f 1" >"$work/stacks"
	"$beectl" flame "$work/stacks" --show cycles --format folded 2>"$work/errors" | diff - "$work/stacks" &&
		grep "warning: .*--show and --periods have no effect on text" "$work/errors" &&
		"$beectl" flame "$work/stacks" --periods --format folded 2>"$work/errors" | diff - "$work/stacks" &&
		grep "warning: .*--show and --periods have no effect on text" "$work/errors"
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
		"$beectl" flame "$work/stacks" -o "$work/flat.svg" && grep -q "100 frames of less than" "$work/deep.svg" || return
	diff <(grep -o '^<svg .* height="[0-9]*"' "$work/deep.svg") <(grep -o '^<svg .* height="[0-9]*"' "$work/flat.svg") &&
		diff <(grep -o ' y="[0-9]*"' "$work/deep.svg") <(grep -o ' y="[0-9]*"' "$work/flat.svg")
}

ktap_plan 9
ktap_run "a small change is one" check_small_change
ktap_run "strings for pprof are UTF-8" check_pprof_utf8
ktap_run "nothing for the terminal in stacks and addresses" check_c1
ktap_run "perf script of several events" check_script_events
ktap_run "odd names in perf script" check_script_names
ktap_run "names in perf script that begin as comments do" check_script_comments
ktap_run "options that have no effect on text" check_script_options
ktap_run "a function that is inlined here and there" check_inlined_too
ktap_run "no room for what is not drawn" check_height
ktap_finish
