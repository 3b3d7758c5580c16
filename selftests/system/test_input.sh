#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Input that changes while it is read: all combinations of command and change, on a larger file.
# timeout: 900
exec "$(dirname "$0")/../cli/test_input.sh" all
