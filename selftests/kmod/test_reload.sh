#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs reload_test against the loaded module.
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

export BEECTL
guest_cache
guest_insmod || exit 1
"$TESTS/reload_test"
