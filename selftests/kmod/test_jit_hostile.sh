#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl load of programs that lie about what they register, change it, end or execute themselves
# meanwhile, or keep their memory from being read: it comes to an end, and nothing is left.
#	BEE_JIT_LOADS=N	so many loads beside each
# once: 1
# timeout: 900
# cpus: 2
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/jit.sh
. "$(dirname "$0")/jit.sh"

PROGRAM=$TESTS/walk_hostile
loads=${BEE_JIT_LOADS:-3}

# served PROGRAM READY GO: load tables whenever the program has told another lie
served() {
	guest_wait pidof "$1" || return 1
	while read -r -n 1 <"$2"; do
		"$BEECTL" load --cfi-only "$(pidof "$1")" >>"$WORK/loads" 2>&1 || echo "l: status $?" >>"$WORK/loads"
		echo g >"$3"
	done
}

# loaded PID: load it; a process that is gone is no failure, but a child of beectl that dies is one.  The
# file good gets a line if it was loaded
loaded() {
	local status=0

	"$BEECTL" load --cfi-only "$1" >>"$WORK/loads" 2>&1 || status=$?
	[ "$status" -le 1 ] || { echo "load: status $status"; return 1; }
	[ "$status" -ne 0 ] || echo "$1" >>"$WORK/good"
	! grep -F "the process that looks for its JIT code" "$WORK/loads"
}

# Tables of code in memory.
none_left() {
	[ "$(owned)" = 0 ]
}

# said: print what loads have said, and how often
said() {
	sed 's/walk_hostile ([0-9]*)\|process [0-9]*\|[0-9][0-9]* bytes/.../' "$WORK/loads" | sort | uniq -c | sort -rn |
		head -n 12
	: >"$WORK/loads"
}

# beside MODE: loads beside a program that does that all the time, until one was a success
beside() {
	local i pid status=0

	: >"$WORK/good"
	"$PROGRAM" "$1" &
	pid=$!
	guest_wait test "/proc/$pid/exe" -ef "$PROGRAM" || return 1
	for ((i = 0; i < loads || i < 30 && $(wc -l <"$WORK/good") == 0; i++)); do
		loaded "$pid" || { status=1; break; }
	done
	kill "$pid"
	wait "$pid"
	guest_wait none_left || status=1
	echo "$(wc -l <"$WORK/good") of $i loads were a success"
	[ -s "$WORK/good" ] || status=1
	said
	return "$status"
}

# dying: each program is killed while it is being loaded, a little later each time
dying() {
	local i load pid status=0

	for ((i = 0; i < loads; i++)); do
		"$PROGRAM" change &
		pid=$!
		guest_wait runs_code "$pid" || return 1
		loaded "$pid" &
		load=$!
		sleep "0.$(printf '%02d' $((i * 60 / loads)))"
		kill -9 "$pid"
		wait "$load" || status=1
		wait "$pid"
	done
	guest_wait none_left || status=1
	said
	return "$status"
}

# withheld: a process whose object cannot be read gets no table of it, and the next one gets its own
withheld() {
	local pid other status=0

	"$PROGRAM" withhold >"$WORK/withheld" &
	pid=$!
	registered_start
	other=$!
	guest_wait grep -q withheld "$WORK/withheld" && loaded "$pid" && loaded "$other" &&
		[ "$(owned)" = 1 ] && memory_is "$other" "[jit] walk_registered" || status=1
	said
	kill "$pid" "$other"
	wait "$pid" "$other"
	guest_wait none_left || status=1
	return "$status"
}

guest_insmod || exit 1
ktap_plan 5
ktap_run "code that a program registers with lies gets no table, code registered rightly does" \
	known_stacks walk_hostile
: >"$WORK/loads"
ktap_run "beectl load gives a program that keeps changing its registered code tables" beside change
ktap_run "beectl load gives a program that keeps executing itself tables" beside exec
ktap_run "beectl load survives programs that end while it reads their code" dying
if [ -e /proc/sys/vm/unprivileged_userfaultfd ]; then
	ktap_run "registered code that cannot be read gets no table, and the next process gets its own" \
		withheld
else
	ktap_skip "registered code that cannot be read gets no table, and the next process gets its own" \
		"the kernel has no userfaultfd"
fi
ktap_finish
