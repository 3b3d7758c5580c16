#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a machine with many CPUs: races of requests and walks, followed mappings, and the torture, each
# of which other scripts run on two.
# timeout: 600
# cpus: 8
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

has_cpus() {
	[ "$(nproc)" -ge 8 ]
}

# run PROGRAM [ARG]...: its results in one
run() {
	"$TESTS/$1" "${@:2}" >"$WORK/out" 2>&1 || { cat "$WORK/out"; return 1; }
}

torture() {
	rmmod beeunwind && BEE_KO=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}/mapped/beeunwind.ko &&
		guest_insmod && run torture_test 12
}

export BEECTL BEEUNWIND_CACHE=$WORK/cache
mkdir -m 700 "$BEEUNWIND_CACHE"
guest_insmod || exit 1
ktap_plan 4
ktap_run "the guest has 8 CPUs or more" has_cpus
ktap_run "requests and walks race" run race_test
ktap_run "mappings are followed" run follow_test
ktap_run "torture" torture
ktap_finish
