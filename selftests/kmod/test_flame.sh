#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame with the module: stacks in the graph are complete, and it says how walks ended.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/watch.sh
. "$(dirname "$0")/watch.sh"

CLOCK=(-N -B -e cpu-clock -F 999)

# busy ROWS: compute so many rows
busy=(/usr/bin/python3 -c '
import sqlite3, sys
sqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all " +
                                    "select i+1 from n limit " + sys.argv[1] + ") select sum(i) from n")')

# flame ARGS...: what it prints is in $WORK/out, what it says in $WORK/err
flame() {
	"$BEECTL" flame "${CLOCK[@]}" "$@" >"$WORK/out" 2>"$WORK/err" && return
	cat "$WORK/err"
	return 1
}

# If a guest that shares its CPUs takes too few samples, the command does more; also if too many are of the
# beginning, when the libraries that it loads itself have no tables yet.
complete() {
	local rows status
	for rows in 99999 999999 9999999; do
		flame --json -- "${busy[@]}" "$rows" || return 1
		status=0
		/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
print({key: got[key] for key in ("samples", "judged", "complete", "lost")})
sys.exit(2 if got["samples"] < 20 or got["complete"] < 0.95 * got["judged"] else
         not got["stops"]["outermost"])' <"$WORK/out" || status=$?
		[ "$status" -eq 2 ] || return "$status"
	done
	return 1
}

stops() {
	flame -o "$WORK/out.svg" -- "${busy[@]}" 99999 && grep -q 'walks ended: outermost' "$WORK/out.svg" &&
		grep -q '>_start' "$WORK/out.svg"
}

all() {
	flame -o "$WORK/out.folded" -a -- "${busy[@]}" 99999 && grep -q '^python3;_start;' "$WORK/out.folded"
}

# A program that has a table, but no row for where it works: there it moves the stack by what it reads.
make_bare() {
	cat >"$WORK/bare.s" <<-'END'
		.data
		size: .quad 64
		.text
		.globl _start
		_start:	call spin
		other:	.cfi_startproc
			ret
			.cfi_endproc
		spin:	mov $1, %ebp
			sub size(%rip), %rsp
		again:	inc %rcx
			jmp again
	END
	gcc -nostdlib -static -o "$WORK/bare" "$WORK/bare.s"
}

# The graph tells complete stacks by the names that they begin with, the module by how its walks
# ended.  Stacks of the kernel's own threads, which the module does not walk, are left out; those of a program that
# has no table would be perf's own, and not counted.
watched() {
	local pids=() status CLOCK=("${CLOCK[@]/%cpu-clock/cpu-clock:u}")
	make_bare || return
	/usr/bin/python3 -c 'while True: sorted(map(str, range(5000)))' &
	pids+=($!)
	perl -e '@x = sort map { $_ * 7 % 977 } 1 .. 5000 while 1' &
	pids+=($!)
	"$BEECTL" load "${pids[@]}"
	"$WORK/bare" &
	pids+=($!)
	watch_start && watch_follows && flame --raw -o "$WORK/all.raw" -a -- "${busy[@]}" 99999 &&
		"$BEECTL" flame "$WORK/all.raw" --json >"$WORK/all.json" 2>"$WORK/err" &&
		/usr/bin/python3 - "$WORK" <<-'END'
			import json, math, re, sys, urllib.parse
			with open(sys.argv[1] + "/all.json", encoding="utf-8") as file:
			    graph = json.load(file)
			with open(sys.argv[1] + "/all.raw", encoding="utf-8") as file:
			    ended = urllib.parse.unquote(re.search("^stops (.*)$", file.read(), re.M)[1])
			stops = {name: int(count) for name, count in re.findall(r"([a-z-]+) (\d+)", ended)}
			walks = sum(stops.values())
			mine, module = graph["complete"] / graph["judged"], stops["outermost"] / walks
			error = math.sqrt(module * (1 - module) / walks)
			print(f"graph: {graph['judged']} samples, {mine:.1%} complete")
			print(f"module: {walks} walks, {module:.1%}; error {error:.1%}; {stops}")
			sys.exit(not (0.3 < module < 0.95 and abs(mine - module) <= 3 * error))
		END
	status=$?
	watch_stop
	kill -9 "${pids[@]}"
	return "$status"
}

# From a build tree: beectl loads the module that is beside it, and leaves a picture; one line says how complete it is.
# A recording of "record" is a file, whatever its output is.
built() {
	guest_rmmod && mkdir "$WORK/built" && cp "$BEECTL" "${BEECTL%/*}/beectl-draw.so" "$WORK/built" && cp "$BEE_KO" "$WORK/built/beeunwind.ko" &&
		cd "$WORK/built" || return
	./beectl flame "${CLOCK[@]}" -- true 2>"$WORK/err"
	[ ! -e /sys/module/beeunwind ] && ! grep "^beectl: loaded" "$WORK/err" || return
	env -u BEEUNWIND_LOAD ./beectl flame -e cpu-clock -F 999 -- "${busy[@]}" 99999 2>"$WORK/err" || { cat "$WORK/err"; return 1; }
	cat "$WORK/err"
	[ -e /sys/module/beeunwind ] && grep -x "beectl: loaded $WORK/built/beeunwind.ko" "$WORK/err" && grep -q '>_start' flame.svg &&
		tail -n1 "$WORK/err" | grep "^beectl: flame: wrote flame.svg: cpu-clock[^ ]*: [0-9,]* samples, counted as [0-9,]* ns, [0-9.]*% of the stacks complete$" &&
		! grep "\[ perf record" "$WORK/err" || return
	./beectl record "${CLOCK[@]}" -- echo text 2>"$WORK/err" | cat >"$WORK/out" && [ "$(cat "$WORK/out")" = text ] && [ -s perf.data ] ||
		{ cat "$WORK/err"; return 1; }
	./beectl flame perf.data 2>/dev/null | head -n1 | grep -x echo
}

guest_insmod || exit 1
ktap_plan 5
# This one has the tables made.
ktap_run "flame says in the graph how walks ended" stops
ktap_run "in flame stacks of a command are complete" complete
ktap_run "flame -a has stacks of all processes that run" all
ktap_run "under beectl watch flame finds as many stacks complete as the module counts" watched
ktap_run "from a build tree one command of flame makes a picture" built
ktap_finish
