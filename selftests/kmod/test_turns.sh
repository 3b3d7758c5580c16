#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that maps and unmaps ten libraries in turns, at one place: each gets its table once, and
# in the end every stack is complete.  A program that many short processes run gets one table.
# once: 1
# timeout: 1800
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/watch.sh
. "$(dirname "$0")/watch.sh"

libraries=10

rounds() {
	cut -d ' ' -f 1 "$WORK/rounds" 2>/dev/null || echo 0
}

rounds_are() {
	[ "$((10#$(rounds)))" -ge "$1" ]
}

# more_rounds N: wait until the program has gone round N more times
more_rounds() {
	local at
	at=$((10#$(rounds)))
	guest_wait_long rounds_are $((at + $1))
}

# reports WHAT: print how many lines say WHAT of one of the libraries
reports() {
	grep "/libturn[0-9]*\.so\(: \|\$\)" "$told" | grep -c "$1"
}

all_have_tables() {
	[ "$("$BEECTL" status --files | grep " $TESTS/libturn[0-9]*\.so\$" | grep -vc "no table")" -eq "$libraries" ]
}

# settled MADE: each library was reported once, as MADE, also after four more rounds
settled() {
	more_rounds 4 || return 1
	echo "libraries: $(reports "$1") times $1; $(reports "") reports"
	[ "$(reports "$1")" -eq "$libraries" ] && [ "$(reports "")" -eq "$libraries" ]
}

# At least 100 samples of the program in the libraries' rounds, and 99 % of them complete.  If a busy
# host leaves the guest fewer samples in three rounds, perf records more rounds.
complete() {
	local rounds waits
	waits=$(declare -f more_rounds rounds rounds_are guest_wait_long guest_wait guest_clock)
	for rounds in 3 6 12 24 48; do
		perf record -q -N -B -a -g -e cpu-clock -F 499 -o "$WORK/turns.data" -- \
			bash -c "$waits; WORK=$WORK; more_rounds $rounds" >"$WORK/perf.log" 2>&1 ||
			{ cat "$WORK/perf.log"; return 1; }
		/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge --no-exec --comm turns \
			"$WORK/turns.data" >"$WORK/judged" || return 1
		cat "$WORK/judged"
		judged "got['samples'] >= 100" && break
	done
	judged "got['samples'] >= 100 and got['complete'] >= 0.99 * got['samples']" && return 0
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why --no-exec --comm turns "$WORK/turns.data" |
		head -n 20
	return 1
}

# judged EXPRESSION: what Python says of the last recording
judged() {
	/usr/bin/python3 -c "
import json, sys
got = json.load(sys.stdin)
sys.exit(not ($1))" <"$WORK/judged"
}

# watched: under "watch", while perf samples
watched() {
	local program recorder status=1
	rm -f "$WORK/rounds"
	guest_cache
	guest_insmod || return 1
	perf record -q -N -B -a -g -e cpu-clock -F 199 -o /dev/null >/dev/null 2>&1 &
	recorder=$!
	watch_start && watch_follows && watch_rests || { kill "$recorder"; return 1; }
	"$TESTS/turns" "$TESTS" "$libraries" "$WORK/rounds" &
	program=$!
	if guest_wait_long all_have_tables && settled ": compiled, "; then
		kill "$recorder"
		wait "$recorder"
		complete && status=0
	fi
	[ "$status" -eq 0 ] || { sort "$told" | uniq -c | sort -rn | head -n 30; }
	kill "$recorder" "$program" 2>/dev/null
	wait "$recorder" "$program" 2>/dev/null
	watch_stop
	guest_rmmod
	return $status
}

# started PREFIX...: under "run", with a command before beectl
started() {
	local status=1
	rm -f "$WORK/rounds"
	guest_cache
	guest_insmod || return 1
	perf record -q -N -B -g -e cpu-clock -F 499 -o /dev/null -- \
		"$@" "$BEECTL" run -v -j 2 -- "$TESTS/turns" "$TESTS" "$libraries" "$WORK/rounds" >"$told" 2>&1 &
	guest_wait_long all_have_tables && settled "run: loaded " && complete && status=0
	[ "$status" -eq 0 ] || { sort "$told" | uniq -c | sort -rn | head -n 30; }
	[ ! -s "$WORK/rounds" ] || kill "$(cut -d ' ' -f 2 "$WORK/rounds")"
	wait
	guest_rmmod
	return $status
}

# 60 processes of one program are sampled, and end before watch looks at their file.
compiled_once() {
	local recorder status=1
	guest_cache
	guest_insmod || return 1
	cat >"$WORK/moment.c" <<-'END'
	#include <time.h>

	int main(void)
	{
		while (clock() < CLOCKS_PER_SEC / 50)
			;
		return 0;
	}
	END
	gcc -o "$WORK/moment" "$WORK/moment.c" || return 1
	watch_start && watch_follows || return 1
	perf record -q -N -B -a -g -e cpu-clock -F 499 -o /dev/null >/dev/null 2>&1 &
	recorder=$!
	watch_rests
	kill -STOP "$(watch_pid)"
	for _ in $(seq 60); do
		"$WORK/moment"
	done
	kill -CONT "$(watch_pid)"
	guest_wait_long grep -q "/moment: " "$told" && status=0
	kill "$recorder"
	wait "$recorder"
	watch_rests || status=1
	grep "/moment: " "$told"
	[ "$(grep -c "/moment: compiled, " "$told")" -eq 1 ] && [ "$(grep -c "/moment: " "$told")" -eq 1 ] || status=1
	[ "$status" -eq 0 ] || { sort "$told" | uniq -c | sort -rn | head -n 30; }
	watch_stop
	guest_rmmod
	return $status
}

ktap_plan 4
ktap_run "ten libraries in turns under watch get one table each" watched
ktap_run "a program of many short processes gets one table" compiled_once
ktap_run "ten libraries in turns under run, without CAP_SYS_ADMIN, get one table each" \
	started setpriv --bounding-set -sys_admin
if [ -n "${BEE_LONG-}" ]; then
	ktap_run "ten libraries in turns under run get one table each" started env
else
	ktap_skip "ten libraries in turns under run get one table each" \
		"ten libraries under run take a minute: with BEE_LONG=1, as in make check-all"
fi
ktap_finish
