#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks through code that a JIT compiler has registered with CFI: each stack is known.
# once: 1
# timeout: 900
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

# shown PROGRAM PID: status tells of the table of code in memory, and whose it is
shown() {
	"$BEECTL" status --json --tables "[jit] $1" >"$WORK/users" &&
		"$BEECTL" status --json --files >"$WORK/files" &&
		"$BEECTL" status --json "$2" >"$WORK/proc" && "$BEECTL" status "$2" &&
		/usr/bin/python3 - "$WORK/users" "$WORK/files" "$WORK/proc" "$1" "$2" <<-'END'
	import json, sys
	users, files, proc = (json.load(open(path)) for path in sys.argv[1:4])
	name, pid = "[jit] " + sys.argv[4], int(sys.argv[5])
	(table,) = users["tables"]
	(user,) = table["processes"]
	(at,) = user["ranges"]
	(own,) = (r for r in proc["process"]["ranges"] if r["path"] == name)
	(file,) = (f for f in files["files"] if f["path"] == name)
	print(table, own, file["pid"])
	sys.exit(not (table["loaded"] and table["rows"] and user["pid"] == pid and
	              at["start"] == own["start"] == at["offset"] == "0x7e0000000000" and
	              own["loaded"] and own["file_id"] == table["id"] and file["pid"] == pid))
	END
}

# removed PROGRAM: a table goes by its name
removed() {
	"$BEECTL" unload "[jit] $1"
}

# served PROGRAM READY GO: load or remove the program's tables whenever it asks
served() {
	local pid what
	guest_wait pidof "$1" || return 1
	pid=$(pidof "$1")
	while read -r -n 1 what <"$2" && [ -d "/proc/$pid" ]; do
		if [ "$what" = u ]; then
			{ shown "$1" "$pid" && removed "$1"; }
		else
			"$BEECTL" load --cfi-only "$pid"
		fi >>"$WORK/loads" 2>&1 || echo "$what: status $?" >>"$WORK/loads"
		echo g >"$3"
	done
}

# recorded: a process has code in memory when "beectl record -a" starts; it has its table when that has ended
recorded() {
	local pid status=0

	registered_start || return
	pid=$!
	"$BEECTL" record -q -a -o "$WORK/all.data" -- true && memory_is "$pid" "[jit] " || status=1
	kill "$pid"
	wait "$pid"
	"$BEECTL" unload -q --all
	return "$status"
}

# kept: the table of code in memory stays, or is laid anew, whatever else makes tables
kept() {
	local pid status=0

	registered_start || return
	pid=$!
	if "$BEECTL" load --cfi-only "$pid" && memory_is "$pid" "[jit] "; then
		"$BEECTL" load -q --cfi-only --no-jit --all
		memory_is "$pid" "[jit] " || { echo "not after load --all --no-jit"; status=1; }
		"$BEECTL" record -q -a -o "$WORK/all.data" -- true
		memory_is "$pid" "[jit] " || { echo "not after record -a"; status=1; }
		watch_start && watch_follows && memory_is "$pid" "[jit] " || { echo "not under watch"; status=1; }
		watch_stop
		"$BEECTL" load -q --cfi-only --all
		memory_is "$pid" "[jit] " || { echo "not after load --all"; status=1; }
	else
		status=1
	fi
	kill "$pid"
	wait "$pid"
	return "$status"
}

guest_insmod || exit 1
ktap_plan 3
ktap_run "stacks through registered code are the known ones" known_stacks walk_registered
ktap_run "beectl record -a lays a table for registered code" recorded
ktap_run "the table of code in memory stays when files of all processes get theirs" kept
ktap_finish
