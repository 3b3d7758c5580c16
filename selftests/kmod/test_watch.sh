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
	watch_rests && guest_insmod && guest_wait watch_says "^following [0-9]* processes"
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

# Here the module is installed, so the kernel loads it when somebody asks for its netlink family: "beectl status"
# does, watch must not.
module_reload() {
	local at status=0 installed
	installed=/lib/modules/$(uname -r)/beeunwind.ko
	cp "$BEE_KO" "$installed" && depmod && guest_rmmod &&
		guest_wait watch_says "the module has gone" && watch_rests || status=1
	[ ! -e /sys/module/beeunwind ] || { echo "loaded again by itself"; status=1; }
	at=$(lines)
	"$BEECTL" status >/dev/null && guest_wait says_n_times "^following" 2 || status=1
	rm "$installed" && depmod
	[ "$status" -eq 0 ] && round 199 && watch_rests || return 1
	echo "$(tables_since "$at") tables"
	tail -n "+$at" "$told" | grep -q ': cached, '
}

# ended_by SIGNAL: with status 0, and all is as it was but that new processes are not followed
ended_by() {
	local tables
	tables=$(guest_status tables)
	kill "-$1" "$(watch_pid)" && guest_wait test -s "$WORK/status" || return 1
	[ "$(cat "$WORK/status")" -eq 0 ] && watch_says "what is loaded stays" && [ "$tables" -gt 5 ] &&
		[ "$(guest_status tables)" -ge "$tables" ] && [ "$(guest_status follow)" = managed ]
}

started_and_ended_by() {
	watch_start && watch_follows && [ "$(guest_status follow)" = all ] &&
		ended_by "$1"
}

settings_are() {
	[ "$(guest_status follow) $(guest_status announce)" = "$1" ]
}

# "unload --all" has the module follow no new processes, and says that watch does not change that.
unloaded() {
	settings_are "all mapped" && "$BEECTL" unload --all >"$WORK/unloaded" 2>&1 && cat "$WORK/unloaded" &&
		grep -q "^beectl: unload: warning: new processes are not followed any more" "$WORK/unloaded" &&
		settings_are "managed mapped"
}

# What it has set goes with it, however it ends.
killed() {
	settings_are "managed mapped" && kill -KILL "$(watch_pid)" && guest_wait test -s "$WORK/status" &&
		guest_wait settings_are "managed sampled"
}

# With --eager every file gets its table when it is mapped, so that a second round needs none.
eagerly() {
	local at
	guest_rmmod && guest_insmod && watch_start --eager && watch_follows &&
		watch_rests && round 99 || return 1
	# The commands that the test itself uses below get their tables now.
	tables_since "$(lines)" >/dev/null
	watch_rests || return 1
	at=$(lines)
	round 499 && watch_rests || return 1
	tail -n "+$((at + 1))" "$told"
	[ "$(tables_since "$at")" -eq 0 ] && judge 499
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

# beectl is stopped until its socket overflows with messages about files.  Then it must find the
# files of the lost messages in the module's list, which has them as long as they are mapped.
lost_messages() {
	local i pids=() status=1
	mkdir "$WORK/many"
	# pause()
	printf 'void _start(void) { __asm__ volatile("syscall" : : "a"(34L) : "rcx", "r11", "memory"); for (;;); }\n' \
		>"$WORK/many.c"
	gcc -static -nostdlib -o "$WORK/many/0" "$WORK/many.c" || return 1
	kill -STOP "$(watch_pid)"
	for i in $(seq 150); do
		cp "$WORK/many/0" "$WORK/many/$i"
		"$WORK/many/$i" &
		pids+=($!)
	done
	if guest_wait entries_are unloaded "$WORK/many/" 150; then
		kill -CONT "$(watch_pid)"
		guest_wait_long watch_says "messages were lost" &&
			guest_wait_long entries_are loaded "$WORK/many/" 150 && status=0
	fi
	[ "$status" -eq 0 ] ||
		echo "$(entries loaded "$WORK/many/") of 150; without: $(entries unloaded "$WORK/many/")"
	kill "${pids[@]}"
	return "$status"
}

# A file that only processes of another mount namespace see gets its table, though the process that
# ran it has ended.
in_a_container() {
	local pid status=1
	mkdir "$WORK/own"
	gcc -o "$WORK/contained" "$WORK/tiny.c"
	kill -STOP "$(watch_pid)"
	unshare -m sh -c 'mount -t tmpfs none "$0/own" && cp "$0/contained" "$0/own/prog" && "$0/own/prog" &&
		: >"$0/ran" && exec sleep infinity' "$WORK" &
	pid=$!
	guest_wait test -e "$WORK/ran" && kill -CONT "$(watch_pid)" &&
		guest_wait_long entries_are loaded /own/prog 1 && status=0
	[ "$status" -eq 0 ] || grep own/prog "$told"
	kill "$pid"
	return "$status"
}

# map_bare SECONDS: map $WORK/bare, executable, for so long
map_bare() {
	exec /usr/bin/python3 -c '
import mmap, sys, time
with open(sys.argv[1]) as file:
    kept = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
time.sleep(float(sys.argv[2]))' "$WORK/bare" "$1"
}

# beectl reports once that the file gets no table, and does not try again when it is mapped again.
no_unwind_information() {
	head -c 8192 /dev/zero >"$WORK/bare"
	map_bare 1e9 &
	guest_wait_long watch_says "/bare: no table: " && watch_rests || { tail -n 5 "$told"; return 1; }
	kill "$!"
	(map_bare 2) && watch_rests || return 1
	grep "/bare: " "$told"
	says_n_times "/bare: no table: " 1
}

# The share of the user who has the file mapped has no room for its table, 600 KiB, and is raised then:
# the module does not tell of the file again, but beectl tries again.
share_is_raised() {
	local pid status=1
	guest_rmmod && guest_insmod && "$BEECTL" config budget 32M share 1 announce mapped &&
		"$TREE/selftests/lib/hostile.py" rows "$WORK/rows" && watch_start &&
		watch_follows || return 1
	setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -c '
import mmap, signal
kept = mmap.mmap(3, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
signal.pause()' 3<"$WORK/rows" &
	pid=$!
	guest_wait_long watch_says "/rows: no table: its table was refused: over the share .*beectl config share" &&
		entries_are unloaded "$WORK/rows" 1 && "$BEECTL" config share 50 || return 1
	guest_wait_long entries_are loaded "$WORK/rows" 1 && status=0
	says_n_times "/rows: no table" 1 || status=1
	[ "$status" -eq 0 ] || cat "$told"
	kill "$pid" "$(watch_pid)"
	return "$status"
}

# flood: map ever new files, executable, each for a while, until it is killed
flood() {
	exec /usr/bin/python3 -c '
import collections, mmap, os, sys
kept = collections.deque(maxlen=500)
while True:
    file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
    os.unlink(sys.argv[1])
    os.ftruncate(file, 4096)
    kept.append(mmap.mmap(file, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    os.close(file)' "$WORK/flood.$BASHPID"
}

# watch is behind, and does not catch up.
is_behind() {
	[ "$(guest_status waiting)" -gt 500 ]
}

# More messages come than watch, which has little of the CPUs, can take: there is always one to read.
ended_among_messages() {
	local pids=() status=1
	guest_rmmod && guest_insmod && watch_start --eager && watch_follows && renice 10 "$(watch_pid)" || return 1
	for _ in 1 2 3 4; do
		flood &
		pids+=($!)
	done
	guest_wait_long is_behind && kill "$(watch_pid)" && guest_wait_long test -s "$WORK/status"
	kill "${pids[@]}"
	[ "$(cat "$WORK/status")" -eq 0 ] && status=0
	[ "$status" -eq 0 ] || { tail -n 5 "$told"; kill -KILL "$(watch_pid)"; }
	return "$status"
}

ktap_plan 16
ktap_run "waits for the module" waits_for_the_module
ktap_run "short processes are complete" on_demand
if [ -n "${BEE_WATCH_PROCESSES:-}" ]; then
	many_processes >"$WORK/many_processes" 2>&1
	status=$?
	sed 's/^/# /' "$WORK/many_processes"
	ktap_run "$BEE_WATCH_PROCESSES processes are complete and need no table" test "$status" -eq 0
else
	ktap_skip "thousands of short processes" "only with BEE_WATCH_PROCESSES=2000"
fi
ktap_run "no work when nothing is new" no_work_when_nothing_is_new
ktap_run "the module comes and goes" module_reload
ktap_run "SIGTERM leaves the tables" ended_by TERM
ktap_run "so does SIGINT" started_and_ended_by INT
ktap_run "and SIGHUP" started_and_ended_by HUP
ktap_run "eagerly, no table in the second round" eagerly
ktap_run "messages that are lost" lost_messages
ktap_run "a file of a container" in_a_container
ktap_run "a file that can have no table" no_unwind_information
ktap_run "unload --all says what watch does no more" unloaded
ktap_run "SIGKILL leaves no settings" killed
ktap_run "a share that was used up" share_is_raised
ktap_run "SIGTERM among messages" ended_among_messages
ktap_finish
