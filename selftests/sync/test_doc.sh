#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The files and functions that the documentation names exist in the tree.
set -u
TREE=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TREE" || exit 1
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

ktap_plan 1
ktap_run "paths, targets, functions and constants in the pages are there" \
	/usr/bin/python3 Documentation/check-names.py
ktap_finish
