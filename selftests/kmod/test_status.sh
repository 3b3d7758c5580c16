#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl status: walks of each process, walks since an earlier moment, and who makes tables.
# once: 1
# timeout: 600
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/watch.sh
. "$(dirname "$0")/watch.sh"

# sample PID...: some samples of these processes.  The two that are busy run only meanwhile.
sample() {
	local pids=$* status=0
	kill -CONT "$@"
	perf record -q -N -B -g -e cpu-clock -F 499 -o "$WORK/data" -p "${pids// /,}" -- sleep 1 ||
		status=1
	kill -STOP "$whole" "$broken"
	return $status
}

# judge STATEMENTS: run them with what "status --json" says: got, and by pid as "procs".  Status 2:
# one of the numbers of walks that they give to enough() is too small.
judge() {
	"$BEECTL" status --json "${since[@]}" >"$WORK/json" && /usr/bin/python3 -c '
import json, sys
got = json.load(open(sys.argv[1]))
procs = {p["pid"]: p for p in got["processes"]}
def enough(*walks):
    if min(walks) < 20:
        sys.exit(2)
try:
    exec(sys.argv[2], {"got": got, "procs": procs, "pids": [int(p) for p in sys.argv[3:]],
                       "enough": enough})
except (AssertionError, KeyError):
    print(got["walks"], got["reasons"], got["processes"], got["incomplete"], sep="\n")
    raise' "$WORK/json" "$1" "$whole" "$broken"
}
since=()

# sampled STATEMENTS PID...: sample these processes for a second, and judge.  If a busy host has left
# the guest too few samples, do so again.
sampled() {
	local statements=$1 status
	shift
	for _ in 1 2 3 4 5 6 7 8; do
		sample "$@" || return 1
		status=0
		judge "$statements" || status=$?
		[ "$status" -eq 2 ] || return "$status"
	done
	echo "too few walks"
	return 1
}

# Nothing but the two processes is sampled, so their walks are all walks.
by_process() {
	local name
	sampled '
whole, broken = (procs[p] for p in pids)
enough(whole["walks"], broken["walks"])
assert whole["name"] == "perl"
assert whole["complete"] == whole["stops"]["outermost"] >= 0.9 * whole["walks"]
assert broken["name"] == "spin" and broken["complete"] == 0
assert sum(broken["stops"].values()) == broken["walks"]
assert whole["walks"] + broken["walks"] == got["walks"], "walks do not add up"
assert got["processes"][0] is broken' "$whole" "$broken" || return 1
	"$BEECTL" status >"$WORK/out"
	grep "^ *$broken  *[1-9][0-9]*  *0.0%  spin (.* [1-9][0-9]*)$" "$WORK/out" &&
		grep '^walks: *[1-9][0-9]*, [0-9.]*% complete$' "$WORK/out" || { cat "$WORK/out"; return 1; }
	"$BEECTL" status --processes >"$WORK/out"
	for name in perl spin; do
		grep "  $name" "$WORK/out" || { cat "$WORK/out"; return 1; }
	done
	"$BEECTL" status "$broken" | grep "^$broken spin: [1-9][0-9]* walks, 0.0% complete (.*)$"
}

# walks PID: how many of that process were counted
walks() {
	"$BEECTL" status --json "$1" | /usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin)["process"]["walks"])'
}

# walked PID: sample the process until 20 of its walks are counted
walked() {
	for _ in 1 2 3 4 5 6 7 8; do
		sample "$1" || return 1
		[ "$(walks "$1")" -lt 20 ] || return 0
	done
	return 1
}

# walked_on PID: sample the process until more of its walks are counted
walked_on() {
	local before
	before=$(walks "$1")
	for _ in 1 2 3 4 5 6 7 8; do
		sample "$1" || return 1
		[ "$(walks "$1")" -le "$before" ] || return 0
	done
	return 1
}

# A forked child begins at zero, and goes on counting when it executes another program; its parent's walks stay.
fork_and_exec() {
	local parent child before status=0
	/usr/bin/perl -e '
1 while !-e "$ARGV[0].fork";
my $child = fork;
if (!$child) {
	1 while !-e "$ARGV[0].exec";
	exec "/bin/sh", "-c", "while :; do :; done";
}
open my $f, ">", $ARGV[0];
print $f "$child\n";
close $f;
waitpid $child, 0' "$WORK/child" &
	parent=$!
	guest_wait grep -q perl "/proc/$parent/maps" && "$BEECTL" load "$parent" >"$WORK/out" &&
		walked "$parent" && before=$(walks "$parent") || return 1
	: >"$WORK/child.fork"
	guest_wait test -s "$WORK/child" || return 1
	child=$(cat "$WORK/child")
	[ "$(walks "$child")" -eq 0 ] && walked "$child" &&
		[ "$(walks "$parent")" -eq "$before" ] || status=1
	: >"$WORK/child.exec"
	guest_wait grep -q while "/proc/$child/cmdline" && "$BEECTL" load -q "$child" &&
		[ "$(walks "$child")" -ge 20 ] && walked_on "$child" || status=1
	kill "$child"
	return "$status"
}

# Two users, each with a beginning of his own; the module's own counters go on.
since_then() {
	"$BEECTL" status --json >"$WORK/first" || return 1
	since=(--since "$WORK/first")
	sampled 'enough(*(procs[p]["walks"] for p in pids))' "$whole" "$broken" &&
		"$BEECTL" status --json >"$WORK/second" || return 1
	since=(--since "$WORK/second")
	sampled 'enough(procs[pids[0]]["walks"])
assert procs[pids[1]]["walks"] == 0
assert got["walks"] == procs[pids[0]]["walks"]
assert not any(f["path"].endswith("/spin") for f in got["incomplete"])' "$whole" || return 1
	since=(--since "$WORK/first")
	judge 'assert all(procs[p]["walks"] >= 20 for p in pids)
assert sum(procs[p]["walks"] for p in pids) == got["walks"]' || return 1
	since=()
	judge "import json
then = json.load(open('$WORK/second'))
assert got['walks'] >= then['walks'] + 20 and got['instance'] == then['instance']"
}

# Nobody listens; then beectl watch does.
listener() {
	local status=0
	listener_is false '^listener:  nobody makes tables$' || status=1
	watch_start -q && guest_wait listener_is true '^listener:  somebody makes tables (beectl watch, run' || status=1
	watch_stop
	guest_wait listener_is false '^listener:  nobody' && return "$status"
}

listener_is() {
	[ "$(guest_status listeners)" = "$1" ] && "$BEECTL" status | grep "$2"
}

# overlayfs copies a program while it runs: the module has two files then, each with its own counters,
# and they are one line.
copies() {
	local layer=$WORK/layers pids=() status=0
	# The upper layer cannot be on an overlayfs, as the guest's / is.
	mkdir "$layer" "$WORK/over" && mount -t tmpfs tmpfs "$layer" &&
		mkdir "$layer/lower" "$layer/upper" "$layer/work" && cp "$WORK/spin" "$layer/lower/copied" &&
		mount -t overlay -o "lowerdir=$layer/lower,upperdir=$layer/upper,workdir=$layer/work" overlay "$WORK/over" ||
		return 1
	"$WORK/over/copied" &
	pids=($!)
	guest_wait grep -q copied "/proc/${pids[0]}/maps" && "$BEECTL" load -q "${pids[0]}" &&
		chmod 700 "$WORK/over/copied" || status=1
	"$WORK/over/copied" &
	pids+=($!)
	guest_wait grep -q copied "/proc/${pids[1]}/maps" && "$BEECTL" load -q "${pids[1]}" &&
		sampled "
both = [f for f in got['incomplete'] if f['path'].endswith('/over/copied')]
enough(len(both) == 2 and min(f['cut'] for f in both))
open('$WORK/json.sum', 'w').write(str(sum(f['cut'] for f in both)))" "${pids[@]}" || status=1
	"$BEECTL" status >"$WORK/out"
	[ "$(grep -c "/over/copied " "$WORK/out")" -eq 1 ] &&
		grep "^ *$(cat "$WORK/json.sum") .*/over/copied (" "$WORK/out" || { cat "$WORK/out"; status=1; }
	kill -9 "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	umount "$WORK/over" "$layer" || status=1
	return "$status"
}

# Counters of another load of the module cannot be compared.
loaded_anew() {
	"$BEECTL" status --json >"$WORK/then" && guest_rmmod && guest_insmod || return 1
	! "$BEECTL" status --since "$WORK/then" >"$WORK/out" 2>&1 && grep -q '/then: the module was loaded anew' "$WORK/out"
}

no_such_counters() {
	! "$BEECTL" status --since /etc/passwd >"$WORK/out" 2>&1 &&
		grep -q '/etc/passwd: not the output of: beectl status --json' "$WORK/out" &&
		! "$BEECTL" status --since "$WORK/none" >"$WORK/out" 2>&1 &&
		grep -q 'none: No such file' "$WORK/out"
}

guest_insmod || exit 1
# Neither unwind information nor a frame pointer.
printf '.globl main\nmain: mov $1, %%ebp\n1: jmp 1b\n' >"$WORK/spin.S"
gcc -o "$WORK/spin" "$WORK/spin.S" -Wl,-z,noexecstack || exit 1
/usr/bin/perl -e '1 while 1' &
whole=$!
"$WORK/spin" &
broken=$!
# The libraries too: only what is mapped by then gets a table.
guest_wait grep -q spin "/proc/$broken/maps" && guest_wait grep -q 'libc\.so' "/proc/$whole/maps" || exit 1

ktap_plan 7
"$BEECTL" load "$whole" "$broken" >/dev/null || exit 1
ktap_run "status counts the walks of each process" by_process
ktap_run "the walks of a process begin at zero with fork, and go on after exec" fork_and_exec
ktap_run "status counts since an earlier moment, for two users" since_then
ktap_run "status --since refuses files that have no counters" no_such_counters
ktap_run "a file and its copy by overlayfs are one line" copies
ktap_run "status says whether somebody makes tables" listener
ktap_run "status --since refuses counters of another load of the module" loaded_anew
ktap_finish
