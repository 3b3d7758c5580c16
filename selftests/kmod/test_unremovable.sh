#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# If ftrace has shut itself down the module cannot be unloaded.  Then rmmod waits for the next boot, and
# the machine can still be suspended.
# last: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
modules=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}
# rmmod stays.
trap 'rm -rf "$WORK"' EXIT

rmmod_sleeps() {
	dmesg | grep -q 'sleeping until the next boot' && is_idle "$(cat "$WORK/rmmod")"
}

# is_idle PID: the process waits, not for a CPU, nor so that it counts as load
is_idle() {
	grep -q "^State:.I" "/proc/$1/status"
}

cannot_unload() {
	insmod "$modules/bee_ftrace_end.ko" 2>"$WORK/said"
	grep 'Operation canceled' "$WORK/said" || { cat "$WORK/said"; return 1; }
	rmmod beeunwind &
	echo $! >"$WORK/rmmod"
	guest_wait rmmod_sleeps && [ -e /sys/module/beeunwind ]
}

# With pm_test "freezer" the kernel freezes all processes, thaws them, and goes no further.
suspends() {
	echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state && rmmod_sleeps
}

[ -w /sys/power/pm_test ] || ktap_skip_all "this kernel cannot test a suspend"
[ -e "$modules/bee_ftrace_end.ko" ] || ktap_skip_all "this kernel has no kprobes"
guest_insmod || exit 1
ktap_plan 2
ktap_run "rmmod waits if a hook cannot be removed" cannot_unload
ktap_run "processes can be frozen while rmmod waits" suspends
ktap_finish
