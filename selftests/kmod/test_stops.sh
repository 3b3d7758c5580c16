#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs stops_test against the loaded module.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

guest_insmod || exit 1
"$TESTS/stops_test"
