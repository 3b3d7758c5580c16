#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Callchains taken in NMI on the first kernel of BEE_KERNELS, with BEE_LONG on each; for longer runs
# there are "selftests/vm/nmi --count N" and "make torture".
# timeout: 1800
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
read -ra kernels <<<"${BEE_KERNELS:-6.12}"
[ -n "${BEE_LONG-}" ] || kernels=("${kernels[0]}")

nmis() {
	selftests/vm/nmi --timeout 1000 "$@" 2>&1 | sed 's/^/# /'
	return "${PIPESTATUS[0]}"
}

ktap_plan $((2 * ${#kernels[@]}))
for series in "${kernels[@]}"; do
	said=$(selftests/lib/build_for.sh "$series" 2>&1)
	built=$?
	if [ "$built" -eq 4 ]; then
		ktap_skip "callchains in NMI on $series" "$said"
		ktap_skip "torture under NMIs on $series" "$said"
		continue
	fi
	[ "$built" -eq 0 ] || ktap_diag "$said"
	if [ "$built" -eq 0 ] && nmis --kernel "$series" --count 1000; then
		ktap_ok "callchains in NMI on $series"
	else
		ktap_fail "callchains in NMI on $series"
	fi
	if [ "$built" -eq 0 ] && nmis --kernel "$series" --torture 5; then
		ktap_ok "torture under NMIs on $series"
	else
		ktap_fail "torture under NMIs on $series"
	fi
done
ktap_finish
