# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts that look at what beectl watch does; after guest.sh.  Its process id is in
# $WORK/pid, as ktap_run runs each test in a subshell.

# CPU time of beectl and its children, in clock ticks.
watch_ticks() {
	sed 's/.*) //' "/proc/$(cat "$WORK/pid")/stat" | awk '{ print $12 + $13 + $14 + $15 }'
}

# What watch has done so far: its switches from and to a CPU, and its CPU time.
watch_works() {
	grep -h ctxt_switches "/proc/$(cat "$WORK/pid")/status"
	watch_ticks
}

# Whether watch has no child, and nothing wakes it for a while.  A child cannot have come or gone if
# it has not run.
watch_is_idle() {
	local before

	before=$(watch_works)
	! pgrep -P "$(cat "$WORK/pid")" >/dev/null || return 1
	sleep 0.7
	[ "$(watch_works)" = "$before" ] && is_asleep "$(cat "$WORK/pid")"
}
