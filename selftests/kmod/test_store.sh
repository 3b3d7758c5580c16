#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs store_test against the loaded module.
#	STORE_PROCESSES=N	processes that share 100 mappings (default 500; 5000 need a
#				guest with 4 GiB of memory)
# once: 1
# timeout: 600
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

guest_insmod || exit 1
"$TESTS/store_test" "${STORE_PROCESSES:-500}"
