#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks through code of node's JIT compiler, which has no CFI.
# once: 1
# timeout: 900
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

# judged DATA THREAD: print figures on the thread's stacks that have a frame in JIT code, and where
# the incomplete ones end
judged() {
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge --comm "$2" --through //anon "$1" \
		>"$WORK/judged" || return 1
	tee -a "$WORK/figures" <"$WORK/judged"
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why --comm "$2" --through //anon "$1" |
		head -n 10
}

# through_jit PERCENT THREAD SECONDS COMMAND...: record COMMAND, which works for so many seconds.  In a
# guest that shares its CPUs it may hardly have compiled anything by then: record it for longer, until
# THREAD has 400 stacks through JIT code.  Fails if less than PERCENT of these are complete.
through_jit() {
	local percent=$1 thread=$2 seconds=$3 longer status
	shift 3
	for longer in 1 4 16 64; do
		perf record -q -N -B -e cpu-clock -F 299 -g -o "$WORK/jit.data" \
			"$BEECTL" run -- "$@" $((longer * seconds)) >/dev/null || return 1
		judged "$WORK/jit.data" "$thread" || return 1
		status=0
		/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(2 if got["samples"] < 400 else
         got["complete"] < int(sys.argv[1]) / 100 * got["samples"])' \
			"$percent" <"$WORK/judged" || status=$?
		[ "$status" -eq 2 ] || return "$status"
	done
	return 1
}

guest_insmod || exit 1
ktap_plan 1
if command -v node >/dev/null; then
	ktap_run "99 % of node's stacks are complete" \
		through_jit 99 node 6 node "$TREE/selftests/kmod/walk/work.js"
else
	ktap_skip "99 % of node's stacks are complete" "nodejs is not installed"
fi
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
