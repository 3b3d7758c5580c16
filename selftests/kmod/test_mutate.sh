#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A running process gets wrong tables (table_mutate); also measures how long walks take with them.
# TABLE_MUTATIONS=COUNT for more tables.
# once: 1
# cpus: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
tracing=/sys/kernel/tracing

# timed NAME CMD...: run a command, and print how long callchains took meanwhile: the time of
# get_perf_callchain(), which is the walk and perf's few lines around it.  Not on the instrumented
# kernel, which unwinds its own stack at each allocation: the tracer makes that warn, see sample().
timed() {
	local name=$1 status
	shift

	if [ "${BEE_KERNEL-}" = debug ] || ! grep -qw function_graph "$tracing"/available_tracers; then
		"$@"
		return
	fi
	echo get_perf_callchain >"$tracing/set_graph_function"
	echo 1 >"$tracing/max_graph_depth"
	echo function_graph >"$tracing/current_tracer"
	"$@"
	status=$?
	echo 0 >"$tracing/tracing_on"
	sed -n 's/.* \([0-9.]*\) us *|.*get_perf_callchain.*/\1/p' "$tracing"/trace | sort -n |
		awk -v name="$name" '{ t[NR] = $1 } END { if (NR)
			printf "# %s: %d callchains: median %.1f us, 99 %% within %.1f us\n",
				name, NR, t[int((NR + 1) / 2)], t[int((99 * NR + 99) / 100)] }'
	echo nop >"$tracing/current_tracer"
	echo >"$tracing/set_graph_function"
	echo 0 >"$tracing/max_graph_depth"
	echo 1 >"$tracing/tracing_on"
	return "$status"
}

# Sample user code only: where the kernel's own unwinder (6.12) meets the return_to_handler() of the
# function graph tracer it warns about a stack that goes in the wrong direction.
sample() {
	perf record -q -g -e cpu-clock:u -F 9999 -o "$WORK/right.data" -p "$deep" -- sleep 1 >/dev/null 2>&1
}

guest_insmod || exit 1
"$TESTS/deep_work" >"$WORK/deep" &
deep=$!
guest_wait grep -q ready "$WORK/deep"
"$BEECTL" load --quiet "$deep" || exit 1
timed "the right table" sample
timed "wrong tables" "$TESTS/table_mutate" "${TABLE_MUTATIONS:-300}" "$deep" ${TABLE_SEED:+"$TABLE_SEED"}
