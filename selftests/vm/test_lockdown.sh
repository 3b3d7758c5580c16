#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Under kernel lockdown the unsigned module stays out, on each kernel of BEE_KERNELS.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
read -ra kernels <<<"${BEE_KERNELS:-6.12 6.1}"

# In a guest of its own, for there is no way back.
refused() {
	local ko

	make -s --no-print-directory ko KDIR="$(selftests/vm/run --kernel "$1" --print-headers)" || return 1
	ko=build/kmod/$(selftests/vm/run --kernel "$1" --print-version)/beeunwind.ko
	selftests/vm/run --kernel "$1" -- bash -c '
		mount -t securityfs securityfs /sys/kernel/security
		insmod "$0" && rmmod beeunwind || exit 1
		echo integrity >/sys/kernel/security/lockdown || exit 2
		! insmod "$0" && [ ! -e /sys/module/beeunwind ] &&
			dmesg | tail -n 5 | grep -i "lockdown.*unsigned module"' "$ko"
}

ktap_plan ${#kernels[@]}
for series in "${kernels[@]}"; do
	if [ "$series" = debug ]; then
		ktap_skip "lockdown on $series" "this kernel has none"
	elif ! why=$(selftests/vm/run --kernel "$series" --print-headers 2>&1); then
		ktap_skip "lockdown on $series" "$why"
	else
		ktap_run "lockdown on $series" refused "$series"
	fi
done
ktap_finish
