#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every instruction of small programs on this kernel: signal frames and the vDSO are its own.
# timeout: 1800
exec "$(dirname "$0")/../system/test_step.sh"
