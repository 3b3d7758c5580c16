#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo's promises: shares of complete stacks of stock programs, with BEE_LONG also on 6.1.
# timeout: 1200
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

# Print the figures also if the test passes.
shares() {
	selftests/demo --kernel "$1" --seconds 2 --without-fp --out "build/check/demo-$1" 2>&1 | sed 's/^/# /'
	return "${PIPESTATUS[0]}"
}

kernels=(6.12 ${BEE_LONG:+6.1})
ktap_plan ${#kernels[@]}
for series in "${kernels[@]}"; do
	if ! why=$(selftests/vm/run --kernel "$series" --print-version 2>&1); then
		ktap_skip "stacks on $series" "$why"
	elif shares "$series"; then
		ktap_ok "stacks on $series"
	else
		ktap_fail "stacks on $series"
	fi
done
ktap_finish
