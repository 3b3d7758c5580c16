#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module is loaded and unloaded, leaves nothing behind, and does not change the callchains of
# processes that it does not manage.
# MODULE_LOADS=COUNT for more loads than 3, or 10 with BEE_LONG.
# timeout: 1200
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
test_ko=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}
loads=${MODULE_LOADS:-$([ -n "${BEE_LONG-}" ] && echo 10 || echo 3)}

mkdir "$WORK/files"
touch "$WORK"/files/{1..60}

# Print the callchains of a program that does the same in every run, one for each system call.
chains() {
	perf record -q -e raw_syscalls:sys_enter -c 1 -g -o "$WORK/chains.data" \
		setarch -R /bin/ls -l --color=never "$WORK/files" >/dev/null &&
		perf script -i "$WORK/chains.data" -F comm,ip --no-inline |
		awk '/^ls/ { on = 1 } on' >"$1"
	[ -s "$1" ] && [ "$(grep -c . "$1")" -gt 500 ]
}

loads_and_unloads() {
	local before

	before=$(guest_hooks)
	guest_insmod || return 1
	[ "$(guest_status hook)" = on ] && [ "$(guest_status hook_proven)" = true ] &&
		! hooks_are "$before" || return 1
	rmmod beeunwind && [ ! -e /sys/module/beeunwind ] && hooks_are "$before"
}

unmanaged_is_untouched() {
	chains "$WORK/before.1" && chains "$WORK/before.2" || return 1
	cmp "$WORK/before.1" "$WORK/before.2" || { echo "two runs without the module differ"; return 1; }
	guest_insmod && chains "$WORK/with" || return 1
	[ "$(guest_status hook_hits)" -gt 100 ] || { echo "the hook did not see the samples"; return 1; }
	rmmod beeunwind && cmp "$WORK/before.1" "$WORK/with"
}

unloaded_is_as_before() {
	chains "$WORK/after" && cmp "$WORK/before.1" "$WORK/after"
}

# refused_as WORDS CMD...: the module's last words say so when CMD, which loads it, fails; nothing of
# it stays.
refused_as() {
	local words=$1 before
	shift

	before=$(guest_hooks)
	dmesg -C
	if "$@" 2>"$WORK/err"; then
		echo "loaded"
		rmmod beeunwind
		return 1
	fi
	dmesg | tail -n 5
	dmesg | grep -q "beeunwind: $words" && [ ! -e /sys/module/beeunwind ] && hooks_are "$before"
}

refused_without_ftrace() {
	local status=0

	sysctl -q -w kernel.ftrace_enabled=0 || return 1
	refused_as ".*ftrace is switched off" insmod "$BEE_KO" || status=1
	sysctl -q -w kernel.ftrace_enabled=1
	return $status
}

refused_unproven() {
	local status=0

	insmod "$test_ko/bee_wide_munmap.ko" || return 1
	refused_as "unmap_vmas() .* takes other arguments" insmod "$BEE_KO" || status=1
	rmmod bee_wide_munmap
	[ "$status" -eq 0 ] && guest_insmod && rmmod beeunwind
}

# Since Linux 7.0 ftrace cannot be switched off, whether or not the module is there.
ftrace_stays_on() {
	! sysctl -q -w kernel.ftrace_enabled=0 2>"$WORK/err" && grep -q "not supported" "$WORK/err"
}

has_walked() {
	[ "$(guest_status walks)" -gt 0 ]
}

# Load and unload the module many times; each time it manages a process that is busy half of the
# time, so that walks run while it is unloaded, and the kernel's grace periods end soon.
many_times() {
	local i work

	/usr/bin/python3 -c '
import time
while True:
    sum(i * i for i in range(1000))
    time.sleep(0.01)' &
	work=$!
	perf record -q -a -g -e cpu-clock -F 499 -o "$WORK/all.data" -- sh -c ': >"$0" && exec sleep infinity' \
		"$WORK/started" &
	local perf=$!
	guest_wait_long test -e "$WORK/started" || return 1
	# In each third round the module stays until it has walked.
	for i in $(seq "$loads"); do
		guest_insmod || return 1
		"$BEECTL" load --quiet "$work" || return 1
		[ $((i % 3)) -ne 0 ] || guest_wait has_walked || return 1
		rmmod beeunwind || return 1
	done
	kill -INT "$perf"
	wait "$perf"
	kill "$work"
	[ "$(perf script -i "$WORK/all.data" -F comm 2>/dev/null | wc -l)" -gt 100 ]
}

ktap_plan 6
ktap_run "the module loads, sits in perf's path, and unloads" loads_and_unloads
ktap_run "a process that is not loaded has the same callchains" unmanaged_is_untouched
ktap_run "after rmmod everything is as before" unloaded_is_as_before
if ftrace_stays_on; then
	ktap_skip "refused in words while ftrace is off" "this kernel does not let it be switched off"
else
	sysctl -q -w kernel.ftrace_enabled=1
	ktap_run "refused in words while ftrace is off" refused_without_ftrace
fi
if [ -e "$test_ko/bee_wide_munmap.ko" ]; then
	ktap_run "refused in words where unmap_vmas() has other arguments" refused_unproven
else
	ktap_skip "refused in words where unmap_vmas() has other arguments" "no kprobes in this kernel"
fi
ktap_run "$loads loads and unloads under perf record -a -g" many_times
ktap_finish
