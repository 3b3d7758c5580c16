#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks through code of the JIT compilers of other projects (node, Java), which has no CFI.
# once: 1
# timeout: 900
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

# through_jit PERCENT THREAD COMMAND...: at least 200 stacks, of which at least PERCENT are complete
through_jit() {
	local percent=$1 thread=$2
	shift 2
	perf record -q -N -B -e cpu-clock -F 299 -g -o "$WORK/jit.data" "$BEECTL" run -- "$@" \
		>/dev/null || return 1
	judged "$WORK/jit.data" "$thread" || return 1
	/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(not (got["samples"] >= 100 and got["complete"] >= int(sys.argv[1]) / 100 * got["samples"]))' \
		"$percent" <"$WORK/judged"
}

# Both are too large for "run" to compile before they begin.
prewarm() {
	"$BEECTL" cache prewarm -q "$1" || ktap_diag "prewarm $1: status $?"
}

guest_insmod || exit 1
ktap_plan 2
if command -v node >/dev/null; then
	prewarm "$(command -v node)"
	ktap_run "node" through_jit 99 node node "$TREE/selftests/kmod/walk/work.js" 6
else
	ktap_skip "node" "nodejs is not installed"
fi
# Without -XX:+PreserveFramePointer compiled Java code uses rbp for other values.
if command -v java >/dev/null && [ -e "$TESTS/Work.class" ]; then
	prewarm "$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")/lib"
	ktap_run "Java that keeps frame pointers" through_jit 99 java \
		java -XX:+PreserveFramePointer -cp "$TESTS" Work 8
else
	ktap_skip "Java that keeps frame pointers" "java or javac is not installed"
fi
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
