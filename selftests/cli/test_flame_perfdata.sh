#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: what single records of perf's mean, and what a recording may cost who reads it.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"

# The symbol that perf names is not the only one at its address, nor the last one; or it is not there.
check_kernel_symbol() {
	printf '%s\n' "ffffffff82000000 T _stext" "ffffffff82000000 T _text" "ffffffff82000000 T __pi__text" "ffffffff82000100 t work" \
		"ffffffff82000200 T _etext" >"$work/kallsyms"
	made "r.kernel('_text', 0xffffffff81000000); r.sample(7, [KERNEL, 0xffffffff81000110])" &&
		options="--kallsyms $work/kallsyms" expect "prog;work_[k] 1" || return
	made "r.kernel('other', 0xffffffff81000000); r.sample(7, [KERNEL, 0xffffffff81000110])" &&
		"$beectl" flame "$work/made.data" --kallsyms "$work/kallsyms" --format folded 2>"$work/errors" |
		diff - <(echo "prog;[kernel]+0xffffffff81000110_[k] 1") && grep "no names: .* has no symbol other" "$work/errors"
}

# perf has found 8 running, and says what it has mapped: that is all.  9 has been forked, and has more.
check_found_running() {
	made "r.fork(7, 8, found=True); r.comm(8, 'other'); r.map(8, 0x500000, 0x10000, work + '/prog'); r.fork(7, 9); r.map(9, 0x500000, 0x10000, work + '/prog'); _ = [r.sample(pid, [USER, $(address outer), $(address outer) + 0x100004]) for pid in (8, 9)]" &&
		expect "other;outer;[unknown] 1" "prog;outer;outer 1"
}

ktap_plan 2
ktap_run "where the kernel was is said by one of several symbols" check_kernel_symbol
ktap_run "processes that were there before perf" check_found_running
ktap_finish
