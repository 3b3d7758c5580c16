#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a machine with many CPUs: races of requests and walks, and the torture; other scripts run each of
# these on one CPU or two.
# timeout: 600
# cpus: 16
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"
here=$(dirname "$0")

has_cpus() {
	[ "$(nproc)" -eq 16 ]
}

most=$(($(cat /sys/devices/system/cpu/kernel_max) + 1))
[ "$most" -ge 16 ] || ktap_skip_all "this kernel has no more than $most CPUs"
ktap_plan 3
ktap_run "the guest has 16 CPUs" has_cpus
ktap_run "requests and walks race on 16 CPUs" guest_nested "$here/test_store.py" races
ktap_run "torture of mappings and tables on 16 CPUs" guest_nested "$here/test_torture.py"
ktap_finish
