#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# beectl flame: text that it reads, and names in what it writes.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
# shellcheck source=selftests/lib/flame.sh
. "$tree/selftests/lib/flame.sh"

# What has doubled is shown, though it is small, and twelve that have not changed are larger.
check_small_change() {
	local i
	for i in {1..12}; do
		echo "p;same$i 400"
	done >"$work/same"
	{ cat "$work/same"; printf '%s\n' "p;small 95" "p;rest 5105"; } >"$work/before"
	{ cat "$work/same"; printf '%s\n' "p;small 190" "p;rest 5010"; } >"$work/after"
	"$beectl" flame "$work/after" --diff "$work/before" >"$work/summary" || return
	cat "$work/summary"
	grep -E '^  1\.90%   \+0\.95 .* small$' "$work/summary" &&
		"$beectl" flame "$work/after" --diff "$work/before" --json | "$python" -c '
import json, sys
names = [function["name"] for function in json.load(sys.stdin)["functions"]]
assert set(names[:2]) == {"small", "rest"}, names'
}

ktap_plan 1
ktap_run "a small change is one" check_small_change
ktap_finish
