#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Guest side of selftests/demo: demo_guest.sh OUT SECONDS MODE...
# Records each workload in each mode (fp, dwarf, bee) into OUT/NAME.MODE.data; with the module there,
# draws OUT/flame.svg of OUT/words.
set -euo pipefail

out=$1 seconds=$2
shift 2
work=$(mktemp -d)
# shellcheck source=selftests/lib/stock_programs.sh
. "$(dirname "$0")/stock_programs.sh"
cd "$work"

# record NAME MODE: record a workload in a mode.  The workload is stopped while perf starts, which
# is slow under emulation.
record() {
	local name=$1 mode=$2 options=(-g)

	[ "$mode" != dwarf ] || options=(--call-graph dwarf)
	start "$name"
	until is_at_work "$name"; do sleep 0.1; done
	kill -STOP "$pid"
	[ "$mode" != bee ] || "$BEECTL" load "$pid"
	rm -f "$out/$name.$mode.data"	# of a shorter recording
	# perf's status says nothing here: perf ends with the signal that ended its workload.
	perf record -q -N -B -e cpu-clock -F 199 "${options[@]}" -p "$pid" \
		-o "$out/$name.$mode.data" -- \
		sh -c "kill -CONT $pid; sleep $seconds; kill -STOP $pid" || true
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	[ -s "$out/$name.$mode.data" ]
}

# A compiler recurses deeper than perf's default limit of 127 frames.
sysctl -q -w kernel.perf_event_max_stack=1024 kernel.perf_event_mlock_kb=16384
# perf spends half of its start on the kernel's symbols, which only the flame graph shows.
sysctl -q -w kernel.kptr_restrict=2
export HOME=$work GIT_PAGER=cat
make_inputs 2500

for mode in "$@"; do
	[ "$mode" != bee ] || insmod "$BEE_KO"
	for name in python3 perl git xz cc1plus; do
		echo "recording $name, $mode ($SECONDS s)"
		record "$name" "$mode"
	done
	if [ "$mode" = bee ]; then
		echo "recording words, flame graph ($SECONDS s)"
		cp "$out/words" .
		sysctl -q -w kernel.kptr_restrict=0
		"$BEECTL" flame -e cpu-clock -F 199 --inlines -o "$out/flame.svg" -- ./words deep.ii "$seconds"
		"$BEECTL" status || true
		rmmod beeunwind
	fi
done
