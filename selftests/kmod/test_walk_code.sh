#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks that are known frame by frame, through code without CFI, fibers, the dynamic linker's
# resolver, and signal handlers of other libcs.  Also samples at any instruction there.
# once: 1
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/kmod/walk.sh
. "$(dirname "$0")/walk.sh"

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

# With rows made from code sigemptyset() has some, which the linker puts in front of musl's trampoline.
musl_with_rows() {
	local ROWS=
	"$BEECTL" unload -q --all && with_sigreturn musl walk_signals_musl
}

# The stack of a thread that is not yet in user mode; and that function's rule is not for its stack.
new_thread() {
	perf record -q -N -B -e raw_syscalls:sys_exit --filter "id == 56 && ret == 0" -c 1 -g \
		-o "$WORK/cloned.data" "$BEECTL" run -- "$TESTS/walk_cloned" >"$WORK/cloned.said" &&
		checked cloned walk_cloned raw_syscalls:sys_exit
}

ktap_plan 9
guest_insmod || exit 1
ktap_run "stacks through signal handlers of a static program are the known ones" \
	with_sigreturn static walk_signals_static
if [ -x "$TESTS/walk_signals_musl" ]; then
	ktap_run "stacks through signal handlers of a program with musl are the known ones" \
		with_sigreturn musl walk_signals_musl
	ktap_run "stacks through signal handlers with musl, with rows from code, are the known ones" \
		musl_with_rows
else
	ktap_skip "stacks through signal handlers of a program with musl are the known ones" \
		"musl-gcc is not installed"
	ktap_skip "stacks through signal handlers with musl, with rows from code, are the known ones" \
		"musl-gcc is not installed"
fi
ktap_run "the stack of a thread that has just been made is the known one" new_thread
ktap_run "stacks through code without CFI are the known ones" known jit walk_jit
ktap_run "stacks through functions that are bound lazily are the known ones" lazily_bound
ktap_run "stacks of fibers are the known ones" known fibers walk_fibers
ktap_run "samples in fibers have complete stacks" enough fibers
ktap_run "samples in JIT code have complete stacks" enough complete_through '//anon' walk_jit
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
