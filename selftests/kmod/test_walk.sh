#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks that are known frame by frame, where the kernel has a part in them: signal frames,
# uretprobes, the vDSO.  Also samples at any instruction there.
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/walk.sh
. "$(dirname "$0")/walk.sh"

TRACING=/sys/kernel/tracing

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
	perf script -i "$WORK/$1.data" --comms walk_probed --max-stack 4096 -F ip --no-inline
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

# A nop that the kernel has replaced by a call of a trampoline.
in_called_trampolines() {
	local MARKS="id == 336" status=0 start
	start=$(nm "$TESTS/walk_nopped" | awk '$3 == "nopped" { print $1 }')
	echo "p:walk/nopped $TESTS/walk_nopped:$((0x$start + 10))" >>"$TRACING/uprobe_events"
	echo 1 >"$TRACING/events/walk/nopped/enable" || return 1
	known nopped walk_nopped || status=1
	echo 0 >"$TRACING/events/walk/nopped/enable"
	return $status
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

ktap_plan 8
guest_insmod || exit 1
ktap_run "stacks through signal handlers are the known ones" with_sigreturn signals walk_signals
ktap_run "stacks of functions without their uretprobes are the known ones" known bare walk_probed
probe
ktap_run "stacks of functions with uretprobes are those without" under_uretprobes
ktap_run "stacks that uretprobes take are the known ones" uretprobe_events
if grep -q __x64_sys_uretprobe /proc/kallsyms; then
	ktap_run "stacks in the trampoline of uretprobes are the known ones" in_trampolines
else
	ktap_skip "stacks in the trampoline of uretprobes are the known ones" \
		"the kernel's trampoline of uretprobes is a breakpoint, no system call"
fi
if grep -q __x64_sys_uprobe$ /proc/kallsyms; then
	ktap_run "stacks in the trampoline of a probed nop are the known ones" in_called_trampolines
else
	ktap_skip "stacks in the trampoline of a probed nop are the known ones" \
		"the kernel has no trampoline for probed nops"
fi
ktap_run "samples at any instruction of a program with uretprobes have complete stacks" \
	enough under_uretprobes_always
echo >"$TRACING/uprobe_events"
ktap_run "samples in the vDSO have complete stacks" enough complete_through '[vdso]' walk_vdso
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
