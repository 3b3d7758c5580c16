#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs torture_test against the loaded module, while perf walks every stack.
# timeout: 600
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

guest_insmod || exit 1
perf record -q -a -g -e cpu-clock -F 499 -o /dev/null 2>/dev/null &
"$TESTS/torture_test" "${TORTURE_SECONDS:-20}"
