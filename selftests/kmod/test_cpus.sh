#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a machine with many CPUs: races of requests and walks, followed mappings, the same beside others
# who hook what they hook, and the torture; other scripts run each of these on one CPU or two.
# timeout: 600
# cpus: 16
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

has_cpus() {
	[ "$(nproc)" -eq 16 ]
}

beside() {
	guest_rmmod && guest_nested "$(dirname "$0")/test_beside.sh"
}

torture() {
	BEE_KO=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}/mapped/beeunwind.ko &&
		guest_insmod && guest_nested "$TESTS/torture_test" 6
}

most=$(($(cat /sys/devices/system/cpu/kernel_max) + 1))
[ "$most" -ge 16 ] || ktap_skip_all "this kernel has no more than $most CPUs"
export BEECTL
guest_cache
guest_insmod || exit 1
ktap_plan 5
ktap_run "the guest has 16 CPUs" has_cpus
ktap_run "requests and walks race" guest_nested "$TESTS/race_test"
ktap_run "mappings are followed" guest_nested "$TESTS/follow_test"
ktap_run "mappings are followed beside the function tracer and kprobes" beside
ktap_run "torture" torture
ktap_finish
