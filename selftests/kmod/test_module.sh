#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module is loaded and unloaded, leaves nothing behind, and does not change the callchains of
# processes that it does not manage.
# MODULE_LOADS=COUNT for more loads than 10, or 5 on the instrumented kernel.
# timeout: 1200
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
loads=10
[ "${BEE_KERNEL-}" != debug ] || loads=5
loads=${MODULE_LOADS:-$loads}

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
	guest_insmod || return 1
	[ "$(guest_status hook)" = on ] && [ "$(guest_status hook_proven)" = True ] || return 1
	rmmod beeunwind && [ ! -e /sys/module/beeunwind ] || return 1
	! grep -q bee_ /sys/kernel/tracing/enabled_functions
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

refused_without_ftrace() {
	local status=1

	sysctl -q -w kernel.ftrace_enabled=0
	if guest_insmod 2>"$WORK/err"; then
		echo "loaded though ftrace is off"
	else
		dmesg | tail -n 5 | grep -q "ftrace is switched off" && status=0
	fi
	sysctl -q -w kernel.ftrace_enabled=1
	return $status
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
	perf record -q -a -g -e cpu-clock -F 499 -o "$WORK/all.data" -- sleep 1000 &
	local perf=$!
	# In each fifth round the module stays for a moment if it has not walked yet.
	for i in $(seq "$loads"); do
		guest_insmod || return 1
		"$BEECTL" load --quiet "$work" || return 1
		[ $((i % 5)) -ne 0 ] || [ "$(guest_status walks)" -gt 0 ] || sleep 0.1
		rmmod beeunwind || return 1
	done
	kill -INT "$perf"
	wait "$perf"
	kill "$work"
	[ "$(perf script -i "$WORK/all.data" -F comm 2>/dev/null | wc -l)" -gt 100 ]
}

ktap_plan 5
ktap_run "the module loads, sits in perf's path, and unloads" loads_and_unloads
ktap_run "a process that is not loaded has the same callchains" unmanaged_is_untouched
ktap_run "after rmmod everything is as before" unloaded_is_as_before
ktap_run "refused in words while ftrace is off" refused_without_ftrace
ktap_run "$loads loads and unloads under perf record -a -g" many_times
ktap_finish
