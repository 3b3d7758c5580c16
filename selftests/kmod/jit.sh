# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts about code in memory without a file; after guest.sh.
# shellcheck source=selftests/kmod/watch.sh
. "$TREE/selftests/kmod/watch.sh"

# judged PID NAME: record a process for a while; the share of whole stacks among those through such
# code goes to NAME.judged, and to the file figures.  A guest that shares its CPUs may take fewer than
# 400 of these in three seconds: then of more.
judged() {
	local seconds
	for seconds in 3 12 48; do
		perf record -q -N -B -e cpu-clock -F 199 -g -p "$1" -o "$WORK/$2.data" -- \
			sleep "$seconds" || return 1
		/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge --through //anon \
			"$WORK/$2.data" >"$WORK/$2.judged" || return 1
		! share "$2" 0 100 400 || break
	done
	echo "$2: $(cat "$WORK/$2.judged")" | tee -a "$WORK/figures"
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why --through //anon "$WORK/$2.data" | head -n 5
}

# share NAME LEAST MOST [STACKS]: from LEAST to MOST percent of at least 100 stacks are whole, or of
# STACKS
share() {
	/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
percent = 100 * got["complete"] / max(got["samples"], 1)
sys.exit(not (got["samples"] >= int(sys.argv[3]) and int(sys.argv[1]) <= percent <= int(sys.argv[2])))' \
		"$2" "$3" "${4-100}" <"$WORK/$1.judged"
}

# known_stacks PROGRAM: all its marks have the stacks that it prints.  "served PROGRAM READY GO" does
# what it asks for through two fifos, and says in the file loads what fails
known_stacks() {
	local server status=0

	mkfifo "$WORK/ready" "$WORK/go"
	served "$1" "$WORK/ready" "$WORK/go" &
	server=$!
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g \
		-o "$WORK/known.data" setarch -R "$TESTS/$1" "$WORK/ready" "$WORK/go" \
		>"$WORK/known.said" || status=1
	kill "$server"
	rm "$WORK/ready" "$WORK/go"
	cat "$WORK/loads"
	! grep -q '^[lu]: status' "$WORK/loads" && [ "$status" = 0 ] &&
		/usr/bin/python3 "$TREE/selftests/kmod/walk/check.py" "$WORK/known.data" "$1" \
			"$WORK/known.said"
}

# registered_start: start walk_registered, and wait until it has registered its code; its process id is in $!
registered_start() {
	rm -f "$WORK/ready" "$WORK/go"
	mkfifo "$WORK/ready" "$WORK/go" || return
	"$TESTS/walk_registered" "$WORK/ready" "$WORK/go" >/dev/null &
	read -r -n 1 <"$WORK/ready"	# it has mapped its memory
	echo g >"$WORK/go"
	read -r -n 1 <"$WORK/ready"	# and registered its code
}

runs_code() {
	grep -q "r-xp 00000000 00:00 0 *$" "/proc/$1/maps"
}

# memory_is PID WHAT: code in the process's memory has a table; WHAT is a part of the name that status shows
# for it
memory_is() {
	"$BEECTL" status --json "$1" | /usr/bin/python3 -c '
import json, sys
ranges = json.load(sys.stdin)["process"]["ranges"]
with open(f"/proc/{sys.argv[1]}/maps") as maps:
    bare = {int(l.split("-")[0], 16) for l in maps if " 00:00 0 " in l and l[-2] == " "}
sys.exit(not any(r["loaded"] and sys.argv[2] in r["path"] and int(r["start"], 16) in bare
                 for r in ranges))' "$1" "$2"
}

# owned: print the number of tables of code in memory
owned() {
	"$BEECTL" status --json --files | /usr/bin/python3 -c '
import json, sys
print(sum(1 for file in json.load(sys.stdin)["files"] if file["pid"]))'
}
