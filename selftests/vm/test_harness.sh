#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/vm/run tells success from failure, and nothing can fake success.  selftests/run names a
# test that hangs or leaves something behind, and has patience with one that only lacks CPU time.
# timeout: 2700
set -euo pipefail
unset BEE_LONG	# with it limits are longer, also those of the fakes

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
run=$here/run
# shellcheck source=selftests/ktap.sh
. "$here/../ktap.sh"

tmp=$(mktemp -d)
mkdir -p "$tree/build/check"
fakes=$(mktemp -d "$tree/build/check/fakes-XXXXXX")	# guests do not see the host's /tmp
new=$here/new-$$
trap 'rm -rf "$tmp" "$fakes" "$new"' EXIT

for tool in qemu-system-x86_64 busybox; do
	command -v $tool >/dev/null || ktap_skip_all "$tool: not installed"
done
offered=0
"$here/kernel" fetch 6.12 >"$tmp/said" 2>&1 || offered=$?
[ "$offered" -ne 4 ] || ktap_skip_all "$(tail -n 1 "$tmp/said")"

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

# One boot serves several tests; what each of them looks at is in a file of its own in $tmp/out dir.
boot_once() {
	local args=("a b" "" "it's" '"$HOME"' '\' $'two\nlines' '*')

	expect 0 "$run" --out "$tmp/out dir" -- bash -c '
		out=$1
		shift
		printf "<%s>\n" "$@" >"$out/arguments"
		echo written >selftests/vm/written && cp selftests/vm/written "$out/"
		(
			set -e
			[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = -1 ]
			[ "$PWD" = "$0" ]
			[ "$(id -u)" = 0 ]
			for fs in debugfs tracefs bpf cgroup2 devpts; do
				grep -q " $fs " /proc/mounts
			done
			ls -d /sys/kernel/tracing/events /lib/modules/$(uname -r)/kernel
			# The kernel uses the TSC rate of its command line.
			mhz=$(sed -n "s/.* tsc_early_khz=\([0-9]*\)\([0-9]\{3\}\).*/\1.\2/p" /proc/cmdline)
			[ -z "$mhz" ] || dmesg | grep -F "tsc: Detected $mhz MHz"
			ping -c1 -W2 127.0.0.1 || grep -q "lo:" /proc/net/dev
		) >"$out/log" 2>&1
		echo $? >"$out/set_up"
		seq 1 1000000
		echo end >&2' "$tree" "$tmp/out dir" "${args[@]}"
	printf '<%s>\n' "${args[@]}" >"$tmp/arguments"
}

arguments_survive() {
	cmp "$tmp/arguments" "$tmp/out dir/arguments"
}

output_is_whole() {
	{ seq 1 1000000; echo end; } | cmp - "$tmp/out"
}

guest_is_a_profilers_machine() {
	cat "$tmp/out dir/log"
	[ "$(cat "$tmp/out dir/set_up")" = 0 ]
}

host_is_not_written() {
	grep -qx written "$tmp/out dir/written"
	[ ! -e "$here/written" ]
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
	expect 125 "$run" --timeout 60 -- sh -c 'echo last words >/tmp/said; sleep 1000 >>/tmp/said'
	grep -q 'FAILED: timeout' "$tmp/err"
	grep -q ': sleep 1000 $' "$tmp/err"
	grep -q 'hrtimer_nanosleep' "$tmp/err"
	grep -q 'prints: last words' "$tmp/err"
	grep -q 'sysrq: Show Blocked State' "$tmp/err"
	grep -q 'sysrq: Show backtrace of all active CPUs' "$tmp/err"
}

# fake GROUP NAME: write standard input to a test script of $fakes
fake() {
	mkdir -p "$fakes/$1"
	{
		echo '#!/bin/bash'
		cat
	} >"$fakes/$1/test_$2.sh"
	chmod +x "$fakes/$1/test_$2.sh"
}

# The test has a limit of 5 s.  It shares its CPU with six processes, and computes until it has lasted longer
# than its limit.  selftests/run must not end it: while the test waits for its CPU the limit stands still.
slow_test_lives() {
	local hogs=() cpu status=0
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	fake cli slow <<-END
		# timeout: 5
		echo 1..1
		taskset -c $cpu /usr/bin/python3 -c "import time
		end = time.monotonic() + 6
		while time.monotonic() < end: pass"
		echo ok 1 done
	END
	for _ in 1 2 3 4 5 6; do
		taskset -c "$cpu" /usr/bin/python3 -c 'while True: pass' &
		hogs+=($!)
	done
	expect 0 "$tree/selftests/run" --folder "$fakes" --group cli test_slow || status=1
	kill "${hogs[@]}"
	return $status
}

# A thread runs for a tenth of each second and waits for the rest, of which the kernel tells in each other
# second.  After a minute its clock must show about the six seconds that it ran.
late_waits_are_no_sleep() {
	/usr/bin/python3 - "$tree/selftests/lib" <<-'END'
		import sys, time
		sys.dont_write_bytecode = True
		sys.path.insert(0, sys.argv[1])
		import progress
		second = 0
		time.monotonic = lambda: float(second)
		progress.Clock.threads = lambda clock: {"thread": [second * 10 ** 8, second // 2 * 18 * 10 ** 8]}
		clock = progress.Clock(0)
		for second in range(1, 61):
		    clock.now()
		print(clock.cpu, clock.seconds)
		sys.exit(not 6 <= clock.seconds < 8)
	END
}

# With --fast a unit test runs if it was not built the same when it passed; any other run takes all.
passed_are_not_repeated() {
	rm -rf "$fakes/logs/passed"
	mkdir -p "$fakes/unit"
	printf 'all:\nlist:\n\t@echo fake_test\n' >"$fakes/unit/Makefile"
	fake_unit() {
		printf '#!/bin/sh\necho 1..1\necho %s all\n' "$1" >"$fakes/unit/fake_test"
		chmod +x "$fakes/unit/fake_test"
	}
	fake_unit "not ok 1"
	expect 1 "$tree/selftests/run" --fast --folder "$fakes" --group unit
	expect 1 "$tree/selftests/run" --fast --folder "$fakes" --group unit
	# What was skipped has not passed.
	printf '#!/bin/sh\nprintf "1..2\\nok 1 one\\nok 2 two # SKIP why\\n"\n' >"$fakes/unit/fake_test"
	for _ in 1 2; do
		expect 0 "$tree/selftests/run" --fast --folder "$fakes" --group unit
		grep '^1 passed, 0 failed, 1 skipped' "$tmp/out"
	done
	fake_unit "ok 1"
	expect 0 "$tree/selftests/run" --fast --folder "$fakes" --group unit
	grep '^1 passed, 0 failed' "$tmp/out"
	expect 0 "$tree/selftests/run" --fast --folder "$fakes" --group unit
	grep '^same  1 unit test' "$tmp/out"
	expect 0 "$tree/selftests/run" --folder "$fakes" --group unit
	grep '^1 passed, 0 failed' "$tmp/out"
	fake_unit "not ok 1"
	expect 1 "$tree/selftests/run" --fast --folder "$fakes" --group unit
}

# A Makefile that cannot say which tests there are, or says that there are none.
tests_are_listed() {
	local answer

	mkdir -p "$fakes/unit"
	for answer in false :; do
		printf 'all:\nlist:\n\t@%s\n' "$answer" >"$fakes/unit/Makefile"
		expect 1 "$tree/selftests/run" --folder "$fakes" --group unit
		grep '^0 passed, 1 failed' "$tmp/out"
	done
}

# When a test hangs on the host, selftests/run lists the test's processes and kills them.  They can take
# a moment to end.  Each run of this test looks for a sleep of other length, so as not to find another's.
hang_on_the_host() {
	local seconds=$((100000 + $$))

	fake cli hang <<-END
		# timeout: 2
		printf '1..2\nok 1 the first\n'
		sleep $seconds
	END
	expect 1 "$tree/selftests/run" --folder "$fakes" --group cli test_hang
	grep -q "failed: out of time after 2 s, after 'ok 1 the first'" "$tmp/out"
	grep -q "_ sleep $seconds\$" "$tmp/out"
	for _ in $(seq 100); do
		pgrep -f "sleep $seconds" || return 0
		sleep 0.1
	done
	return 1
}

left_on_the_host() {
	local seconds=$((200000 + $$))

	fake cli leaves <<-END
		sleep $seconds >/dev/null 2>&1 &
		printf '1..1\nok 1 all is well\n'
	END
	expect 1 "$tree/selftests/run" --folder "$fakes" --group cli test_leaves
	grep -q "failed: left process [0-9]* (sleep $seconds)" "$tmp/out"
	! pgrep -f "sleep $seconds"
}

no_result_fails() {
	fake cli empty <<-'END'
		echo 1..0
		exit 4
	END
	expect 1 "$tree/selftests/run" --folder "$fakes" --group cli test_empty
	grep -q "failed: no result" "$tmp/out"
}

# A test that hangs, one that leaves all sorts of things, and one that makes the guest hang.  As
# selftests/run deals them out to two, three or four guests, by the number of CPUs, it needs four that
# look whether the guest is as it should be, so that one comes after each of these three in its guest.
run_fakes() {
	local name status=0

	fake kmod a_hang <<-'END'
		# timeout: 15
		printf '1..2\nok 1 the first\n'
		sleep 4321
	END
	fake kmod b_leaves <<-'END'
		insmod "$BEE_KO"
		sleep 5431 &
		setsid sleep 5432 &
		mkdir /tmp/left
		mount -t tmpfs left /tmp/left
		sysctl -q kernel.perf_event_max_stack=126
		printf '1..1\nok 1 all is well\n'
	END
	fake kmod c_dead <<-'END'
		# timeout: 10
		printf '1..1\n'
		echo stopped >/dev/kmsg
		# Whoever could end the test stands still.
		kill -STOP $(pgrep -f 'selftests/run --guest')
		sleep 6543
	END
	fake kmod d_clean <<-'END'
		echo 1..1
		[ ! -e /sys/module/beeunwind ] && ! pidof sleep && ! grep /tmp/left /proc/mounts &&
			[ "$(sysctl -n kernel.perf_event_max_stack)" = 127 ] && echo -n "ok 1 " || echo -n "not ok 1 "
		echo "a clean guest"
	END
	for name in e f g; do
		cp "$fakes/kmod/test_d_clean.sh" "$fakes/kmod/test_${name}_clean.sh"
	done
	"$tree/selftests/run" --folder "$fakes" --group kmod --kernels 6.12 >"$tmp/fakes" 2>&1 || status=$?
	cat "$tmp/fakes"
	[ "$status" -eq 1 ]
}

# A kernel that is not to be had is a skip; that selftests/vm/kernel does not work is not.
kernel_is_looked_for() {
	fake kmod any <<-'END'
		printf '1..1\nok 1 all is well\n'
	END
	mkdir -p "$tmp/broken"
	printf '#!/bin/sh\ncase $* in */build/vm) exit 1 ;; esac\nexec /bin/mkdir "$@"\n' >"$tmp/broken/mkdir"
	chmod +x "$tmp/broken/mkdir"
	expect 4 "$run" --kernel 1.0 --print-headers
	expect 1 "$tree/selftests/run" --folder "$fakes" --group kmod --kernels 1.0 test_any
	grep -q '^0 passed, 0 failed, 1 skipped' "$tmp/out"
	expect 1 env "PATH=$tmp/broken:$PATH" "$tree/selftests/run" --folder "$fakes" --group kmod \
		--kernels 6.12 test_any
	grep -q '^0 passed, 1 failed, 0 skipped' "$tmp/out"
	rm -r "$fakes/kmod"
}

# A column for each kernel, a row for each test, for all together, and for each figure.
table_of_kernels() {
	fake cli in_table <<-'END'
		printf '1..1\nok 1 all is well\n'
	END
	mkdir -p "$tmp/kernel/include/generated"
	touch "$tmp/kernel/Kbuild"
	echo '#define UTS_RELEASE "1.0.0-fake"' >"$tmp/kernel/include/generated/utsrelease.h"
	printf 'modules:\n\t@echo figure: a share: 99.9 %%; false\n' >"$tmp/kernel/Makefile"
	expect 1 "$tree/selftests/run" --folder "$fakes" --group cli --kernels 6.12 \
		--compile "1.0 $tmp/kernel" test_in_table
	rm -r "$tree/build/kmod/1.0.0-fake"
	grep -Eq 'skipped: the module compiles for 1\.0: .*Debian has no source of series 1\.0' "$tmp/out"
	grep -q "failed: the module compiles for $tmp/kernel\$" "$tmp/out"
	grep -Ex " +6\.12 +1\.0 +$tmp/kernel" "$tmp/out"
	grep -Ex 'compile +- +skip +FAIL' "$tmp/out"
	grep -Ex 'all of these +- +skip +FAIL' "$tmp/out"
	grep -Ex 'a share +- +- +99\.9 %' "$tmp/out"
}

# When a signal ends selftests/run, it exits with 130, and prints its table and how many tests have passed,
# failed and been skipped until then.
interrupted_run_is_reported() {
	fake cli int_first <<-'END'
		printf '1..1\nok 1 all is well\n'
	END
	fake cli int_second <<-'END'
		until grep -q '^ok *cli/test_int_first' "$out"; do sleep 0.1; done
		kill -TERM $PPID
		sleep 1000
	END
	out=$tmp/out expect 130 "$tree/selftests/run" --folder "$fakes" --group cli --compile 1.0 test_int
	grep -x interrupted "$tmp/err"
	grep -Ex 'compile +- +- +skip' "$tmp/out"
	grep '^1 passed, 0 failed, 1 skipped' "$tmp/out"
}

# With --continue a run takes what the last one found, but for tests that failed or did not run.  With
# other settings, or if a file has changed, it refuses.
run_is_continued() {
	local again=("$tree/selftests/run" --folder "$fakes" --group cli test_go)

	rm -f "$fakes/count" "$fakes/logs/last-run"
	fake cli go_first <<-END
		echo >>"$fakes/count"
		printf '1..2\nok 1 one\nok 2 two # SKIP why\n'
	END
	fake cli go_second <<-END
		[ -e "$fakes/may_pass" ] || no=not
		printf '1..1\n%s ok 1 all\n' "\$no" | sed 's/^ //'
	END
	rm -f "$fakes/may_pass"
	expect 1 "${again[@]}" --continue
	grep -x '.*there is no run to continue' "$tmp/err"
	expect 1 "${again[@]}"
	touch "$fakes/may_pass"
	expect 0 "${again[@]}" --continue
	grep '^ok *cli/test_go_first .* in the last run' "$tmp/out"
	grep '^2 passed, 0 failed, 1 skipped' "$tmp/out"
	[ "$(wc -l <"$fakes/count")" -eq 1 ]
	expect 1 env BEE_JIT_LOADS=1 "${again[@]}" --continue
	grep -x '.*files or settings have changed since the last run' "$tmp/err"
	touch "$new"
	expect 1 "${again[@]}" --continue
	rm "$new"
	grep -x '.*files or settings have changed since the last run' "$tmp/err"
	expect 0 "${again[@]}"
	[ "$(wc -l <"$fakes/count")" -eq 2 ]
}

# fake_report NAME: print the report of one fake test
fake_report() {
	awk -v name="kmod/test_$1" '/^[^ ]/ { on = $2 == name } on' "$tmp/fakes"
}

# fake_says NAME PATTERN: not by a pipe, whose reader would leave at the first match
fake_says() {
	grep -q "$2" <<<"$(fake_report "$1")"
}

hang_in_a_guest() {
	fake_report a_hang
	fake_says a_hang "failed: out of time after 15 s, after 'ok 1 the first'"
	fake_says a_hang ': sleep 4321'
	fake_says a_hang 'hrtimer_nanosleep'
}

left_things_are_named() {
	fake_report b_leaves
	fake_says b_leaves 'failed: left process [0-9]* (sleep 5431); process [0-9]* (sleep 5432); module beeunwind; mount /tmp/left; .*/perf_event_max_stack = 126'
	fake_says b_leaves '^FAIL .* 1 passed, 1 failed'
}

left_things_are_removed() {
	local name

	for name in d e f g; do
		fake_report "${name}_clean"
		fake_says "${name}_clean" '^ok .* 1 passed '
	done
}

hung_guest_is_shown() {
	fake_report c_dead
	fake_says c_dead 'failed: the guest hung'
	fake_says c_dead ': sleep 6543'
}

# On SIGTERM selftests/vm/run must end, with its QEMU, although the command would run for long.
signal_kills_guest() {
	local pid status=0

	"$run" -- sh -c 'echo started; sleep 1000' >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	until grep -q started "$tmp/out"; do
		kill -0 "$pid"
		sleep 0.1
	done
	pgrep -P "$pid" >"$tmp/qemu"
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 143 ]
	[ ! -e "/proc/$(cat "$tmp/qemu")" ]
}

daemon_does_not_hang() {
	expect 255 "$run" --timeout 60 -- sh -c 'sleep 1000 & echo hello; exit 255'
	grep -qx hello "$tmp/out"
}

missing_command() {
	expect 127 "$run" -- no-such-command
}

unknown_series() {
	expect 125 "$run" --kernel 1.0 -- true
	grep -q 'apt offers no' "$tmp/err"
}

# Its headers come with a compiler that runs here.
newest_boots() {
	local headers

	expect 0 "$run" --kernel newest -- uname -r
	"$here/kernel" version newest >"$tmp/version"
	cmp "$tmp/version" "$tmp/out"
	headers=$("$here/kernel" headers newest)
	mkdir "$tmp/module"
	echo "obj-m := nothing.o" >"$tmp/module/Kbuild"
	printf '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("none");\n' >"$tmp/module/nothing.c"
	make -s -C "$headers" M="$tmp/module" CONFIG_DEBUG_INFO_BTF_MODULES= modules
	[ -s "$tmp/module/nothing.ko" ]
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

	expect 125 "$run" --scan "$tmp/no such log"
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

ktap_plan 33
ktap_run "the guest's machine can do what tests need" boot_once
ktap_run "arguments of a guest's command are not split or expanded" arguments_survive
ktap_run "long output of a guest's command arrives whole" output_is_whole
ktap_run "the guest is set up for profiling" guest_is_a_profilers_machine
ktap_run "the guest writes to the --out directory, and nowhere else" host_is_not_written
ktap_run "a crash of the guest's kernel is a failure" crash_fails
ktap_run "verdicts on the console count for nothing" faked_verdict_fails
ktap_run "a kernel message is a failure though the command succeeds" kernel_message_fails
ktap_run "a guest command that is out of time is a failure, and says where it is" timeout_fails
ktap_run "a signal to vm/run stops the guest" signal_kills_guest
ktap_run "a process left behind does not hang the run, nor change its status" daemon_does_not_hang
ktap_run "a guest command that is missing exits with 127" missing_command
ktap_run "a series that apt does not offer" unknown_series
offered=0
"$here/kernel" headers newest >"$tmp/said" 2>&1 || offered=$?
if [ "$offered" -ne 4 ]; then
	ktap_run "a kernel that this machine's apt does not offer boots, and modules are built for it" \
		newest_boots
else
	ktap_skip "a kernel that this machine's apt does not offer" "$(tail -n 1 "$tmp/said")"
fi
ktap_run "the scanner knows kernel complaints" scanner_knows_complaints
ktap_run "the scanner lets boot noise pass" scanner_lets_noise_pass
ktap_run "--allow-warn still sees crashes" allow_warn_still_sees_crashes
ktap_run "a test that waits for a CPU does not use up its limit" slow_test_lives
ktap_run "a wait for a CPU that the kernel tells of late is no sleep" late_waits_are_no_sleep
ktap_run "a unit test that has passed is not repeated in haste" passed_are_not_repeated
ktap_run "a list of tests that is empty is a failure" tests_are_listed
ktap_run "a kernel that is not offered is a skip, one that cannot be looked for a failure" \
	kernel_is_looked_for
ktap_run "a kernel that the module does not compile for is in a table" table_of_kernels
ktap_run "a run that a signal ends says what it has seen" interrupted_run_is_reported
if git -C "$tree" rev-parse --git-dir >"$tmp/out" 2>&1; then
	ktap_run "run --continue repeats only tests that failed, and refuses changed files or settings" \
		run_is_continued
else
	ktap_skip "run --continue repeats only tests that failed, and refuses changed files or settings" \
		"git is not installed"
fi
ktap_run "a test that hangs on the host is shown" hang_on_the_host
ktap_run "what a test leaves on the host is its failure" left_on_the_host
ktap_run "a test without a result is a failure" no_result_fails
ktap_run "tests that hang and leave things make the run fail" run_fakes
ktap_run "a test that hangs in a guest is shown" hang_in_a_guest
ktap_run "what a test leaves is a failure of this test" left_things_are_named
ktap_run "what a test leaves is gone for the next test, and a guest that hangs is replaced" \
	left_things_are_removed
ktap_run "a guest that hangs is shown" hung_guest_is_shown
ktap_finish
