#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module comes and goes, and works, whatever else sits on perf_callchain_user(); what
# does not go together is refused in words.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
tracing=/sys/kernel/tracing
BEE_TEST_KO=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}

# Whatever the last test has left.
fresh() {
	[ ! -e /sys/module/beeunwind ] || rmmod beeunwind
	guest_insmod
}

# Stacks of deep_work with the module: at least 99 of 100 complete.
stacks_are_right() {
	fresh && "$BEECTL" load --quiet "$deep" || return 1
	perf record -q -e cpu-clock -F 1999 -g -p "$deep" -o "$WORK/deep.data" -- sleep 0.5 || return 1
	perf script -i "$WORK/deep.data" -F comm,tid,ip,sym 2>/dev/null |
		/usr/bin/python3 "$TREE/selftests/lib/deep.py" 99 "$deep"
}

unload_twice() {
	rmmod beeunwind && guest_insmod && rmmod beeunwind
}

kprobe_on() {
	echo 'p:bee/callchain perf_callchain_user' >"$tracing/kprobe_events" &&
		echo 1 >"$tracing/events/bee/callchain/enable"
}

kprobe_off() {
	echo 0 >"$tracing/events/bee/callchain/enable" && echo >"$tracing/kprobe_events"
}

beside_kprobe() {
	kprobe_on && stacks_are_right || return 1
	grep -q 'callchain:' "$tracing/trace" || { echo "the kprobe did not fire"; return 1; }
	kprobe_off && kprobe_on && unload_twice && kprobe_off && stacks_are_right && unload_twice
}

tracer_on() {
	echo perf_callchain_user >"$tracing/set_ftrace_filter"
	echo function >"$tracing/current_tracer"
}

tracer_off() {
	echo nop >"$tracing/current_tracer"
	echo >"$tracing/set_ftrace_filter"
}

beside_function_tracer() {
	tracer_on && stacks_are_right || return 1
	grep -q 'perf_callchain_user <-' "$tracing/trace" || { echo "the tracer saw nothing"; return 1; }
	tracer_off && tracer_on && unload_twice && tracer_off && stacks_are_right && unload_twice
}

# An fentry program is a trampoline right on the call that ftrace patches.
beside_bpf() {
	bpftrace -e 'kfunc:perf_callchain_user { @n = count(); }' >"$WORK/bpf" 2>&1 &
	local bpf=$!
	guest_wait grep -q Attach "$WORK/bpf" || { cat "$WORK/bpf"; return 1; }
	stacks_are_right || return 1
	unload_twice && stacks_are_right || return 1
	kill -INT "$bpf"
	wait "$bpf"
	grep -q '@n: [1-9]' "$WORK/bpf" || { cat "$WORK/bpf"; return 1; }
	# It can also be attached while we are there.
	for _ in 1 2 3; do
		bpftrace -e 'kfunc:perf_callchain_user { @n = count(); } interval:ms:300 { exit(); }' \
			>>"$WORK/bpf" 2>&1 || { cat "$WORK/bpf"; return 1; }
	done
	unload_twice
}

has_btf() {
	[ -e /sys/kernel/btf/vmlinux ]
}

# A live patch replaces the body; with the module loaded its stacks win, without it the
# patch shows.
marks() {
	perf record -q -e cpu-clock -F 1999 -g -p "$deep" -o "$WORK/mark.data" -- sleep 0.3 || return 1
	perf script -i "$WORK/mark.data" -F ip 2>/dev/null | grep -c 5eed0000bee
}

unpatch() {
	echo 0 >/sys/kernel/livepatch/bee_livepatch/enabled
	guest_wait test ! -e /sys/kernel/livepatch/bee_livepatch && rmmod bee_livepatch
}

beside_livepatch() {
	insmod "$BEE_TEST_KO/bee_livepatch.ko" || return 1
	[ "$(marks)" -gt 50 ] || { echo "the patch does nothing"; return 1; }
	stacks_are_right || return 1
	[ "$(marks)" -eq 0 ] || { echo "the patch added to our stacks"; return 1; }
	rmmod beeunwind && [ "$(marks)" -gt 50 ] || { echo "the patch is gone"; return 1; }
	guest_insmod && unpatch && stacks_are_right || return 1
	insmod "$BEE_TEST_KO/bee_livepatch.ko" && rmmod beeunwind && unpatch
}

# Hooks that are placed already cannot be switched off under us.
ftrace_cannot_be_disabled() {
	fresh || return 1
	if sysctl -q -w kernel.ftrace_enabled=0 2>"$WORK/err"; then
		sysctl -q -w kernel.ftrace_enabled=1
		echo "ftrace was switched off with the hooks in place"
		return 1
	fi
	cat "$WORK/err"
	stacks_are_right && rmmod beeunwind
}

walked() {
	[ "$(guest_status walks)" -gt 0 ]
}

# All CPUs walk while it goes.
under_walks() {
	local cpu pids=()

	for cpu in 0 1; do
		taskset -c "$cpu" "$TESTS/deep_work" >/dev/null &
		pids+=($!)
	done
	perf record -q -a -g -e cpu-clock -F 9999 -m 4M -o "$WORK/all.data" -- sleep 1000 &
	local perf=$!
	for _ in $(seq 10); do
		guest_insmod && "$BEECTL" load --quiet "${pids[@]}" || return 1
		guest_wait walked || return 1
		rmmod beeunwind || return 1
	done
	kill -INT "$perf"
	wait "$perf"
	kill "${pids[@]}"
}

"$TESTS/deep_work" >"$WORK/deep" &
deep=$!
guest_wait grep -q ready "$WORK/deep" || exit 1
ktap_plan 6
ktap_run "unloaded while all CPUs walk" under_walks
ktap_run "beside a kprobe" beside_kprobe
ktap_run "beside the function tracer" beside_function_tracer
if has_btf; then ktap_run "beside an fentry program" beside_bpf; else
	ktap_skip "beside an fentry program" "this kernel has no BTF"
fi
if [ -e "$BEE_TEST_KO/bee_livepatch.ko" ]; then ktap_run "beside a live patch" beside_livepatch; else
	ktap_skip "beside a live patch" "this kernel has no live patches"
fi
ktap_run "kernel.ftrace_enabled=0 is refused to others" ftrace_cannot_be_disabled
ktap_finish
