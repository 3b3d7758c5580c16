#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs torture_test against the module that has the oracle of selftests/fixtures/modules/mapped.
#	TORTURE_SECONDS=N	how long (default 6)
#	TORTURE_HZ=N		samples a second (default 999, on the instrumented kernel 49)
# timeout: 600
# cpus: 2
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

export BEECTL
guest_cache
BEE_KO=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}/mapped/beeunwind.ko
guest_insmod || exit 1
[ "${BEE_KERNEL-}" != debug ] || export TORTURE_HZ=${TORTURE_HZ:-49}
"$TESTS/torture_test" "${TORTURE_SECONDS:-6}"
