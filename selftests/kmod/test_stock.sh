#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Shares of complete stacks of Debian's programs at work, in callchains that are taken at once and
# in deferred ones (perf record --call-graph fp,defer), which perf of Debian 12 does not know.
# Their figures are in the table of make check-all.
# timeout: 600
export NO_KERNEL_SYMBOLS=1 THREADS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
# shellcheck source=selftests/lib/stock_programs.sh
. "$TREE/selftests/lib/stock_programs.sh"

programs="python3 perl git xz sqlite3 cc1plus"
SAMPLES=1000

# Of deferred stacks at most one in a hundred may be incomplete, as of others.
PERCENT=99

# whole NAME KIND COMPLETE SAMPLES: print the share for the table, and judge it.
whole() {
	local tenths=$((1000 * $3 / ($4 + !$4)))

	ktap_diag "$1, $2: $3 of $4 complete"
	ktap_diag "figure: $1, $2: $((tenths / 10)).$((tenths % 10)) %"
	[ "$4" -ge "$SAMPLES" ] && [ "$tenths" -ge $((10 * PERCENT)) ]
}

# result NAME KIND [deferred]: take stacks of the running program.
result() {
	local taken status=0

	taken=$("$TREE/selftests/lib/take_chains.py" "$pid" "$SAMPLES" "${@:3}") || status=$?
	if [ "$status" -eq 4 ]; then
		ktap_skip "$1, $2" "this kernel has no deferred stacks"
	elif [ "$status" -eq 0 ] && whole "$1" "$2" "${taken% *}" "${taken#* }"; then
		ktap_ok "$1, $2"
	else
		ktap_fail "$1, $2"
	fi
}

[ -n "${BEE_LONG:-}" ] || ktap_skip_all "stacks of stock programs take minutes: with BEE_LONG=1, as in make check-all"
ktap_plan 12
# A compiler recurses deeper than the default limit of 127 frames.
sysctl -q -w kernel.perf_event_max_stack=1024
cd "$WORK" || exit 1
make_inputs 500
guest_insmod || exit 1
for name in $programs; do
	start "$name"
	guest_wait is_at_work "$name"
	"$BEECTL" load -q "$pid"
	result "$name" plain
	result "$name" deferred deferred
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
done
# Of why walks end.
ktap_diag "$("$BEECTL" status)"
ktap_finish
