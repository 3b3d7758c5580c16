#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A larger file that is changed in each way while each command reads it.
# timeout: 900
exec "$(dirname "$0")/../cli/test_input.sh" all
