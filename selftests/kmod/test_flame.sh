#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame with the module: stacks in the graph are complete, and it says how walks ended.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

CLOCK=(-N -B -e cpu-clock -F 999)

busy=(/usr/bin/python3 -c '
import sqlite3
sqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all " +
                                    "select i+1 from n limit 99999) select sum(i) from n")')

# flame ARGS...: what it prints is in $WORK/out, what it says in $WORK/err
flame() {
	"$BEECTL" flame "${CLOCK[@]}" "$@" >"$WORK/out" 2>"$WORK/err" && return
	cat "$WORK/err"
	return 1
}

complete() {
	flame --json -- "${busy[@]}" && /usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
print({key: got[key] for key in ("samples", "judged", "complete", "lost")})
sys.exit(not (got["samples"] >= 20 and got["complete"] >= 0.95 * got["judged"]))' <"$WORK/out"
}

stops() {
	flame -o "$WORK/out.svg" -- "${busy[@]}" && grep -q 'walks ended: outermost' "$WORK/out.svg" &&
		grep -q '>_start' "$WORK/out.svg"
}

all() {
	flame -o "$WORK/out.folded" -a -- "${busy[@]}" && grep -q '^python3;_start;' "$WORK/out.folded"
}

guest_insmod || exit 1
export BEEUNWIND_CACHE=$WORK/cache
mkdir -m 700 "$BEEUNWIND_CACHE"
ktap_plan 3
# This one has the tables made.
ktap_run "the graph says how walks ended" stops
ktap_run "stacks of a command are complete" complete
ktap_run "all that runs" all
ktap_finish
