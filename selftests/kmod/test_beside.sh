#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module follows mappings whatever else is attached to the functions that it hooks for that.
# follow_test judges.  test_hook does the same for the functions of callchains.
# cpus: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
tracing=/sys/kernel/tracing

tracer_on() {
	printf '%s\n' "${functions[@]}" >$tracing/set_ftrace_filter &&
		echo function >$tracing/current_tracer
}

tracer_off() {
	echo nop >$tracing/current_tracer && echo >$tracing/set_ftrace_filter
}

tracer_fired() {
	grep -q " $1 <-" $tracing/trace
}

kprobes_on() {
	printf '%s\n' "${functions[@]}" | sed 's/.*/p:bee\/& &/' >$tracing/kprobe_events &&
		echo 1 >$tracing/events/bee/enable
}

kprobes_off() {
	echo 0 >$tracing/events/bee/enable && echo >$tracing/kprobe_events
}

kprobes_fired() {
	grep -q " $1: ($1" $tracing/trace
}

# follow_test passes, and the module can be unloaded.
follows() {
	local status=0

	guest_nested "$TESTS/follow_test" || status=1
	guest_rmmod && return $status
}

# fired WHO: "tracer" or "kprobes" has seen a call of each of the functions.
fired() {
	local name status=0

	for name in "${functions[@]}"; do
		"$1_fired" "$name" || { echo "$1: nothing of $name"; status=1; }
	done
	return $status
}

comes_first() {
	local status=0 before

	echo >$tracing/trace
	"$1_on" && before=$(guest_hooks) && guest_insmod && follows && fired "$1" &&
		hooks_are "$before" || status=1
	"$1_off" || status=1
	return $status
}

# comes_and_goes WHO: attach and detach WHO again and again while follow_test runs.  Each time ftrace
# patches the functions and changes which callback they call.  If that was fewer than three times
# follow_test is run again.
comes_and_goes() {
	local status=0 times=0 before

	before=$(guest_hooks)
	for _ in 1 2 3; do
		guest_insmod || return 1
		follows &
		while [ -n "$(jobs -pr)" ]; do
			"$1_on" && "$1_off" || { status=1; break; }
			times=$((times + 1))
		done
		wait $! && hooks_are "$before" || status=1
		[ "$status" -eq 0 ] && [ "$times" -lt 3 ] || break
	done
	echo "came and went $times times"
	[ "$times" -ge 3 ] && return $status
}

guest_insmod || exit 1
awk '$1 !~ /^(perf_callchain_user|unwind_user)$/ { print $1 }' $tracing/enabled_functions >"$WORK/functions"
mapfile -t functions <"$WORK/functions"
guest_rmmod
ktap_plan 5
ktap_run "the module follows by some functions" [ ${#functions[@]} -ge 6 ]
ktap_run "the function tracer is there first" comes_first tracer
ktap_run "kprobes are there first" comes_first kprobes
ktap_run "the function tracer comes and goes" comes_and_goes tracer
ktap_run "kprobes come and go" comes_and_goes kprobes
ktap_finish
