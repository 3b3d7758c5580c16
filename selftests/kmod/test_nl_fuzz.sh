#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs nl_fuzz against the loaded module; NL_FUZZ=COUNT for more.
# once: 1
# shellcheck source=selftests/kmod/guest.sh
. "$(dirname "$0")/guest.sh"

guest_insmod || exit 1
"$TESTS/nl_fuzz" "${NL_FUZZ:-20000}" ${NL_FUZZ_SEED:+"$NL_FUZZ_SEED"}
