#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: addresses that are kept and named later, where names come from, and files that are
# whole at any time.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"
sanitized_beectl || exit 1

# Not those with times, which .raw does not keep.
untimed_formats=$(formats | awk '/\.write =/ && !/\.times =/ { print $1 }')
names="prog;main;outer 1"

# A recording with all kinds of addresses, and names that are hard to write down.
everything() {
	hostile && cp "$work/made.data" "$work/hostile.data" || return
	made "_ = [r.sample(7, [KERNEL, 0xffffffff81000010 + i, USER, 0x400000 + 16 * i, 0x401000 + i, 0x900000]) for i in range(300)]; r.map(7, 0x7000, 0x1000, '//anon'); r.sample(7, [USER, 0x7004, $(address main) + 8]); r.comm(8, b'a b%c\\nd'); r.sample(8, [USER, 0x10])"
}

# same OPTIONS RAW DATA: is RAW, with its names, what DATA is in all formats?
same() {
	local format options
	read -r -a options <<<"$1"
	for format in $untimed_formats; do
		"$beectl" flame "$3" --format "$format" "${options[@]}" >"$work/direct" 2>"$work/direct.errors" &&
			"$beectl" flame --enrich "$2" --format "$format" "${options[@]}" >"$work/enriched" 2>"$work/enriched.errors" &&
			cmp "$work/direct" "$work/enriched" && diff "$work/direct.errors" "$work/enriched.errors" || return
	done
}

check_enrich() {
	everything || return
	local data
	for data in made hostile; do
		"$beectl" flame "$work/$data.data" -o "$work/$data.raw" && same "" "$work/$data.raw" "$work/$data.data" &&
			same "--inlines --lines --samples" "$work/$data.raw" "$work/$data.data" || return
	done
	! grep -E 'main|outer' "$work/made.raw" &&
		"$beectl" flame "$work/made.raw" --raw | cmp - "$work/made.raw" || return
	# What it is compared with may be anything.
	"$beectl" flame --enrich "$work/made.raw" --diff "$work/made.data" --format folded >"$work/folded" 2>"$work/errors" || return
	[ -s "$work/folded" ] && ! grep -vE ' ([0-9]+) \1$' "$work/folded"
}

# Two samples that stand for 1,234; those of an event that has no periods count one each; and the sum of periods
# that no number can hold.
check_periods() {
	made "[r.sample(7, [USER, $(address main) + 8], period=n) for n in (1000, 234)]; r.sample(7, [USER, $(address outer)])" &&
		expect "prog;main 1234" "prog;outer 1" && options=--samples expect "prog;main 2" "prog;outer 1" &&
		"$beectl" flame "$work/made.data" | grep "^event 0: 3 samples, counted as 1,235 event 0" &&
		"$beectl" flame "$work/made.data" --samples | grep "^event 0: 3 samples, " || return
	"$beectl" flame "$work/made.data" --json | grep '"unit": "event 0"' &&
		"$beectl" flame "$work/made.data" --json --samples | grep '"unit": "samples"' || return
	made "[r.sample(7, [USER, $(address main) + 8], period=0) for n in range(2)]" && expect "prog;main 2" &&
		made "[r.sample(7, [USER, $(address main) + 8], period=n) for n in ((1 << 64) - 5, 3, 9, 1)]" &&
		expect "prog;main 18446744073709551615"
}

# Which formats say what their numbers are.
check_units() {
	made "r.sample(7, [USER, $(address main) + 8], period=2500000)" && "$beectl" flame "$work/made.data" --raw |
		sed 's/^\(event 1\) .*/\1 cpu-clock:u/' >"$work/clock.raw" || return
	"$beectl" flame "$work/clock.raw" --format svg | grep 'main.*: 2,500,000 ns, 100.00 %<' &&
		"$beectl" flame "$work/clock.raw" --samples --format svg | grep 'main.*: 1 samples, 100.00 %<' &&
		"$beectl" flame "$work/clock.raw" --format firefox >"$work/firefox.json" &&
		"$beectl" flame "$work/clock.raw" --format speedscope >"$work/speedscope.json" || return
	"$python" - "$work" <<-'END'
		import json, sys
		with open(sys.argv[1] + "/firefox.json", encoding="utf-8") as file:
		    samples = json.load(file)["threads"][0]["samples"]
		assert samples["weightType"] == "tracing-ms" and samples["weight"] == [2.5], samples
		with open(sys.argv[1] + "/speedscope.json", encoding="utf-8") as file:
		    profile, = json.load(file)["profiles"]
		assert profile["unit"] == "nanoseconds" and profile["weights"] == [2500000], profile
		assert profile["name"] == "cpu-clock:u, in ns", profile
	END
}

# Where the address is known, but the file is not there; and where it is.
check_elsewhere() {
	made "r.map(7, 0x500000, 0x10000, '/nowhere/prog'); r.sample(7, [USER, $(address outer) + 0x100000, $(address main) + 0x100008])" &&
		"$beectl" flame "$work/made.data" --raw -o "$work/away.raw" || return
	mkdir -p "$work/there/nowhere" && cp "$work/prog" "$work/there/nowhere/prog" &&
		same "--symfs $work/there" "$work/away.raw" "$work/made.data" &&
		"$beectl" flame "$work/away.raw" --symfs "$work/there" --format folded | diff - <(echo "$names")
}

# The recording has no build-id of the program.  flame --raw adds that of the file, so that --enrich does not take
# another file for it; but not if no sample has an address in the file, as flame does not open it then.
check_build_id() {
	local id
	id=$(readelf -n "$work/prog" | sed -n 's/.*Build ID: //p')
	made "r.map(7, 0x400000, 0x10000, work + '/prog', inode=$(stat -c %i "$work/prog") + 1); r.sample(7, [USER, $(address outer)])" &&
		"$beectl" flame "$work/made.data" --raw >"$work/id.raw" && ! grep -q "${id:?}" "$work/id.raw" || return
	made "r.map(7, 0x400000, 0x10000, work + '/prog', inode=$(stat -c %i "$work/prog")); r.sample(7, [USER, 0x10])" &&
		"$beectl" flame "$work/made.data" --raw >"$work/id.raw" && ! grep -q "${id:?}" "$work/id.raw" || return
	made "r.map(7, 0x400000, 0x10000, work + '/prog', inode=$(stat -c %i "$work/prog")); r.sample(7, [USER, $(address outer), $(address main) + 8])" &&
		"$beectl" flame "$work/made.data" --raw >"$work/id.raw" && grep -q "^file elf ${id:?} " "$work/id.raw" || return
	mkdir -p "$work/other/${work#/}" && objcopy --update-section .note.gnu.build-id=<(head -c 36 /dev/zero) "$work/prog" \
		"$work/other/${work#/}/prog" || return
	"$beectl" flame --enrich "$work/id.raw" --symfs "$work/other" --format folded 2>"$work/errors" |
		grep -q '^prog;\[prog]' && grep -q 'build-id differs' "$work/errors"
}

# Each line cut off, left out, or changed: refused in words, or read; never a crash.
check_raw_damaged() {
	made "r.sample(7, [USER, $(address outer), $(address main) + 8])" && "$beectl" flame "$work/made.data" --raw >"$work/some.raw" &&
		"$python" - "$beectl" "$work" <<-'END'
			import random, subprocess, sys
			beectl, work = sys.argv[1:]
			with open(work + "/some.raw", "rb") as file:
			    lines = file.read().splitlines(keepends=True)
			random.seed(1)
			cases = [b"".join(lines)[:n] for n in range(19, sum(map(len, lines)) - 1, 7)]
			for i in range(1, len(lines)):
			    cases.append(b"".join(lines[:i] + lines[i + 1:]))
			    words = lines[i].rstrip(b"\n").split(b" ")
			    for j in range(len(words)):
			        for bad in (b"", b"-1", b"18446744073709551616", b"4294967295", b"99", b"%", b"%00", b"x"):
			            cases.append(b"".join(lines[:i] + [b" ".join(words[:j] + [bad] + words[j + 1:]) + b"\n"] + lines[i + 1:]))
			refused = 0
			for case in cases:
			    done = subprocess.run([beectl, "flame", "-", "--format", "folded"], input=case, capture_output=True, check=False)
			    assert done.returncode in (0, 1), (done, case)
			    assert done.returncode == 0 or done.stderr.startswith(b"beectl: flame: "), (done, case)
			    refused += done.returncode
			assert refused > len(cases) / 2, (refused, len(cases))
		END
}

check_raw_usage() {
	made "r.sample(7, [USER, $(address outer)])" && echo "a;b 1" >"$work/stacks" || return
	! "$beectl" flame "$work/stacks" --raw 2>"$work/errors" && grep -q "no addresses" "$work/errors" &&
		! "$beectl" flame --enrich "$work/made.data" 2>"$work/errors" && grep -q "what --raw has written" "$work/errors" || return
	"$beectl" flame "$work/made.data" --raw | sed '1s/[0-9]*$/1/' >"$work/other.raw" &&
		! "$beectl" flame "$work/other.raw" 2>"$work/errors" && grep -q "another version of beectl has written it" "$work/errors" || return
	"$beectl" flame "$work/made.data" --raw --split tid -o "$work/split.raw" 2>"$work/errors" && [ ! -s "$work/errors" ] &&
		"$beectl" flame "$work/split.raw" --split pid --format folded >"$work/folded" 2>"$work/errors" &&
		grep -q '^prog-7/7;' "$work/folded" && grep -q "split.raw: --split.* have no effect" "$work/errors" || return
	"$beectl" flame --enrich x.raw y.raw 2>"$work/errors"
	[ $? -eq 2 ] || return
	"$beectl" flame "$work/made.data" --format gif 2>"$work/errors"
	[ $? -eq 2 ] && grep -q "gif: no such format" "$work/errors" || return
	"$beectl" flame "$work/made.data" -o "$work/x.gif" 2>"$work/errors"
	[ $? -eq 2 ] && grep -q "x.gif: no known suffix; say --format" "$work/errors" && [ ! -e "$work/x.gif" ]
}

# A device stays one.
check_device() {
	made "r.sample(7, [USER, $(address outer)])" && mkfifo "$work/pipe" || return
	"$beectl" flame "$work/made.data" --format folded -o "$work/pipe" &
	grep -q '^prog;outer 1$' "$work/pipe" && wait $! && [ -p "$work/pipe" ] || return
	# Links that lead to what has no name, or has it elsewhere.
	"$beectl" flame "$work/made.data" --format folded -o /dev/stdout | grep '^prog;outer 1$' &&
		"$beectl" flame "$work/made.data" --format folded -o /dev/stdout >"$work/redirected" &&
		grep '^prog;outer 1$' "$work/redirected" && "$beectl" flame "$work/made.data" --format folded -o /dev/null &&
		[ -c /dev/null ] && (cd "$work" && "$beectl" flame made.data -o here.folded) && [ -s "$work/here.folded" ]
}

# What is there keeps its permissions, and its other names if it has symbolic links.
check_replaced() {
	local command file=$work/kept/file
	mkdir "$work/kept" && ln -s kept/file "$work/link" && echo "a;b 1" >"$work/stacks" || return
	for command in "flame $work/stacks --format svg" "compile -q $work/prog"; do
		echo old >"$file" && chmod 640 "$file" || return
		# shellcheck disable=SC2086  # a list of words
		"$beectl" $command -o "$work/link" || return
		ls -l "$work/link" "$work/kept"
		[ -L "$work/link" ] && [ "$(stat -c %a "$file")" = 640 ] && [ "$(stat -c %s "$file")" -gt 4 ] &&
			[ "$(ls "$work/kept")" = file ] || return
	done
}

# Recordings are their user's, as perf.data; tables are not.
check_private() {
	made "r.sample(7, [USER, $(address outer)])" || return
	local format
	for format in $untimed_formats raw; do
		(umask 022; "$beectl" flame "$work/made.data" --format "$format" -o "$work/private.$format") &&
			[ "$(stat -c %a "$work/private.$format")" = 600 ] || { ls -l "$work/private.$format"; return 1; }
	done
	(umask 022; "$beectl" compile -q "$work/prog" -o "$work/private.beet") && [ "$(stat -c %a "$work/private.beet")" = 644 ]
}

# stripped OPTION...: $work/bare, without the symbols that a debug file has; sample it
stripped() {
	objcopy --strip-all "$@" "$work/prog" "$work/bare" &&
		made "r.map(7, 0x500000, 0x10000, work + '/bare'); r.sample(7, [USER, $(address outer) + 0x100000, $(address main) + 0x100008])"
}

# Without the debug file there are no names, so it is that which has them.
without_names() {
	"$beectl" flame "$work/made.data" --format folded 2>/dev/null | grep '^prog;\[bare]+0x[0-9a-f]*;\[bare]+0x[0-9a-f]* 1$'
}

check_debuglink() {
	objcopy --only-keep-debug "$work/prog" "$work/bare.debug" && objcopy --strip-all --remove-section .note.gnu.build-id \
		--add-gnu-debuglink="$work/bare.debug" "$work/prog" "$work/bare" || return
	made "r.map(7, 0x500000, 0x10000, work + '/bare'); r.sample(7, [USER, $(address outer) + 0x100000, $(address main) + 0x100008])" &&
		options=--inlines expect "prog;main;outer;middle_[i];innermost_[i] 1" || return
	mkdir "$work/.debug" && mv "$work/bare.debug" "$work/.debug/" &&
		options=--inlines expect "prog;main;outer;middle_[i];innermost_[i] 1" || return
	rm -r "$work/.debug" && without_names
}

check_build_id_file() {
	local id root=$work/debugs
	stripped && without_names && id=$(readelf -n "$work/prog" | sed -n 's/.*Build ID: //p') || return
	mkdir -p "$root/usr/lib/debug/.build-id/${id:0:2}" "$root/$work" && cp "$work/bare" "$root/$work/bare" &&
		objcopy --only-keep-debug "$work/prog" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" &&
		options="--inlines --symfs $root" expect "prog;main;outer;middle_[i];innermost_[i] 1"
}

check_gnu_debugdata() {
	nm "$work/prog" --format=posix --defined-only | awk '$2 ~ /[tT]/ { print $1 }' | sort >"$work/keep"
	objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols="$work/keep" "$work/prog" "$work/mini" &&
		rm -f "$work/mini.xz" && xz "$work/mini" && stripped --add-section .gnu_debugdata="$work/mini.xz" || return
	expect "$names" && stripped && without_names
}

# Asked for by build-id, and only if $DEBUGINFOD_URLS is set.
check_debuginfod() {
	local id
	stripped && without_names && id=$(readelf -n "$work/prog" | sed -n 's/.*Build ID: //p') || return
	mkdir -p "$work/server/buildid/$id" && objcopy --only-keep-debug "$work/prog" "$work/server/buildid/$id/debuginfo" || return
	DEBUGINFOD_URLS="file://$work/server/" DEBUGINFOD_CACHE_PATH=$work/cache options=--inlines \
		expect "prog;main;outer;middle_[i];innermost_[i] 1" && [ -e "$work/cache/$id/debuginfo" ]
}

check_killed() {
	mkdir "$work/killed.$1" && "$python" "$tree/selftests/lib/killed.py" "$1" "$beectl" "$work/killed.$1"
}

# A process that runs: it works when the command, which perf has started, says so.
check_pid() {
	"$python" - "$work" <<-'END' &
		import os, sys, time
		while not os.path.exists(sys.argv[1] + "/go"):
		    time.sleep(0.02)
		for i in range(200):
		    sum(range(100000))
		open(sys.argv[1] + "/done", "w", encoding="utf-8").close()
	END
	local pid=$!
	# shellcheck disable=SC2016  # for the inner shell
	"$beectl" flame -F 499 -e cpu-clock -o "$work/pid.folded" -p "$pid" -- \
		sh -c ': >"$0/go"; while kill -0 "$1" && [ ! -e "$0/done" ]; do sleep 0.02; done' "$work" "$pid" \
		2>"$work/errors" || { cat "$work/errors"; kill "$pid"; }
	wait "$pid" && grep -q '^python3;.* [0-9]*$' "$work/pid.folded"
}

# Not what a part of DIR leads to.
check_long_symfs() {
	local part long
	part=$work/$(printf 'x%.0s' {1..199})
	part=${part:0:199}
	long=$part/$(printf 'y%.0s' {1..99})
	mkdir -p "$part/tmp" "$long/tmp" && echo "7000 100 wrong" >"$part/tmp/perf-7.map" && echo "7000 100 right" >"$long/tmp/perf-7.map" &&
		made "r.map(7, 0x7000, 0x1000, '//anon'); r.sample(7, [USER, 0x7004])" &&
		options="--symfs $long" expect "prog;right_[j] 1"
}

# perf record --call-graph dwarf: the kernel's callchains, and copies of the user's stack, which beectl does not unwind.
check_copied_stacks() {
	local copies="REGS_STACK, NO_USER = 3 << 12, 1 << 22; whole = r.attr()"
	made "$copies; r.attr = lambda: whole[:24] + struct.pack('<QQQ', SAMPLE_TYPE | SAMPLE_CALLCHAIN | REGS_STACK, 0, 1 << 18 | NO_USER) + whole[48:]; r.sample(7, [USER, $(address outer)])" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff - <(echo "prog;outer 1") &&
		grep -q "made.data: it has copies of user stacks .*perf record --call-graph fp" "$work/errors" || { cat "$work/errors"; return 1; }
	# Whose user stacks are left out on purpose, as by --kernel-callchains.
	made "$copies; r.attr = lambda: whole[:40] + struct.pack('<Q', 1 << 18 | NO_USER) + whole[48:]; r.sample(7, [USER, $(address outer)])" &&
		expect "prog;outer 1" || return
	# Whatever becomes of the recording.
	"$beectl" flame --call-graph dwarf -o "$work/copies.svg" -- true 2>"$work/errors" >&2
	grep -q "warning: --call-graph: .*beectl flame" "$work/errors" && ! grep -q "perf unwinds" "$work/errors" || { cat "$work/errors"; return 1; }
	"$beectl" record --call-graph dwarf -o "$work/copies.data" -- true 2>"$work/errors" >&2
	grep -q "warning: --call-graph: .*perf unwinds these stacks" "$work/errors"
}

ktap_plan 19
with xz "names from .gnu_debugdata" check_gnu_debugdata
ktap_run "names from .gnu_debuglink" check_debuglink
ktap_run "names from a debug file by build-id, below another root" check_build_id_file
ktap_run "names from debuginfod" check_debuginfod
ktap_run "addresses that are named later have the names that they have at once" check_enrich
ktap_run "flame's formats have what samples stand for" check_periods
ktap_run "flame's formats say what their numbers are" check_units
ktap_run "addresses are named on the machine that has the files" check_elsewhere
ktap_run "files of addresses have build-ids" check_build_id
ktap_run "damaged files of addresses are refused" check_raw_damaged
ktap_run "mistakes with addresses are named" check_raw_usage
ktap_run "flame writes to a pipe" check_device
ktap_run "an output file that is replaced keeps its permissions" check_replaced
ktap_run "a new output file is for its owner only" check_private
ktap_run "the output file is whole when flame is killed while it writes" check_killed write
ktap_run "flame writes into a directory with a long name" check_long_symfs
ktap_run "flame warns of copies of user stacks" check_copied_stacks
if perf record -q -e cpu-clock -g -o "$work/probe.data" -- true >/dev/null 2>&1; then
	ktap_run "the checkpoint is whole when flame is killed while it records" check_killed record
	ktap_run "flame -p records a process" check_pid
else
	ktap_skip "the checkpoint is whole when flame is killed while it records" "perf cannot record here"
	ktap_skip "flame -p records a process" "perf cannot record here"
fi
ktap_finish
