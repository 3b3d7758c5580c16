#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A Go program whose runtime changes stacks all the time, with and without symbols, C parts and
# profiling signals: its stacks are complete, and each frame has been called by the next.
# once: 1
# timeout: 600
export NO_KERNEL_SYMBOLS=1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

programs=$TREE/build/selftests/go
# While a function waits on the thread's stack, the collector may move its goroutine's: forEachP() in
# gcMarkDone().  Until it returns rbp leads to the old one, and the walk ends at systemstack().
shrink_off=gcshrinkstackoff=1

# judged KIND NAME SECONDS [COMMAND...]: sample the program, started by COMMAND, and print figures.
# With an argument for its profile it gets profiling signals.
judged() {
	local kind=$1 name=$2 seconds=$3
	shift 3
	perf record -q -N -B -e cpu-clock -F 499 -g -o "$WORK/go.data" "$@" "$programs/$name" \
		"$seconds" "$WORK/profile" >/dev/null || return 1
	/usr/bin/python3 "$TREE/selftests/lib/go_stacks.py" "$WORK/go.data" "$programs/$name" \
		"$programs/${name%.s}" >"$WORK/$kind" 2>"$WORK/why" || { cat "$WORK/why"; return 1; }
	echo "$name $kind $(cat "$WORK/$kind")" >>"$WORK/figures"
}

# complete GODEBUG NAME SHARE: at least 800 samples (20 on the instrumented kernel), of which this
# share is complete, and no frame that did not call the one before it: in a second, or in more in a
# guest that shares its CPUs.  Samples that are not complete come in threes, one after the other.  The
# figures without the module are printed beside them.
complete() {
	local longer least=800 second=1 status share=$3
	export GODEBUG=$1
	shift
	[ "${BEE_KERNEL-}" != debug ] || { least=20 second=10; }
	judged plain "$1" "$second" || return 1
	for longer in 1 8 32; do
		judged ours "$1" $((longer * second)) "$BEECTL" run -- || return 1
		tail -n 2 "$WORK/figures"
		head -n 10 "$WORK/why"
		status=0
		/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
sys.exit(1 if got["wrong"] else 2 if got["samples"] < int(sys.argv[1]) or
         got["complete"] < float(sys.argv[2]) * got["samples"] else not got["pairs"])' \
			"$least" "$share" <"$WORK/ours" || status=$?
		[ "$status" -eq 2 ] || return "$status"
	done
	return 1
}

mapfile -t lines <<<"$(cat "$programs/list" 2>/dev/null)"
[ -n "${lines[0]}" ] || { echo "$programs/list: not built"; exit 1; }
# The program recurses 500 deep.
sysctl -q -w kernel.perf_event_max_stack=1024
guest_insmod || exit 1
ktap_plan $((${#lines[@]} + 1))
for line in "${lines[@]}"; do
	case $line in
	*' # SKIP '*) ktap_skip "stacks of ${line%% #*} are complete" "${line#* # SKIP }" ;;
	*) ktap_run "stacks of $line are complete" complete "$shrink_off" "$line" 0.995 ;;
	esac
done
if grep -qx gowork.static "$programs/list"; then
	ktap_run "stacks of gowork.static are complete while Go shrinks its stacks" complete "" gowork.static 0.95
else
	ktap_skip "stacks of gowork.static are complete while Go shrinks its stacks" "gowork.static is not built"
fi
[ ! -e "$WORK/figures" ] || ktap_diag "$(cat "$WORK/figures")"
ktap_finish
