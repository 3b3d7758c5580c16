#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl record: perf's recording is complete and has nothing of beectl in it; its file, its exit
# status and its end by signals are perf's.
# once: 1
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

CLOCK=(-N -B -e cpu-clock -F 999)

# comms FILE: the names of all threads with samples, and how many each has
comms() {
	perf script -i "$1" -F comm 2>/dev/null | sed 's/^ *//; s/ *$//' | sort | uniq -c
}

# samples FILE COMM: how many samples threads of that name have
samples() {
	comms "$1" | awk -v comm="$2" '$2 == comm { n = $1 } END { print n + 0 }'
}

# record STATUS ARGS...: beectl record exits with STATUS; what it says is in $WORK/err
record() {
	local want=$1 got=0
	shift
	"$BEECTL" record "${CLOCK[@]}" "$@" >"$WORK/out" 2>"$WORK/err" || got=$?
	[ "$got" -eq "$want" ] && return 0
	echo "status $got, not $want"
	cat "$WORK/err"
	return 1
}

says() {
	grep -q -- "$1" "$WORK/err" && return 0
	echo "no '$1' in:"
	cat "$WORK/err"
	return 1
}

# judged PERCENT ARGS...: at least PERCENT of the samples in $WORK/data are complete
judged() {
	local percent=$1
	shift
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "$@" "$WORK/data" >"$WORK/judged" &&
		cat "$WORK/judged" && /usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(not (got["samples"] >= 20 and got["complete"] >= int(sys.argv[1]) / 100 * got["samples"]))' \
		"$percent" <"$WORK/judged"
}

# Nothing is in the cache, so all tables are compiled while perf records, or just before.  A guest that
# shares its CPUs takes few samples: then the command does more.
command_only() {
	local rows
	for rows in 99999 999999 9999999; do
		"$BEECTL" cache clear -q && guest_rmmod && guest_insmod || return 1
		record 3 -o "$WORK/data" -- /usr/bin/python3 -c '
import sqlite3, sys
sqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all " +
                                    "select i+1 from n limit " + sys.argv[1] + ") select sum(i) from n")
print("its output")
sys.exit(3)' "$rows" || return 1
		comms "$WORK/data"
		[ "$(samples "$WORK/data" beectl)" -eq 0 ] && [ "$(cat "$WORK/out")" = "its output" ] ||
			return 1
		[ "$(samples "$WORK/data" python3)" -lt 20 ] || break
	done
	[ "$(samples "$WORK/data" python3)" -ge 20 ] &&
		says '^walks: *[1-9][0-9]*, [0-9.]*% complete$' && says '^  outermost '
}

# A short command whose table takes longer than itself: a file of 17 MiB, which has to be read as a whole, as it has no
# build-id.  It is in the cache after the recording.
finished() {
	local turns
	for turns in 1000000 10000000 100000000 1000000000; do
		printf '%s\n' '.globl _start' '_start: .cfi_startproc' '.cfi_undefined rip' "mov \$$turns, %rcx" '1: dec %rcx' 'jnz 1b' \
			'mov $60, %eax' 'xor %edi, %edi' 'syscall' '.cfi_endproc' '.data' '.fill 17 << 20, 1, 7' >"$WORK/big.s"
		gcc -nostdlib -static -Wl,--build-id=none -o "$WORK/big" "$WORK/big.s" && "$BEECTL" cache clear -q && guest_rmmod &&
			guest_insmod && record 0 -o "$WORK/data" -- "$WORK/big" || return 1
		"$BEECTL" cache list >"$WORK/list" || return 1
		# It has been sampled, and not in its exec() only.
		grep "$WORK/big" "$WORK/list" && grep -q "finishing .* table" "$WORK/err" && return 0
	done
	comms "$WORK/data"
	cat "$WORK/err"
	return 1
}

# The first recording leaves perl's table in the cache, and the module then forgets it: the second
# one has to find out that it is wanted.  Until it has, stacks are incomplete, so perl works longer where
# that takes much of its time.
children() {
	local loops
	record 0 -o "$WORK/data" -- sh -c '/usr/bin/perl -e "1 for 1..3000000"; true' || return 1
	for loops in 3000000 12000000 48000000 192000000; do
		guest_rmmod && guest_insmod &&
			record 0 -o "$WORK/data" -- sh -c "/usr/bin/perl -e '1 for 1..$loops'; true" || return 1
		comms "$WORK/data"
		[ "$(samples "$WORK/data" beectl)" -eq 0 ] || return 1
		judged 95 --comm perl && return 0
	done
	return 1
}

# From the first instruction on: the dynamic linker is at work before the entry point.
from_the_start() {
	for _ in 1 2 3 4 5; do
		record 0 -F 4999 -o "$WORK/data" -- /usr/bin/python3 -c pass || return 1
		perf script -i "$WORK/data" -F dso,ip,sym --no-inline >"$WORK/script" 2>/dev/null
		! grep -q 'ld-linux' "$WORK/script" || return 0
	done
	head -n 50 "$WORK/script"
	return 1
}

a_process() {
	local pid seconds status=0
	/usr/bin/perl -e '1 while 1' &
	pid=$!
	guest_wait grep -q 'libc\.so' "/proc/$pid/maps" || return 1
	for seconds in 1 8 32; do
		record 0 -o "$WORK/data" -p "$pid" -- sleep "$seconds" || status=1
		[ "$status" -eq 0 ] && [ "$(samples "$WORK/data" perl)" -lt 200 ] || break
	done
	kill -9 "$pid"
	comms "$WORK/data"
	[ "$status" -eq 0 ] && [ "$(samples "$WORK/data" perl)" -ge 20 ] &&
		[ "$(comms "$WORK/data" | wc -l)" -eq 1 ] && judged 99 --pid "$pid" &&
		says '^walks: *[1-9]'
}

# beectl's own samples are counted, if it has made a table.  What it compiles while perf records is a program
# that is new, and works for so many seconds of guest_clock.
all_processes() {
	local own seconds
	for seconds in 3 12 48; do
		rm -f "$WORK/newcomer"
		cp /usr/bin/python3 "$WORK/newcomer" && "$BEECTL" cache clear -q || return 1
		record 0 -a -o "$WORK/data" -- "$WORK/newcomer" -c '
import sys
def clock():
    with open("/run/bee/clock") as file:
        return int(file.read() or clock())
end = clock() + int(sys.argv[1])
while clock() < end: sum(range(20000))' "$seconds" || return 1
		comms "$WORK/data"
		own=$(samples "$WORK/data" beectl)
		[ "$own" -gt 0 ] && [ "$(samples "$WORK/data" newcomer)" -ge 20 ] &&
			says "^beectl: record: $own of the samples are of beectl itself" && return 0
	done
	return 1
}

# interrupted SIGNAL STATUS: perf writes its file, and the command ends too
interrupted() {
	local signal=$1 want=$2 got=0 pid
	rm -f "$WORK/data" "$WORK/pid"
	# Job control: otherwise the shell has background processes ignore SIGINT.
	set -m
	"$BEECTL" record "${CLOCK[@]}" -o "$WORK/data" -- /usr/bin/perl -e '
$| = 1;
open my $f, ">", $ARGV[0]; print $f $$; close $f;
1 while 1' "$WORK/pid" >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	set +m
	guest_wait test -s "$WORK/pid" || return 1
	guest_wait sampled_by_now "$(cat "$WORK/pid")" || return 1
	# As the terminal does, to the whole group; other signals to beectl alone.
	if [ "$signal" = INT ]; then
		kill -INT -- "-$pid"
	else
		kill "-$signal" "$pid"
	fi
	wait "$pid" || got=$?
	[ "$got" -eq "$want" ] && ! kill -0 "$(cat "$WORK/pid")" 2>/dev/null &&
		[ "$(samples "$WORK/data" perl)" -ge 1 ] && says '^walks: ' && return 0
	echo "status $got, not $want"
	cat "$WORK/err"
	return 1
}

sampled_by_now() {
	"$BEECTL" status "$1" | grep -q ": [1-9][0-9][0-9]* walks"
}

# An exit status of the command that perf's success does not hide, and failures before it.
statuses() {
	record 143 -o "$WORK/data" -- sh -c 'kill -TERM $$' &&
		record 127 -- no-such-command && says 'no-such-command: no such command' &&
		record 126 -- /etc/passwd &&
		record 125 -p 4194000 && says '4194000: no such process'
}

perf_fails() {
	local got=0
	"$BEECTL" record -e no-such-event -o "$WORK/data" -- touch "$WORK/ran" >"$WORK/out" \
		2>"$WORK/err" || got=$?
	[ "$got" -ne 0 ] && [ ! -e "$WORK/ran" ] && says "no-such-event" &&
		says 'perf record has ended before' || { echo "status $got"; return 1; }
}

# perf is killed.  The command gets SIGTERM from beectl, and goes on; then beectl gets SIGTERM, and has to pass it on.
perf_killed() {
	local pid status=1
	"$BEECTL" record -o "$WORK/data" -- bash -c '
		trap "echo told >>\"$0/told\"" TERM
		: >"$0/begun"
		until [ ! -e "$0" ] || [ "$(wc -l <"$0/told")" -ge 2 ]; do sleep 0.1; done
		exit 3' "$WORK" >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	: >"$WORK/told"
	guest_wait test -e "$WORK/begun" && pkill -KILL -P "$pid" '^perf' && guest_wait test -s "$WORK/told" &&
		kill -TERM "$pid" && guest_wait pid_has_ended "$pid" && wait "$pid"
	[ "$?" -eq 137 ] && says 'perf: killed by signal 9 (Killed), so the recording ends too early' && status=0
	kill -KILL "$pid" 2>/dev/null
	return "$status"
}

pid_has_ended() {
	! kill -0 "$1" 2>/dev/null
}

no_perf() {
	local got=0
	guest_rmmod && guest_insmod || return 1
	PATH=$WORK "$BEECTL" record -- /bin/true >"$WORK/out" 2>"$WORK/err" || got=$?
	[ "$got" -eq 125 ] && says 'perf is not installed.*linux-perf' || return 1
	# Found out before all processes are looked at.
	got=0
	PATH=$WORK "$BEECTL" record -a >"$WORK/out" 2>"$WORK/err" || got=$?
	[ "$got" -eq 125 ] && says 'perf is not installed' && [ "$(guest_status files)" -eq 0 ]
}

watch_says() {
	local pid said=1
	"$BEECTL" watch >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	guest_wait says "$1" && said=0
	kill "$pid"
	wait "$pid"
	return "$said"
}

hook_off() {
	local said=1
	"$BEECTL" config hook off || return 1
	record 125 -- touch "$WORK/ran" && says 'hook is off.*config hook on' && [ ! -e "$WORK/ran" ] &&
		"$BEECTL" flame "${CLOCK[@]}" -o "$WORK/off.folded" -- perl -e '1 for 1..10000000' 2>"$WORK/err" &&
		grep -q '^perl;' "$WORK/off.folded" && says 'flame: warning: stacks are cut.*hook is off' &&
		"$BEECTL" run -- true 2>"$WORK/err" && says 'run: warning: .*hook is off' &&
		"$BEECTL" load $$ >"$WORK/out" 2>"$WORK/err" && says 'load: warning: .*hook is off' &&
		watch_says 'watch: warning: .*hook is off' && said=0
	"$BEECTL" config hook on
	"$BEECTL" run -- true 2>"$WORK/err"
	[ ! -s "$WORK/err" ] && return "$said"
}

# beectl says nothing with -q (perf may, of kernel symbols), and of callchains that the module has no part in
# it does.
quiet_and_others() {
	record 0 -o "$WORK/data" -- true && says '^walks: ' && record 0 -q -o "$WORK/data" -- true || return 1
	! grep -E 'beectl|^walks: ' "$WORK/err" || return 1
	record 0 --call-graph dwarf -o "$WORK/data" -- true &&
		says '^beectl: record: warning: --call-graph: the module serves fp only'
}

# Nothing can be loaded: record says so once, and perf records all the same.
over_budget() {
	local said=1
	guest_rmmod && guest_insmod budget_mb=0 || return 1
	record 0 -a -o "$WORK/data" -- true &&
		says '^beectl: record: warning: .*over budget' && [ "$(grep -c 'over budget' "$WORK/err")" -eq 1 ] && said=0
	guest_rmmod && guest_insmod
	return "$said"
}

unloaded() {
	local status=0
	record 0 -o "$WORK/data" -- rmmod beeunwind &&
		says '^beectl: record: warning: the beeunwind module was unloaded meanwhile' || status=1
	guest_insmod
	return "$status"
}

no_module() {
	guest_rmmod
	record 125 -- touch "$WORK/ran" && says 'not loaded; load it with: modprobe' && [ ! -e "$WORK/ran" ]
}

guest_insmod || exit 1
guest_cache
ktap_plan 17
ktap_run "a recording of a command has nothing of beectl, and its output and status" command_only
ktap_run "a recording of a command has its children" children
ktap_run "tables that are not ready at the end of a recording are finished" finished
ktap_run "a recording of a command begins with the dynamic linker" from_the_start
ktap_run "a recording of a process is complete, and has nothing else" a_process
ktap_run "in a recording of all processes beectl counts its own samples" all_processes
ktap_run "when record gets ^C perf writes its file" interrupted INT 130
ktap_run "when beectl alone gets SIGTERM perf writes its file" interrupted TERM 143
ktap_run "record has the exit status of the command, or of run" statuses
ktap_run "record -q says nothing, and --call-graph dwarf that the module has no part" quiet_and_others
ktap_run "if perf fails the command does not run" perf_fails
ktap_run "if perf is killed the command is told so" perf_killed
ktap_run "without perf record says how to get it" no_perf
ktap_run "if the hook is off record refuses, and run, load and watch warn" hook_off
ktap_run "record -a says that the budget is used up, once" over_budget
ktap_run "record says that the module was unloaded meanwhile" unloaded
ktap_run "without the module record does not run the command" no_module
ktap_finish
