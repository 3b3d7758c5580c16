#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# JIT code that comes and goes at one address, under beectl watch and perf: no walk uses the table of
# code that is gone, and nothing is left of it.
#	BEE_JIT_OBJECTS=N	so many pieces of code (100000 take ten minutes)
# once: 1
# timeout: 900
# cpus: 2
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

objects=${BEE_JIT_OBJECTS:-2000}
every=$((objects < 10000 ? 200 : objects / 20))	# of so many pieces one stays until it has a table

has_table() {
	"$BEECTL" status --json "$1" | grep -qF '"[jit] walk_churned"'
}

# Samples of the module's walks.
walks() {
	guest_status hook_hits
}

# The process has its table, and runs on: in so many samples nothing wakes watch.
stays_asleep() {
	local before end

	# Status takes a sample of itself, so that watch makes the table of beectl.
	walks
	guest_wait watch_is_idle || return 1
	before=$(watch_works)
	end=$(($(walks) + 500))
	more_walks() { [ "$(walks)" -ge "$end" ]; }
	guest_wait more_walks || return 1
	[ "$(watch_works)" = "$before" ] &&
		echo "500 samples of code with a table: beectl has not run" >>"$WORK/figures" && return
	echo "$before"
	watch_works
}

# let_go [FIRST]: let a piece of code go when it has its table, the first one when FIRST is done
let_go() {
	local pid

	guest_wait pidof walk_churned || return 1
	pid=$(pidof walk_churned)
	while [ -d "/proc/$pid" ]; do
		if [ -e "$WORK/flag" ] && has_table "$pid" 2>/dev/null; then
			"$@"
			set --
			rm "$WORK/flag"
			echo laid
		else
			sleep 0.1
		fi
	done
}

# churned OBJECTS EVERY [FIRST]: run them under watch and perf
churned() {
	local pid objects=$1 every=$2
	shift 2

	let_go "$@" >"$WORK/laid" 2>&1 &
	pid=$!
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g -m 4M \
		-o "$WORK/churned.data" setarch -R "$TESTS/walk_churned" "$objects" "$every" \
		"$WORK/flag" || return 1
	wait "$pid"
	[ "$(grep -c laid "$WORK/laid")" = "$((objects / every))" ]
}

# right OBJECTS KEPT: each mark was sampled.  Where there is no table a stack ends in the code; one
# that goes on has the callers, in KEPT pieces at least.
right() {
	PYTHONPATH=$TREE/selftests/kmod/walk PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$WORK/churned.data" "$@" \
		>>"$WORK/figures" <<-'END'
	import collections, sys
	import check
	seen = collections.Counter()
	for frames in check.sampled(sys.argv[1], "walk_churned", "raw_syscalls:sys_enter"):
	    names = tuple(name for name, _ in frames)
	    whole = check.stack_is(frames, ["mark", "reached", "[jit]", "call_code", "churn", "main"])
	    seen["whole" if whole else "cut" if names == ("mark", "reached", "[jit]") else names] += 1
	print("stacks:", *(f"{count} {names}" for names, count in seen.most_common(10)))
	objects, kept = map(int, sys.argv[2:])
	sys.exit(not (set(seen) == {"whole", "cut"} and seen["whole"] >= kept and
	              seen["whole"] + seen["cut"] >= objects))
	END
}

# used: bytes of the module, but those of files that are on disk, when no process is left but those
# that were there before
used() {
	guest_wait watch_is_idle
	"$BEECTL" status --json --files >"$WORK/files" && "$BEECTL" status --json >"$WORK/status" &&
		/usr/bin/python3 - "$WORK/files" "$WORK/status" <<-'END'
	import json, sys
	files, status = (json.load(open(path)) for path in sys.argv[1:])
	print(status["used_bytes"] - sum(f["bytes"] for f in files["files"] if not f["pid"]))
	END
}

# Record watch's messages, and print how many there were.  libnl peeks at each one that it receives.
messages_start() {
	perf record -q -N -B -o "$WORK/messages.data" -p "$(cat "$WORK/pid")" \
		-e syscalls:sys_enter_recvmsg,syscalls:sys_exit_recvmsg,syscalls:sys_exit_sendmsg &
	echo $! >"$WORK/messages.pid"
	guest_wait test -s "$WORK/messages.data"
}

messages_stop() {
	kill -INT "$(cat "$WORK/messages.pid")"
	wait "$(cat "$WORK/messages.pid")"
	perf script -i "$WORK/messages.data" -F trace:tid,event,trace | /usr/bin/python3 -c '
import re, sys
peeks, count, size = set(), {"received": 0, "sent": 0}, {"received": 0, "sent": 0}
for line in sys.stdin:
    tid, event, call, value = re.match(
        r"\s*(\d+).*syscalls:sys_(enter|exit)_(recv|send)msg:.* (0x[0-9a-f]+)$", line).groups()
    what, value = "received" if call == "recv" else "sent", int(value, 16)
    if event == "enter":
        (peeks.add if value & 2 else peeks.discard)(tid)    # MSG_PEEK
    elif 0 < value < 1 << 31 and not (call == "recv" and tid in peeks):
        count[what] += 1
        size[what] += value
print("messages of beectl:", *(f"{count[k]} {k} of {size[k]} bytes" for k in ("sent", "received")))' \
		>>"$WORK/figures"
}

comes_and_goes() {
	local before after ticks status=0

	watch_start && watch_follows || return 1
	# Once for the tables of the programs themselves, and for what is remembered of each CPU.
	churned 6 2 stays_asleep || { cat "$told" "$WORK/laid"; return 1; }
	grep -q "has not run" "$WORK/figures" || { cat "$WORK/laid"; status=1; }
	messages_start || status=1
	before=$(used)
	ticks=$(watch_ticks)
	churned "$objects" "$every" || status=1
	after=$(used)
	ticks=$(($(watch_ticks) - ticks))
	messages_stop || status=1
	echo "$objects pieces: $before bytes before, $after after, $(owned) tables left;" \
		"CPU time of beectl: $ticks ticks" >>"$WORK/figures"
	watch_stop
	cat "$told"
	right "$objects" $((objects / every)) && [ "$status" = 0 ] && [ "$(owned)" = 0 ] &&
		[ "$after" -le "$before" ]
}

[ -n "${BEE_LONG:-}" ] || ktap_skip_all "code that comes and goes takes minutes: with BEE_LONG=1, as in make check-all"
guest_insmod || exit 1
ktap_plan 1
ktap_run "beectl keeps up with code in memory that comes and goes" comes_and_goes
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
