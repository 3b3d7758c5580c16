#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Callchains in NMI on each kernel of BEE_KERNELS; more with "selftests/vm/nmi --count N".
# timeout: 1200
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
read -ra kernels <<<"${BEE_KERNELS:-6.12 6.1}"

build() {
	local headers

	headers=$(selftests/vm/run --kernel "$1" --print-headers) &&
		make -s --no-print-directory ko test-ko KDIR="$headers" &&
		make -s --no-print-directory -C selftests/kmod
}

nmis() {
	selftests/vm/nmi --kernel "$1" --timeout 1000 2>&1 | sed 's/^/# /'
	return "${PIPESTATUS[0]}"
}

ktap_plan ${#kernels[@]}
for series in "${kernels[@]}"; do
	if ! why=$(selftests/vm/run --kernel "$series" --print-headers 2>&1); then
		ktap_skip "callchains in NMI on $series" "$why"
	elif build "$series" && nmis "$series"; then
		ktap_ok "callchains in NMI on $series"
	else
		ktap_fail "callchains in NMI on $series"
	fi
done
ktap_finish
