#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs hook_test, which loads the module itself; HOOK_ROUNDS=COUNT for more.
# cpus: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

export BEE_KO BEE_TEST_KO=${BEE_TEST_KO:-$TREE/build/test-modules/$(uname -r)}
"$TESTS/hook_test" "$TESTS/deep_work" "${HOOK_ROUNDS:-1}"
