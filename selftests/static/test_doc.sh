#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The documentation builds without a warning of sphinx or kernel-doc.
# slow: 1
set -u
TREE=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TREE" || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

missing=$(make -s --no-print-directory -C Documentation missing) || exit 1
ktap_plan 1
if [ -n "$missing" ]; then
	ktap_skip "make doc" "not installed: ${missing//$'\n'/, }"
else
	ktap_run "make doc" make -s --no-print-directory doc
fi
ktap_finish
