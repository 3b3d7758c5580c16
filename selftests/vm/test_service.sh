#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The systemd unit, run by systemd in a guest of the first of BEE_KERNELS.
# timeout: 900
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
read -ra kernels <<<"${BEE_KERNELS:-6.12 6.1}"
series=${kernels[0]}

[ -x /lib/systemd/systemd ] || ktap_skip_all "systemd: not installed"
headers=$(selftests/vm/run --kernel "$series" --print-headers 2>&1)
case $? in
0) ;;
4) ktap_skip_all "$headers" ;;
*) ktap_diag "$headers"; exit 1 ;;
esac
make -s --no-print-directory ko KDIR="$headers" && make -s --no-print-directory tools || exit 1
exec selftests/vm/run --kernel "$series" --timeout 800 --systemd --env BEECTL="$PWD/beectl" -- \
	selftests/vm/service
