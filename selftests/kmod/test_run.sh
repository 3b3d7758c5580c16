#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl run: stacks are complete from the command's first instructions on, and its output, signals
# and exit status are as without beectl.
# once: 1
# timeout: 1800
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

status_is() {
	local want=$1 got=0
	shift
	"$BEECTL" run "$@" >"$WORK/out" 2>&1 || got=$?
	[ "$got" -eq "$want" ] && return 0
	echo "status $got, not $want"
	cat "$WORK/out"
	return 1
}

# complete_from_the_start PERCENT COMMAND...: at least PERCENT of the command's samples are
# complete, of 200 or more, for which a guest that shares its CPUs runs it several times; the rest
# may be in code without CFI.  --comm: perf knows a command by its name from the exec on.  --no-exec
# leaves out samples in the rest of the exec, whose user registers are those of the program before
# it.  $ROOT: where the command has its /.
complete_from_the_start() {
	local name percent=$1 options=(--no-exec) status
	shift
	name=$(basename "$1")
	options+=(--comm "$name" --root "${ROOT-}")
	[ -z "${ROOT-}" ] || set -- chroot "$ROOT" "$@"
	: >"$WORK/judged"
	for _ in 1 2 3 4 5 6 7 8; do
		perf record -q -N -B -e cpu-clock -F 4999 -g -o "$WORK/run.data" \
			"$BEECTL" run -- "$@" >/dev/null || return 1
		/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "${options[@]}" \
			"$WORK/run.data" >>"$WORK/judged" || return 1
		status=0
		/usr/bin/python3 -c '
import json, sys
got = [json.loads(line) for line in sys.stdin]
samples, complete = (sum(run[what] for run in got) for what in ("samples", "complete"))
sys.exit(2 if samples < 200 else complete < int(sys.argv[1]) / 100 * samples)' \
			"$percent" <"$WORK/judged" || status=$?
		[ "$status" -eq 2 ] || break
	done
	cat "$WORK/judged"
	[ "$status" -ne 0 ] || return 0
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why "${options[@]}" "$WORK/run.data" | head -n 20
	return 1
}

# The files of a process in a chroot are found there, whatever else has the names that it knows them
# by.  beectl run makes their tables after the first samples in them.
in_a_chroot() {
	local file ROOT=$WORK/root

	for file in $(ldd /bin/bash | grep -o '/[^ ]*'); do
		install -D "$file" "$ROOT$file"
	done
	install /bin/bash "$ROOT/inside"
	for _ in 1 2 3 4 5; do
		complete_from_the_start 95 /inside -c 'for ((i = 0; i < 50000; i++)); do :; done' && return
	done
	return 1
}

sqlite_has_a_table() {
	"$BEECTL" status "$1" | grep libsqlite3 | grep -vq "not made yet\|has none"
}

# sqlite_loop PIDFILE: work in libsqlite3
sqlite_loop='
import os, sys
print(os.getpid(), file=open(sys.argv[1], "w"), flush=True)
import sqlite3
while True:
    sqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all " +
                                        "select i+1 from n limit 9999) select sum(i) from n")
'

# A library that the command maps later gets its table without a further request.  The test does
# not judge how soon, which depends on the machine.
later_libraries() {
	local recorder status=0
	rm -f "$WORK/pid"
	perf record -q -e cpu-clock -F 999 -g -o "$WORK/later.data" \
		"$BEECTL" run -- /usr/bin/python3 -c "$sqlite_loop" "$WORK/pid" &
	recorder=$!
	guest_wait test -s "$WORK/pid" || return 1
	guest_wait_long sqlite_has_a_table "$(cat "$WORK/pid")" || status=1
	kill "$(cat "$WORK/pid")"
	wait "$recorder"
	return $status
}

# cc1 is too large to be compiled beforehand, and without perf nothing is sampled.
compiler=$(gcc -print-prog-name=cc1)

# at_rest BEECTL COMMAND: the command waits, and beectl has no other child in the next two seconds, that is none that
# makes a table
at_rest() {
	is_asleep "$2" || return 1
	for _ in {1..20}; do
		[ "$(pgrep -P "$1")" = "$2" ] || return 1
		sleep 0.1
	done
}

# What is not sampled gets no table; and the same process gets it when it is sampled.  The compiler waits for its
# input meanwhile.
unused_files() {
	local command runner recorder feed status=1
	mkfifo "$WORK/feed"
	guest_rmmod && guest_insmod || return 1
	BEEUNWIND_CACHE=$WORK/unused "$BEECTL" run -- "$compiler" -quiet -O2 -o /dev/null \
		<"$WORK/feed" >"$WORK/out" 2>&1 &
	runner=$!
	exec {feed}>"$WORK/feed"
	guest_wait pgrep -x cc1 -P "$runner" && command=$(pgrep -x cc1 -P "$runner") &&
		guest_wait at_rest "$runner" "$command" || { cat "$WORK/out"; return 1; }
	! table_is "$compiler" || { echo "it has a table"; kill "$command"; return 1; }
	perf record -q -N -B -g -e cpu-clock -F 999 -o /dev/null -p "$command" {feed}>&- &
	recorder=$!
	seq 20000 | sed 's/.*/int f&(int a) { for (int i = 0; i < a; i++) a ^= a * &; return a; }/' >&"$feed"
	exec {feed}>&-
	guest_wait_long table_is "$compiler" && status=0
	kill "$command"
	wait "$recorder" "$runner"
	guest_rmmod && guest_insmod && return "$status"
}

# is_gone PID: the process has ended, whether or not its parent knows
is_gone() {
	! grep -qs $'^State:\t[^ZX]' "/proc/$1/status"
}

# stop_maker BEECTL: wait until beectl forks a child that makes a table, stop the first such child by
# SIGSTOP, and print its pid.  In Python, as on the instrumented kernel the child ends before pgrep does.
# A child that has not limited its CPU time yet may not even have asked to end with beectl: one
# that is stopped so early goes on.
stop_maker() {
	/usr/bin/python3 -c '
import os, signal, sys

def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}") as file:
            return file.read()
    except OSError:
        return ""

def stat(pid, field):
    fields = read(pid, "stat").rpartition(")")[2].split()
    return fields[field] if fields else ""

def stop(pid):
    try:
        os.kill(pid, signal.SIGSTOP)
        while stat(pid, 0) not in ("T", "Z", ""):
            pass
        limits = {line[:25].strip(): line[25:].split() for line in read(pid, "limits").splitlines()}
        if stat(pid, 0) == "T" and limits["Max cpu time"][0] != "unlimited":
            return True
        os.kill(pid, signal.SIGCONT)
    except (ProcessLookupError, KeyError):
        pass
    return False

beectl = sys.argv[1]
while True:
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if pid > int(beectl) and stat(pid, 1) == beectl and stop(pid):
            print(pid, flush=True)
            sys.exit()
' "$1"
}

# whereabouts PID...: print what each process does, if it has not ended
whereabouts() {
	local pid
	for pid in "$@"; do
		grep -sE '^(Name|State|SigPnd|ShdPnd):' "/proc/$pid/status"
		cat "/proc/$pid/stack" 2>/dev/null
	done
}

# A table that is not ready does not keep beectl from ending with the command: the test stops the
# process that makes it.
ends_with_the_command() {
	local recorder runner stopper status=1
	printf 'int f(int a) { return a; }\n' >"$WORK/f.c"
	BEEUNWIND_CACHE=$WORK/ends perf record -q -N -B -e cpu-clock -F 999 -g -o /dev/null \
		"$BEECTL" run -j 1 -- sh -c ": >'$WORK/began'; until [ -e '$WORK/go' ]; do sleep 0.1; done
			while :; do '$compiler' -quiet -O2 '$WORK/f.c' -o /dev/null; done" &
	recorder=$!
	guest_wait test -e "$WORK/began" || return 1
	runner=$(pgrep -x beectl -P "$recorder")
	stop_maker "$runner" >"$WORK/maker" &
	stopper=$!
	: >"$WORK/go"
	guest_wait test -s "$WORK/maker" || { kill "$stopper"; return 1; }
	kill "$(pgrep -x sh -P "$runner")"
	guest_wait is_gone "$runner" && guest_wait is_gone "$(cat "$WORK/maker")" && status=0
	[ "$status" -eq 0 ] || whereabouts "$runner" "$(cat "$WORK/maker")" "$recorder"
	kill -CONT "$(cat "$WORK/maker")" 2>/dev/null
	wait "$recorder"
	return $status
}

# The signal goes to a process of its own, as to any command.
killed() {
	status_is 143 -- sh -c 'kill -TERM $$'
}

# signals_are NAME...: those that the command has got, in this order
signals_are() {
	[ "$(cat "$WORK/signals")" = "$(printf '%s\n' "$@")" ]
}

# Signals that beectl alone gets go to the command, but those that a terminal sends to both.
signals_pass() {
	local runner signal sent=() got=0 status=0
	# Job control: otherwise the shell has background processes ignore SIGINT and SIGQUIT.
	set -m
	# shellcheck disable=SC2016
	"$BEECTL" run -- bash -c '
for signal in TERM HUP USR1 USR2 INT QUIT; do
	trap "echo $signal >>\"$0/signals\"" "$signal"
done
: >"$0/traps"
until [ -e "$0/enough" ]; do sleep 0.1; done
exit 7' "$WORK" >"$WORK/out" 2>&1 &
	runner=$!
	set +m
	guest_wait test -e "$WORK/traps" && guest_wait is_asleep "$runner" || { cat "$WORK/out"; return 1; }
	for signal in INT QUIT TERM HUP USR1 USR2; do
		kill "-$signal" "$runner"
		case $signal in
		INT | QUIT) continue ;;
		esac
		sent+=("$signal")
		guest_wait signals_are "${sent[@]}" || status=1
	done
	: >"$WORK/enough"
	wait "$runner" || got=$?
	[ "$got" -eq 7 ] && signals_are TERM HUP USR1 USR2 && return "$status"
	echo "status $got; signals: $(cat "$WORK/signals")"
	return 1
}

output_passes() {
	[ "$("$BEECTL" run -- echo "two words" "and three more")" = "two words and three more" ]
}

no_ptrace_left() {
	"$BEECTL" run -- grep TracerPid /proc/self/status >"$WORK/out" && grep -qx $'TracerPid:\t0' "$WORK/out"
}

not_without_module() {
	guest_rmmod
	status_is 125 -- touch "$WORK/ran" || return 1
	[ ! -e "$WORK/ran" ] && grep -q "not loaded" "$WORK/out"
}

guest_insmod || exit 1
ktap_plan 16
ktap_run "stacks of python3 are complete from the start" \
	complete_from_the_start 99 /usr/bin/python3 -c 'import re, argparse'
ktap_run "stacks of ls are complete from the start" \
	complete_from_the_start 99 /bin/ls -lR "$TREE/tools" "$TREE/kmod"
ktap_run "stacks of a program in a chroot are complete" in_a_chroot
ktap_run "libraries that the command maps later get their tables" later_libraries
ktap_run "under run a library that is not sampled gets no table" unused_files
ktap_run "run ends with the command, and gives up tables" ends_with_the_command
ktap_run "run passes the command's status on" status_is 7 -- sh -c 'exit 7'
ktap_run "run exits with 128 + signal if its command is killed" killed
ktap_run "signals to run go to the command" signals_pass
ktap_run "run exits with 127 if its command is unknown" status_is 127 -- no-such-command
ktap_run "run exits with 126 if its command cannot be executed" status_is 126 -- /etc/passwd
ktap_run "run passes arguments to its command, and the output on" output_passes
ktap_run "run starts a static program" status_is 0 -- busybox true
printf '#!/bin/sh\nexit 3\n' >"$WORK/script" && chmod +x "$WORK/script"
ktap_run "run starts a script" status_is 3 -- "$WORK/script"
ktap_run "the command of run is not traced" no_ptrace_left
ktap_run "without the module run does not start the command" not_without_module
ktap_finish
