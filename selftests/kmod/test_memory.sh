#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tables of code that processes have in memory, without a file.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

guest_insmod || exit 1
"$TESTS/memory_test"
