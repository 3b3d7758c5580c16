#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl watch: stacks of short processes are complete from the second round on, beectl uses no CPU
# while nothing is new, and the module may be unloaded and loaded again.
#	BEE_WATCH_PROCESSES=N	one more round with so many processes (2000 take 20 minutes)
# once: 1
# timeout: 1800
# cpus: 2
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/watch.sh
. "$(dirname "$0")/watch.sh"

processes=30
guest_cache
printf 'int main(void) { return 0; }\n' >"$WORK/tiny.c"
gcc -S -g -o "$WORK/tiny.s" "$WORK/tiny.c"

watch_says() {
	grep -q -- "$1" "$told"
}

says_n_times() {
	[ "$(grep -c -- "$1" "$told")" -eq "$2" ]
}

# tables_since N: print how many tables beectl has reported after line N of its output.
tables_since() {
	tail -n "+$(($1 + 1))" "$told" | grep -c ': compiled, \|: cached, '
}

lines() {
	wc -l <"$told"
}

# A third each of /bin/true, sh -c and as.
short_processes() {
	local i
	for ((i = 0; i < processes; i += 3)); do
		/bin/true
		sh -c 'x=1; while [ $x -lt 300 ]; do x=$((x + 1)); done'
		as -o "$WORK/tiny.o" "$WORK/tiny.s"
	done
}
export -f short_processes
export processes WORK

# round HZ [PROCESSES]: record the short processes
round() {
	processes=${2:-$processes} perf record -q -N -B -a -g -e cpu-clock -F "$1" -o "$WORK/round.data" -- \
		bash -c short_processes >"$WORK/perf.log" 2>&1 || { cat "$WORK/perf.log"; return 1; }
}

# Options of stacks.py: leave out the guest's own shell (selftests/vm/init), a static program without CFI.
others=(--no-exec --not-comm busybox)

# judge HZ: at least 200 samples of the last round, and 99 % of them complete.  A guest that shares
# its CPUs takes few samples of a process: then more processes are recorded.  If beectl has made a table
# for a file that was first sampled in that recording, it is repeated.
judge() {
	local more status at
	for more in 4 16 0; do
		/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "${others[@]}" "$WORK/round.data" \
			>"$WORK/judged" || return 1
		cat "$WORK/judged"
		status=0
		/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(2 if got["samples"] < 200 else got["complete"] < 0.99 * got["samples"])' \
			<"$WORK/judged" || status=$?
		[ "$status" -eq 2 ] && [ "$more" -gt 0 ] || break
		at=$(lines)
		round "$1" $((more * processes)) && watch_rests || return 1
		[ "$(tables_since "$at")" -eq 0 ] || round "$1" $((more * processes)) || return 1
	done
	[ "$status" -ne 0 ] || return 0
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why "${others[@]}" "$WORK/round.data" | head -n 20
	return 1
}

waits_for_the_module() {
	watch_start || return 1
	guest_wait watch_says "waiting: the beeunwind module is not loaded" || return 1
	watch_rests && guest_insmod && watch_follows
}

# Tables are made for files that have samples, and a rare file may get its first sample in a late
# round: repeat until a round needs no table.
on_demand() {
	local i at made
	for i in 1 2 3 4 5 6 7 8 9 10; do
		at=$(lines)
		round 499 && watch_rests || { cat "$told"; return 1; }
		made=$(tables_since "$at")
		echo "round $i: $made tables"
		[ "$made" -gt 0 ] || break
	done
	[ "$i" -gt 1 ] && [ "$made" -eq 0 ] && judge 499 && return 0
	cat "$told"
	return 1
}

# As in hours of shell scripts: all tables exist, so beectl makes none, and stacks are complete.
many_processes() {
	local at ticks
	at=$(lines)
	ticks=$(watch_ticks)
	round 99 "$BEE_WATCH_PROCESSES" && watch_rests || return 1
	echo "$(tables_since "$at") tables, $(($(watch_ticks) - ticks)) ticks of beectl's time"
	tail -n "+$((at + 1))" "$told"
	judge 99 && [ "$(tables_since "$at")" -eq 0 ]
}

no_work_when_nothing_is_new() {
	local before after
	watch_rests || return 1	# what the tests before have run is handled
	before=$(watch_works)
	sleep 4		# in which beectl is not to run
	after=$(watch_works)
	printf '%s\n' "$before" "$after"
	[ -n "$before" ] && [ "$before" = "$after" ]
}

# Here the module is installed, so "beectl status" loads it; watch must not.
module_reload() {
	local at status=0 installed
	installed=/lib/modules/$(uname -r)/beeunwind.ko
	cp "$BEE_KO" "$installed" && depmod && guest_rmmod &&
		guest_wait watch_says "the module has gone" && watch_rests || status=1
	[ ! -e /sys/module/beeunwind ] || { echo "loaded again by itself"; status=1; }
	at=$(lines)
	"$BEECTL" status >/dev/null && guest_wait says_n_times "^making the tables" 2 || status=1
	rm "$installed" && depmod
	[ "$status" -eq 0 ] && round 199 && watch_rests || return 1
	echo "$(tables_since "$at") tables"
	tail -n "+$at" "$told" | grep -q ': cached, '
}

# ended_by SIGNAL: with status 0, and all tables stay
ended_by() {
	local tables
	tables=$(guest_status tables)
	kill "-$1" "$(watch_pid)" && guest_wait test -s "$WORK/status" || return 1
	[ "$(cat "$WORK/status")" -eq 0 ] && watch_says "what is loaded stays" && [ "$tables" -gt 5 ] &&
		[ "$(guest_status tables)" -ge "$tables" ]
}

started_and_ended_by() {
	watch_start && watch_follows && ended_by "$1"
}

# entries loaded|unloaded TEXT: print how many of the module's files with (without) a table have
# TEXT in their paths
entries() {
	"$BEECTL" status --files | awk -v wanted="$1" -v text="$2" '
		index($0, text) && (wanted == "unloaded") == !!/ no table / { n++ } END { print n + 0 }'
}

entries_are() {
	[ "$(entries "$1" "$2")" -eq "$3" ]
}

# each_call PID...: each system call of these processes is a sample, until perf ends
each_call() {
	exec perf record -q -N -B -e raw_syscalls:sys_enter -c 1 -g -o "$WORK/calls.data" -p "$(IFS=,; echo "$*")"
}

# all_sampled PID...: sample the processes until each was
all_sampled() {
	local seconds recorder
	for seconds in 3 12 48; do
		each_call "$@" &
		recorder=$!
		sleep "$seconds"
		kill "$recorder"
		wait "$recorder"
		[ "$(perf script -i "$WORK/calls.data" -F pid | sort -u | wc -l)" -lt $# ] || return 0
	done
	return 1
}

# beectl is stopped while more files are sampled than it has children at a time.  The module keeps the news.
stopped() {
	local i pids=() status=1
	watch_start && watch_follows && mkdir "$WORK/many" || return 1
	# nanosleep() of 0.1 s, again and again
	cat >"$WORK/many.c" <<-'END'
		void _start(void)
		{
			long time[2] = { 0, 100000000 };

			for (;;)
				__asm__ volatile("syscall" : : "a"(35L), "D"(time), "S"(0L) : "rcx", "r11", "memory");
		}
	END
	gcc -static -nostdlib -o "$WORK/many/0" "$WORK/many.c" || return 1
	kill -STOP "$(watch_pid)"
	for i in $(seq 100); do
		cp "$WORK/many/0" "$WORK/many/$i"
		"$WORK/many/$i" &
		pids+=($!)
	done
	all_sampled "${pids[@]}" && entries_are loaded "$WORK/many/" 0 && kill -CONT "$(watch_pid)" &&
		guest_wait_long entries_are loaded "$WORK/many/" 100 && status=0
	[ "$status" -eq 0 ] ||
		echo "$(entries loaded "$WORK/many/") of 100; without: $(entries unloaded "$WORK/many/")"
	kill "${pids[@]}"
	return "$status"
}

# A file that only processes of another mount namespace see gets its table.
in_a_container() {
	local pid recorder status=1
	mkdir "$WORK/own"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none "$0/own" && cp "$0/many/0" "$0/own/prog" && exec "$0/own/prog"' "$WORK" &
	pid=$!
	guest_wait grep -q own/prog "/proc/$pid/maps" || return 1
	each_call "$pid" &
	recorder=$!
	guest_wait_long entries_are loaded /own/prog 1 && status=0
	[ "$status" -eq 0 ] || grep own/prog "$told"
	kill "$pid"
	wait "$recorder"
	return "$status"
}

# run_bare: run $WORK/bare, which is nothing but a jump to itself
run_bare() {
	exec /usr/bin/python3 -c '
import ctypes, mmap, sys
with open(sys.argv[1]) as file:
    kept = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
with open("/proc/self/maps") as maps:
    start, = (int(line.split("-")[0], 16) for line in maps if line.endswith("/bare\n"))
ctypes.CFUNCTYPE(None)(start)()' "$WORK/bare"
}

# samples_are PATH N: at least N samples were taken in the code of the file
samples_are() {
	"$BEECTL" status --files --json | /usr/bin/python3 -c '
import json, sys
sys.exit(not any(f["path"] == sys.argv[1] and f["samples"] >= int(sys.argv[2]) for f in json.load(sys.stdin)["files"]))' \
		"$1" "$2"
}

# beectl reports once that the file gets no table, and does not try again when it is sampled again.
no_unwind_information() {
	local pid recorder status=1
	{ printf '\xeb\xfe'; head -c 8190 /dev/zero; } >"$WORK/bare"
	run_bare &
	pid=$!
	guest_wait grep -q /bare "/proc/$pid/maps" || return 1
	perf record -q -N -B -e cpu-clock -F 99 -g -o "$WORK/bare.data" -p "$pid" &
	recorder=$!
	guest_wait_long watch_says "/bare: no table: " && guest_wait_long samples_are "$WORK/bare" 200 && status=0
	kill "$pid"
	wait "$recorder"
	watch_rests && says_n_times "/bare: no table: " 1 && return "$status"
	grep "/bare: " "$told"
	return 1
}

# The share of the user who has the file mapped has no room for its table, and is raised then: beectl tries again.
share_is_raised() {
	local dir pid recorder status=1
	dir=$(mktemp -d) && chmod 755 "$dir" && cp /usr/bin/perl "$dir/shared" && "$BEECTL" cache prewarm -q "$dir/shared" &&
		watch_stop && guest_rmmod && guest_insmod && "$BEECTL" config budget 2M share 1 && watch_start &&
		watch_follows || return 1
	setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/shared" -e '1 while 1' &
	pid=$!
	guest_wait grep -q /shared "/proc/$pid/maps" || return 1
	perf record -q -N -B -e cpu-clock -F 99 -g -o "$WORK/shared.data" -p "$pid" &
	recorder=$!
	guest_wait_long watch_says "/shared: no table: its table was refused: user 65534 has .*beectl config share" &&
		"$BEECTL" config share 50 && guest_wait_long table_is "$dir/shared" && status=0
	says_n_times "/shared: no table" 1 || status=1
	[ "$status" -eq 0 ] || cat "$told"
	kill "$pid"
	wait "$recorder"
	rm -r "$dir"
	return "$status"
}

# watch has half as many children as it can have, or more.
is_behind() {
	[ "$(pgrep -c -P "$(watch_pid)")" -ge 32 ]
}

# Processes are sampled in ever new files, more than watch, which has little of the CPUs, can take: there is
# always a message to read.
ended_among_messages() {
	local pids=() status=1
	watch_stop
	guest_rmmod && guest_insmod && watch_start && watch_follows && renice 10 "$(watch_pid)" || return 1
	perf record -q -N -B -e cpu-clock -F 999 -a -g -o "$WORK/many.data" &
	pids=($!)
	for _ in 1 2 3 4; do
		"$TESTS/lookup_work" many "$TESTS/libtorture16.so" >/dev/null &
		pids+=($!)
	done
	guest_wait_long is_behind && kill "$(watch_pid)" && guest_wait_long test -s "$WORK/status"
	kill "${pids[@]}"
	[ "$(cat "$WORK/status")" -eq 0 ] && status=0
	[ "$status" -eq 0 ] || { tail -n 5 "$told"; kill -KILL "$(watch_pid)"; }
	return "$status"
}

ktap_plan 13
ktap_run "watch waits for the module" waits_for_the_module
ktap_run "under watch stacks of short processes are complete" on_demand
if [ -n "${BEE_WATCH_PROCESSES:-}" ]; then
	many_processes >"$WORK/many_processes" 2>&1
	status=$?
	sed 's/^/# /' "$WORK/many_processes"
	ktap_run "$BEE_WATCH_PROCESSES short processes are complete under watch, and need no table" \
		test "$status" -eq 0
else
	ktap_skip "thousands of short processes are complete under watch" "only with BEE_WATCH_PROCESSES=2000"
fi
ktap_run "beectl watch uses no CPU time when nothing is new" no_work_when_nothing_is_new
ktap_run "watch goes on when the module comes and goes" module_reload
ktap_run "SIGTERM ends watch, and tables stay" ended_by TERM
ktap_run "SIGINT ends watch, and tables stay" started_and_ended_by INT
ktap_run "SIGHUP ends watch, and tables stay" started_and_ended_by HUP
ktap_run "files that were sampled while watch was stopped get their tables" stopped
ktap_run "under watch a file of a container gets its table" in_a_container
ktap_run "watch tries a file that can have no table once" no_unwind_information
ktap_run "watch tries a file again for which the share had no room" share_is_raised
ktap_run "SIGTERM ends watch while it gets many messages" ended_among_messages
ktap_finish
