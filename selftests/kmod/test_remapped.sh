#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks through text that a program has moved into memory without a file, to have huge pages: cut
# short there until "beectl load" has given it the table of its file.
# once: 1
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

PROGRAM=$TESTS/walk_remapped

# shown PID: status has the memory as a part of the program
shown() {
	"$BEECTL" status --json "$1" >"$WORK/proc" && /usr/bin/python3 - "$WORK/proc" "$1" "$PROGRAM" <<-'END'
	import json, re, sys
	with open(sys.argv[1]) as file:
	    ranges = json.load(file)["process"]["ranges"]
	with open(f"/proc/{sys.argv[2]}/maps") as maps:
	    holes = [line.split("-")[0] for line in maps if re.search(r" r-xp \S+ 00:00 0 *$", line)]
	print(holes, ranges)
	(laid,) = (r for r in ranges if int(r["start"], 16) == int(holes[0], 16))
	sys.exit(not (laid["path"] == sys.argv[3] and laid["loaded"]))
	END
}

# served MODE: when the program waits for the first time, load no table of memory, and then all
served() {
	local pid

	read -r -n 1 <"$WORK/ready"
	pid=$(pidof walk_remapped)
	"$BEECTL" load --cfi-only --no-jit "$pid" || echo "load: status $?"
	echo g >"$WORK/go"
	read -r -n 1 <"$WORK/ready"
	"$BEECTL" load --cfi-only --json "$pid" >"$WORK/json" || echo "load: status $?"
	cat "$WORK/json"
	[ "$1" = other ] || shown "$pid" || echo "status: not shown"
	echo g >"$WORK/go"
}

# laid NUMBER: so many ranges have got the table of their file
laid() {
	/usr/bin/python3 - "$WORK/json" "$1" <<-'END'
	import json, sys
	with open(sys.argv[1]) as file:
	    (process,) = json.load(file)["processes"]
	reasons = [p["error"] for p in process["problems"]]
	wanted = int(sys.argv[2])
	print(process["name"], process["remapped"], reasons)
	sys.exit(not (process["remapped"] == wanted and process["jit"] == 0 and
	              any("has other bytes" in r for r in reasons) == (not wanted)))
	END
}

# known_stacks MODE NUMBER: all marks have the stacks that the program prints
known_stacks() {
	local server status=0

	rm -f "$WORK/ready" "$WORK/go"
	mkfifo "$WORK/ready" "$WORK/go"
	served "$1" >"$WORK/loads" 2>&1 &
	server=$!
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g -o "$WORK/data" \
		setarch -R "$PROGRAM" "$1" "$WORK/ready" "$WORK/go" >"$WORK/said" || status=1
	kill "$server" 2>/dev/null
	cat "$WORK/loads"
	! grep -q '^[a-z]*: ' "$WORK/loads" && [ "$status" = 0 ] && laid "$2" &&
		/usr/bin/python3 "$TREE/selftests/kmod/walk/check.py" "$WORK/data" walk_remapped \
			"$WORK/said"
}

# Where node is built with frame pointers stacks are whole before, too.
node_pages() {
	local pid status=0

	node --use-largepages=on "$TREE/selftests/kmod/walk/work.js" 1000000 >"$WORK/node" 2>&1 &
	pid=$!
	guest_wait runs_code "$pid" && "$BEECTL" load --no-jit "$pid" && judged "$pid" before &&
		"$BEECTL" load --json "$pid" >"$WORK/json" && cat "$WORK/json" && laid 1 &&
		judged "$pid" after && share after 99 100 || status=1
	cat "$WORK/node"
	kill "$pid"
	wait "$pid"
	return "$status"
}

guest_insmod || exit 1
ktap_plan 4
ktap_run "stacks through text copied into memory without a file are those that are known" known_stacks copy 1
ktap_run "stacks through text that mremap() has moved into memory without a file are those that are known" \
	known_stacks move 1
ktap_run "text in memory with other bytes than those of the file gets no table" known_stacks other 0
if ! node --help 2>/dev/null | grep -q -- --use-largepages; then
	ktap_skip "stacks of node --use-largepages are complete after load" \
		"nodejs is not installed, or cannot do that"
elif node --use-largepages=on -e 0 2>&1 | grep -q "not supported"; then
	ktap_skip "stacks of node --use-largepages are complete after load" \
		"this node knows the option, but is built without it"
elif [ ! -e /sys/kernel/mm/transparent_hugepage ]; then
	ktap_skip "stacks of node --use-largepages are complete after load" \
		"the kernel has no transparent huge pages"
elif grep -qs '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled; then
	ktap_skip "stacks of node --use-largepages are complete after load" \
		"the kernel has transparent huge pages switched off"
else
	ktap_run "stacks of node --use-largepages are complete after load" node_pages
fi
ktap_finish
