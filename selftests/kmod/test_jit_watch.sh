#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl watch lays tables over code in memory after the first sample in it, and they go with the code:
# LLVM's lli, and a JIT compiler of our own whose code comes and goes.
#	BEE_JIT_OBJECTS=N	so many pieces of code (100000 take half an hour)
# once: 1
# timeout: 900
# cpus: 2
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

MARKS="id == 110"
objects=${BEE_JIT_OBJECTS:-3000}
kept=10		# of these, pieces that stay until they have a table
export BEEUNWIND_CACHE=$WORK/cache
mkdir -m 700 "$BEEUNWIND_CACHE"
told=$WORK/told

watch_start() {
	"$BEECTL" watch "$@" >"$told" 2>&1 &
	echo $! >"$WORK/pid"
	guest_wait grep -q "^following" "$told"
}

watch_stop() {
	kill "$(cat "$WORK/pid")"
	wait "$(cat "$WORK/pid")"
	[ -z "$*" ] || cat "$told"
	rm "$WORK/pid"
}

# CPU time of beectl and its children, in clock ticks.
watch_ticks() {
	sed 's/.*) //' "/proc/$(cat "$WORK/pid")/stat" | awk '{ print $12 + $13 + $14 + $15 }'
}

watch_is_idle() {
	local before
	before=$(watch_ticks)
	sleep 0.7
	[ "$(watch_ticks)" = "$before" ] && ! pgrep -P "$(cat "$WORK/pid")" >/dev/null
}

# memory_is PID WHAT: a range of the process's code in memory has a table; WHAT is a part of the
# path that status shows for it
memory_is() {
	"$BEECTL" status --json "$1" | /usr/bin/python3 -c '
import json, sys
ranges = json.load(sys.stdin)["process"]["ranges"]
with open(f"/proc/{sys.argv[1]}/maps") as maps:
    bare = {int(l.split("-")[0], 16) for l in maps if " 00:00 0 " in l and l[-2] == " "}
sys.exit(not any(r["loaded"] and sys.argv[2] in r["path"] and int(r["start"], 16) in bare
                 for r in ranges))' "$1" "$2"
}

# watched PID WHAT: the first recording has short stacks, and has tables laid; a later one has whole
# ones, as each table leads the walk to files that need the next
watched() {
	local i

	guest_wait runs_code "$1" && judged "$1" before && guest_wait memory_is "$1" "$2" || return 1
	for i in 1 2 3 4; do
		guest_wait watch_is_idle && judged "$1" "after$i" || return 1
		share "after$i" 99 100 && return 0
	done
	return 1
}

llvm() {
	local pid status=0

	watch_start || return 1
	lli --jit-kind=mcjit "$TESTS/jit_loop.bc" 600 &
	pid=$!
	watched "$pid" "[jit] " || status=1
	watch_stop show
	kill "$pid"
	wait "$pid"
	return "$status"
}

# without: --no-jit has no code announced
without() {
	local pid status=0

	watch_start --no-jit || return 1
	lli --jit-kind=mcjit "$TESTS/jit_loop.bc" 600 &
	pid=$!
	guest_wait runs_code "$pid" && judged "$pid" before && guest_wait watch_is_idle &&
		! memory_is "$pid" "[jit] " && share before 0 50 || status=1
	watch_stop
	kill "$pid"
	wait "$pid"
	return "$status"
}

# Let a piece of code go when it has its table.
let_go() {
	local pid
	guest_wait pidof walk_churned || return 1
	pid=$(pidof walk_churned)
	while [ -d "/proc/$pid" ]; do
		if [ -e "$WORK/flag" ] && memory_is "$pid" "[jit] " 2>/dev/null; then
			rm "$WORK/flag"
			echo laid
		else
			sleep 0.1
		fi
	done
}

# Each mark is sampled.  Whose table has gone is cut short; nobody has the callers of other code.
stacks_are_right() {
	PYTHONPATH=$TREE/selftests/kmod/walk PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$WORK/churned.data" "$1" <<-'END'
	import collections, sys
	import check
	seen = collections.Counter()
	for frames in check.sampled(sys.argv[1], "walk_churned", "raw_syscalls:sys_enter"):
	    names = tuple(name for name, _ in frames)
	    whole = check.stack_is(frames, ["mark", "reached", "[jit]", "call_code", "churn", "main"])
	    seen["whole" if whole else "cut" if names == ("mark", "reached", "[jit]") else names] += 1
	for names, count in seen.most_common(10):
	    print(count, names)
	sys.exit(not (set(seen) == {"whole", "cut"} and sum(seen.values()) >= int(sys.argv[2])))
	END
}

# churned OBJECTS KEPT: run them under watch and perf
churned() {
	local pid

	let_go >"$WORK/laid" 2>&1 &
	pid=$!
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g \
		-o "$WORK/churned.data" setarch -R "$TESTS/walk_churned" "$1" "$(($1 / $2))" \
		"$WORK/flag" || return 1
	wait "$pid"
	[ "$(grep -c laid "$WORK/laid")" = "$2" ]
}

# Tables of code in memory.
owned() {
	"$BEECTL" status --json --files | /usr/bin/python3 -c '
import json, sys
print(sum(1 for file in json.load(sys.stdin)["files"] if file.get("owner")))'
}

# used: bytes of the module, but those of files, when no process is left but those that were there
# before
used() {
	guest_wait watch_is_idle
	"$BEECTL" status --json --files >"$WORK/files" && "$BEECTL" status --json >"$WORK/status" &&
		/usr/bin/python3 - "$WORK/files" "$WORK/status" <<-'END'
	import json, sys
	files, status = (json.load(open(path)) for path in sys.argv[1:])
	print(status["used"] - sum(f["bytes"] for f in files["files"] if not f.get("owner")))
	END
}

comes_and_goes() {
	local before after ticks status=0

	watch_start || return 1
	# Once for the tables of the programs themselves.
	churned 20 1 || { cat "$told" "$WORK/laid"; return 1; }
	before=$(used)
	ticks=$(watch_ticks)
	churned "$objects" "$kept" || status=1
	ticks=$(($(watch_ticks) - ticks))
	after=$(used)
	echo "$objects objects: $before bytes before, $after after; $ticks ticks of beectl; $(owned) tables left"
	watch_stop show
	stacks_are_right "$objects" && [ "$status" = 0 ] && [ "$(owned)" = 0 ] &&
		[ "$after" -le "$before" ]
}

guest_insmod || exit 1
ktap_plan 3
if command -v lli >/dev/null && [ -e "$TESTS/jit_loop.bc" ]; then
	ktap_run "LLVM's JIT compiler under watch" llvm
	ktap_run "watch --no-jit" without
else
	ktap_skip "LLVM's JIT compiler under watch" "lli is not installed, or clang was not when this was built"
	ktap_skip "watch --no-jit" "likewise"
fi
ktap_run "code that comes and goes" comes_and_goes
ktap_finish
