#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that maps and unmaps ten libraries in turns, at one place: each gets its table once, and
# in the end every stack is complete.  Programs that live for a moment likewise.  With BEE_LONG in
# two more ways.
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

# watched OPTION...: under "watch" with these options, while perf samples
watched() {
	local program recorder status=1
	rm -f "$WORK/rounds"
	guest_cache
	guest_insmod || return 1
	perf record -q -N -B -a -g -e cpu-clock -F 199 -o /dev/null >/dev/null 2>&1 &
	recorder=$!
	watch_start "$@" && watch_follows && watch_rests || { kill "$recorder"; return 1; }
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

# 60 processes of one program, each of which ends before its file is looked at: one file.  There are no
# more messages than beectl's socket holds, so nothing else is started that has libraries of its own.
compiled_once() {
	local status=1
	guest_cache
	guest_insmod || return 1
	printf 'int main(void) { return 0; }\n' >"$WORK/moment.c"
	gcc -o "$WORK/moment" "$WORK/moment.c"
	watch_start --eager && watch_follows && watch_rests || return 1
	kill -STOP "$(watch_pid)"
	for _ in $(seq 60); do
		"$WORK/moment"
		sleep 0
	done
	kill -CONT "$(watch_pid)"
	guest_wait_long grep -q "/moment: " "$told"
	watch_rests && status=0
	grep -c . "$told"
	grep "/moment: " "$told"
	[ "$(grep -c "/moment: " "$told")" -eq 1 ] && ! grep -q "no longer mapped" "$told" &&
		[ -z "$(grep ": compiled, " "$told" | sort | uniq -d)" ] || status=1
	[ "$status" -eq 0 ] || { sort "$told" | uniq -c | sort -rn | head -n 30; }
	watch_stop
	guest_rmmod
	return $status
}

long="takes a minute: with BEE_LONG=1, as in make check-all"
ktap_plan 5
ktap_run "under watch --eager" watched --eager
ktap_run "programs that live for a moment" compiled_once
ktap_run "under run, without CAP_SYS_ADMIN" started setpriv --bounding-set -sys_admin
if [ -n "${BEE_LONG-}" ]; then
	ktap_run "under run" started env
	ktap_run "under watch" watched
else
	ktap_skip "under run" "$long"
	ktap_skip "under watch" "$long"
fi
ktap_finish
