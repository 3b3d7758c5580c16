#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: parts of a recording, stacks from their other end, what is around a function, and when it was.
# $PROFILER_CLI: the npm package @firefox-devtools/profiler-cli, unpacked.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"

printf '%s\n' "t;main;a;f;x 3" "t;main;b;f;y 2" "t;main;c 4" "t;main;f;f;x 1" >"$work/stacks"

# shows LINE... -- OPTION...: the folded stacks that flame makes of $work/stacks
shows() {
	local lines=()
	while [ "$1" != -- ]; do
		lines+=("$1")
		shift
	done
	"$beectl" flame "$work/stacks" --format folded "${@:2}" | diff - <(printf '%s\n' "${lines[@]}")
}

check_reverse() {
	shows "c;main;t 4" "x;f;a;main;t 3" "x;f;f;main;t 1" "y;f;b;main;t 2" -- --reverse
}

# Where the function calls itself the outermost call counts.
check_around() {
	shows "f;f;x 1" "f;x 3" "f;y 2" -- --around f &&
		shows "f;a;main;t 3" "f;b;main;t 2" "f;main;t 1" -- --around f --reverse &&
		"$beectl" flame "$work/stacks" --around f -o "$work/around.svg" && grep -q '<title>f: 6 samples, 100.00 %<' "$work/around.svg" &&
		! grep "<title>main" "$work/around.svg"
}

check_around_text() {
	"$beectl" flame "$work/stacks" --around f >"$work/out" && diff "$work/out" - <<-END || return
		stacks: 10 samples

		  total  called by
		 30.00%  a
		 20.00%  b
		 10.00%  main

		 60.00%  f, 0.00% by itself

		  total  calls
		 30.00%  x
		 20.00%  y
		 10.00%  f
	END
	"$beectl" flame "$work/stacks" --around f --json >"$work/json" && lists_names flame "$work/json" && "$python" - "$work/json" <<-'END'
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    got = json.load(file)
		assert [(f["name"], f["total"]) for f in got["callers"]] == [("a", 3), ("b", 2), ("main", 1)], got
		assert [(f["name"], f["total"]) for f in got["callees"]] == [("x", 3), ("y", 2), ("f", 1)], got
	END
}

check_no_such_function() {
	local status=0
	"$beectl" flame "$work/stacks" --around none 2>"$work/errors" || status=$?
	[ "$status" -eq 1 ] && grep -x "beectl: flame: none: no function of this name is in the stacks" "$work/errors" || return
	# The thread has that name.
	! "$beectl" flame "$work/stacks" --around t -o "$work/x.svg" 2>"$work/errors" && [ ! -e "$work/x.svg" ]
}

check_refused() {
	local status
	for options in "--around f --format firefox" "--reverse --raw" "--around f --reverse" "--time 5" "--tid x" "--cpu 1-"; do
		status=0
		# shellcheck disable=SC2086  # several words
		"$beectl" flame "$work/stacks" $options >"$work/out" 2>"$work/errors" || status=$?
		[ "$status" -eq 2 ] || { echo "$options: $status"; return 1; }
	done
	"$beectl" flame "$work/stacks" --comm t --format folded 2>"$work/errors" | diff - "$work/stacks" &&
		grep -q "warning: .*--comm.* have no effect" "$work/errors"
}

# Of two threads of a process, and of another process, at three times.
check_filters() {
	made "r.comm(8, 'other'); r.fork(7, 7, 9); r.map(8, 0x400000, 0x10000, work + '/prog')
for second, pid in ((10, 7), (11, 8), (12, 9)):
    r.time = second * 10**9
    r.sample(pid, [USER, (0x400000 if pid == 9 else $(address outer)) + 0])" || return
	options="--comm other" expect "other;outer 1" && options="--tid 7" expect "prog;outer 1" &&
		options="--tid 7-8" expect "other;outer 1" "prog;outer 1" && options="--time ,0.5" expect "prog;outer 1" &&
		options="--time 0.5,1.5" expect "other;outer 1" || return
	! "$beectl" flame "$work/made.data" --time 5, 2>"$work/errors" &&
		grep "made.data: no sample is left by --time, --comm, --tid and --cpu$" "$work/errors"
}

# From a switch to the next one that is to the thread, or until it says that it runs again.
check_waits() {
	made "r = Recording(name='sched:sched_switch'); r.comm(7, 'a'); r.comm(8, 'b')
for pid in (7, 8):
    r.map(pid, 0x400000, 0x10000, work + '/prog')
outer, main = [USER, $(address outer)], [USER, $(address main)]
for time, pid, chain, to in ((10, 7, outer, 8), (13, 8, main, 7), (14, 7, main, 0), (20, 0, main, 7), (21, 7, outer, 8), (22, 8, outer, 0)):
    r.time = 1000 * time
    r.switch(pid, chain, to)
r.time = 1000 * 30 - 1
r.switched(8)
r.switched(8, out=True)
r.fork(1, 7)
r.switch(8, outer, 7)" || return
	expect "a;main 6000" "a;outer 3000" "b;main 8000" "b;outer 7999" || return
	"$beectl" flame "$work/made.data" >"$work/out" && grep "^sched:sched_switch:offcpu-time: 7 samples, counted as 24,999 ns" "$work/out" || return
	options="--show sched:sched_switch --tid 8" expect "b;main 8000" "b;outer 7999" || return
	options=--samples expect "a;main 1" "a;outer 2" "b;main 1" "b;outer 2" "swapper;[unknown] 1" || { cat "$work/folded"; return 1; }
	"$beectl" flame "$work/made.data" --format svg | grep '<title>outer .*: 7,999 ns, 32.00 %<' &&
		"$beectl" flame "$work/made.data" --raw >"$work/waits.raw" && "$beectl" flame "$work/waits.raw" | diff - "$work/out"
}

# perf has recorded one process, and not when it runs again.
check_waits_unknown() {
	made "r = Recording(name='sched:sched_switch'); r.comm(7, 'a'); r.map(7, 0x400000, 0x10000, work + '/prog')
for _ in range(3):
    r.switch(7, [USER, $(address outer)], 9)" &&
		"$beectl" flame "$work/made.data" --format folded 2>"$work/errors" | diff - <(echo "a;outer 3") &&
		grep "warning: .*made.data: it says when threads stop and not when they run again.*--switch-events" "$work/errors" &&
		options=--samples expect "a;outer 3"
}

# As they can be reckoned from what perf script prints.
check_waits_of_perf() {
	perf record -q -e sched:sched_switch --switch-events -g -o "$work/waits.data" "$python" -c '
import threading, time
threads = [threading.Thread(target=time.sleep, args=(.05,)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()' 2>"$work/errors" || { cat "$work/errors"; return 1; }
	"$beectl" flame "$work/waits.data" --json >"$work/waits.json" 2>/dev/null &&
		perf script --ns -i "$work/waits.data" -F tid,time,event,trace --show-switch-events 2>/dev/null | "$python" -c '
import json, re, sys
since, total, waits = {}, 0, 0
for line in sys.stdin:
    found = re.match(r"\s*(\d+)\s+(\d+)\.(\d{9}): +(\S+)(.*next_pid=(\d+)| +IN)?", line)
    if not found:
        continue
    thread, time = int(found[1]), int(found[2]) * 10**9 + int(found[3])
    is_switch = found[4] == "sched:sched_switch:"
    runs = int(found[6]) if is_switch else thread
    if (is_switch or found[5]) and runs in since:
        total += time - since.pop(runs)
        waits += 1
    if is_switch:
        since[thread] = time
got = json.load(open(sys.argv[1]))
assert waits > 3 and got["unit"] == "ns" and got["total"] == total, (waits, total, got["unit"], got["total"])' "$work/waits.json"
}

# Threads and times of a recording are those of perf script.  The program sleeps, so nothing was sampled for a while.
check_times() {
	cat >"$work/threads.py" <<-'END'
		import threading, time
		def work():
		    for _ in range(3):
		        sum(range(300000))
		        time.sleep(.05)
		threads = [threading.Thread(target=work) for _ in range(3)]
		for thread in threads:
		    thread.start()
		for thread in threads:
		    thread.join()
	END
	perf record -q -e cpu-clock:u -F 999 -g -o "$work/threads.data" "$python" "$work/threads.py" >/dev/null 2>"$work/errors" ||
		{ cat "$work/errors"; return 1; }
	"$beectl" flame "$work/threads.data" -o "$work/out.profile.json" 2>/dev/null &&
		"$beectl" flame "$work/threads.data" -o "$work/out.speedscope.json" 2>/dev/null &&
		perf script --ns -i "$work/threads.data" -F pid,tid,time 2>/dev/null |
			"$python" "$tree/selftests/lib/tracks.py" "$work/out.profile.json" "$work/out.speedscope.json"
}

# The profiler's command line reads a profile by the code of the profiler's web page, in a process that runs until
# "stop" ends it.
check_firefox() {
	local -x HOME=$work
	local cli=$profiler/dist/profiler-cli.js status=0
	node "$cli" load "$work/out.profile.json" >/dev/null 2>&1
	for _ in {1..30}; do
		node "$cli" thread list --json >"$work/list.json" 2>/dev/null && break
		sleep 0.2
	done
	"$python" - "$cli" "$work/out.profile.json" "$work/list.json" <<-'END' || status=$?
		import json, subprocess, sys
		with open(sys.argv[2], encoding="utf-8") as file:
		    profile = json.load(file)
		with open(sys.argv[3], encoding="utf-8") as file:
		    theirs = json.load(file)["threads"]
		mine = profile["threads"]
		ids = lambda threads: [(thread["pid"], thread["tid"], thread["name"]) for thread in threads]
		assert len(mine) > 3 and ids(theirs) == ids(mine), (ids(theirs), ids(mine))
		for i, thread in enumerate(mine):
		    info = json.loads(subprocess.check_output(["node", sys.argv[1], "thread", "info", "--json", "--thread", f"t-{i}"]))
		    assert info["sampleCount"] == thread["samples"]["length"], (i, info)
		last = max(thread["samples"]["time"][-1] for thread in mine)
		end = info["context"]["rootRange"]["end"]
		assert last <= end <= last + profile["meta"]["interval"] + 0.001, (last, end)
	END
	node "$cli" stop >/dev/null 2>&1
	return "$status"
}

ktap_plan 11
ktap_run "flame shows stacks from their other end" check_reverse
ktap_run "flame shows what a function calls, and what calls it" check_around
ktap_run "the summary of what is around a function" check_around_text
ktap_run "flame refuses a function that is not in the stacks" check_no_such_function
ktap_run "flame refuses options that do not go together" check_refused
ktap_run "flame shows parts of a recording" check_filters
ktap_run "switches of threads weigh the time until these run again" check_waits
ktap_run "switches of threads that are not seen to run again count as one" check_waits_unknown
if perf record -q -e sched:sched_switch -o "$work/probe.data" -- true >/dev/null 2>&1; then
	ktap_run "times of waits are those of perf script" check_waits_of_perf
else
	ktap_skip "times of waits are those of perf script" "perf cannot record sched:sched_switch here"
fi
if perf record -q -e cpu-clock:u -o "$work/probe.data" -- true >/dev/null 2>&1; then
	ktap_run "threads and times in files for Firefox profiler and speedscope" check_times
	profiler=$(realpath -e "${PROFILER_CLI:-/usr/lib/node_modules/@firefox-devtools/profiler-cli}" 2>/dev/null)
	if [ "$profiler" ]; then
		ktap_run "Firefox profiler opens what is for it" check_firefox
	else
		ktap_skip "Firefox profiler opens what is for it" \
			"\$PROFILER_CLI is not set, and npm has not installed it"
	fi
else
	ktap_skip "threads and times in files for Firefox profiler and speedscope" "perf cannot record here"
	ktap_skip "Firefox profiler opens what is for it" "perf cannot record here"
fi
ktap_finish
