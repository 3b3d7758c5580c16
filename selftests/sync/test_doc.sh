#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The files and functions that the documentation names exist in the tree.
set -u
TREE=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TREE" || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

# Each option that the pages give to perf record is one of perf's.
perf_has_options() {
	local option options missing=0 pages="Documentation/*.rst Documentation/man/*.rst README NEWS" help
	help=$(perf record -h 2>&1)
	# shellcheck disable=SC2086  # patterns
	options=$(grep -ho 'perf record[^`]*' $pages | sed 's/ -- .*//' | grep -oE -- '--[a-z][a-z-]+' | sort -u)
	[ -n "$options" ] || return
	for option in $options; do
		grep -qw -e "$option" <<<"$help" || { echo "perf record has no $option"; missing=1; }
	done
	return $missing
}

ktap_plan 2
ktap_run "paths, targets, functions and constants in the pages are there" \
	/usr/bin/python3 Documentation/check-names.py
if command -v perf >/dev/null; then
	ktap_run "options of perf record in the pages are there" perf_has_options
else
	ktap_skip "options of perf record in the pages are there" "perf: not installed"
fi
ktap_finish
