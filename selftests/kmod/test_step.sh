#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Single-steps small programs on the guest's kernel, whose signal frames and vDSO are its own.
# once: 1
# timeout: 1800
exec "$(dirname "$0")/../system/test_step.sh"
