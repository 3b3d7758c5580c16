# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts about code in memory without a file; after guest.sh.

# judged PID NAME: record a process for a while; the share of whole stacks among those through such
# code goes to NAME.judged
judged() {
	perf record -q -N -B -e cpu-clock -F 199 -g -p "$1" -o "$WORK/$2.data" -- sleep 3 || return 1
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" judge --through //anon "$WORK/$2.data" \
		>"$WORK/$2.judged" || return 1
	echo "$2: $(cat "$WORK/$2.judged")"
	/usr/bin/python3 "$TREE/selftests/lib/stacks.py" why --through //anon "$WORK/$2.data" | head -n 5
}

# share NAME LEAST MOST: from LEAST to MOST percent of at least 100 stacks are whole
share() {
	/usr/bin/python3 -c '
import json, sys
got = json.load(sys.stdin)
percent = 100 * got["complete"] / max(got["samples"], 1)
sys.exit(not (got["samples"] >= 100 and int(sys.argv[1]) <= percent <= int(sys.argv[2])))' \
		"$2" "$3" <"$WORK/$1.judged"
}

runs_code() {
	grep -q "r-xp 00000000 00:00 0 *$" "/proc/$1/maps"
}
