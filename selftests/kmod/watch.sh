# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts that look at what beectl watch does; after guest.sh.

# Where what it says goes.  Not "log": ktap_run has a variable of that name.
told=$WORK/told

# watch_start [OPTION]...: start it.  ktap_run runs each test in a subshell, so its process id, and when it
# has ended its status, are in files.
watch_start() {
	rm -f "$WORK/pid" "$WORK/status" "$told"
	{
		# A shell script makes what it starts by "&" ignore SIGINT; watch is to end by it.
		env --default-signal=INT "$BEECTL" watch "$@" >"$told" 2>&1 &
		echo $! >"$WORK/pid"
		wait $!
		echo $? >"$WORK/status"
	} &
	guest_wait test -s "$WORK/pid"
}

watch_pid() {
	cat "$WORK/pid"
}

# watch_follows: wait until it makes tables
watch_follows() {
	guest_wait grep -q "^making the tables of what is sampled" "$told"
}

# watch_stop: have it end, and wait for that
watch_stop() {
	kill "$(watch_pid)"
	guest_wait test -s "$WORK/status"
}

# CPU time of beectl and its children, in clock ticks.
watch_ticks() {
	sed 's/.*) //' "/proc/$(watch_pid)/stat" | awk '{ print $12 + $13 + $14 + $15 }'
}

# What watch has done so far: its switches from and to a CPU, and its CPU time.
watch_works() {
	grep -h ctxt_switches "/proc/$(watch_pid)/status"
	watch_ticks
}

# Whether watch has no child, and nothing wakes it for a while.  A child cannot have come or gone if
# it has not run.
watch_is_idle() {
	local before

	before=$(watch_works)
	! pgrep -P "$(watch_pid)" >/dev/null || return 1
	sleep 0.7
	[ "$(watch_works)" = "$before" ] && is_asleep "$(watch_pid)"
}

# watch_rests: wait until watch has nothing to do: it first makes the tables of large libraries, and shares the
# CPUs with the program that the test has started.
watch_rests() {
	guest_wait_long watch_is_idle
}
