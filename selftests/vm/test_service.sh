#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The systemd unit, run by systemd in a guest of the first of BEE_KERNELS.
# timeout: 1800
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
read -ra kernels <<<"${BEE_KERNELS:-6.12 6.1}"
series=${kernels[0]}

[ -x /lib/systemd/systemd ] || ktap_skip_all "systemd: not installed"
said=$(mktemp)
headers=$(selftests/vm/run --kernel "$series" --print-headers 2>"$said")
status=$?
why=$(cat "$said")
rm "$said"
case $status in
0) ;;
4) ktap_skip_all "$why" ;;
*) ktap_diag "$why"; exit 1 ;;
esac
make -s --no-print-directory ko KDIR="$headers" && make -s --no-print-directory tools || exit 1
exec selftests/vm/run --kernel "$series" --norandmaps --timeout 1700 --systemd --env BEECTL="$PWD/beectl" -- \
	selftests/vm/service
