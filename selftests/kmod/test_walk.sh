#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks that are known frame by frame: through signal handlers, uretprobes, and code
# without CFI.  Also samples at any instruction in the vDSO and in JIT code.
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

# Numbers of system calls: mark() in walk/mark.h calls getppid() where a stack is known; at
# rt_sigreturn() the topmost frame is the signal trampoline.
MARKS="id == 110" SIGRETURN="id == 15"
TRACING=/sys/kernel/tracing

# sampled DATA PROGRAM: record a callchain at each mark of a program of selftests/kmod/walk
sampled() {
	# What is tested of code without CFI are the steps of the walk, not the rows that its code proves.
	perf record -q -N -B -e raw_syscalls:sys_enter --filter "$MARKS" -c 1 -g \
		-o "$WORK/$1.data" setarch -R "$BEECTL" run --cfi-only -- "$TESTS/$2" >"$WORK/$1.said"
}

# checked DATA PROGRAM [EVENT]: the sampled stacks are those that the program printed
checked() {
	/usr/bin/python3 "$TREE/selftests/kmod/walk/check.py" "$WORK/$1.data" "$TESTS/$2" \
		"$WORK/$1.said" "${@:3}"
}

known() {
	sampled "$@" && checked "$@"
}

with_sigreturn() {
	local MARKS="$MARKS || $SIGRETURN"
	known "$@"
}

# complete PERCENT DATA [OPTION]...: at least 100 samples (20 on the instrumented kernel, which
# takes few), of which at least PERCENT are complete
complete() {
	local percent=$1 data=$WORK/$2.clock least=100
	[ "${BEE_KERNEL-}" != debug ] || least=20
	shift 2
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge "$@" "$data" >"$WORK/judged" || return 1
	tee -a "$WORK/figures" <"$WORK/judged"
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why "$@" "$data" | head -n 20
	/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(not (got["samples"] >= int(sys.argv[2]) and
         got["complete"] >= float(sys.argv[1]) / 100 * got["samples"]))' \
		"$percent" "$least" <"$WORK/judged"
}

# Samples in the resolvers of 100 ifuncs that are bound when they are first called: all stacks lead
# through ld.so's _dl_runtime_resolve(), whose CFA is in rbx, to main().
lazily_bound() {
	sampled lazy walk_lazy && mv "$WORK/lazy.data" "$WORK/lazy.clock" || return 1
	complete 100 lazy --comm walk_lazy
}

# The stacks to which fibers return are above them and below.
fibers() {
	clocked walk_fibers && complete 100 walk_fibers --comm walk_fibers --through "$TESTS/walk_fibers"
}

# clocked PROGRAM: sample the program at any instruction for a while.  The tables are not those of
# sampled(), which lack code without CFI, like that of crtbegin.o.
clocked() {
	"$BEECTL" unload -q --all --tables || return 1
	perf record -q -N -B -e cpu-clock -F 1999 -g -o "$WORK/$1.clock" \
		"$BEECTL" run -- "$TESTS/$1" 2 >/dev/null
}

# complete_through MAPPING PROGRAM: all samples with a frame in this mapping are complete
complete_through() {
	clocked "$2" && complete 100 "$2" --comm "$2" --through "$1"
}

PROBED="probed_outer probed_middle probed_inner probed_recursion probed_jumps probed_leaves"

probe() {
	local function
	for function in $PROBED; do
		echo "r:walk/$function $TESTS/walk_probed:0x$(nm "$TESTS/walk_probed" |
			awk -v name="$function" '$3 == name { print $1 }')"
	done >"$TRACING/uprobe_events"
}

# armed COMMAND...: run a command while the uretprobes are enabled
armed() {
	local status=0
	echo 1 >"$TRACING/events/walk/enable" || return 1
	"$@" || status=1
	echo 0 >"$TRACING/events/walk/enable"
	return $status
}

# addresses DATA: print the addresses of all frames at the marks of walk_probed.
addresses() {
	perf script -i "$WORK/$1.data" --comms walk_probed --max-stack 4096 -F ip
}

under_uretprobes() {
	armed known probed walk_probed || return 1
	addresses bare >"$WORK/bare"
	addresses probed >"$WORK/probed"
	[ -s "$WORK/bare" ] && cmp "$WORK/bare" "$WORK/probed"
}

# returns FUNCTION STACK...: the samples of the function's uretprobe have these stacks, in order
returns() {
	local event=walk:$1
	shift
	perf record -q -N -B -e "$event" -g -o "$WORK/returns.data" \
		"$BEECTL" run -- "$TESTS/walk_probed" >/dev/null || return 1
	printf 'stack: %s\n' "$@" >"$WORK/returns.said"
	checked returns walk_probed "$event"
}

# A uretprobe's sample has the stack to which the function returns.  probed_jumps() jumps to
# probed_inner(), so both return to main() then.
uretprobe_events() {
	returns probed_inner "probed_middle probed_outer main" main && returns probed_jumps main
}

# Print the stacks of walk_probed in the trampoline, in the order in which its functions return.
returning() {
	local stack=main

	printf 'stack: [uprobes] %s\n' "probed_middle probed_outer main" "probed_outer main" main
	for _ in $(seq 20); do
		echo "stack: [uprobes] $stack"
		stack="probed_recursion $stack"
	done | tac
	echo "stack: [uprobes] main"
}

in_trampolines() {
	local MARKS="id == 335"
	armed sampled trampoline walk_probed || return 1
	returning >"$WORK/trampoline.said"
	checked trampoline walk_probed
}

# Samples at any instruction: in the program, in instructions that uprobes execute out of line, in
# the trampoline.  Those taken in user mode are complete, but for one or two.  In the kernel fewer
# are: for some instructions it has replaced the return address on the stack, but has not yet put it
# into the task's list of uretprobes.  Samples in the midst of execve() are left out: they have the
# registers of the old program.
under_uretprobes_always() {
	armed clocked walk_probed && complete 99.5 walk_probed --comm walk_probed --user-mode &&
		complete 95 walk_probed --no-exec --comm walk_probed
}

ktap_plan 14
guest_insmod || exit 1
ktap_run "signal handlers" with_sigreturn signals walk_signals
ktap_run "signal handlers of a static program" with_sigreturn static walk_signals_static
if [ -x "$TESTS/walk_signals_musl" ]; then
	ktap_run "signal handlers with musl" known musl walk_signals_musl
else
	ktap_skip "signal handlers with musl" "musl-gcc is not installed"
fi
ktap_run "code without CFI" known jit walk_jit
ktap_run "functions that are bound lazily" lazily_bound
ktap_run "fibers" known fibers walk_fibers
ktap_run "samples in fibers" fibers
ktap_run "functions for uretprobes" known bare walk_probed
probe
ktap_run "the same stacks under uretprobes" under_uretprobes
ktap_run "samples of uretprobes" uretprobe_events
if grep -q __x64_sys_uretprobe /proc/kallsyms; then
	ktap_run "in the trampoline of uretprobes" in_trampolines
else
	ktap_skip "in the trampoline of uretprobes" "the kernel's is a breakpoint, no system call"
fi
ktap_run "samples under uretprobes" under_uretprobes_always
echo >"$TRACING/uprobe_events"
ktap_run "samples in the vDSO" complete_through '[vdso]' walk_vdso
ktap_run "samples in JIT code" complete_through '//anon' walk_jit
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
