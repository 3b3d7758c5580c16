#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs heal_test against the loaded module.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

guest_insmod || exit 1
"$TESTS/heal_test"
