#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo's promises: shares of complete stacks of stock programs, with BEE_LONG also on 6.1.
# timeout: 1200
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

# Print the figures also if the test passes.  Status 4: this machine does not have the kernel.
shares() {
	why=$(selftests/vm/run --kernel "$1" --print-headers 2>&1 >/dev/null) || return
	selftests/demo --kernel "$1" --seconds 2 --without-fp --out "build/check/demo-$1" 2>&1 | sed 's/^/# /'
	return "${PIPESTATUS[0]}"
}

kernels=(6.12 ${BEE_LONG:+6.1})
ktap_plan ${#kernels[@]}
for series in "${kernels[@]}"; do
	shares "$series"
	case $? in
	0) ktap_ok "shares of complete stacks on $series" ;;
	4) ktap_skip "shares of complete stacks on $series" "$why" ;;
	*) [ -z "$why" ] || ktap_diag "$why"
	   ktap_fail "shares of complete stacks on $series" ;;
	esac
done
ktap_finish
