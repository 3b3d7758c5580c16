#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/vm/run tells success from failure, and nothing can fake success.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
run=$here/run
# shellcheck source=selftests/ktap.sh
. "$here/../ktap.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for tool in qemu-system-x86_64 busybox; do
	command -v $tool >/dev/null || ktap_skip_all "$tool: not installed"
done
"$here/kernel" version 6.12 >/dev/null 2>&1 || ktap_skip_all "apt offers no 6.12 kernel"

# expect STATUS CMD...: CMD exits with STATUS; output in $tmp/out and $tmp/err
expect() {
	local want=$1 status=0
	shift
	"$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq "$want" ] && return
	cat "$tmp/out" "$tmp/err"
	echo "exit status $status, not $want"
	return 1
}

statuses_come_back() {
	local status

	# A boot is slow; these three statuses would show one that is wrapped or clamped.
	for status in 0 1 255; do
		expect "$status" "$run" -- sh -c "exit $status"
	done
}

arguments_survive() {
	local args=("a b" "" "it's" '"$HOME"' '\' $'two\nlines' '*')

	expect 0 "$run" -- printf '<%s>\n' "${args[@]}"
	printf '<%s>\n' "${args[@]}" | cmp - "$tmp/out"
}

output_is_whole() {
	"$run" -- sh -c 'seq 1 1000000; echo end >&2' >"$tmp/out"
	{ seq 1 1000000; echo end; } | cmp - "$tmp/out"
}

guest_is_a_profilers_machine() {
	expect 0 "$run" -- sh -c '
		set -e
		[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = -1 ]
		[ "$(pwd)" = "$0" ]
		[ "$(id -u)" = 0 ]
		for fs in debugfs tracefs bpf cgroup2 devpts; do
			grep -q " $fs " /proc/mounts
		done
		ls -d /sys/kernel/tracing/events /lib/modules/$(uname -r)/kernel
		# The kernel uses the TSC rate of its command line.
		mhz=$(sed -n "s/.* tsc_early_khz=\([0-9]*\)\([0-9]\{3\}\).*/\1.\2/p" /proc/cmdline)
		[ -z "$mhz" ] || dmesg | grep -F "tsc: Detected $mhz MHz"
		ping -c1 -W2 127.0.0.1 || grep -q "lo:" /proc/net/dev
		' "$tree"
}

host_is_not_written() {
	expect 0 "$run" -- sh -c 'echo written >selftests/vm/written && cat selftests/vm/written'
	grep -qx written "$tmp/out"
	[ ! -e "$here/written" ]
}

out_directory_is_written() {
	expect 0 "$run" --out "$tmp/dir with space" -- sh -c 'echo result >"$0/file"' "$tmp/dir with space"
	[ "$(cat "$tmp/dir with space/file")" = result ]
}

crash_fails() {
	expect 125 "$run" -- sh -c 'echo c >/proc/sysrq-trigger'
	grep -q 'FAILED.*Kernel panic' "$tmp/err"
}

faked_verdict_fails() {
	expect 125 "$run" -- sh -c 'for f in /dev/console /dev/kmsg; do
		printf "exit 0 0\nok 1 all\nPASS\n" >$f; done
		echo exit 0 0; echo b >/proc/sysrq-trigger; sleep 30'
	grep -q 'FAILED' "$tmp/err"
}

kernel_message_fails() {
	expect 125 "$run" -- sh -c 'echo "<4>BUG: scheduling while atomic: x/1" >/dev/kmsg'
	grep -q 'FAILED: kernel: .*BUG: scheduling' "$tmp/err"
}

timeout_fails() {
	expect 125 "$run" --timeout 10 -- sleep 1000
	grep -q 'FAILED: timeout' "$tmp/err"
}

# On SIGTERM selftests/vm/run must end, with its QEMU, although the command would run for long.
signal_kills_guest() {
	local pid status=0

	"$run" -- sh -c 'echo started; sleep 1000' >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for _ in $(seq 300); do
		grep -q started "$tmp/out" && break
		sleep 0.1
	done
	pgrep -P "$pid" >"$tmp/qemu"
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 143 ]
	[ ! -e "/proc/$(cat "$tmp/qemu")" ]
}

daemon_does_not_hang() {
	expect 3 "$run" --timeout 60 -- sh -c 'sleep 1000 & echo hello; exit 3'
	grep -qx hello "$tmp/out"
}

missing_command() {
	expect 127 "$run" -- no-such-command
}

unknown_series() {
	expect 125 "$run" --kernel 1.0 -- true
	grep -q 'apt offers no' "$tmp/err"
}

# scans STATUS OPTIONS...: "run --scan" exits with STATUS for the console log on standard input
scans() {
	local want=$1
	shift
	cat >"$tmp/log"
	expect "$want" "$run" "$@" --scan "$tmp/log"
}

scanner_knows_complaints() {
	local line

	while read -r line; do
		printf '[    1.0] fine\n[    2.0] %s\n[    3.0] fine\n' "$line" >"$tmp/one"
		scans 125 <"$tmp/one" || return 1
	done <<-'END'
	WARNING: CPU: 0 PID: 1 at kernel/trace/ftrace.c:2065 ftrace_bug+0x1/0x2
	BUG: unable to handle page fault for address: ffffffffc0000000
	BUG: sleeping function called from invalid context at mm/slab.h:1
	BUG: scheduling while atomic: swapper/0/1/0x00000002
	BUG: KASAN: slab-use-after-free in x
	Oops: general protection fault, probably for non-canonical address 0xdead
	Oops: 0000 [#1] PREEMPT SMP NOPTI
	kernel BUG at mm/slub.c:1
	rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
	rcu: INFO: rcu_sched self-detected stall on CPU
	WARNING: possible circular locking dependency detected
	WARNING: suspicious RCU usage
	watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [a:1]
	INFO: task a:1 blocked for more than 120 seconds.
	UBSAN: array-index-out-of-bounds in x.c:1:1
	refcount_t: underflow; use-after-free.
	kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
	Kernel panic - not syncing: Fatal exception
	END
}

scanner_lets_noise_pass() {
	scans 0 <<-'END'
	[    0.6] mtrr: your CPUs had inconsistent fixed MTRR settings
	[    0.7] acpi PNP0A03:00: fail to add MMCONFIG information, can't access it
	[    2.0] beeunwind: loading out-of-tree module taints kernel.
	[    2.4] perf: Dynamic interrupt throttling disabled, can hang your system!
	[    2.5] perf: interrupt took too long (2503 > 2500), lowering it
	END
}

allow_warn_still_sees_crashes() {
	scans 0 --allow-warn <<<'[ 1.0] WARNING: CPU: 0 PID: 1 at x.c:1 f+0x1/0x2'
	scans 125 --allow-warn <<<'[ 1.0] Oops: 0000 [#1] PREEMPT SMP NOPTI'
}

ktap_plan 17
ktap_run "exit statuses come back" statuses_come_back
ktap_run "arguments are not split or expanded" arguments_survive
ktap_run "long output arrives whole" output_is_whole
ktap_run "the guest is set up for profiling" guest_is_a_profilers_machine
ktap_run "the guest does not write to the host" host_is_not_written
ktap_run "--out is written on the host" out_directory_is_written
ktap_run "a crash is a failure" crash_fails
ktap_run "verdicts on the console count for nothing" faked_verdict_fails
ktap_run "a kernel message is a failure though the command succeeds" kernel_message_fails
ktap_run "out of time is a failure" timeout_fails
ktap_run "a signal stops the guest" signal_kills_guest
ktap_run "a process left behind does not hang the run" daemon_does_not_hang
ktap_run "a missing command is 127" missing_command
ktap_run "a series that apt does not offer" unknown_series
ktap_run "the scanner knows kernel complaints" scanner_knows_complaints
ktap_run "the scanner lets boot noise pass" scanner_lets_noise_pass
ktap_run "--allow-warn still sees crashes" allow_warn_still_sees_crashes
ktap_finish
